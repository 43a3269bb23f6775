package posteriors

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Cloud is the posterior of a Gaussian mean with unit variances given fifty records,
// under a normal prior of standard deviation 3, known in closed form: each coordinate is
// normal about Center with precision Curvature.
type Cloud struct {
	Target    targets.GradTarget
	X, Center []float64
	Curvature float64
}

// NewCloud draws the records about ½.
func NewCloud(dim int, seed uint64) Cloud {
	const n, priorSD = 50, 3.0
	c := Cloud{
		Target: Must(targets.New(targets.GaussianMeanConfig{Features: dim,
			Prior: priors.Gaussian{SD: priorSD}})),
		X: make([]float64, n*dim), Center: make([]float64, dim), Curvature: n + 1/(priorSD*priorSD),
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range c.X {
		c.X[i] = 0.5 + rng.NormFloat64()
		c.Center[i%dim] += c.X[i]
	}
	for j := range c.Center {
		c.Center[j] /= c.Curvature
	}
	return c
}

// Records are the cloud's table.
func (c Cloud) Records() curator.Records { return curator.Records{X: c.X, Features: len(c.Center)} }

// Seal makes a curator of the records.
func (c Cloud) Seal(opts ...curator.Option) *curator.Curator { return Seal(c.Records(), opts...) }

// Above restricts a target's prior to θ₁ ≥ Low.
type Above struct {
	targets.GradTarget
	Low float64
}

// LogPrior is −Inf below.
func (t Above) LogPrior(theta []float64) float64 {
	if theta[0] < t.Low {
		return math.Inf(-1)
	}
	return t.GradTarget.LogPrior(theta)
}
