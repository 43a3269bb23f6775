package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// trajectory is Hamiltonian Monte Carlo along released gradients, with a test of the
// released ratio that is corrected for its noise, and flaws.
type trajectory struct {
	kernels.Frame
	target         *spy
	slopes         *curator.Gradients
	ratios         *curator.Ratios
	p, q, g, first []float64
	known          bool       // first holds the gradient at the state
	begun          [2]float64 // where the trajectory began
	steps          int
	own            *rand.Rand
	pcg            *rand.PCG // what own draws from
	flaws
}

func (k *trajectory) Name() string { return "trajectory" }
func (k *trajectory) Left() int64  { return k.ratios.Left() }

func (k *trajectory) Keep(dst []float64) []float64 {
	if k.steps == 0 {
		return dst
	}
	if dst = append(dst, k.p...); k.tells {
		dst = append(dst, k.target.largest)
	}
	return dst
}

func (k *trajectory) Recall(memory []float64) error {
	if most := 2 + int(either(k.tells, 1, 0)); len(memory) != 0 && len(memory) != most {
		return errForeign
	}
	k.steps = len(memory)
	if !k.forgets {
		copy(k.p, memory)
	}
	return nil
}

func (k *trajectory) Init(theta []float64) (*kernels.State, error) {
	k.known, k.steps = false, 0
	return k.Frame.Init(theta)
}

// kick releases the gradient of the log posterior at q and moves the momentum along it.
func (k *trajectory) kick(h float64, q []float64) error {
	if err := k.slopes.Release(k.g, q); err != nil {
		return err
	}
	for j := range k.p {
		if k.g[j] = -k.g[j] - q[j]; k.oldPrior {
			k.g[j] += q[j] - k.begun[j]
		}
		k.p[j] += h * k.g[j]
	}
	return nil
}

func (k *trajectory) draw(rng *rand.Rand, refreshed bool) {
	for j := range k.p {
		sd := math.Sqrt(masses[j])
		if k.inverse {
			sd = 1 / sd
		}
		z := rng.NormFloat64()
		for k.cut && math.Abs(z) > 2 {
			z = rng.NormFloat64()
		}
		z *= sd * either(k.faint, 0.98, 1)
		switch alpha := k.persistence; {
		case !refreshed:
		case k.steps == 0:
			k.p[j] = z
		case k.coefficient:
			k.p[j] = alpha*k.p[j] + (1-alpha)*z
		default:
			k.p[j] = alpha*k.p[j] + math.Sqrt(1-alpha*alpha)*z
		}
	}
}

func (k *trajectory) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.ownSeed {
		rng = k.own
	}
	if k.byIteration {
		k.pcg.Seed(42, uint64(s.Iteration))
		rng = k.own
	}
	k.draw(rng, !k.kept || k.known || k.steps == 0)
	copy(k.q, s.Theta)
	k.begun = [2]float64{s.Theta[0], s.Theta[1]}
	k.steps++
	h := leap
	h /= either(k.warm && k.steps <= 10 && k.target.largest > 1e3, 2, 1)
	u := rng.Float64()
	if k.jitter {
		h *= 0.8 + 0.4*u
	}
	begun, before := [2]float64{k.p[0], k.p[1]}, kinetic(k.p)
	if err := k.leapfrog(h, s); err != nil {
		return kernels.Info{}, err
	}
	noisy, err := k.ratios.Release(k.q, s.Theta)
	if err != nil {
		return kernels.Info{}, err
	}
	noisy += either(!k.somePrior || k.q[1] > 0, k.target.LogPrior(k.q)-k.target.LogPrior(s.Theta), 0)
	if penalty := k.ratios.NoiseSD() * k.ratios.NoiseSD() / 2; k.halfPenalty {
		noisy -= penalty / 2
	} else if !k.noPenalty {
		noisy -= penalty
	}
	noisy /= either(k.warmTest, 1.02, 1)
	s.Iteration++
	accepted := math.Log(u) < noisy+(before-kinetic(k.p))/either(k.heavy, 1.05, 1)
	if k.known = accepted; accepted {
		copy(s.Theta, k.q)
	} else if !k.kept {
		k.p[0], k.p[1] = -begun[0], either(k.halfFlip, begun[1], -begun[1])
		if k.noFlip {
			k.p[0], k.p[1] = begun[0], begun[1]
		}
	}
	info := kernels.Info{Accepted: accepted, StepSize: h, Gradients: leaps + 1}
	if k.miscounts {
		info.Gradients = 1
	}
	return info, nil
}

func (k *trajectory) leapfrog(h float64, s *kernels.State) error {
	copy(k.first, k.g)
	begun := [2]float64{k.p[0], k.p[1]}
	half := h / 2
	half *= either(k.shortKick, 0.95, 1)
	if err := k.kick(half, k.q); err != nil {
		return err
	}
	h /= either(k.timid && math.Hypot(k.g[0], k.g[1]) > 5, 2, 1)
	if k.stale && k.steps > 1 {
		for j := range k.p {
			k.p[j] = begun[j] + h/2*k.first[j]
		}
	}
	turned, n := false, leaps
	if k.uneven && s.Theta[0] > center[0] {
		n--
	}
	for i := range n {
		along := k.p[0]*(k.q[0]-s.Theta[0]) + k.p[1]*(k.q[1]-s.Theta[1])
		turned = turned || k.turns && along < 0
		if !turned {
			for j := range k.q {
				mass := masses[j]
				if k.swapped && i == 0 {
					mass = masses[1-j]
				}
				k.q[j] += h * k.p[j] / mass
			}
		}
		by := h
		if i == n-1 && !k.wholeKick {
			by = h / 2
		}
		if turned {
			by = 0
		}
		if err := k.kick(by, k.q); err != nil {
			return err
		}
	}
	return nil
}

// flaws of a trajectory; none is right.
type flaws struct {
	persistence float64 // of the momentum; 0 draws it afresh

	wholeKick   bool // the last half step of the momentum is a whole one
	kept        bool // the momentum is drawn after accepted moves only
	stale       bool // the gradient at the refused end is taken for that at the start
	inverse     bool // the momentum is drawn with the inverse mass
	noPenalty   bool // the noise of the ratio is not corrected for
	somePrior   bool // no prior ratio for moves that end below 0
	turns       bool // ends where the trajectory turns round
	timid       bool // half the step where the gradient is large
	ownSeed     bool // draws from a generator of its own
	coefficient bool // 1 − α for √(1 − α²)
	forgets     bool // Recall does nothing
	warm        bool // the scale of the first steps is a record's
	oldPrior    bool // the prior's gradient is that where the trajectory began
	jitter      bool // the number that is compared with the odds scales the step
	miscounts   bool // Gradients is 1
	noFlip      bool // a momentum that persists goes on after a refusal
	halfFlip    bool // so does one of its numbers
	byIteration bool // the generator is one of the iteration's
	shortKick   bool // the first half step of the momentum is 5% short
	cut         bool // the momentum is drawn within two sd
	halfPenalty bool // half of the ratio's noise is corrected for
	tells       bool // what it remembers ends with the largest record
	uneven      bool // one leap fewer from one half of the law
	faint       bool // the momentum is drawn 2% short
	heavy       bool // the kinetic energy is of masses 5% larger
	warmTest    bool // the log-odds of the posterior are 2% small
	swapped     bool // the first leap takes each mass for the other
}

var masses = [2]float64{1, 2}

const leaps, leap = 3, 0.25

func newTrajectory(c *curator.Curator, steps int64, f flaws) (kernels.Kernel, error) {
	target := &spy{GaussianMean: posteriors.StandardMean()}
	k := &trajectory{Frame: kernels.NewFrame("trajectory", target), target: target, p: make([]float64, 2),
		q: make([]float64, 2), g: make([]float64, 2), first: make([]float64, 2), flaws: f, pcg: rand.NewPCG(1, 2)}
	k.own = rand.New(k.pcg)
	var err error
	if k.slopes, err = curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4},
		steps*(leaps+1)); err != nil {
		return nil, err
	}
	k.ratios, err = curator.Charge(c, curator.NoisyRatio{Target: target, Clip: 50, NoiseMultiplier: 0.005}, steps)
	return k, err
}

func kinetic(p []float64) float64 { return p[0]*p[0]/(2*masses[0]) + p[1]*p[1]/(2*masses[1]) }

func flawed(name, effect string, law bool, f flaws) Case {
	return sampled(name, effect, law, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newTrajectory(c, steps, f)
	})
}
