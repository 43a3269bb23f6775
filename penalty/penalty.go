package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Kernel is one private penalty chain over one curator's records.
type Kernel struct {
	kernels.Frame
	config Config
	bits   *curator.Bits   // nil when noisy ratios are released
	ratios *curator.Ratios // nil when decisions are
	bounds kernels.Bounds
	fixed  float64 // the clip of every move under Fixed noise; 0 otherwise

	next      []float64
	room      []float64
	drawn     bool      // moves are the curator's
	theta     []float64 // the chain's state during a step
	direction []float64 // of each coordinate, ±1, for guided walks; nil otherwise
	prior     float64   // log prior at the chain's state
	ratio     func(next []float64) float64
}

var _ kernels.Keeper = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and returns
// the kernel that makes them. On an error nothing was charged or read.
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
	if err := kernels.CheckIterations("penalty", c.Iterations); err != nil {
		return nil, nil, err
	}
	k := &Kernel{Frame: kernels.NewFrame("penalty", c.Target), config: c, next: make([]float64, c.Target.Dim()),
		room:  make([]float64, c.Target.Dim()),
		drawn: c.Proposal.Drawn()}
	k.ratio = k.logRatio
	if c.Guided {
		k.direction = make([]float64, c.Target.Dim())
	}
	if c.Accounting == "" {
		return k, []curator.Request{curator.RequestFor(&k.bits, c.bit(), c.Iterations)}, nil
	}
	k.bounds = c.bounds(f)
	m, err := c.ratio(k.bounds)
	if err != nil {
		return nil, nil, err
	}
	if !c.Noise.scaled {
		k.fixed = m.Clip
	}
	return k, []curator.Request{curator.RequestFor(&k.ratios, m, c.Iterations)}, nil
}

// Name is "dp_penalty".
func (k *Kernel) Name() string { return "dp_penalty" }

// Left is the number of steps still paid for.
func (k *Kernel) Left() int64 {
	if k.bits != nil {
		return k.bits.Left()
	}
	return k.ratios.Left()
}

// Init starts a chain at theta. A guided one draws its directions in the first
// step, so that a start from the stationary law stays in it.
func (k *Kernel) Init(theta []float64) (*kernels.State, error) {
	clear(k.direction)
	return k.Frame.Init(theta)
}

// Keep implements kernels.Keeper: the directions of a guided walk.
func (k *Kernel) Keep(dst []float64) []float64 {
	if len(k.direction) == 0 || k.direction[0] == 0 {
		return dst
	}
	return append(dst, k.direction...)
}

// Recall implements kernels.Keeper.
func (k *Kernel) Recall(memory []float64) error {
	for _, v := range memory {
		if len(memory) != len(k.direction) || v != 1 && v != -1 {
			return fmt.Errorf("penalty: %v is not a direction, 1 or −1, for each of %d coordinates of a guided walk", memory,
				len(k.direction))
		}
	}
	copy(k.direction, memory)
	return nil
}

// turn draws the directions of a guided chain that has none yet.
func (k *Kernel) turn(rng *rand.Rand) {
	if len(k.direction) == 0 || k.direction[0] != 0 {
		return
	}
	for j := range k.direction {
		k.direction[j] = float64(2*rng.IntN(2) - 1)
	}
}

// Step proposes a move and makes it if the penalty test says so.
func (k *Kernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	k.theta, k.prior = s.Theta, k.config.Target.LogPrior(s.Theta)
	k.turn(rng)
	var moved int
	var accepted bool
	var err error
	if k.bits != nil {
		moved, accepted, err = k.byBit(rng, s.Theta)
	} else {
		moved, accepted, err = k.byRatio(rng, s.Theta)
	}
	if err != nil {
		return kernels.Info{}, err
	}
	switch {
	case accepted:
		copy(s.Theta, k.next)
	case k.direction != nil && moved >= 0:
		k.direction[moved] = -k.direction[moved]
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: k.config.Proposal.StepSize()}, nil
}

// byBit lets the curator decide. moved is the last coordinate that the proposal
// changes, −1 for none.
func (k *Kernel) byBit(rng *rand.Rand, theta []float64) (moved int, accepted bool, err error) {
	switch {
	case k.direction != nil:
		accepted, err = k.bits.MoveAlong(k.next, theta, k.direction, k.ratio)
	case k.drawn:
		accepted, err = k.bits.Move(k.next, theta, k.ratio)
	default:
		k.config.Proposal.Propose(rng, k.next, theta)
		accepted, err = k.bits.Accept(k.next, theta, k.logRatio(k.next))
	}
	if err == nil {
		k.Decided(k.next, theta, accepted)
	}
	return changed(k.next, theta), accepted, err
}

// byRatio decides from a released noisy ratio: with U uniform, log U below the
// ratio less half its noise's variance. Since −log U is exponential, that is
// Gaussian + Exp(1) noise.
func (k *Kernel) byRatio(rng *rand.Rand, theta []float64) (moved int, accepted bool, err error) {
	k.propose(rng, theta)
	moved = changed(k.next, theta)
	public, clip := k.logRatio(k.next), k.clip(theta)
	if !(public > math.Inf(-1)) || !(clip <= kernels.MostClip) {
		// Refused on public grounds. A release is used up all the same, on the move
		// that stays, so that every step costs one.
		copy(k.next, theta)
		public, clip = math.Inf(-1), 1
	}
	noisy, err := k.ratios.ReleaseWithin(k.next, theta, max(clip, 1/kernels.MostClip))
	if err != nil {
		return 0, false, err
	}
	sd := k.ratios.NoiseSD()
	k.Moved(k.next, theta, noisy/(sd*sd))
	return moved, noisy-sd*sd/2+public+rng.ExpFloat64() > 0, nil
}

// clip is the bound that the noise of a move is in proportion to.
func (k *Kernel) clip(theta []float64) float64 {
	if k.fixed > 0 {
		return k.fixed
	}
	return k.bounds.Of(theta, k.next)
}

// propose draws a move from the chain's public stream.
func (k *Kernel) propose(rng *rand.Rand, theta []float64) {
	if k.direction == nil {
		k.config.Proposal.Propose(rng, k.next, theta)
		return
	}
	copy(k.next, theta)
	j := rng.IntN(len(theta))
	k.next[j] += k.direction[j] * math.Abs(k.config.Proposal.StepSize()*rng.NormFloat64())
}

// changed is the last coordinate in which two states differ, −1 for none.
func changed(a, b []float64) int {
	for j := len(a) - 1; j >= 0; j-- {
		if a[j] != b[j] {
			return j
		}
	}
	return -1
}

// logRatio is the public part of a move's log-odds: the prior's, and the proposal's,
// which is 0 for random walks, guided ones in position and direction together.
func (k *Kernel) logRatio(next []float64) float64 {
	return k.config.Target.LogPrior(next) - k.prior + k.config.Proposal.LogRatio(next, k.theta, k.room)
}
