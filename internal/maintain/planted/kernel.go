package planted

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/proptest/posteriors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The kernels sample the posterior of posteriors.Conjugate: N(center, sd²·I) in
// two dimensions.
const (
	precision = 7.0
	step      = 0.5  // of walks
	size      = 0.05 // of Langevin steps
)

var (
	sd     = 1 / math.Sqrt(precision)
	center = []float64{9 / precision, -2 / precision}
)

// spy is a target that remembers what records it was shown.
type spy struct {
	*targets.GaussianMean
	last, largest float64
	strange       bool // NaN was shown
	repeated      int
}

func (s *spy) Loss(dst, theta []float64, rows targets.Rows) {
	for _, x := range rows.X {
		if x == s.last {
			s.repeated++
		}
		s.last = x
		s.largest = max(s.largest, math.Abs(x))
		s.strange = s.strange || math.IsNaN(x)
	}
	s.GaussianMean.Loss(dst, theta, rows)
}

// chain is a walk with Barker's test, or Langevin steps along released gradients,
// with hooks that spoil it. steps counts those of the kernel, whatever the state
// says.
type chain struct {
	target targets.GradTarget
	spy    *spy // the target, where a hook looks at records; else nil
	bits   *curator.Bits
	slopes *curator.Gradients
	next   []float64
	grad   []float64
	before []float64 // the state of the step before
	last   []float64 // the noise of the step before
	steps  int
	info   kernels.Info
	hooks
}

type hooks struct {
	name    string
	propose func(k *chain, rng *rand.Rand, theta, next []float64)
	public  func(k *chain, theta, next []float64, ratio float64) float64
	accept  func(k *chain, rng *rand.Rand, theta, next []float64, accepted bool) bool
	after   func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)
	fail    func(k *chain, s *kernels.State, err error) (kernels.Info, error)
	refuse  func(k *chain, s *kernels.State) error
	init    func(k *chain, theta []float64) (*kernels.State, error)
	left    func(k *chain, left int64) int64
	noise   func(k *chain, rng *rand.Rand, theta, z []float64)
	drift   func(k *chain, theta, g []float64)
	scale   float64 // of the injected noise; 0 for 1
}

func (k *chain) Name() string {
	if k.hooks.name != "" {
		return k.hooks.name
	}
	return "planted"
}
func (k *chain) Dim() int { return 2 }

func (k *chain) Left() int64 {
	left := int64(0)
	if k.bits != nil {
		left = k.bits.Left()
	} else {
		left = k.slopes.Left()
	}
	if k.left != nil {
		return k.left(k, left)
	}
	return left
}

func (k *chain) Init(theta []float64) (*kernels.State, error) {
	clear(k.last)
	if k.init != nil {
		return k.init(k, theta)
	}
	return kernels.NewState(k.target, theta)
}

func (k *chain) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.refuse != nil {
		if err := k.refuse(k, s); err != nil {
			return kernels.Info{}, err
		}
	}
	k.steps++
	var info kernels.Info
	var err error
	if k.bits != nil {
		info, err = k.walk(rng, s)
	} else {
		info, err = k.langevin(rng, s)
	}
	if err != nil {
		if k.fail != nil {
			return k.fail(k, s, err)
		}
		return kernels.Info{}, err
	}
	s.Iteration++
	if k.after == nil {
		return info, nil
	}
	k.info = info // a field, so that hooks make no step allocate
	k.after(k, rng, s, &k.info)
	return k.info, nil
}

func (k *chain) walk(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	for j, t := range s.Theta {
		k.next[j] = t + step*rng.NormFloat64()
	}
	if k.propose != nil {
		k.propose(k, rng, s.Theta, k.next)
	}
	ratio := k.target.LogPrior(k.next) - k.target.LogPrior(s.Theta)
	if k.public != nil {
		ratio = k.public(k, s.Theta, k.next, ratio)
	}
	accepted, err := k.bits.Accept(k.next, s.Theta, ratio)
	if err != nil {
		return kernels.Info{}, err
	}
	if k.accept != nil {
		accepted = k.accept(k, rng, s.Theta, k.next, accepted)
	}
	copy(k.before, s.Theta)
	if accepted {
		copy(s.Theta, k.next)
	}
	return kernels.Info{Accepted: accepted, StepSize: step}, nil
}

func (k *chain) langevin(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if err := k.slopes.Release(k.grad, s.Theta); err != nil {
		return kernels.Info{}, err
	}
	for j, t := range s.Theta {
		k.grad[j] = -k.grad[j] - t // the standard normal prior's
		k.next[j] = rng.NormFloat64()
	}
	if k.drift != nil {
		k.drift(k, s.Theta, k.grad)
	}
	if k.noise != nil {
		k.noise(k, rng, s.Theta, k.next)
	}
	scale := math.Sqrt(size)
	if k.scale > 0 {
		scale *= k.scale
	}
	for j := range s.Theta {
		s.Theta[j] += size/2*k.grad[j] + scale*k.next[j]
	}
	return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
}

// The Langevin chain's law, in each coordinate: (1 − size·precision/2) times the
// distance from the center plus noise.
var (
	keep     = 1 - size*precision/2
	privacy  = 2 * 0.02 * 10.0 // noise multiplier and clip of the gradients
	stepSD   = math.Sqrt(size + size*size/4*privacy*privacy)
	langevin = stepSD / math.Sqrt(1-keep*keep)
)

func newChain(records *curator.Curator, steps int64, walks, spies bool, h hooks) (kernels.Kernel, error) {
	k := &chain{target: posteriors.StandardMean(), next: make([]float64, 2), grad: make([]float64, 2),
		before: make([]float64, 2), last: make([]float64, 2), hooks: h}
	if spies { // a target of one's own is slower
		k.spy = &spy{GaussianMean: posteriors.StandardMean()}
		k.target = k.spy
	}
	var err error
	if walks {
		k.bits, err = records.GrantBits(curator.AcceptanceBit{Target: k.target, Clip: 50}, steps)
	} else {
		k.slopes, err = records.GrantGradients(curator.NoisyGradient{Target: k.target, Clip: 10,
			NoiseMultiplier: 0.02}, steps)
	}
	return k, err
}

func exactly(sd float64) func(rng *rand.Rand, theta []float64) {
	return func(rng *rand.Rand, theta []float64) {
		for j := range theta {
			theta[j] = center[j] + sd*rng.NormFloat64()
		}
	}
}

// asked are options of a case beyond the usual ones.
type asked struct {
	langevin, reversible, transition, noLaw bool
}

func kernel(family, name, effect string, q asked, plant func() hooks) Case {
	return Case{Suite: "CheckKernel", Family: family, Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			records, _ := posteriors.Conjugate()
			o := proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{1, 0}, Seed: seed,
				Effort: effort,
				Exact:  exactly(sd), Reversible: q.reversible}
			if q.langevin {
				o.Exact = exactly(langevin)
			}
			if q.noLaw {
				o.Exact = nil
			}
			if q.transition {
				o.Transition = plainWalk
				if q.langevin {
					o.Transition = plainLangevin
				}
			}
			proptest.CheckKernel(t, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps, !q.langevin, q.noLaw, plant())
			}, o)
		}}
}

// plainWalk and plainLangevin are the kernels' steps without privacy.
func plainWalk(rng *rand.Rand, theta, next []float64) {
	odds := 0.0
	for j, t := range theta {
		next[j] = t + step*rng.NormFloat64()
		odds += precision / 2 * ((t-center[j])*(t-center[j]) - (next[j]-center[j])*(next[j]-center[j]))
	}
	if rng.Float64() > 1/(1+math.Exp(-odds)) {
		copy(next, theta)
	}
}

func plainLangevin(rng *rand.Rand, theta, next []float64) {
	for j, t := range theta {
		next[j] = center[j] + keep*(t-center[j]) + stepSD*rng.NormFloat64()
	}
}

func invarianceDefects() (all []Case) {
	walk := func(name, effect string, h hooks) {
		all = append(all, kernel("invariance of walks", name, effect, asked{}, func() hooks { return h }))
	}
	proposes := func(name, effect string, f func(k *chain, rng *rand.Rand, theta, next []float64)) {
		walk(name, effect, hooks{propose: f})
	}
	scaledWhere := func(where func(theta []float64) bool, by float64) func(k *chain, rng *rand.Rand, theta,
		next []float64) {
		return func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if where(theta) {
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}
		}
	}
	proposes("proposal shifted", "5% of its sd", func(_ *chain, _ *rand.Rand, _,
		next []float64) {
		next[0] += 0.05 * step
	})
	proposes("proposal shifted a little", "2% of its sd",
		func(_ *chain, _ *rand.Rand, _, next []float64) { next[1] -= 0.02 * step })
	proposes("scale beyond one sd", "×1.5", scaledWhere(func(t []float64) bool { return t[0] > center[0]+sd }, 1.5))
	proposes("scale below two sd", "×1.5", scaledWhere(func(t []float64) bool { return t[1] < center[1]-2*sd }, 1.5))
	proposes("scale grows with distance", "10%", func(_ *chain, _ *rand.Rand, theta, next []float64) {
		by := 1 + 0.1*math.Tanh(math.Hypot(theta[0]-center[0], theta[1]-center[1])/sd)
		for j, t := range theta {
			next[j] = t + by*(next[j]-t)
		}
	})
	proposes("more upward moves", "2%", func(_ *chain, rng *rand.Rand, theta, next []float64) {
		if next[0] < theta[0] && rng.Float64() < 0.02 {
			next[0] = 2*theta[0] - next[0]
		}
	})
	proposes("reflected at a wall inside", "wall at −1.5 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
		wall := center[0] - 1.5*sd
		if next[0] < wall {
			next[0] = wall + (wall-next[0])/2
		}
	})
	proposes("moves keep their direction", "0.5 of the last", func(k *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] += 0.5 * k.last[j]
			k.last[j] = next[j] - t
		}
	})
	proposes("one coordinate pulls the other", "5%", func(_ *chain, _ *rand.Rand, theta,
		next []float64) {
		next[1] += 0.05 * (theta[0] - center[0])
	})
	walk("prior forgotten", "1/7 of the curvature", hooks{public: func(_ *chain, _, _ []float64,
		_ float64) float64 {
		return 0
	}})
	walk("prior 20% too weak", "3% of the curvature", hooks{public: func(_ *chain, _, _ []float64,
		r float64) float64 {
		return 0.8 * r
	}})
	walk("prior of the step before", "stale", hooks{public: func(k *chain, _, next []float64, _ float64) float64 {
		return k.target.LogPrior(next) - k.target.LogPrior(k.before)
	}})
	walk("extra refusals outwards", "3%", hooks{accept: func(_ *chain, rng *rand.Rand, theta, next []float64,
		a bool) bool {
		return a && !(math.Abs(next[0]-center[0]) > math.Abs(theta[0]-center[0]) && rng.Float64() < 0.03)
	}})
	walk("extra refusals upwards", "2%", hooks{accept: func(_ *chain, rng *rand.Rand, theta, next []float64, a bool) bool {
		return a && !(next[1] > theta[1] && rng.Float64() < 0.02)
	}})
	walk("accepts without asking", "1 in 100", hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64,
		a bool) bool {
		return a || rng.IntN(100) == 0
	}})
	after := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State)) {
		walk(name, effect, hooks{after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
			if info.Accepted {
				f(k, rng, s)
			}
		}})
	}
	after("drift", "1% of a sd an accepted move", func(_ *chain, _ *rand.Rand,
		s *kernels.State) {
		s.Theta[0] += 0.01 * sd
	})
	after("jumps upwards", "0.3 sd, 1 in 50", func(_ *chain, rng *rand.Rand, s *kernels.State) {
		if rng.IntN(50) == 0 {
			s.Theta[1] += 0.3 * sd
		}
	})
	after("shrinks towards the center", "0.5%", func(_ *chain, _ *rand.Rand,
		s *kernels.State) {
		s.Theta[0] += 0.005 * (center[0] - s.Theta[0])
	})
	after("cut off at 2.5 sd", "tail", func(_ *chain, _ *rand.Rand,
		s *kernels.State) {
		s.Theta[0] = min(s.Theta[0], center[0]+2.5*sd)
	})
	after("couples the coordinates", "1%", func(_ *chain, _ *rand.Rand,
		s *kernels.State) {
		s.Theta[1] += 0.01 * (s.Theta[0] - center[0])
	})
	after("drift after 1000 steps of its own", "2% of a sd", func(k *chain, _ *rand.Rand, s *kernels.State) {
		if k.steps > 1000 {
			s.Theta[0] += 0.02 * sd
		}
	})
	after("drift from iteration 100 on", "2% of a sd", func(_ *chain, _ *rand.Rand, s *kernels.State) {
		if s.Iteration > 100 {
			s.Theta[0] += 0.02 * sd
		}
	})
	after("drift at every tenth iteration", "10% of a sd", func(_ *chain, _ *rand.Rand, s *kernels.State) {
		if s.Iteration%10 == 3 {
			s.Theta[1] += 0.1 * sd
		}
	})
	return all
}

func langevinDefects() (all []Case) {
	add := func(name, effect string, h hooks) {
		all = append(all, kernel("invariance of Langevin steps", name, effect, asked{langevin: true},
			func() hooks { return h }))
	}
	add("noise too large", "3%", hooks{scale: 1.03})
	add("noise too small", "3%", hooks{scale: 0.97})
	add("noise slightly off", "1%", hooks{scale: 1.01})
	add("drift too strong", "3%", hooks{drift: func(_ *chain, _, g []float64) { g[0] *= 1.03; g[1] *= 1.03 }})
	add("drift of one coordinate", "5% weak", hooks{drift: func(_ *chain, _, g []float64) { g[1] *= 0.95 }})
	add("prior's gradient forgotten", "1/7", hooks{drift: func(_ *chain, theta,
		g []float64) {
		g[0] += theta[0]
		g[1] += theta[1]
	}})
	add("noise correlated between coordinates", "0.05",
		hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = z[1]*math.Sqrt(1-0.0025) + 0.05*z[0] }})
	add("noise correlated between steps", "0.05", hooks{noise: func(k *chain, _ *rand.Rand, _, z []float64) {
		for j := range z {
			z[j] = z[j]*math.Sqrt(1-0.0025) + 0.05*k.last[j]
			k.last[j] = z[j]
		}
	}})
	add("noise off centre", "2%", hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[0] += 0.02 }})
	add("noise skewed beyond one sd", "×1.1", hooks{noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
		if theta[0] > center[0]+sd {
			z[0] *= 1.1
		}
	}})
	add("noise repeated at every second step", "repeat", hooks{noise: func(k *chain, _ *rand.Rand, _, z []float64) {
		if k.steps%2 == 0 {
			copy(z, k.last)
		}
		copy(k.last, z)
	}})
	add("noise uniform", "kurtosis", hooks{noise: func(_ *chain, rng *rand.Rand, _,
		z []float64) {
		z[0] = math.Sqrt(12) * (rng.Float64() - 0.5)
	}})
	add("noise with outliers", "×4, 1 in 200", hooks{noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
		if rng.IntN(200) == 0 {
			z[1] *= 4
		}
	}})
	return all
}

func reachDefects() (all []Case) {
	add := func(name, effect string, q asked, h hooks) {
		all = append(all, kernel("reach", name, effect, q, func() hooks { return h }))
	}
	refuses := func(f func(theta, next []float64) bool) hooks {
		return hooks{accept: func(_ *chain, _ *rand.Rand, theta, next []float64, a bool) bool { return a && !f(theta, next) }}
	}
	add("never moves", "", asked{}, refuses(func(_, _ []float64) bool { return true }))
	add("never moves, no law given", "", asked{noLaw: true}, refuses(func(_, _ []float64) bool { return true }))
	fixed := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) { next[1] = theta[1] }}
	add("one parameter never changes", "", asked{}, fixed)
	add("one parameter never changes, no law given", "", asked{noLaw: true}, fixed)
	diagonal := hooks{propose: func(_ *chain, _ *rand.Rand, theta,
		next []float64) {
		next[1] = theta[1] + 0.7*(next[0]-theta[0])
	}}
	add("moves along one line", "", asked{}, diagonal)
	add("moves along one line, no law given", "", asked{noLaw: true}, diagonal)
	lattice := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] = t + math.Copysign(0.3, next[j]-t)
		}
	}}
	add("moves on a lattice", "", asked{}, lattice)
	add("moves on a lattice, no law given", "", asked{noLaw: true}, lattice)
	add("never crosses the median", "", asked{}, refuses(func(a,
		b []float64) bool {
		return (a[0] > center[0]) != (b[0] > center[0])
	}))
	add("never crosses two sd", "2.3% of the law", asked{},
		refuses(func(a, b []float64) bool { return (a[1] > center[1]+2*sd) != (b[1] > center[1]+2*sd) }))
	add("never leaves a shell", "distance 2 sd", asked{}, refuses(func(a, b []float64) bool {
		far := func(t []float64) bool { return math.Hypot(t[0]-center[0], t[1]-center[1]) > 2*sd }
		return far(a) != far(b)
	}))
	add("moves rounded to hundredths", "0.01", asked{noLaw: true},
		hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + math.Round(100*(next[j]-t))/100
			}
		}})
	turn := hooks{after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		a, b := s.Theta[0]-center[0], s.Theta[1]-center[1]
		s.Theta[0], s.Theta[1] = center[0]+math.Cos(0.03)*a-math.Sin(0.03)*b, center[1]+math.Sin(0.03)*a+math.Cos(0.03)*b
		info.Accepted = true
	}}
	add("turns about the center, said to be reversible", "0.03 rad", asked{reversible: true}, turn)
	return all
}

func transitionDefects() (all []Case) {
	add := func(name, effect string, langevin bool, h hooks) {
		all = append(all, kernel("steps against Transition", name, effect, asked{transition: true, langevin: langevin},
			func() hooks { return h }))
	}
	scaled := func(by ...float64) hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + by[j]*(next[j]-t)
			}
		}}
	}
	add("moves too long", "3%", false, scaled(1.03, 1.03))
	add("moves too short", "3%", false, scaled(0.97, 0.97))
	add("one coordinate's moves too long", "4%", false, scaled(1.04, 1))
	add("uniform moves of the same sd", "shape", false,
		hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			next[0] = theta[0] + step*math.Sqrt(12)*(rng.Float64()-0.5)
		}})
	add("lazy", "2%", false, hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64,
		a bool) bool {
		return a && rng.Float64() >= 0.02
	}})
	add("correlated moves", "0.1", false, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		next[1] = theta[1] + 0.995*(next[1]-theta[1]) + 0.1*(next[0]-theta[0])
	}})
	add("Langevin noise and drift both off", "noise 1%", true, hooks{scale: 1.01})
	return all
}

func leakDefects() (all []Case) {
	add := func(name, effect string, plant func() hooks) {
		all = append(all, kernel("leaks", name, effect, asked{noLaw: true}, plant))
	}
	tells := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) {
		add(name, effect, func() hooks { return hooks{after: f} })
	}
	tells("StepSize from step 61 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		if s.Iteration > 60 {
			info.StepSize += 1e-9 * k.spy.last
		}
	})
	tells("StepSize from step 300 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		if s.Iteration > 300 {
			info.StepSize += 1e-9 * k.spy.last
		}
	})
	tells("Info at p = 1/1000", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(1000) == 0 && k.spy.last > 0 {
			info.StepSize = 0.51
		}
	})
	tells("Info for records beyond 10⁴", "large records",
		func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if k.spy.largest > 1e4 {
				info.Gradients++
			}
		})
	tells("Info for records beyond 10¹⁰", "huge records",
		func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if k.spy.largest > 1e10 {
				info.StepSize *= 1 + 1e-15
			}
		})
	tells("Info for NaN", "NaN", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if k.spy.strange {
			info.StepSize = step / 2
		}
	})
	tells("Info for repeated records", "repeats", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
		info.Gradients = min(1, k.spy.repeated/10)
	})
	tells("Accepted at p = 1/500", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(500) == 0 && k.spy.last > 1 {
			info.Accepted = true
		}
	})
	tells("the state's low bits", "10⁻¹⁵", func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if k.spy.last > 1 {
			s.Theta[1] *= 1 + 1e-15
		}
	})
	tells("the state at p = 1/1000", "10⁻³", func(k *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if rng.IntN(1000) == 0 && k.spy.last > 1 {
			s.Theta[0] += 1e-3
		}
	})
	tells("randomness of its own", "noise", func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		if info.Accepted {
			s.Theta[0] += 1e-9 * rand.NormFloat64()
		}
	})
	add("the error at the end", "words", func() hooks {
		return hooks{fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
			return kernels.Info{}, fmt.Errorf("%w (last %v)", err, k.spy.last)
		}}
	})
	add("Info beside the error at the end", "value", func() hooks {
		return hooks{fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
			return kernels.Info{StepSize: k.spy.largest}, err
		}}
	})
	add("an error for huge records", "error", func() hooks {
		return hooks{refuse: func(k *chain, _ *kernels.State) error {
			if k.spy.largest > 1e9 {
				return errors.New("a record is out of range")
			}
			return nil
		}}
	})
	add("a panic for NaN", "panic", func() hooks {
		return hooks{refuse: func(k *chain, _ *kernels.State) error {
			if k.spy.strange {
				panic("NaN")
			}
			return nil
		}}
	})
	add("one release fewer for small records", "count", func() hooks {
		return hooks{refuse: func(k *chain, s *kernels.State) error {
			if k.steps == 40 && k.spy.largest < 2.1 {
				_, err := k.bits.Accept(s.Theta, s.Theta, 0)
				return err
			}
			return nil
		}}
	})
	return all
}

func conformanceDefects() (all []Case) {
	add := func(name, effect string, h hooks) {
		all = append(all, kernel("conformance", name, effect, asked{noLaw: true}, func() hooks { return h }))
	}
	after := func(f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) hooks {
		return hooks{after: f}
	}
	var junk []byte
	add("allocates rarely", "1 in 1000 steps", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
		if rng.IntN(1000) == 0 {
			junk = make([]byte, 100)
		}
	}))
	add("allocates", "every 50 steps", after(func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
		if k.steps%50 == 0 {
			junk = make([]byte, 100+len(junk)%2)
		}
	}))
	add("says Accepted always", "all", after(func(_ *chain, _ *rand.Rand, _ *kernels.State,
		info *kernels.Info) {
		info.Accepted = true
	}))
	add("says Accepted never", "all", after(func(_ *chain, _ *rand.Rand, _ *kernels.State,
		info *kernels.Info) {
		info.Accepted = false
	}))
	add("forgets to say Accepted", "1 in 500", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(500) == 0 {
			info.Accepted = false
		}
	}))
	add("skips an iteration", "step 50", after(func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if k.steps == 50 {
			s.Iteration++
		}
	}))
	add("StepSize NaN", "1 in 300", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(300) == 0 {
			info.StepSize = math.NaN()
		}
	}))
	add("state NaN", "1 in 1000", after(func(_ *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if rng.IntN(1000) == 0 {
			s.Theta[0] = math.NaN()
		}
	}))
	add("an error moves the state", "last step", hooks{fail: func(_ *chain, s *kernels.State,
		err error) (kernels.Info, error) {
		s.Theta[1] += 1e-9
		return kernels.Info{}, err
	}})
	add("an error counts", "last step", hooks{fail: func(_ *chain, s *kernels.State, err error) (kernels.Info, error) {
		s.Iteration++
		return kernels.Info{}, err
	}})
	add("goes on when spent", "last step", hooks{fail: func(_ *chain, _ *kernels.State, _ error) (kernels.Info,
		error) {
		return kernels.Info{}, nil
	}})
	add("Left one too many", "1", hooks{left: func(_ *chain, left int64) int64 { return left + 1 }})
	add("a name with a space", "", hooks{name: "my walk"})
	add("Init keeps the slice", "", hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		s, err := kernels.NewState(k.target, theta)
		if err == nil {
			s.Theta = theta
		}
		return s, err
	}})
	add("Init accepts −Inf", "", hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		if len(theta) == 2 && math.IsInf(theta[1], -1) {
			return &kernels.State{Theta: slices.Clone(theta)}, nil
		}
		return kernels.NewState(k.target, theta)
	}})
	add("breaks far away", "10⁸", hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		if math.Abs(theta[0]) > 1e6 {
			panic("far")
		}
	}})
	return all
}

func kernelDefects() (all []Case) {
	for _, family := range [][]Case{invarianceDefects(), langevinDefects(), reachDefects(), transitionDefects(),
		leakDefects(), conformanceDefects(), unseenKernels()} {
		all = append(all, family...)
	}
	return all
}

func kernelControls() []Case {
	none := func() hooks { return hooks{} }
	return []Case{
		kernel("right", "walk", "", asked{}, none),
		kernel("right", "walk, reversible, Transition", "", asked{reversible: true, transition: true}, none),
		kernel("right", "Langevin", "", asked{langevin: true}, none),
		kernel("right", "Langevin, Transition", "", asked{langevin: true, transition: true}, none),
		kernel("right", "walk, no law", "", asked{noLaw: true}, none),
	}
}
