package curator

// Proof: docs/proofs/curator.md.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
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

func (m NoisyRatio) temperature() float64 {
	return AcceptanceBit{Temperature: m.Temperature}.temperature()
}

// ratioPlan is what is charged for and enforced.
type ratioPlan struct {
	subject   *subject
	event     accountant.Event
	tau       float64
	clip      float64
	perLength bool
	scale     float64 // 1/q
	noise     float64 // the multiplier
	batch     Batch
}

func (m NoisyRatio) plan(f Facts) (p ratioPlan, err error) {
	p = ratioPlan{tau: m.temperature(), clip: m.Clip, perLength: m.PerLength, scale: m.Batch.inverseRate(f),
		noise: m.NoiseMultiplier, batch: m.Batch}
	if err := errors.Join(f.check(), checkTemperature(p.tau), m.Batch.check(f),
		checkNoise(m.Clip, m.NoiseMultiplier)); err != nil {
		return p, err
	}
	if p.subject, err = f.admit(m.Target); err != nil {
		return p, err
	}
	p.event, err = gaussianEvent(f, m.Batch, m.NoiseMultiplier, 1)
	return p, err
}

// Event is the price of one release on records with the given facts: a
// Gaussian whose noise multiplier follows from the adjacency and the rows one
// person owns. It charges nothing.
func (m NoisyRatio) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// What a record adds is held to a bound between these, where grids neither vanish nor
// overflow.
const leastBound, mostBound = 1e-200, 1e200

// checkNoise reports a clip or a noise multiplier without meaning.
func checkNoise(clip, multiplier float64) error {
	if !(clip >= leastBound && clip <= mostBound) {
		return fmt.Errorf("curator: the clip is %v; it must be between %v and %v", clip, leastBound, mostBound)
	}
	if !(multiplier > 0) || multiplier > MostNoise {
		return fmt.Errorf("curator: the noise multiplier is %v; it must be positive and at most %v", multiplier,
			MostNoise)
	}
	return nil
}

// MostNoise is the largest noise multiplier. It keeps the noise on a grid of
// room.GridBits bits inside the range of the exact sampler: 2·2³⁰·2⁹ = 2⁴⁰.
const MostNoise = 1 << 9

// gaussianEvent prices Gaussian noise of standard deviation 2·multiplier
// times the clip, in every coordinate: relative to a sensitivity of 2·clip·rows under
// substitution, clip·rows under add/remove.
func gaussianEvent(f Facts, b Batch, multiplier float64, coordinates int) (accountant.Event, error) {
	sd := 2 * multiplier * (1 << room.GridBits) // in grid steps
	multiplier /= float64(f.RowsPerPerson) * (1 + room.RelativeSlack)
	if f.Adjacency == accountant.AddRemove {
		multiplier *= 2
	}
	event, err := accountant.GridGaussian(f.Adjacency, multiplier, accountant.GridDeparture(coordinates, sd, 1/multiplier))
	if err != nil {
		return accountant.Event{}, err
	}
	return b.charge(f, event)
}

// Ratios is a prepaid grant of noisy log-likelihood ratios for one chain. It
// is not safe for concurrent use.
type Ratios struct {
	prepaid
	plan     ratioPlan
	pass     *room.Pass
	sampler  *sampler
	noise    *noise.DiscreteGaussian
	moveStep []float64
	sum      [1]int64
	value    [1]float64
}

// GrantRatios charges count noisy ratios, all at once. Errors are those of
// GrantBits.
func (c *Curator) GrantRatios(m NoisyRatio, count int64) (*Ratios, error) {
	var r *Ratios
	err := c.Grant(RequestRatios(&r, m, count))
	return r, err
}

// newRatios builds what releases ratios over set, before anything is charged.
func newRatios(p ratioPlan, set *record.Set) (*Ratios, error) {
	s, err := p.batch.newSampler(set.Len())
	if err != nil {
		return nil, err
	}
	lattice := room.ExactGrid(p.clip)
	normal, err := noise.NewDiscreteGaussian(2 * p.noise * lattice.Top)
	if err != nil {
		return nil, err
	}
	return &Ratios{
		plan: p, sampler: s, noise: normal,
		pass:     room.NewPass(p.subject.Subject, set, p.tau, math.Inf(1), lattice, p.batch.IsFull()),
		moveStep: make([]float64, p.subject.Dim),
	}, nil
}

// Release returns τ·Σ(ℓ(z;θ) − ℓ(z;next)), clipped record by record, with
// Gaussian noise of standard deviation NoiseSD. The value is what is released.
// Errors: states of the wrong length or that are not finite; ErrSpent; ErrBusy.
// After an error nothing has been released or used up.
func (r *Ratios) Release(next, theta []float64) (float64, error) {
	if err := room.CheckStates(r.plan.subject.Dim, theta, next); err != nil {
		return 0, err
	}
	if err := r.room.Enter(); err != nil {
		return 0, err
	}
	defer r.room.Leave()
	clip := r.plan.clip
	if r.plan.perLength {
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
	if err := room.CheckStates(r.plan.subject.Dim, theta, next); err != nil {
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
	if !(clip >= leastBound && clip <= mostBound) {
		return 0, fmt.Errorf("curator: the clip of a move is %v; it must be between %v and %v", clip, leastBound, mostBound)
	}
	if err := r.room.Take(); err != nil {
		return 0, err
	}
	for j, t := range theta {
		r.moveStep[j] = next[j] - t
	}
	r.pass.Grid = room.ExactGrid(clip)
	var index []int32
	if r.sampler != nil {
		index = r.sampler.draw(r.room.Secret())
	}
	t := r.pass.Sums(theta, next, r.moveStep, index)
	r.sum[0] = t.Sum
	r.room.Noisy(r.value[:], r.sum[:], r.noise, r.pass.Grid.Step, r.plan.scale)
	return r.value[0], nil
}

// NoiseSD is the standard deviation of the noise of the last release: public.
func (r *Ratios) NoiseSD() float64 {
	return 2 * r.plan.noise * r.pass.Grid.Top * r.pass.Grid.Step * r.plan.scale
}

// RequestRatios asks for count noisy log-likelihood ratios; Grant sets *dst.
func RequestRatios(dst **Ratios, m NoisyRatio, count int64) Request {
	return request(count, func(f Facts, set *record.Set) (accountant.Event, func(prepaid), error) {
		p, err := m.plan(f)
		if err != nil {
			return accountant.Event{}, nil, err
		}
		r, err := newRatios(p, set)
		return p.event, func(g prepaid) { r.prepaid, *dst = g, r }, err
	})
}
