package targets

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/priors"
)

// priorPart is the prior half of a target: it offers LogPrior, GradLogPrior and
// SamplePrior.
type priorPart struct{ prior priors.Prior }

// newPriorPart refuses a missing prior, or one that does not fit dim parameters.
// It shares no memory with the caller's.
func newPriorPart(p priors.Prior, dim int) (priorPart, error) {
	if p == nil {
		return priorPart{},
			fmt.Errorf("targets: no prior is given; give one for %d parameters, such as priors.Gaussian{SD: 3}", dim)
	}
	if err := p.Check(dim); err != nil {
		return priorPart{}, err
	}
	return priorPart{priors.Clone(p)}, nil
}

// LogPrior returns the log prior density up to a constant.
func (p priorPart) LogPrior(theta []float64) float64 { return p.prior.LogDensity(theta) }

// GradLogPrior sets dst to the gradient of the log prior density.
func (p priorPart) GradLogPrior(dst, theta []float64) { p.prior.Grad(dst, theta) }

// SamplePrior sets theta to a draw from the prior.
func (p priorPart) SamplePrior(theta []float64, rng *rand.Rand) { p.prior.Sample(theta, rng) }

// checkScalePrior refuses a missing or malformed prior of the named scale.
func checkScalePrior(name string, p priors.Scale) error {
	if p == nil {
		return fmt.Errorf("targets: no prior of %s is given; give one, such as priors.HalfCauchy{Scale: 1}", name)
	}
	return p.Check()
}

// positive returns an error unless v is positive and finite.
func positive(name string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return fmt.Errorf("targets: %s = %v, but it must be positive and finite", name, v)
}
