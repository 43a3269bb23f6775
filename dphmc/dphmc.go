package dphmc

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Kernel is one private Hamiltonian chain over one curator's records. Where it reuses
// gradients it has paid for one start: a second Init, elsewhere, leaves its last
// trajectories without force.
type Kernel struct {
	kernels.Drift
	config Config
	bounds kernels.Bounds
	bits   *curator.Bits   // nil for PublishedPenalty
	ratios *curator.Ratios // nil for BarkerBit
	left   int64

	sizes    sequence
	path     trajectory
	force    func(gradient, position []float64) error
	here     []float64 // where the current point's gradient was released; NaN for nowhere
	gradient []float64 // the gradient released there
}

var _ kernels.Keeper = (*Kernel)(nil)

// New charges the whole chain (ChainCost) to the curator's budget and returns
// the kernel that makes it. Errors: those of Cost; a budget that does not cover
// the chain. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	return kernels.Granted(Prepare, c, records)
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step. Several chains, and their start, can so be
// charged as one. f are the facts of those records.
func Prepare(c Config, f curator.Facts) (*Kernel, []curator.Request, error) {
	if err := c.check(f); err != nil {
		return nil, nil, err
	}
	dim := c.Target.Dim()
	c.Mass = kernels.Scales(c.Mass, dim)
	c.JitterWidth = cmp.Or(c.JitterWidth, 1)
	k := &Kernel{
		Drift: kernels.NewDrift("dphmc", c.Target), config: c, bounds: c.certified(f), left: c.Iterations,
		sizes: sequence{jitter: c.Jitter}, path: newTrajectory(c.Mass),
		here: make([]float64, dim), gradient: make([]float64, dim),
	}
	k.here[0], k.force = math.NaN(), k.Release
	test := curator.RequestFor(&k.bits, c.bit(f), c.Iterations)
	if c.Acceptance == PublishedPenalty {
		ratio, err := c.ratio(f)
		if err != nil {
			return nil, nil, err
		}
		test = curator.RequestFor(&k.ratios, ratio, c.Iterations)
	}
	return k, []curator.Request{curator.RequestFor(&k.Gradients, c.gradient(), c.gradients()), test}, nil
}

// Name is "dp_hmc", and "dp_hmc_penalty" with the published test.
func (k *Kernel) Name() string {
	if k.config.Acceptance == PublishedPenalty {
		return "dp_hmc_penalty"
	}
	return "dp_hmc"
}

// Left is the number of trajectories still paid for.
func (k *Kernel) Left() int64 { return k.left }

// Init starts a chain at theta, which remembers nothing of an earlier one.
func (k *Kernel) Init(theta []float64) (*kernels.State, error) {
	k.forget()
	return k.Drift.Init(theta)
}

func (k *Kernel) forget() {
	k.here[0], k.sizes = math.NaN(), sequence{jitter: k.config.Jitter}
}

// Keep implements kernels.Keeper: the sequence of step sizes, and the gradient with the
// point where it was released.
func (k *Kernel) Keep(dst []float64) []float64 {
	if math.IsNaN(k.here[0]) {
		return dst
	}
	s := &k.sizes // whose words do not fit a float64 whole
	dst = append(dst, float64(s.count), float64(s.shift>>32), float64(s.shift&math.MaxUint32))
	return append(append(dst, k.here...), k.gradient...)
}

// Recall implements kernels.Keeper.
func (k *Kernel) Recall(memory []float64) error {
	if len(memory) == 0 {
		k.forget()
		return nil
	}
	const words = 3
	if len(memory) != words+2*len(k.here) || !(min(memory[0], memory[1], memory[2]) >= 0) ||
		max(memory[1], memory[2]) > math.MaxUint32 || memory[0] >= 1<<53 {
		return fmt.Errorf("dphmc: %d values were kept, which are not those of a chain in %d dimensions", len(memory),
			len(k.here))
	}
	k.sizes.count, k.sizes.shift = uint64(memory[0]), uint64(memory[1])<<32|uint64(memory[2])
	k.sizes.shifted = k.sizes.count > 0
	copy(k.here, memory[words:])
	copy(k.gradient, memory[words+len(k.here):])
	return nil
}

// Step makes one trajectory and accepts or rejects its end. Trajectories that
// are not finite, end outside the prior's support or end further away than was
// paid for are rejected without a look at the data; releases they did not need
// lapse.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.left == 0 {
		return kernels.Info{}, curator.ErrSpent
	}
	before := k.Gradients.Left()
	if k.config.FreshStart || !slices.Equal(k.here, s.Theta) {
		if err := k.Release(k.gradient, s.Theta); err != nil {
			return kernels.Info{}, err
		}
		copy(k.here, s.Theta)
	}
	size := k.config.StepSize * (1 - k.config.JitterWidth*(1-k.sizes.next(rng)))
	k.start(rng, s.Theta)
	kinetic := k.path.kinetic()
	accepted, err := k.path.leapfrog(size, k.config.Steps, k.force)
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		public := k.config.Target.LogPrior(k.path.position) - k.config.Target.LogPrior(s.Theta) + kinetic - k.path.kinetic()
		if accepted, err = k.accept(rng, s.Theta, public); err != nil {
			return kernels.Info{}, err
		}
	}
	if accepted {
		copy(s.Theta, k.path.position)
		copy(k.here, k.path.position)
		copy(k.gradient, k.path.gradient)
	}
	k.left--
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: size, Gradients: int(before - k.Gradients.Left())}, nil
}

// start puts the trajectory at theta with a fresh momentum.
func (k *Kernel) start(rng *rand.Rand, theta []float64) {
	copy(k.path.position, theta)
	copy(k.path.gradient, k.gradient)
	for j, m := range k.path.mass {
		k.path.momentum[j] = math.Sqrt(m) * rng.NormFloat64()
	}
}

// accept decides whether the chain moves from theta to the trajectory's end;
// public is what the log-odds owe to the prior and the momentum.
func (k *Kernel) accept(rng *rand.Rand, theta []float64, public float64) (bool, error) {
	next := k.path.position
	length := kernels.Distance(next, theta)
	if math.IsNaN(public) || math.IsInf(public, -1) || math.IsInf(length, 1) || !k.allowed(next, theta, length) {
		return false, nil
	}
	if k.bits != nil {
		accepted, err := k.bits.Accept(next, theta, public)
		if err == nil {
			k.Decided(next, theta, accepted)
		}
		return accepted, err
	}
	if length == 0 {
		return true, nil // nothing moves, so there is nothing to release
	}
	clip := k.config.RatioClip * length
	if k.config.RatioClip == 0 {
		clip = k.bounds.Of(next, theta)
	}
	if !(clip <= kernels.MostClip) {
		return false, nil
	}
	ratio, err := k.ratios.ReleaseWithin(next, theta, max(clip, 1/kernels.MostClip))
	if err != nil {
		return false, err
	}
	sd := k.ratios.NoiseSD()
	k.Moved(next, theta, ratio/(sd*sd))
	return math.Log(rng.Float64()) < ratio+public-sd*sd/2, nil
}

// allowed reports whether a move is within what was paid for, from public facts.
// It is symmetric in the two states.
func (k *Kernel) allowed(next, theta []float64, length float64) bool {
	clip := k.config.RatioClip * length
	if longest := k.config.MaxMove; longest > 0 {
		// A hair inside, so that no rounding of the length exceeds it.
		if !(length <= longest*(1-1e-12)) {
			return false
		}
		clip = k.config.RatioClip * longest
	}
	if !k.config.RejectClipped {
		return true
	}
	return k.bounds.Of(next, theta) <= clip
}
