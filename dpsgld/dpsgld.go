package dpsgld

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Kernel is one private Langevin chain over one curator's records.
type Kernel struct {
	kernels.Drift
	config   Config
	scales   []float64
	gradient []float64 // of the log posterior, with the privacy noise
	next     []float64
}

var _ kernels.Kernel = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and returns
// the kernel that makes them. Errors: those of Cost; a step whose privacy noise
// exceeds its Langevin noise without Hot; a budget that does not cover the
// chain. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	return kernels.Granted(Prepare, c, records)
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step. Several chains, and their start, can so be
// charged as one. f are the facts of those records.
func Prepare(c Config, f curator.Facts) (*Kernel, []curator.Request, error) {
	share, err := NoiseShare(c, f)
	if err != nil {
		return nil, nil, err
	}
	if share > 1+1e-9 && !c.Hot { // up to the rounding of a step chosen to be the largest
		return nil, nil, fmt.Errorf("dpsgld: the privacy noise is %.3g times the Langevin noise of the first step: lower "+
			"Step to at most %.6g, or NoiseMultiplier, "+
			"or set Hot to sample at a temperature of about %.3g", share, c.Step.At(0)/share, share)
	}
	dim := c.Target.Dim()
	k := &Kernel{Drift: kernels.NewDrift("dpsgld", c.Target), config: c, scales: kernels.Scales(c.Precondition, dim),
		gradient: make([]float64, dim), next: make([]float64, dim)}
	return k, []curator.Request{curator.RequestFor(&k.Gradients, c.Mechanism(), c.Iterations)}, nil
}

// Name is "dp_sgld", and "dp_sgld_published" for the published update, which
// targets the square of the posterior.
func (k *Kernel) Name() string {
	if k.config.AsPublished {
		return "dp_sgld_published"
	}
	return "dp_sgld"
}

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 { return k.Gradients.Left() }

// Step makes one Langevin step. A step out of the prior's support, or to a
// point that is not finite, is public knowledge once the gradient is released;
// it is not made, and Accepted is false.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if err := k.Release(k.gradient, s.Theta); err != nil {
		return kernels.Info{}, err
	}
	step := k.config.Step.At(s.Iteration)
	sd, drift := k.Gradients.NoiseSD(), k.config.drift()
	for j, t := range s.Theta {
		h := step * k.scales[j]
		injected := float64(drift * h * sd)
		topUp := math.Sqrt(max(0, h-float64(injected*injected)))
		k.next[j] = t + float64(drift*h*k.gradient[j]) + float64(topUp*rng.NormFloat64())
	}
	s.Iteration++
	inside := k.Inside(k.next)
	if inside {
		copy(s.Theta, k.next)
	}
	return kernels.Info{Accepted: inside, StepSize: step, Gradients: 1}, nil
}
