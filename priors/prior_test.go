package priors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// namedPrior is one parameter of a prior, with its support.
type namedPrior struct {
	name        string
	low, high   float64
	logDensity  func(x float64) float64
	slope       func(x float64) float64
	sample      func(rng *rand.Rand) float64
	substituted bool // positive support: integrate in log x
}

func priorsOf() []namedPrior {
	inf := math.Inf(1)
	vector := func(name string, p Prior, low, high float64) namedPrior {
		return namedPrior{
			name: name, low: low, high: high,
			logDensity: func(x float64) float64 { return p.LogDensity([]float64{x}) },
			slope: func(x float64) float64 {
				g := []float64{math.NaN()}
				p.Grad(g, []float64{x})
				return g[0]
			},
			sample: func(rng *rand.Rand) float64 {
				v := []float64{math.NaN()}
				p.Sample(v, rng)
				return v[0]
			},
		}
	}
	scale := func(name string, p Scale) namedPrior {
		return namedPrior{
			name: name, low: 0, high: inf, substituted: true,
			logDensity: p.LogDensity,
			slope:      func(x float64) float64 { return p.Elasticity(x) / x },
			sample:     p.Sample,
		}
	}
	return []namedPrior{
		vector("Gaussian SD", Gaussian{SD: 1.5}, -inf, inf),
		vector("Gaussian SDs", Gaussian{SDs: []float64{0.3}}, -inf, inf),
		vector("Laplace", Laplace{Scale: 0.7}, -inf, inf),
		vector("StudentT", StudentT{DegreesOfFreedom: 3, Scale: 2}, -inf, inf),
		vector("Independent", Independent{StudentT{DegreesOfFreedom: 5, Scale: 0.4}}, -inf, inf),
		vector("Uniform", Uniform{Low: -1, High: 3}, -1, 3),
		scale("HalfNormal", HalfNormal{SD: 2}),
		scale("HalfCauchy", HalfCauchy{Scale: 1.5}),
		scale("HalfStudentT", HalfStudentT{DegreesOfFreedom: 3, Scale: 0.6}),
		scale("InverseGamma", InverseGamma{Shape: 3, Scale: 2}),
	}
}

// mass is the integral of the unnormalised density from the lower end to x.
func (p *namedPrior) mass(x float64) float64 {
	if p.substituted {
		f := func(u float64) float64 { return math.Exp(p.logDensity(math.Exp(u)) + u) }
		return panels(f, -30, math.Log(x))
	}
	// sinh covers heavy tails.
	f := func(u float64) float64 { return math.Exp(p.logDensity(math.Sinh(u))) * math.Cosh(u) }
	return panels(f, max(-25, math.Asinh(p.low)), math.Asinh(x))
}

func panels(f func(float64) float64, lo, hi float64) (s float64) {
	const n = 60
	h := (hi - lo) / n
	for k := range n {
		s += quad.Fixed(f, lo+float64(k)*h, lo+float64(k+1)*h, 12, nil, 0)
	}
	return s
}

// TestPriorsSampleTheirDensity is a Kolmogorov–Smirnov test of 5000 draws
// against the integrated density. By the Dvoretzky–Kiefer–Wolfowitz inequality a
// distance above 0.041 has probability at most 2·e^(−2·5000·0.041²) < 1.1e-7 for
// each prior, so below 1e-6 a run. The mutant, draws stretched by a half, must
// fail.
func TestPriorsSampleTheirDensity(t *testing.T) {
	const n, limit = 5000, 0.041
	for _, p := range priorsOf() {
		rng := rand.New(rand.NewPCG(21, 22))
		draws := make([]float64, n)
		for i := range draws {
			draws[i] = p.sample(rng)
		}
		if d := p.distance(draws); d > limit {
			t.Errorf("%s: the draws are %.3f from the density", p.name, d)
		}
		for i := range draws {
			draws[i] *= 1.5
		}
		if d := p.distance(draws); d <= limit {
			t.Errorf("%s: stretched draws pass, at distance %.3f", p.name, d)
		}
	}
}

// distance is the Kolmogorov–Smirnov distance, at every 50th draw.
func (p *namedPrior) distance(draws []float64) (worst float64) {
	sort.Float64s(draws)
	total := p.mass(min(p.high, 1e9))
	for i := 0; i < len(draws); i += 50 {
		x := max(p.low, min(p.high, draws[i]))
		worst = max(worst, math.Abs(p.mass(x)/total-float64(i)/float64(len(draws))))
	}
	return worst
}

func TestPriorSlopesMatchDifferences(t *testing.T) {
	for _, p := range priorsOf() {
		for _, x := range []float64{0.01, 0.4, 1.3, 2.9} {
			const h = 1e-6
			want := (p.logDensity(x+h) - p.logDensity(x-h)) / (2 * h)
			if got := p.slope(x); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s at %v: slope %v, differences %v", p.name, x, got, want)
			}
		}
	}
}

func TestPriorsRefuseBadParameters(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	bad := []interface{ Check(int) error }{
		Gaussian{}, Gaussian{SD: -1}, Gaussian{SD: nan}, Gaussian{SD: inf}, Gaussian{SD: 1, SDs: []float64{1, 1}},
		Gaussian{SDs: []float64{1}}, Gaussian{SDs: []float64{1, 0}}, Laplace{}, Laplace{Scale: nan},
		StudentT{Scale: 1}, StudentT{DegreesOfFreedom: 1}, Uniform{}, Uniform{Low: 1, High: -1},
		Uniform{Low: -inf, High: 1}, Uniform{Low: nan, High: 1},
		Independent{}, Independent{Laplace{Scale: 1}}, Independent{Laplace{Scale: 1}, nil},
		Independent{Laplace{Scale: 1}, Gaussian{}},
	}
	for _, p := range bad {
		if p.Check(2) == nil {
			t.Errorf("%#v is accepted", p)
		}
	}
	for _, p := range []Scale{HalfNormal{}, HalfCauchy{Scale: -1}, InverseGamma{Shape: 1}, InverseGamma{Scale: 1},
		InverseGamma{Shape: nan, Scale: 1}, HalfStudentT{Scale: 1}, HalfStudentT{DegreesOfFreedom: 2}} {
		if p.Check() == nil {
			t.Errorf("%#v is accepted", p)
		}
	}
}

// TestExtremeScales: log densities stay numbers however far out.
func TestExtremeScales(t *testing.T) {
	for _, p := range priorsOf() {
		for _, x := range []float64{1e-300, 1e-8, 1e8, 1e200, 1e300} {
			if v := p.logDensity(x); math.IsNaN(v) || v == math.Inf(1) {
				t.Errorf("%s: log density %v at %v", p.name, v, x)
			}
		}
	}
}

func ExampleLaplace() {
	prior := Laplace{Scale: 0.5}
	fmt.Println(prior.LogDensity([]float64{1, -2}))
	// Output: -6
}

// TestDirichletRenyi compares the closed form with quadrature of beta densities.
func TestDirichletRenyi(t *testing.T) {
	p, q := Dirichlet{[]float64{6, 9}}, Dirichlet{[]float64{7, 8}}
	density := func(d Dirichlet, x float64) float64 {
		return math.Exp((d.Alpha[0]-1)*math.Log(x) + (d.Alpha[1]-1)*math.Log1p(-x) - logBeta(d.Alpha))
	}
	for _, order := range []float64{1.5, 2, 4} {
		integral := quad.Fixed(func(x float64) float64 {
			return math.Pow(density(p, x), order) * math.Pow(density(q, x), 1-order)
		}, 0, 1, 200, nil, 0)
		want := math.Log(integral) / (order - 1)
		if got := p.Renyi(order, q); math.Abs(got-want) > 1e-10 {
			t.Errorf("order %v: %v, quadrature %v", order, got, want)
		}
	}
	if d := p.Renyi(50, Dirichlet{[]float64{7, 20}}); !math.IsInf(d, 1) {
		t.Errorf("a divergence that is infinite is %v", d)
	}
}
