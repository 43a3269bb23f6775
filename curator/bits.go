package curator

// Proof: docs/proofs/curator.md.

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accept"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// AcceptanceBit is the mechanism that decides one move and releases only the
// decision. Its price follows from what its fields make the curator enforce.
type AcceptanceBit struct {
	// Target supplies the per-record loss. Required.
	Target targets.Target
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Proposal says how moves arise. Defaults to any law.
	Proposal Proposal
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| for every record. Zero leaves the bound
	// to the target's certificates, which are enforced in the same way.
	Clip float64
	// Test is the acceptance test. Defaults to Test{}.
	Test Test
	// Batch is how records are chosen. Defaults to the full data.
	Batch Batch
	// Accounting selects the theorem of the price. The default charges the bit that is
	// released: a bounded-range mechanism (theory 2.2, 2.3, 2.6, 2.7), the cheapest.
	// "published" charges what the papers do, as if the noisy log-ratio behind the bit had
	// been released: Heikkilä et al. 2019, Theorem 1 on the full data and Theorem 2 with
	// Corollary 2 on fixed-size batches. "tightened" is that with the constant of Theorem 2
	// mended (theory 2.6).
	Accounting string
}

func (m AcceptanceBit) temperature() float64 {
	return cmp.Or(m.Temperature, 1)
}

// checkTemperature reports a temperature outside (0, 1].
func checkTemperature(tau float64) error {
	if !(tau > 0 && tau <= 1) {
		return fmt.Errorf("curator: the temperature is %v; it must be in (0, 1]", tau)
	}
	return nil
}

// check reports settings that have no meaning on records with these facts.
func (m AcceptanceBit) check(f Facts) error {
	if err := f.check(); err != nil {
		return err
	}
	if !(m.Clip >= 0) || math.IsInf(m.Clip, 0) {
		return fmt.Errorf("curator: the clip is %v; it must be positive, or 0 to use the target's certificate", m.Clip)
	}
	return errors.Join(checkTemperature(m.temperature()), m.Batch.check(f))
}

// bound is what the curator enforces on |τ·(ℓ(z;θ) − ℓ(z;θ′))| of one record.
type bound struct {
	constant float64 // for every move; +Inf for none
	slope    float64 // times |x·δ|; +Inf for none
	perScale float64 // over the standard normal |Z| of a drawn move; +Inf for none
}

// mostAlong is the largest dimension of moves along which contributions are clipped,
// for the rounding of x·δ to stay inside room.RelativeSlack.
const mostAlong = 1 << 12

// bounds collects the clip and the certificates that apply, each asked once.
func (m AcceptanceBit) bounds(f Facts, t *subject) (b bound, err error) {
	inf := math.Inf(1)
	b = bound{constant: inf, slope: inf, perScale: inf}
	if m.Clip > 0 {
		b.constant = m.Clip
	}
	tau := m.temperature()
	spread, err := t.lossRange()
	if err != nil {
		return b, err
	}
	b.constant = min(b.constant, tau*spread)
	lipschitz, err := t.lipschitz()
	if err != nil || f.Radius == 0 || math.IsInf(lipschitz, 1) || t.Dim > mostAlong {
		return b, err
	}
	slope := tau * lipschitz
	switch m.Proposal.kind() {
	case isotropic, oneComponent:
		b.slope, b.perScale = slope, slope*f.Radius*m.Proposal.Scale
	case bounded:
		b.slope = slope
		b.constant = min(b.constant, slope*f.Radius*m.Proposal.Radius)
	}
	return b, nil
}

// checkLargest reports a bound on a record's part of the acceptance that no grid holds.
func checkLargest(bound float64) error {
	if !(bound >= leastBound && bound <= mostBound) {
		return fmt.Errorf("curator: the bound on a record's part of the acceptance is %v; it must be between %v and %v",
			bound, leastBound, mostBound)
	}
	return nil
}

// plan is what a mechanism is charged for and enforces, from one reading of what its
// target claims, in the units that its releases use.
type plan struct {
	bound
	mechanism AcceptanceBit
	subject   *subject
	test      accept.Test
	event     accountant.Event
	largest   float64 // the largest contribution that is not clipped
	scale     float64 // 1/q
	// averaged reports that the price averages over a drawn move, in which case
	// contribution is per unit of its standard normal |Z|.
	averaged     bool
	contribution float64 // of one person, to the log-odds of a whole batch
}

// plan derives what is enforced from the mechanism and the facts, and prices it.
func (m AcceptanceBit) plan(f Facts) (p plan, err error) {
	if err := m.check(f); err != nil {
		return p, err
	}
	p = plan{mechanism: m, scale: m.Batch.inverseRate(f)}
	if p.subject, err = f.admit(m.Target); err != nil {
		return p, err
	}
	if err := m.Proposal.check(); err != nil {
		return p, err
	}
	if p.bound, err = m.bounds(f, p.subject); err != nil {
		return p, err
	}
	// A drawn move of scale a costs what a constant bound of a does to first
	// order, so the smaller of the two is charged; both are enforced.
	p.averaged = p.perScale <= p.constant
	p.largest = min(p.constant, longestMove*p.perScale)
	if math.IsInf(p.largest, 1) {
		return p, errors.New("curator: nothing bounds a record's part of the acceptance: give Clip, or a target with a " +
			"certificate that applies here " +
			"(a finite loss range; or a linear predictor with a finite Lipschitz constant, records sealed with a Radius, and " +
			"a move whose scale is known)")
	}
	if err := checkLargest(p.largest); err != nil {
		return p, err
	}
	each := p.constant
	if p.averaged {
		each = p.perScale
	}
	p.contribution = each * p.scale * float64(f.RowsPerPerson)
	if p.test, err = m.Test.build(m.Batch); err != nil {
		return p, err
	}
	p.event, err = m.price(f, p)
	return p, err
}

// Event is the price of one bit on records with the given facts. It charges
// nothing. Errors: settings out of range; a target that does not fit; no bound
// on a record's contribution; published accounting outside its theorem's
// assumptions.
func (m AcceptanceBit) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// price is that of one bit of a plan.
func (m AcceptanceBit) price(f Facts, p plan) (accountant.Event, error) {
	if m.Accounting != "" {
		return m.published(f, p)
	}
	if m.Test.kind() == penaltyTest && m.Batch.IsFull() {
		return m.penaltyEvent(f, p)
	}
	event, err := m.logOddsContribution(f, p).price(f.Adjacency, p.averaged)
	if err != nil {
		return accountant.Event{}, err
	}
	return m.Batch.charge(f, event)
}

// contribution is what a record of bound b, per |Z| when averaged, can do to the
// log-odds of a bit: linear·b and, when averaged, also growth·(linear·b)².
type contribution struct{ linear, growth float64 }

func (c contribution) price(adj accountant.Adjacency, averaged bool) (accountant.Event, error) {
	switch {
	case !averaged:
		return accountant.Bit{Contribution: room.Padded(c.linear)}.Event(adj)
	case c.growth == 0:
		return accountant.Bit{Contribution: room.Padded(c.linear), Isotropic: true}.Event(adj)
	}
	return accountant.Bit{Contribution: room.Padded(c.linear), Isotropic: true, Growth: c.growth,
		Most: room.Padded(longestMove * c.linear)}.Event(adj)
}

// logOddsContribution turns a contribution to the test's argument into one to
// the acceptance's log-odds: the test's Lipschitz constant, and, where the test
// subtracts the batch's own variance, what a record moves that by
// (docs/proofs/curator.md, "Corrected tests").
func (m AcceptanceBit) logOddsContribution(f Facts, p plan) contribution {
	slope, varianceSlope := p.test.Lipschitz()
	if p.test.VarianceLimit() == 0 {
		return contribution{linear: slope * p.contribution}
	}
	// A record of contribution c ≤ top moves a Poisson batch's variance by at
	// most c², and half of replacing one moves a fixed batch's by at most 2c·top,
	// and c² more where the other record's contribution may be another.
	// The fixed one's subtraction also rounds; twice that covers an average.
	top := p.largest * p.scale * float64(f.RowsPerPerson)
	if m.Batch.scheme() != fixedBatch {
		return contribution{linear: (slope + varianceSlope*top) * p.contribution}
	}
	rounding := 0x1p-48 * float64(m.Batch.Size) * top * top
	c := contribution{linear: (slope+2*varianceSlope*top)*p.contribution + 2*varianceSlope*rounding}
	if p.averaged {
		c.growth = varianceSlope * (p.contribution / c.linear) * (p.contribution / c.linear)
	}
	return c
}

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
// moves are the sampler's (use Accept); ErrSpent; another release under way. After an error nothing has
// been released or used up, but next is undefined.
func (b *Bits) Move(next, theta []float64, logRatio func(next []float64) float64) (bool, error) {
	if !b.plan.mechanism.Proposal.Drawn() {
		return false, fmt.Errorf("curator: this grant is for %v, which the sampler draws; call Accept",
			b.plan.mechanism.Proposal)
	}
	if err := checkStates(b.plan.subject.Dim, theta, next); err != nil {
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
	if err := checkStates(b.plan.subject.Dim, theta, next); err != nil {
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
	if b.plan.mechanism.Test.kind() == logisticTest {
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
	if batch := b.plan.mechanism.Batch; batch.scheme() == poissonBatch {
		return accept.PoissonVariance(batch.Rate, squares)
	}
	return accept.FixedVariance(b.records, size, float64(t.Coarse)*b.coarseUnit, squares)
}

// logOdds adds the public part to the data's part in whole grid steps and
// clamps, so that only a final multiplication rounds. The public part is
// rounded to a step of at most 2⁻³⁰ of the largest contribution.
func (b *Bits) logOdds(sum int64, public float64) float64 {
	return room.StepsToLogOdds(sum+room.WholeSteps(public, b.unit), b.unit, room.Clamp)
}

func (m AcceptanceBit) prepare(f Facts, set *record.Set) (accountant.Event, *Bits, error) {
	p, err := m.plan(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	g, err := newBits(p, set)
	return p.event, g, err
}
