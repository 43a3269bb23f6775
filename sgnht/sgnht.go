package sgnht

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Kernel is one private chain of the stochastic gradient Nosé–Hoover
// thermostat (Ding et al. 2014). The momentum p and the friction ξ follow
//
//	dθ = √m·p dt,  dp = √m·∇log π dt − ξp dt + N(0, 2A dt),  dξ = (‖p‖²/d − 1)/μ dt,
//
// so that ξ learns how much noise the gradients bring beyond what is known: the
// minibatch's, and any excess of the privacy noise. A step splits the dynamics
// symmetrically (Leimkuhler and Shang 2016) around one gradient release; its
// bias is of order h².
type Kernel struct {
	kernels.Drift
	step     kernels.Schedule
	scales   []float64 // √m
	friction float64   // A: Config.Friction, or what the privacy noise amounts to
	mass     float64

	gradient, next, momentum []float64

	xi    float64
	fresh bool // momentum and ξ are to be drawn
	left  int64
}

var _ kernels.Keeper = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and returns the kernel
// that makes them. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	return kernels.Granted(Prepare, c, records)
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step. Several chains, and their start, can so be
// charged as one. f are the facts of those records.
func Prepare(c Config, f curator.Facts) (*Kernel, []curator.Request, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	sd, err := c.Mechanism().NoiseSD(f)
	if err != nil {
		return nil, nil, err
	}
	dim := c.Target.Dim()
	scales := kernels.Scales(c.Precondition, dim)
	k := &Kernel{
		Drift: kernels.NewDrift("sgnht", c.Target), step: c.Step, mass: c.thermalMass(), fresh: true, left: c.Iterations,
		scales: scales, friction: max(c.Friction, c.Step.At(0)*slices.Max(scales)*sd*sd/2),
		gradient: make([]float64, dim), next: make([]float64, dim), momentum: make([]float64, dim),
	}
	for j, m := range scales {
		scales[j] = math.Sqrt(m)
	}
	return k, []curator.Request{curator.RequestFor(&k.Gradients, c.Mechanism(), c.Iterations)}, nil
}

// Name is "dp_sgnht".
func (k *Kernel) Name() string { return "dp_sgnht" }

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 { return k.left }

// Init starts a chain at theta; its first step draws a momentum.
func (k *Kernel) Init(theta []float64) (*kernels.State, error) {
	k.fresh = true
	return k.Drift.Init(theta)
}

// Keep implements kernels.Keeper: ξ and the momentum.
func (k *Kernel) Keep(dst []float64) []float64 {
	if k.fresh {
		return dst
	}
	return append(append(dst, k.xi), k.momentum...)
}

// Recall implements kernels.Keeper.
func (k *Kernel) Recall(memory []float64) error {
	if len(memory) == 0 {
		k.fresh = true
		return nil
	}
	if len(memory) != len(k.momentum)+1 {
		return fmt.Errorf("sgnht: %d values were kept, and a friction and a momentum have %d", len(memory),
			len(k.momentum)+1)
	}
	k.xi, k.fresh = memory[0], false
	copy(k.momentum, memory[1:])
	return nil
}

// Step makes one step of the dynamics. A step out of the prior's support, or to
// a point that is not finite, is not made: the chain stays, draws a new momentum
// in its next step, and Accepted is false; a gradient that it then did not need
// lapses. Errors: curator.ErrSpent; a state of the wrong length, or that no chain
// can be in.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.left == 0 {
		return kernels.Info{}, curator.ErrSpent
	}
	// Other kernels leave this to the release, which a refused half step never asks for.
	if len(s.Theta) != len(k.next) || !k.Inside(s.Theta) {
		return kernels.Info{}, fmt.Errorf("sgnht: the state %v is not %d finite values inside the prior's support; start "+
			"from Init", s.Theta, len(k.next))
	}
	h := k.step.At(s.Iteration)
	if k.fresh {
		k.draw(rng)
	}
	for j, t := range s.Theta {
		k.next[j] = t + float64(h/2*k.scales[j]*k.momentum[j])
	}
	info := kernels.Info{StepSize: h, Gradients: 1}
	if k.Inside(k.next) {
		if err := k.Release(k.gradient, k.next); err != nil {
			return kernels.Info{}, err
		}
		k.kick(rng, h)
		for j := range k.next {
			k.next[j] += float64(h / 2 * k.scales[j] * k.momentum[j])
		}
		info.Accepted = k.Inside(k.next) && !math.IsNaN(k.xi)
	}
	k.left--
	s.Iteration++
	if info.Accepted {
		copy(s.Theta, k.next)
	} else {
		k.fresh = true
	}
	return info, nil
}

// draw starts the auxiliary variables from their stationary law's centre.
func (k *Kernel) draw(rng *rand.Rand) {
	for j := range k.momentum {
		k.momentum[j] = rng.NormFloat64()
	}
	k.xi, k.fresh = k.friction, false
}

// kick advances ξ by h/2, p by h, and ξ by h/2 again, at a fixed position. The
// friction part is solved exactly, with the noise that the gradient's own leaves
// to be added.
func (k *Kernel) kick(rng *rand.Rand, h float64) {
	k.heat(h / 2)
	decay := math.Exp(-k.xi * h)
	spread := h // ∫ e^{−2ξt} dt over the step
	if x := 2 * k.xi * h; math.Abs(x) > 1e-9 {
		spread = -math.Expm1(-x) / (2 * k.xi)
	}
	sd := k.Gradients.NoiseSD()
	for j, p := range k.momentum {
		force := k.scales[j] * k.gradient[j]
		known := float64(k.scales[j] * sd)
		topUp := math.Sqrt(max(0, (2*k.friction-float64(h*known*known))*spread))
		p = float64((p+float64(h/2*force))*decay) + float64(topUp*rng.NormFloat64())
		k.momentum[j] = p + float64(h/2*force)
	}
	k.heat(h / 2)
}

// heat advances ξ.
func (k *Kernel) heat(h float64) {
	sum := 0.0
	for _, p := range k.momentum {
		sum += float64(p * p)
	}
	k.xi += h * (sum/float64(len(k.momentum)) - 1) / k.mass
}
