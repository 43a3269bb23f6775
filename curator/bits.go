package curator

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accept"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// Bits is a prepaid grant of acceptance bits for one chain. It owns the
// chain's cache of losses. It is not safe for concurrent use.
type Bits struct {
	prepaid
	plan    plan
	pass    *room.Pass
	sampler *sampler  // nil for the full data
	thin    *thinning // nil unless batches are thinned

	unit       float64 // the log-odds of one grid step
	coarseUnit float64 // the log-odds of one coarse step
	records    int

	moveStep []float64
}

// GrantBits charges count acceptance bits, all at once, and returns the grant
// that draws them. Errors: a mechanism or target that does not fit the
// records, or a budget that does not cover the bits (an
// *accountant.ExceededError, which says what was asked, spent and left); no
// record has been read in either case.
func (c *Curator) GrantBits(m AcceptanceBit, count int64) (*Bits, error) {
	var b *Bits
	err := c.Grant(RequestBits(&b, m, count))
	return b, err
}

// newBits builds what draws bits over set, before anything is charged.
func newBits(p plan, set *record.Set) (*Bits, error) {
	s, err := p.mechanism.Batch.newSampler(set.Len())
	if err != nil {
		return nil, err
	}
	lattice := room.NewGrid(p.largest)
	unit := p.scale * lattice.Step
	return &Bits{
		plan: p, sampler: s, records: set.Len(), unit: unit, coarseUnit: unit * (1 << room.CoarseShift),
		pass: room.NewPass(p.subject.Subject, set, p.mechanism.temperature(), p.slope, lattice,
			p.mechanism.Batch.IsFull()),
		moveStep: make([]float64, p.subject.Dim),
	}, nil
}

// Move draws a move from theta, writes the proposal to next, and decides
// whether it is accepted: log-odds are the data's clipped log-likelihood ratio
// (temperature and batch scale included) plus logRatio(next), the public part:
// log prior and proposal ratio of next over theta. A logRatio of −Inf or NaN
// refuses the move whatever the data say. The move, drawn from fresh
// randomness, and the bit are what is released.
//
// Errors: a state of the wrong length or that is not finite; a mechanism whose
// moves are the sampler's (use Accept); ErrSpent; ErrBusy. After an error nothing has
// been released or used up, but next is undefined.
func (b *Bits) Move(next, theta []float64, logRatio func(next []float64) float64) (bool, error) {
	if !b.plan.mechanism.Proposal.Drawn() {
		return false, fmt.Errorf("curator: this grant is for %v, which the sampler draws; call Accept",
			b.plan.mechanism.Proposal)
	}
	if err := room.CheckStates(b.plan.subject.Dim, theta, next); err != nil {
		return false, err
	}
	if err := b.room.Enter(); err != nil {
		return false, err
	}
	defer b.room.Leave()
	if err := b.room.Take(); err != nil {
		return false, err
	}
	b.plan.mechanism.Proposal.draw(b.moveStep, next, theta, fresh{b.room.Public()})
	b.room.Publish(next)
	return b.decide(next, theta, logRatio(next)), nil
}

// Accept decides whether the move from theta to next, drawn by the sampler, is
// accepted; logRatio is the public part of the log-odds as for Move. Only the
// bit is released. Errors: those of Move; a move longer than was paid for.
func (b *Bits) Accept(next, theta []float64, logRatio float64) (bool, error) {
	if b.plan.mechanism.Proposal.Drawn() {
		return false, fmt.Errorf("curator: this grant is for %v, which the curator draws; call Move",
			b.plan.mechanism.Proposal)
	}
	if err := room.CheckStates(b.plan.subject.Dim, theta, next); err != nil {
		return false, err
	}
	if err := b.room.Enter(); err != nil {
		return false, err
	}
	defer b.room.Leave()
	for j, t := range theta {
		b.moveStep[j] = next[j] - t
	}
	if err := b.plan.mechanism.Proposal.accepts(b.moveStep); err != nil {
		return false, err
	}
	if err := b.room.Take(); err != nil {
		return false, err
	}
	return b.decide(next, theta, logRatio), nil
}

// decide draws the bit of one move.
func (b *Bits) decide(next, theta []float64, logRatio float64) bool {
	if math.IsNaN(logRatio) || math.IsInf(logRatio, -1) {
		return b.room.Refuse()
	}
	if b.thin != nil {
		return b.decideThinned(next, theta, logRatio)
	}
	var index []int32
	if b.sampler != nil {
		index = b.sampler.draw(b.room.Secret())
	}
	t := b.pass.Sums(theta, next, b.moveStep, index)
	if b.plan.mechanism.Test.kind == logisticTest {
		return b.room.Logistic(t.Sum, logRatio, b.unit)
	}
	return b.room.Decide(b.plan.test.Accept(b.logOdds(t.Sum, logRatio), b.variance(t, len(index))))
}

// variance estimates, from the batch alone, the variance of the batch's
// log-odds about the full data's.
func (b *Bits) variance(t room.Totals, size int) float64 {
	if b.plan.test.VarianceLimit() == 0 {
		return 0
	}
	squares := float64(t.Squares) * b.coarseUnit * b.coarseUnit
	if batch := b.plan.mechanism.Batch; batch.scheme == poissonBatch {
		return accept.PoissonVariance(batch.rate, squares)
	}
	return accept.FixedVariance(b.records, size, float64(t.Coarse)*b.coarseUnit, squares)
}

// logOdds adds the public part to the data's part in whole grid steps and
// clamps, so that only a final multiplication rounds. The public part is
// rounded to a step of at most 2⁻³⁰ of the largest contribution.
func (b *Bits) logOdds(sum int64, public float64) float64 {
	return room.StepsToLogOdds(sum+room.WholeSteps(public, b.unit), b.unit, room.Clamp)
}

// RequestBits asks for count acceptance bits; Grant sets *dst.
func RequestBits(dst **Bits, m AcceptanceBit, count int64) Request {
	return request(count, func(f Facts, set *record.Set) (accountant.Event, func(prepaid), error) {
		p, err := m.plan(f)
		if err != nil {
			return accountant.Event{}, nil, err
		}
		b, err := newBits(p, set)
		return p.event, func(g prepaid) { b.prepaid, *dst = g, b }, err
	})
}
