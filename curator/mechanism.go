package curator

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accept"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Accounting selects the theorem that prices an acceptance bit.
type Accounting uint8

const (
	// ByBit charges the bit that is released: a bounded-range mechanism
	// (theory 2.2, 2.3, 2.6, 2.7). It is the default and the cheapest.
	ByBit Accounting = iota
	// Published charges what the papers do, as if the noisy log-ratio behind the
	// bit had been released: Heikkilä et al. 2019, Theorem 1 on the full data and
	// Theorem 2 with Corollary 2 on fixed-size batches.
	Published
	// PublishedTightened is Published with the constant of Theorem 2 mended
	// (theory 2.6).
	PublishedTightened
)

// String names the accounting.
func (a Accounting) String() string {
	switch a {
	case ByBit:
		return "acceptance bit"
	case Published:
		return "published"
	case PublishedTightened:
		return "published, tightened"
	}
	return fmt.Sprintf("Accounting(%d)", uint8(a))
}

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
	// Test is the acceptance test. Defaults to Logistic().
	Test Test
	// Batch is how records are chosen. Defaults to the full data.
	Batch Batch
	// Accounting selects the theorem. Defaults to ByBit.
	Accounting Accounting
}

func (m AcceptanceBit) temperature() float64 {
	if m.Temperature == 0 {
		return 1
	}
	return m.Temperature
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
	switch m.Proposal.kind {
	case isotropic, oneComponent, shaped: // a shape never lengthens
		b.slope, b.perScale = slope, slope*f.Radius*m.Proposal.scale
	case bounded:
		b.slope = slope
		b.constant = min(b.constant, slope*f.Radius*m.Proposal.radius)
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
	if err := m.Proposal.check(p.subject.Dim); err != nil {
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
	if m.Accounting != ByBit {
		return m.published(f, p)
	}
	if m.Test.kind == penaltyTest && m.Batch.IsFull() {
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
		return accountant.AcceptanceBit(adj, room.Padded(c.linear))
	case c.growth == 0:
		return accountant.IsotropicBit(adj, room.Padded(c.linear))
	}
	return accountant.ThinnedIsotropicBit(adj, room.Padded(c.linear), c.growth, room.Padded(longestMove*c.linear))
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
	if m.Batch.scheme != fixedBatch {
		return contribution{linear: (slope + varianceSlope*top) * p.contribution}
	}
	rounding := 0x1p-48 * float64(m.Batch.size) * top * top
	c := contribution{linear: (slope+2*varianceSlope*top)*p.contribution + 2*varianceSlope*rounding}
	if p.averaged {
		c.growth = varianceSlope * (p.contribution / c.linear) * (p.contribution / c.linear)
	}
	return c
}

// published prices a bit by the theorems of Heikkilä et al. (2019), whose
// assumptions it checks.
func (m AcceptanceBit) published(f Facts, p plan) (accountant.Event, error) {
	switch {
	case m.Test.kind != correctedTest:
		return accountant.Event{}, fmt.Errorf("curator: %v accounting is for the Gaussian-mixture corrected test, not %v",
			m.Accounting, m.Test)
	case p.averaged || f.RowsPerPerson != 1 || f.Adjacency != accountant.Substitute:
		return accountant.Event{},
			fmt.Errorf("curator: %v accounting needs a constant Clip, one row a person and substitution", m.Accounting)
	case m.Batch.IsFull():
		return accountant.Gaussian(f.Adjacency, math.Sqrt(m.Test.c)/(2*room.Padded(p.constant)))
	case m.Batch.scheme != fixedBatch:
		return accountant.Event{}, fmt.Errorf("curator: %v accounting is for the full data and fixed-size batches, not %v",
			m.Accounting, m.Batch)
	}
	b := m.Batch.size
	if limit := 1 / math.Sqrt(float64(b)); m.Test.c != 2 || p.contribution > limit {
		return accountant.Event{}, fmt.Errorf("curator: %v accounting needs Corrected(2) and a Clip of at most √b/N = %v, "+
			"so that a record moves the log-odds by at most 1/√b",
			m.Accounting, limit/p.scale)
	}
	price := accountant.SubsampledBarkerPublished
	if m.Accounting == PublishedTightened {
		price = accountant.SubsampledBarkerTightened
	}
	event, err := price(int(b))
	if err != nil {
		return accountant.Event{}, err
	}
	return m.Batch.charge(f, event)
}
