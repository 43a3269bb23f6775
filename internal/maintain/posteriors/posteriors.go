// Package posteriors holds small posteriors with exact moments, the comparison of
// a chain's draws with them, and the steps that tests and benchmarks of every
// sampler make.
package posteriors

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Problem is a target with records and the exact moments of its posterior.
type Problem struct {
	Name        string
	Target      targets.GradTarget
	Records     curator.Records
	Temperature float64
	Start       []float64
	Box         Box // beyond which the posterior has no mass
	Exact       Powered
	// Wrong are the powers of prior and likelihood of posteriors that a test must
	// tell apart from the right one, by what is wrong with them.
	Wrong map[string][2]float64
}

// Seal seals the problem's records; see the function Seal.
func (p Problem) Seal(opts ...curator.Option) *curator.Curator { return Seal(p.Records, opts...) }

// miscounted are the posteriors that count records twice or by halves.
func miscounted() map[string][2]float64 {
	return map[string][2]float64{"likelihood squared": {1, 2}, "likelihood halved": {1, 0.5}}
}

// All returns the problems: a Gaussian mean in closed form, a logistic
// regression and a tempered mixture by quadrature.
func All() []Problem { return []Problem{gaussianMean(), Logistic(), mixture()} }

// gaussianMean is StandardMean on 8 records.
func gaussianMean() Problem {
	const n = 8
	rng := rand.New(rand.NewPCG(1, 7))
	x, sums := make([]float64, 2*n), make([]float64, 2)
	for i := range x {
		x[i] = max(-2, min(rng.NormFloat64()+1, 2))
		sums[i%2] += x[i]
	}
	return Problem{Name: "Gaussian mean", Temperature: 1, Start: []float64{0, 0}, Wrong: miscounted(),
		Target:  StandardMean(),
		Records: curator.Records{X: x, Features: 2, Radius: 3},
		Exact: func(prior, likelihood float64) Moments {
			v := 1 / (likelihood*n + prior)
			return Moments{[]float64{likelihood * sums[0] * v, likelihood * sums[1] * v}, []float64{math.Sqrt(v), math.Sqrt(v)}}
		}}
}

// Logistic is a logistic regression with an intercept and 60 records.
func Logistic() Problem {
	const n = 60
	rng := rand.New(rand.NewPCG(4, 2))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range n {
		x[2*i], x[2*i+1] = 0.7, 0.7*(2*rng.Float64()-1)
		if rng.Float64() < 1/(1+math.Exp(-1-2*x[2*i+1])) {
			y[i] = 1
		}
	}
	p := Problem{Name: "logistic", Temperature: 1, Start: []float64{1, 1}, Wrong: miscounted(), Box: Box{-4, 8, -6, 10},
		Records: curator.Records{X: x, Features: 2, Y: y, Radius: 1}, Target: logit()}
	p.Exact = p.Integrated()
	return p
}

func logit() targets.GradTarget {
	return Must(targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 2}}))
}

// Circle is a logistic regression on 40 rows of length 1, which its certificates
// bound without a clip.
func Circle() Problem {
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := make([]float64, 2*40), make([]float64, 40)
	for i := range y {
		angle := 2 * math.Pi * rng.Float64()
		x[2*i], x[2*i+1] = math.Cos(angle), math.Sin(angle)
		if rng.Float64() < 1/(1+math.Exp(-2*x[2*i])) {
			y[i] = 1
		}
	}
	p := Problem{Name: "logistic", Temperature: 1, Start: []float64{0.5, 0.5}, Box: Box{-4, 8, -5, 5},
		Records: curator.Records{X: x, Features: 2, Y: y, Radius: 1 + 1e-9}, Target: logit()}
	p.Exact = p.Integrated()
	return p
}

// Bent is a Gaussian mean, bent into a banana by a curvature.
func Bent(curvature float64) Problem {
	rng := rand.New(rand.NewPCG(3, 1))
	x := make([]float64, 2*20)
	for i := range x {
		x[i] = 0.5 + rng.NormFloat64()
	}
	p := Problem{Name: fmt.Sprintf("Gaussian, curvature %v", curvature), Temperature: 1, Start: []float64{0.5, 0.5},
		Box: Box{-2, 2.5, -2.5, 2.5},
		Target: Must(targets.New(targets.GaussianMeanConfig{Features: 2, Curvature: curvature,
			Prior: priors.Gaussian{SD: 3}})),
		Records: curator.Records{X: x, Features: 2}}
	p.Exact = p.Integrated()
	return p
}

func mixture() Problem {
	const n = 200
	rng := rand.New(rand.NewPCG(5, 5))
	x := make([]float64, n)
	for i := range x {
		x[i] = max(-5, min(float64(rng.IntN(2))+math.Sqrt2*rng.NormFloat64(), 5))
	}
	p := Problem{Name: "mixture", Temperature: 0.2, Start: []float64{0.5, 0.5}, Wrong: miscounted(),
		Box:     Box{-4, 5, -6, 6},
		Records: curator.Records{X: x, Features: 1, Radius: 5}, Target: Mixture()}
	p.Exact = p.Integrated()
	return p
}

// Mixture is the target of the published experiment (Heikkilä et al. 2019, §4).
func Mixture() *targets.Mixture {
	return Must(targets.New(targets.MixtureConfig{Prior: priors.Gaussian{SDs: []float64{math.Sqrt(10), 1}}}))
}

// Check runs a kernel for the given number of steps and compares mean and
// standard deviation of each parameter with the exact ones: within z Monte Carlo
// standard errors, and further than that from each wrong posterior's in some
// figure. Curator and chain run from fixed seeds. A fresh seed has a false-alarm
// rate of four figures at z errors: 2.5·10⁻⁴ at 4, 1.5·10⁻⁷ at 5.5.
func (p Problem) Check(t *testing.T, steps int64, z float64, factory Factory) {
	t.Helper()
	draws := Run(t, p.Seal(), p.Start, steps, factory)
	if !p.Exact(1, 1).Agree(t, p.Name, draws, z, 0) {
		t.Errorf("a figure is more than %v Monte Carlo standard errors from the exact one", z)
	}
	for name, power := range p.Wrong {
		if p.Exact(power[0], power[1]).Off(draws, 0) <= z {
			t.Errorf("the draws cannot be told from the posterior with the %s", name)
		}
	}
}

// keep is the number of draws that are kept of a run.
const keep = 10_000

// Run runs a chain and returns about 10 000 evenly spaced draws of each
// parameter, without the first fiftieth of them.
func Run(t testing.TB, sealed *curator.Curator, start []float64, steps int64, factory Factory) [][]float64 {
	t.Helper()
	sink := kernels.NewMemory(1)
	err := kernels.Run(context.Background(), []kernels.Chain{{Kernel: Must(factory(sealed, steps)), Start: start}},
		kernels.Options{Iterations: steps, Thin: max(1, steps/keep), Seed: 1, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	draws := make([][]float64, len(start))
	for _, d := range sink.Draws(0)[keep/50:] {
		for j, v := range d {
			draws[j] = append(draws[j], v)
		}
	}
	return draws
}
