package surrogates

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// Posterior is a density of this package that can be sampled.
type Posterior interface {
	// Density returns the log density of the parameters, and of whatever else is sampled
	// along with them; one goroutine at a time may use it.
	Density() nuts.LogDensity
	// parameters is how many of its coordinates, the first ones, are the model's.
	parameters() int
	// centre returns a point where most of the mass is near, and the lower factor of
	// a covariance of about its spread, row-major.
	centre() (mean, factor []float64, err error)
}

// inCoordinates is a posterior that is sampled in others than its parameters.
type inCoordinates interface {
	// parametersAt turns what was sampled into parameters, in place.
	parametersAt(theta []float64)
}

// SampleConfig says how to sample. The zero value is valid.
type SampleConfig struct {
	// Chains is the number of chains, from starts twice as dispersed as the
	// approximation of the posterior at its mode. Defaults to 4; at least 2.
	Chains int
	// Draws is the number of draws kept of each chain, after those of Warmup.
	// Defaults to 500.
	Draws int
	// LeastESS and MostRHat are what every coordinate must reach; while one does
	// not, everything is run again with twice the draws, at most three times.
	// Default to 400 and 1.01.
	LeastESS, MostRHat float64
	// Seed is public. Any value.
	Seed uint64
	// Workers bounds the chains sampled at the same time. Defaults to GOMAXPROCS.
	Workers int

	again  int // attempts made before
	warmup int // 0 for that of Warmup
}

// Draws are draws of a posterior and what the diagnostics say of them.
type Draws struct {
	// Chains has a row of the model's parameters for each draw of each chain.
	Chains [][][]float64
	// LeastESS is the least bulk effective sample size over coordinates, MostRHat
	// the largest rank-normalised split R-hat.
	LeastESS, MostRHat float64
	// Gradients counts evaluations of the density.
	Gradients int
	// Divergences counts divergent transitions.
	Divergences int
	// Explored says that LeastESS and MostRHat are as asked for.
	Explored bool
}

// Sample draws from a posterior by the no-U-turn sampler, in coordinates in which it
// is about standard normal. No record is seen, so draws cost nothing. Errors:
// settings out of range; a density that is nowhere finite near its centre; ctx's.
func Sample(ctx context.Context, p Posterior, c SampleConfig) (Draws, error) {
	if c.Chains == 0 {
		c.Chains = 4
	}
	if c.Draws == 0 {
		c.Draws = 500
	}
	if c.LeastESS == 0 {
		c.LeastESS = 400
	}
	if c.MostRHat == 0 {
		c.MostRHat = 1.01
	}
	if c.Chains < 2 || c.Draws < 20 {
		return Draws{}, fmt.Errorf("surrogates: %d chains of %d draws; at least 2 of 20 are needed", c.Chains, c.Draws)
	}
	attempt, err := sampler(ctx, p)
	if err != nil {
		return Draws{}, err
	}
	const attempts = 4
	var out Draws
	for i := range attempts {
		if out, err = attempt(c); err != nil || out.Explored || i == attempts-1 {
			break
		}
		c.Draws *= 2
		c.again++
	}
	return out, err
}

// sampler samples a posterior as a whole, or part by part.
func sampler(ctx context.Context, p Posterior) (func(SampleConfig) (Draws, error), error) {
	if m, ok := p.(mixed); ok {
		if parts, err := m.parts(); err != nil || parts != nil {
			return func(c SampleConfig) (Draws, error) { return sampleParts(ctx, parts, c) }, err
		}
	}
	mean, factor, err := p.centre()
	return func(c SampleConfig) (Draws, error) { return sampleOnce(ctx, p, c, mean, factor) }, err
}

func sampleOnce(ctx context.Context, p Posterior, c SampleConfig, mean, factor []float64) (Draws, error) {
	d := len(mean)
	rng := rand.New(rand.NewPCG(c.Seed, 0xd15b))
	starts := make([][]float64, c.Chains)
	for i := range starts {
		starts[i] = make([]float64, d)
		for j := range starts[i] {
			starts[i][j] = 2 * rng.NormFloat64()
		}
	}
	density := func() nuts.LogDensity { return whiten(p.Density(), mean, factor) }
	chains, err := nuts.Sample(ctx, density, nuts.Config{
		Chains: c.Chains, Warmup: cmp.Or(c.warmup, Warmup(c.Draws)) << c.again, Draws: c.Draws, Metric: nuts.Diagonal,
		Init: starts, Seed: c.Seed, Workers: c.Workers,
	})
	if err != nil {
		return Draws{}, fmt.Errorf("surrogates: %w", err)
	}
	out := Draws{}
	for _, chain := range chains {
		for i, phi := range chain.Draws {
			theta := make([]float64, d)
			unwhiten(theta, phi, mean, factor)
			if l, ok := p.(inCoordinates); ok {
				l.parametersAt(theta)
			}
			chain.Draws[i] = theta[:p.parameters()]
			if chain.Stats[i].Divergent {
				out.Divergences++
			}
		}
		out.Gradients += chain.Gradients
		out.Chains = append(out.Chains, chain.Draws)
	}
	out.diagnose(c)
	return out, nil
}

// diagnose sets what the diagnostics say of the chains.
func (d *Draws) diagnose(c SampleConfig) {
	d.LeastESS = math.Inf(1)
	for j := range d.Chains[0][0] {
		column := d.Column(j)
		d.LeastESS, d.MostRHat = min(d.LeastESS, diag.ESSBulk(column)), max(d.MostRHat, diag.RHat(column))
	}
	d.Explored = d.LeastESS >= c.LeastESS && d.MostRHat <= c.MostRHat
}

// Column returns coordinate j of every chain's draws.
func (d Draws) Column(j int) [][]float64 {
	out := make([][]float64, len(d.Chains))
	for c, chain := range d.Chains {
		out[c] = make([]float64, len(chain))
		for i, draw := range chain {
			out[c][i] = draw[j]
		}
	}
	return out
}

// Warmup is the number of transitions before so many draws of a chain. They are few: coordinates
// are about standard normal, so a step size and scales are soon found.
func Warmup(draws int) int { return max(50, min(draws, 250)) }

// whiten returns a density in φ, θ = mean + factor·φ.
func whiten(of nuts.LogDensity, mean, factor []float64) nuts.LogDensity {
	d := len(mean)
	theta, g := make([]float64, d), make([]float64, d)
	return nuts.Func(d, func(grad, phi []float64) float64 {
		unwhiten(theta, phi, mean, factor)
		v := of.LogDensityGrad(g, theta)
		across(grad, factor, g)
		return v
	})
}

// across sets dst to a slope in φ, factorᵀ times that in θ.
func across(dst, factor, slope []float64) {
	d := len(slope)
	clear(dst)
	for k, v := range slope {
		floats.AddScaled(dst[:k+1], v, factor[k*d:k*d+k+1])
	}
}

func unwhiten(theta, phi, mean, factor []float64) {
	d := len(mean)
	for j := range d {
		theta[j] = mean[j] + dot(factor[j*d:j*d+j+1], phi[:j+1])
	}
}

// climb finds a mode of a density from theta by steps along covariance·gradient,
// halved until the density rises; covariance approximates that at the mode. It
// changes theta.
func climb(of nuts.LogDensity, theta []float64, covariance func(theta []float64) (*mat.SymDense,
	error)) (*mat.SymDense, error) {
	d := len(theta)
	grad, next := make([]float64, d), make([]float64, d)
	value := of.LogDensityGrad(grad, theta)
	for range 30 {
		cov, err := covariance(theta)
		if err != nil {
			return nil, err
		}
		step := make([]float64, d)
		rise := 0.0
		for j := range d {
			for k := range d {
				step[j] += cov.At(j, k) * grad[k]
			}
			rise += step[j] * grad[j]
		}
		if math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(rise) {
			return nil, fmt.Errorf("surrogates: the log density at %v is %v; the release and the prior do not fit each other",
				theta, value)
		}
		if rise < 1e-6 {
			break
		}
		moved := false
		for scale := 1.0; scale > 1e-4 && !moved; scale /= 2 {
			for j := range d {
				next[j] = theta[j] + scale*step[j]
			}
			if v := of.LogDensityGrad(grad, next); v > value {
				value, moved = v, true
				copy(theta, next)
			}
		}
		if !moved {
			break
		}
	}
	return covariance(theta)
}

// lowerOf is the Cholesky factor of a covariance, row-major.
func lowerOf(cov *mat.SymDense) ([]float64, error) {
	d := cov.SymmetricDim()
	out := make([]float64, d*d)
	for j := range d {
		for k := range j + 1 {
			out[j*d+k] = cov.At(j, k)
		}
	}
	if !cholesky(out, d) {
		return nil, fmt.Errorf("surrogates: an approximate covariance is not positive definite")
	}
	return out, nil
}
