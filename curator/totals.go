package curator

// Proof: docs/proofs/curator.md, docs/proofs/moments.md.

import (
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// SumsSize is the number of integers whose sums Release adds noise to.
func (m SecondMoment) SumsSize(f Facts) int { return triangle(m.Size(f)) }

// AddSums adds to sums what records contribute to second moments at theta, as Release
// does: integers, so that the sums of parts of a table are those of the table in any order,
// bit for bit. f is of the whole table. THE SUMS ARE EXACT AND NOT PRIVATE: Totals releases
// them. Errors: records that are not of f's shape; sums of another length than SumsSize; a
// theta that Release would refuse; settings without an event.
func (m SecondMoment) AddSums(sums []int64, f Facts, theta []float64, r Records) error {
	part, err := r.partOf(f)
	if err != nil {
		return err
	}
	if m.View != nil {
		return errViewOfSums
	}
	if len(sums) != m.SumsSize(f) {
		return fmt.Errorf("curator: %d sums were given, second moments of these records have %d", len(sums), m.SumsSize(f))
	}
	if _, err := m.Event(f); err != nil {
		return err
	}
	o, err := newMoments(m, f, r.set(part))
	if err != nil {
		return err
	}
	if err := o.checkPoint(theta); err != nil {
		return err
	}
	o.sum(theta)
	for i, s := range o.sums {
		sums[i] += s
	}
	return nil
}

// AddSums is SecondMoment.AddSums for gradients at theta, with a sum for each parameter of
// the target. Errors: those; a Batch.
func (m NoisyGradient) AddSums(sums []int64, f Facts, theta []float64, r Records) error {
	part, err := r.partOf(f)
	if err != nil {
		return err
	}
	p, err := m.planSums(f, sums)
	if err != nil {
		return err
	}
	g, err := newGradients(p, r.set(part))
	if err != nil {
		return err
	}
	if err := checkStates(p.subject.Dim, theta, theta); err != nil {
		return err
	}
	g.pass.Sum(g.sums, theta, nil, true)
	for i, s := range g.sums {
		sums[i] += s
	}
	return nil
}

// planSums is plan for sums over all records.
func (m NoisyGradient) planSums(f Facts, sums []int64) (gaussianPlan, error) {
	p, err := m.plan(f)
	switch {
	case err != nil:
	case !m.Batch.IsFull():
		err = errors.New("curator: sums of gradients are over all records; leave NoisyGradient.Batch out")
	case len(sums) != p.subject.Dim:
		err = fmt.Errorf("curator: %d sums were given, gradients of this target have %d", len(sums), p.subject.Dim)
	}
	return p, err
}

var errViewOfSums = errors.New("curator: sums are of rows as they are; leave View out")

var errBatchOfRatios = errors.New("curator: sums of ratios are over all records; leave NoisyRatio.Batch out")

// SumsOver returns what adds up the ratios of one chain's moves over records that are a part
// of a table of facts f. It is not safe for concurrent use. What it returns is what the
// records contribute to Ratios.ReleaseWithin: an integer, so that the sums of parts of a
// table add up to that of the table, bit for bit. THE SUM IS EXACT AND NOT PRIVATE:
// Ratios.ReleaseSum releases it. Errors: those of SecondMoment.AddSums; a Batch. Of a sum: states
// of the wrong length or that are not finite; a clip out of range.
func (m NoisyRatio) SumsOver(f Facts, r Records) (func(next, theta []float64, clip float64) (int64, error), error) {
	part, err := r.partOf(f)
	if err != nil {
		return nil, err
	}
	if !m.Batch.IsFull() {
		return nil, errBatchOfRatios
	}
	if _, err := m.Event(f); err != nil {
		return nil, err
	}
	_, ratios, err := m.prepare(part, r.set(part))
	if err != nil {
		return nil, err
	}
	return func(next, theta []float64, clip float64) (int64, error) {
		if err := errors.Join(checkStates(ratios.plan.subject.Dim, theta, next), checkMoveClip(clip)); err != nil {
			return 0, err
		}
		ratios.add(next, theta, clip)
		return ratios.sum[0], nil
	}, nil
}

// partOf are the facts of records that are a part of a table of facts f.
func (r Records) partOf(f Facts) (Facts, error) {
	part, err := r.facts(f.Adjacency)
	if err != nil {
		return part, err
	}
	if part.Features != f.Features || part.Response != f.Response || part.Radius != f.Radius || part.Records > f.Records {
		return part, fmt.Errorf("curator: a part of %d records with %d features (response: %t, radius %v) is none of %d "+
			"with %d (response: %t, radius %v)", part.Records, part.Features, part.Response, part.Radius, f.Records,
			f.Features, f.Response, f.Radius)
	}
	return part, nil
}

// Totals releases second moments, gradients and ratios whose sums were added up elsewhere:
// by a pipeline on many machines, or at sites that hand their sums to one aggregator. It
// holds no record.
type Totals struct{ curator *Curator }

// NewTotals returns what releases sums over a table of these facts, paid from budget,
// whose adjacency counts. Errors are those of Seal.
func NewTotals(f Facts, budget *accountant.Budget, opts ...Option) (*Totals, error) {
	var s sealing
	for _, o := range opts {
		o(&s)
	}
	if budget == nil {
		return nil, errors.New("curator: NewTotals was given no budget; make one with accountant.NewBudget")
	}
	var y []float64
	if f.Response {
		y = []float64{}
	}
	empty := record.Share(nil, nil, f.Features, y, int(f.Records), f.Radius)
	sealed, err := room.Seal(empty, f.RowsPerPerson, budget, s.root, s.track)
	if err != nil {
		return nil, err
	}
	return &Totals{&Curator{sealed, budget}}, nil
}

// Release charges one release of second moments and sets dst to it, as Moments.Release does. sums
// are the sums of AddSums over all records, each once: the caller must see to that
// (docs/proofs/curator.md, "Sums from elsewhere"). Errors are those of Curator.Grant and
// Moments.Release; sums of another length than SumsSize.
func (t *Totals) Release(dst []float64, m SecondMoment, sums []int64) error {
	if m.View != nil {
		return errViewOfSums
	}
	if want := m.SumsSize(t.curator.Facts()); len(sums) != want {
		return fmt.Errorf("curator: %d sums were given, second moments of these records have %d", len(sums), want)
	}
	o, err := Charge(t.curator, m, 1)
	if err != nil {
		return err
	}
	o.given = sums
	return o.Release(dst, nil)
}

// ReleaseGradient is Release for gradients: dst is as Gradients.Release sets it. Errors are
// those of Curator.Grant and Gradients.Release; not one sum for each parameter; a Batch.
func (t *Totals) ReleaseGradient(dst []float64, m NoisyGradient, sums []int64) error {
	if _, err := m.planSums(t.curator.Facts(), sums); err != nil {
		return err
	}
	g, err := Charge(t.curator, m, 1)
	if err != nil {
		return err
	}
	g.given = sums
	return g.Release(dst, make([]float64, len(sums)))
}

// GrantRatios charges count releases for each of so many chains, all at once. They are made
// by Ratios.ReleaseSum. Errors are those of Curator.Grant; a Batch.
func (t *Totals) GrantRatios(m NoisyRatio, chains int, count int64) ([]*Ratios, error) {
	if !m.Batch.IsFull() {
		return nil, errBatchOfRatios
	}
	grants := make([]*Ratios, chains)
	var requests []Request
	for i := range grants {
		requests = append(requests, Request{room.Request{Count: count, Prepare: func(f room.Facts,
			set *record.Set) (accountant.Event, func(*room.Grant), error) {
			p, err := m.plan(Facts(f))
			if err != nil {
				return accountant.Event{}, nil, err
			}
			n, err := p.over(set)
			return p.event, func(paid *room.Grant) {
				n.pay(paid)
				grants[i] = &Ratios{noisy: n, elsewhere: true, moveStep: make([]float64, p.subject.Dim),
					pass: &room.Pass{Grid: room.ExactGrid(p.clip)}}
			}, err
		}}})
	}
	return grants, t.curator.Grant(requests...)
}

// ReleaseSum returns a sum of those of NoisyRatio.SumsOver over all records, each once and
// within this clip, with the noise of ReleaseWithin. Errors: ratios that Totals did not
// grant; a clip out of range; ErrSpent; another release under way.
func (r *Ratios) ReleaseSum(sum int64, clip float64) (float64, error) {
	if !r.elsewhere {
		return 0, errors.New("curator: these ratios are of sealed records; call Release")
	}
	if err := checkMoveClip(clip); err != nil {
		return 0, err
	}
	if err := r.room.Enter(); err != nil {
		return 0, err
	}
	defer r.room.Leave()
	if err := r.room.Take(); err != nil {
		return 0, err
	}
	r.pass.Grid, r.sum[0] = room.ExactGrid(clip), sum
	return r.noised(), nil
}
