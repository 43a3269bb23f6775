package curator

// Proof: docs/proofs/curator.md.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// NoisyRatio is the mechanism that releases a move's clipped log-likelihood
// ratio with Gaussian noise: the penalty algorithm's and DP-HMC's published
// look at the data.
type NoisyRatio struct {
	// Target supplies the per-record loss. Required.
	Target targets.Target
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| for every record; with PerLength, it
	// is the bound for a move of length 1 and grows in proportion. Required.
	Clip float64
	// PerLength makes the clip, and with it the noise, proportional to ‖θ′ − θ‖₂.
	PerLength bool
	// NoiseMultiplier is the noise's standard deviation over twice the clip, the
	// sensitivity under substitution of the full sum. Required.
	NoiseMultiplier float64
	// Batch is how records are chosen; noise is added to the batch's sum before
	// it is scaled to the full data. Defaults to the full data.
	Batch Batch
}

// plan asks what the target claims, and prices what the curator then enforces.
func (m NoisyRatio) plan(f Facts) (gaussianPlan, error) {
	p, err := planGaussian(m.Target, m.Temperature, m.NoiseMultiplier, m.Batch, f)
	if err != nil {
		return p, err
	}
	return p.priced(m.Clip, 1, f, gaussianEvent)
}

// Event is the price of one release on records with the given facts: a
// Gaussian whose noise multiplier follows from the adjacency and the rows one
// person owns. It charges nothing.
func (m NoisyRatio) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// Ratios is a prepaid grant of noisy log-likelihood ratios for one chain. It
// is not safe for concurrent use.
type Ratios struct {
	noisy
	perLength bool
	elsewhere bool // sums of records elsewhere, which the pass does not see
	pass      *room.Pass
	moveStep  []float64
	sum       [1]int64
	value     [1]float64
}

// Release returns τ·Σ(ℓ(z;θ) − ℓ(z;next)), clipped record by record, with
// Gaussian noise of standard deviation NoiseSD. The value is what is released.
// Errors: states of the wrong length or that are not finite; ErrSpent; another release under way.
// After an error nothing has been released or used up.
func (r *Ratios) Release(next, theta []float64) (float64, error) {
	if err := checkStates(r.plan.subject.Dim, theta, next); err != nil {
		return 0, err
	}
	if err := r.room.Enter(); err != nil {
		return 0, err
	}
	defer r.room.Leave()
	clip := r.plan.clip
	if r.perLength {
		for j, t := range theta {
			r.moveStep[j] = next[j] - t
		}
		clip *= record.Norm(r.moveStep)
		if clip == 0 {
			return 0, errors.New("curator: the move has length 0, so a clip in proportion to it leaves nothing to release")
		}
	}
	return r.within(next, theta, clip)
}

// ReleaseWithin is Release with a clip chosen for this move alone, from public
// values: a target's certificate, say. The noise is in proportion to it, so the
// price is the same whatever it is. It must be between 1e-200 and 1e200.
func (r *Ratios) ReleaseWithin(next, theta []float64, clip float64) (float64, error) {
	if err := checkStates(r.plan.subject.Dim, theta, next); err != nil {
		return 0, err
	}
	if err := r.room.Enter(); err != nil {
		return 0, err
	}
	defer r.room.Leave()
	return r.within(next, theta, clip)
}

// within releases the ratio of a move within a clip.
func (r *Ratios) within(next, theta []float64, clip float64) (float64, error) {
	if r.elsewhere {
		return 0, errors.New("curator: these ratios are of records elsewhere; call ReleaseSum")
	}
	if err := checkMoveClip(clip); err != nil {
		return 0, err
	}
	if err := r.room.Take(); err != nil {
		return 0, err
	}
	r.add(next, theta, clip)
	return r.noised(), nil
}

// noised is the sum with its noise.
func (r *Ratios) noised() float64 {
	r.room.Noisy(r.value[:], r.sum[:], r.noise, r.pass.Grid.Step, r.plan.scale)
	return r.value[0]
}

// checkMoveClip reports a clip of one move that no grid holds.
func checkMoveClip(clip float64) error {
	if !(clip >= leastBound && clip <= mostBound) {
		return fmt.Errorf("curator: the clip of a move is %v; it must be between %v and %v", clip, leastBound, mostBound)
	}
	return nil
}

// add sums the records' parts of a move, within a clip, on its grid.
func (r *Ratios) add(next, theta []float64, clip float64) {
	for j, t := range theta {
		r.moveStep[j] = next[j] - t
	}
	r.pass.Grid = room.ExactGrid(clip)
	r.sum[0] = r.pass.Sums(theta, next, r.moveStep, r.drawn()).Sum
}

// NoiseSD is the standard deviation of the noise of the last release: public.
func (r *Ratios) NoiseSD() float64 {
	return 2 * r.plan.noise * r.pass.Grid.Top * r.pass.Grid.Step * r.plan.scale
}

func (m NoisyRatio) prepare(f Facts, set *record.Set) (accountant.Event, *Ratios, error) {
	p, err := m.plan(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	n, err := p.over(set)
	return p.event, &Ratios{
		noisy: n, perLength: m.PerLength, moveStep: make([]float64, p.subject.Dim),
		pass: room.NewPass(p.subject.Subject, set, p.tau, math.Inf(1), room.ExactGrid(p.clip), p.batch.IsFull()),
	}, err
}
