package barkerdynamics

import (
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a chain of Barker proposal dynamics. Every field is
// public and must be chosen without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.GradTarget
	// Scale is the standard deviation of a coordinate's move. Required.
	Scale float64
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record, which biases the chain unless
	// Adjusted, and with Adjusted also |τ·(ℓ(z;θ) − ℓ(z;θ′))| for a move of length
	// 1, which biases it. Zero uses the target's certificate, which shortens
	// nothing, and is refused when it has none.
	Clip float64
	// Adjusted accepts or rejects every move by one more bit, which makes the
	// chain exact and costs about 9·Dim times as much as the signs.
	Adjusted bool
}

func (c Config) mechanism() curator.GradientSigns {
	return curator.GradientSigns{Target: c.Target, Temperature: c.Temperature, Clip: c.Clip, Scale: c.Scale,
		Adjusted: c.Adjusted}
}

// Cost is the price of one step on records with the given public facts. It charges
// nothing. Errors: a setting that is missing or out of range, a target that does not
// fit, a bound that neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := kernels.CheckTarget("barkerdynamics", c.Target); err != nil {
		return accountant.Event{}, err
	}
	return c.mechanism().Event(f)
}

// Kernel is one private chain of Barker proposal dynamics (Livingstone and
// Zanella 2022) over one curator's records: each coordinate moves by a drawn
// size, forward with probability 1/(1 + e^{−size·∂ log π}). The signs are what is
// released. Compared with Langevin steps no gradient is: the coin of each sign is
// the privacy noise, and a steep gradient can at worst make it certain.
//
// Unadjusted, the chain is biased by its scale: standard deviations come out 1 to
// 3% too large when it is a quarter of them, and 40% when it is 1.3 times them, on a
// Gaussian and a logistic posterior; more where the curvature varies. Adjusted, it is
// exact up to clipping. docs/proofs/barker-dynamics.md has the proofs and figures.
type Kernel struct {
	kernels.Frame
	config Config
	signs  *curator.Signs
	next   []float64
}

var _ kernels.Watched = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and
// returns the kernel that makes them. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	return kernels.Granted(Prepare, c, records)
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step.
func Prepare(c Config, _ curator.Facts) (*Kernel, []curator.Request, error) {
	if err := kernels.CheckTarget("barkerdynamics", c.Target); err != nil {
		return nil, nil, err
	}
	if err := kernels.CheckIterations("barkerdynamics", c.Iterations); err != nil {
		return nil, nil, err
	}
	k := &Kernel{Frame: kernels.NewFrame("barkerdynamics", c.Target), config: c, next: make([]float64, c.Target.Dim())}
	return k, []curator.Request{curator.RequestFor(&k.signs, c.mechanism(), c.Iterations)}, nil
}

// Name is "dp_barker_dynamics", or "dp_barker_dynamics_adjusted".
func (k *Kernel) Name() string {
	if k.config.Adjusted {
		return "dp_barker_dynamics_adjusted"
	}
	return "dp_barker_dynamics"
}

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 { return k.signs.Left() }

// Step makes one move of every coordinate, if it is accepted. All its randomness
// is the curator's; rng is not used.
func (k *Kernel) Step(_ *rand.Rand, s *kernels.State) (kernels.Info, error) {
	accepted, err := k.signs.Move(k.next, s.Theta)
	if err != nil {
		return kernels.Info{}, err
	}
	k.Moved(k.next, s.Theta, 0.5)
	if accepted {
		copy(s.Theta, k.next)
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: k.config.Scale}, nil
}
