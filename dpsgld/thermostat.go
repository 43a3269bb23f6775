package dpsgld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Thermostat is one private chain of the stochastic gradient Nosé–Hoover
// thermostat (Ding et al. 2014). The momentum p and the friction ξ follow
//
//	dθ = √m·p dt,  dp = √m·∇log π dt − ξp dt + N(0, 2A dt),  dξ = (‖p‖²/d − 1)/μ dt,
//
// so that ξ learns how much noise the gradients bring beyond what is known: the
// minibatch's, and any excess of the privacy noise. A step splits the dynamics
// symmetrically (Leimkuhler and Shang 2016) around one gradient release; its
// bias is of order h².
type Thermostat struct {
	config    Config
	gradients *curator.Gradients
	scales    []float64 // √m
	friction  float64   // A: Config.Friction, or what the privacy noise amounts to
	mass      float64

	gradient, next, released, momentum []float64

	xi    float64
	fresh bool // momentum and ξ are to be drawn
	left  int64
}

var _ kernels.Keeper = (*Thermostat)(nil)

// NewThermostat charges all of c.Iterations steps to the curator's budget and
// returns the kernel that makes them. Errors: those of Cost; a Friction or
// ThermalMass out of range; Hot or AsPublished, which have no meaning here. On an
// error nothing was charged or read.
func NewThermostat(c Config, records *curator.Curator) (*Thermostat, error) {
	k, requests, err := PrepareThermostat(c, records.Facts())
	if err == nil {
		err = records.Grant(requests...)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// PrepareThermostat is NewThermostat without the charge: see Prepare.
func PrepareThermostat(c Config, f curator.Facts) (*Thermostat, []curator.Request, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	if c.ThermalMass == 0 {
		c.ThermalMass = 1 / (c.Friction * c.Friction)
	}
	switch {
	case !(c.Friction > 0) || math.IsInf(c.Friction, 0):
		return nil, nil, fmt.Errorf("dpsgld: Config.Friction is %v; a thermostat needs a positive, finite one", c.Friction)
	case !(c.ThermalMass > 0) || math.IsInf(c.ThermalMass, 0):
		return nil, nil, fmt.Errorf("dpsgld: Config.ThermalMass is %v; it must be positive and finite", c.ThermalMass)
	case c.Hot || c.AsPublished:
		return nil, nil, fmt.Errorf("dpsgld: Hot and AsPublished belong to the Langevin kernel; a thermostat absorbs " +
			"excess noise")
	}
	sd, err := c.mechanism().NoiseSD(f)
	if err != nil {
		return nil, nil, err
	}
	dim := c.Target.Dim()
	k := &Thermostat{
		config: c, scales: c.scales(), mass: c.ThermalMass, fresh: true, left: c.Iterations,
		friction: max(c.Friction, c.Step.At(0)*slices.Max(c.scales())*sd*sd/2),
		gradient: make([]float64, dim), next: make([]float64, dim), released: make([]float64, dim),
		momentum: make([]float64, dim),
	}
	for j, m := range k.scales {
		k.scales[j] = math.Sqrt(m)
	}
	return k, []curator.Request{curator.RequestGradients(&k.gradients, c.mechanism(), c.Iterations)}, nil
}

// Name is "dp_sgnht".
func (k *Thermostat) Name() string { return "dp_sgnht" }

// Dim is the number of parameters.
func (k *Thermostat) Dim() int { return len(k.next) }

// Left is the number of steps still paid for.
func (k *Thermostat) Left() int64 { return k.left }

// Init starts a chain at theta; its first step draws a momentum.
func (k *Thermostat) Init(theta []float64) (*kernels.State, error) {
	s, err := kernels.NewState(k.config.Target, theta)
	if err != nil {
		return nil, fmt.Errorf("dpsgld: %w", err)
	}
	k.fresh = true
	return s, nil
}

// Keep implements kernels.Keeper: ξ and the momentum.
func (k *Thermostat) Keep(dst []float64) []float64 {
	if k.fresh {
		return dst
	}
	return append(append(dst, k.xi), k.momentum...)
}

// Recall implements kernels.Keeper.
func (k *Thermostat) Recall(memory []float64) error {
	if len(memory) == 0 {
		k.fresh = true
		return nil
	}
	if len(memory) != len(k.momentum)+1 {
		return fmt.Errorf("dpsgld: %d values were kept, and a friction and a momentum have %d", len(memory),
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
func (k *Thermostat) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.left == 0 {
		return kernels.Info{}, curator.ErrSpent
	}
	// Other kernels leave this to the release, which a refused half step never asks for.
	if len(s.Theta) != len(k.next) || !allowed(k.config, s.Theta) {
		return kernels.Info{}, fmt.Errorf("dpsgld: the state %v is not %d finite values inside the prior's support; start "+
			"from Init", s.Theta, len(k.next))
	}
	h := k.config.Step.At(s.Iteration)
	if k.fresh {
		k.draw(rng)
	}
	for j, t := range s.Theta {
		k.next[j] = t + float64(h/2*k.scales[j]*k.momentum[j])
	}
	info := kernels.Info{StepSize: h, Gradients: 1}
	if allowed(k.config, k.next) {
		if err := release(k.gradient, k.released, k.next, k.config, k.gradients); err != nil {
			return kernels.Info{}, err
		}
		k.kick(rng, h)
		for j := range k.next {
			k.next[j] += float64(h / 2 * k.scales[j] * k.momentum[j])
		}
		info.Accepted = allowed(k.config, k.next) && !math.IsNaN(k.xi)
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
func (k *Thermostat) draw(rng *rand.Rand) {
	for j := range k.momentum {
		k.momentum[j] = rng.NormFloat64()
	}
	k.xi, k.fresh = k.friction, false
}

// kick advances ξ by h/2, p by h, and ξ by h/2 again, at a fixed position. The
// friction part is solved exactly, with the noise that the gradient's own leaves
// to be added.
func (k *Thermostat) kick(rng *rand.Rand, h float64) {
	k.heat(h / 2)
	decay := math.Exp(-k.xi * h)
	spread := h // ∫ e^{−2ξt} dt over the step
	if x := 2 * k.xi * h; math.Abs(x) > 1e-9 {
		spread = -math.Expm1(-x) / (2 * k.xi)
	}
	sd := k.gradients.NoiseSD()
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
func (k *Thermostat) heat(h float64) {
	sum := 0.0
	for _, p := range k.momentum {
		sum += float64(p * p)
	}
	k.xi += h * (sum/float64(len(k.momentum)) - 1) / k.mass
}
