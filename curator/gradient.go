package curator

// Proof: docs/proofs/gradients.md.

import (
	"errors"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// NoisyGradient is the mechanism that releases the sum of per-record gradients
// of the loss, clipped in Euclidean norm, with Gaussian noise (theory 2.8).
type NoisyGradient struct {
	// Target supplies the per-record gradient. Required.
	Target targets.GradTarget
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record: longer gradients are shortened.
	// Zero takes the target's certificate, so that nothing is shortened.
	Clip float64
	// NoiseMultiplier is the noise's standard deviation in each coordinate over
	// twice the clip, the sensitivity under substitution of the full sum.
	// Required.
	NoiseMultiplier float64
	// Batch is how records are chosen; noise is added to the batch's sum before
	// it is scaled to the full data. Defaults to the full data.
	Batch Batch
}

// plan asks what the target claims, and prices what that makes the curator enforce.
func (m NoisyGradient) plan(f Facts) (p gaussianPlan, err error) {
	if m.Target == nil {
		return p, errors.New("curator: NoisyGradient.Target is not set")
	}
	if p, err = planGaussian(m.Target, m.Temperature, m.NoiseMultiplier, m.Batch, f); err != nil {
		return p, err
	}
	clip, err := p.subject.gradientClip(m.Clip, p.tau, f)
	if err != nil {
		return p, err
	}
	price := gaussianEvent
	if m.Batch.scheme() == allocatedBatch {
		price = epochEvent
	}
	return p.priced(clip, p.subject.Dim, f, price)
}

// gradientClip is the bound enforced on a record's gradient: the caller's, or where
// that is 0 the target's.
func (s *subject) gradientClip(clip, tau float64, f Facts) (float64, error) {
	if clip != 0 {
		return clip, nil
	}
	bound, err := s.gradientBound(f.Radius)
	if err == nil && math.IsInf(bound, 1) {
		err = errors.New("curator: nothing bounds a record's gradient: give Clip, or a target with a finite gradient " +
			"certificate and records sealed with a Radius")
	}
	return tau * bound, err
}

// Event is the price of one release on records with the given facts, or of one epoch where Batch
// has Steps. It charges nothing.
func (m NoisyGradient) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// NoiseSD is the standard deviation of the noise in each coordinate of a
// release on records with the given facts, in the units of the release: public,
// and free. Errors are those of Event.
func (m NoisyGradient) NoiseSD(f Facts) (float64, error) {
	p, err := m.plan(f)
	if err != nil {
		return 0, err
	}
	return 2 * p.noise * p.clip * p.scale, nil
}

// Gradients is a prepaid grant of noisy gradients for one chain. It is not
// safe for concurrent use.
type Gradients struct {
	noisy
	pass  *room.VectorPass
	epoch *epoch // of Allocated batches
	sums  []int64
	given []int64 // sums of records elsewhere, if not nil
}

// newGradients builds what releases gradients over set, before anything is charged.
func newGradients(p gaussianPlan, set *record.Set) (*Gradients, error) {
	n, err := p.over(set)
	g := &Gradients{noisy: n, sums: make([]int64, p.subject.Dim),
		pass: room.NewVectorPass(p.subject.Subject, set, p.tau, room.ExactGrid(p.clip))}
	if p.batch.scheme() == allocatedBatch {
		g.epoch = newEpoch(set.Len(), int(p.batch.Steps))
	}
	return g, err
}

// Release sets dst to τ·Σ∇ℓ(z;θ), clipped record by record, plus Gaussian
// noise of standard deviation NoiseSD in each coordinate. dst is what is
// released. Errors: a state of the wrong length or that is not finite;
// ErrSpent; another release under way. After an error nothing has been released or used up.
func (g *Gradients) Release(dst, theta []float64) error {
	if err := checkStates(g.plan.subject.Dim, theta, dst); err != nil {
		return err
	}
	if err := g.room.Enter(); err != nil {
		return err
	}
	defer g.room.Leave()
	index, full, err := g.batch()
	if err != nil {
		return err
	}
	if g.given == nil {
		g.pass.Sum(g.sums, theta, index, full)
	} else {
		copy(g.sums, g.given)
	}
	g.room.Noisy(dst, g.sums, g.noise, g.pass.Grid.Step, g.plan.scale)
	return nil
}

// batch uses up a release, and says which records it reads.
func (g *Gradients) batch() (index []int32, full bool, err error) {
	if g.epoch == nil || g.epoch.unread() == 0 {
		if err := g.room.Take(); err != nil {
			return nil, false, err
		}
		if g.epoch != nil {
			g.epoch.draw(g.room.Secret())
		}
	}
	if g.epoch != nil {
		return g.epoch.next(), false, nil
	}
	return g.drawn(), g.sampler == nil, nil
}

// Left is the number of releases still paid for and unused.
func (g *Gradients) Left() int64 {
	if g.epoch == nil {
		return g.prepaid.Left()
	}
	return g.prepaid.Left()*g.plan.batch.Steps + g.epoch.unread()
}

// NoiseSD is the standard deviation of the noise in each coordinate of a
// release, in the units of the release.
func (g *Gradients) NoiseSD() float64 {
	return 2 * g.plan.noise * g.plan.clip * g.plan.scale
}

func (m NoisyGradient) prepare(f Facts, set *record.Set) (accountant.Event, *Gradients, error) {
	p, err := m.plan(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	g, err := newGradients(p, set)
	return p.event, g, err
}

// perCharge is the number of releases that are charged together: an epoch of Allocated
// batches.
func (m NoisyGradient) perCharge() int64 { return m.Batch.perCharge() }
