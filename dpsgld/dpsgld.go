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
	config    Config
	gradients *curator.Gradients
	scales    []float64
	gradient  []float64 // of the log posterior, with the privacy noise
	next      []float64
}

var _ kernels.Kernel = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and returns
// the kernel that makes them. Errors: those of Cost; a step whose privacy noise
// exceeds its Langevin noise without Hot; a budget that does not cover the
// chain. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	k, requests, err := Prepare(c, records.Facts())
	if err == nil {
		err = records.Grant(requests...)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step. Several chains, and their start, can so be
// charged as one. f are the facts of those records.
func Prepare(c Config, f curator.Facts) (*Kernel, []curator.Request, error) {
	share, err := NoiseShare(c, f)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case c.Friction != 0 || c.ThermalMass != 0:
		return nil, nil, fmt.Errorf("dpsgld: Friction and ThermalMass belong to a thermostat; use NewThermostat")
	case share > 1+1e-9 && !c.Hot: // up to the rounding of a step chosen to be the largest
		return nil, nil, fmt.Errorf("dpsgld: the privacy noise is %.3g times the Langevin noise of the first step: lower "+
			"Step to at most %.6g, or NoiseMultiplier, "+
			"or set Hot to sample at a temperature of about %.3g", share, c.Step.At(0)/share, share)
	}
	dim := c.Target.Dim()
	k := &Kernel{config: c, scales: c.scales(), gradient: make([]float64, dim), next: make([]float64, dim)}
	return k, []curator.Request{curator.RequestGradients(&k.gradients, c.mechanism(), c.Iterations)}, nil
}

// Name is "dp_sgld", and "dp_sgld_published" for the published update, which
// targets the square of the posterior.
func (k *Kernel) Name() string {
	if k.config.AsPublished {
		return "dp_sgld_published"
	}
	return "dp_sgld"
}

// Dim is the number of parameters.
func (k *Kernel) Dim() int { return len(k.next) }

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 { return k.gradients.Left() }

// Init starts a chain at theta.
func (k *Kernel) Init(theta []float64) (*kernels.State, error) {
	s, err := kernels.NewState(k.config.Target, theta)
	if err != nil {
		return nil, fmt.Errorf("dpsgld: %w", err)
	}
	return s, nil
}

// Step makes one Langevin step. A step out of the prior's support, or to a
// point that is not finite, is public knowledge once the gradient is released;
// it is not made, and Accepted is false.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if err := release(k.gradient, k.next, s.Theta, k.config, k.gradients); err != nil {
		return kernels.Info{}, err
	}
	step := k.config.Step.At(s.Iteration)
	sd, drift := k.gradients.NoiseSD(), k.config.drift()
	for j, t := range s.Theta {
		h := step * k.scales[j]
		injected := float64(drift * h * sd)
		topUp := math.Sqrt(max(0, h-float64(injected*injected)))
		k.next[j] = t + float64(drift*h*k.gradient[j]) + float64(topUp*rng.NormFloat64())
	}
	s.Iteration++
	inside := allowed(k.config, k.next)
	if inside {
		copy(s.Theta, k.next)
	}
	return kernels.Info{Accepted: inside, StepSize: step, Gradients: 1}, nil
}

// release sets gradient to the noisy gradient of the log posterior at theta,
// using scratch.
func release(gradient, scratch, theta []float64, c Config, g *curator.Gradients) error {
	if err := g.Release(scratch, theta); err != nil {
		return err
	}
	c.Target.GradLogPrior(gradient, theta)
	for j, v := range scratch {
		gradient[j] -= v
	}
	return nil
}

// allowed reports whether theta is finite and inside the prior's support.
func allowed(c Config, theta []float64) bool {
	for _, t := range theta {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return false
		}
	}
	lp := c.Target.LogPrior(theta)
	return !math.IsNaN(lp) && !math.IsInf(lp, -1)
}
