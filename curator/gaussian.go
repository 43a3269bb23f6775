package curator

// Proof: docs/proofs/curator.md.

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// What a record adds is held to a bound between these, where grids neither vanish nor
// overflow.
const leastBound, mostBound = 1e-200, 1e200

// MostNoise is the largest noise multiplier. It keeps the noise on a grid of
// room.GridBits bits inside the range of the exact sampler: 2·2³⁰·2⁹ = 2⁴⁰.
const MostNoise = 1 << 9

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

// gaussianEvent prices Gaussian noise of standard deviation 2·multiplier
// times the clip, in every coordinate: relative to a sensitivity of 2·clip·rows under
// substitution, clip·rows under add/remove.
func gaussianEvent(f Facts, b Batch, multiplier float64, coordinates int) (accountant.Event, error) {
	sd := 2 * multiplier * (1 << room.GridBits) // in grid steps
	multiplier /= float64(f.RowsPerPerson) * (1 + room.RelativeSlack)
	if f.Adjacency == accountant.AddRemove {
		multiplier *= 2
	}
	event, err := accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: coordinates, Steps: sd}.
		Event(f.Adjacency)
	if err != nil {
		return accountant.Event{}, err
	}
	return b.charge(f, event)
}

// gaussianPlan is what is charged for and enforced of a sum with Gaussian noise.
type gaussianPlan struct {
	subject *subject
	event   accountant.Event
	tau     float64
	clip    float64
	scale   float64 // 1/q
	noise   float64 // the multiplier
	batch   Batch
}

// planGaussian asks what the target claims. Clip and price follow.
func planGaussian(t targets.Target, temperature, multiplier float64, b Batch, f Facts) (p gaussianPlan, err error) {
	p = gaussianPlan{tau: cmp.Or(temperature, 1), scale: b.inverseRate(f), noise: multiplier, batch: b}
	if err := errors.Join(f.check(), checkTemperature(p.tau), b.check(f)); err != nil {
		return p, err
	}
	p.subject, err = f.admit(t)
	return p, err
}

// priced is the plan with a clip and the price of so many coordinates.
func (p gaussianPlan) priced(clip float64, coordinates int, f Facts, price func(f Facts, b Batch, multiplier float64,
	coordinates int) (accountant.Event, error)) (gaussianPlan, error) {
	p.clip = clip
	err := checkNoise(clip, p.noise)
	if err == nil {
		p.event, err = price(f, p.batch, p.noise, coordinates)
	}
	return p, err
}

// noisy is the part of a grant that releases sums with Gaussian noise have in common.
type noisy struct {
	prepaid
	plan    gaussianPlan
	sampler *sampler // nil for the full data
	noise   *noise.DiscreteGaussian
}

func (p gaussianPlan) over(set *record.Set) (noisy, error) {
	s, err := p.batch.newSampler(set.Len())
	if err != nil {
		return noisy{}, err
	}
	normal, err := noise.NewDiscreteGaussian(2 * p.noise * room.ExactGrid(p.clip).Top)
	return noisy{plan: p, sampler: s, noise: normal}, err
}

// drawn is the record numbers of a release, nil for the full data.
func (n *noisy) drawn() []int32 {
	if n.sampler == nil {
		return nil
	}
	return n.sampler.draw(n.room.Secret())
}
