package curator

// Proof: docs/proofs/tunamh.md.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accept"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ThinnedBit is the mechanism that decides one move exactly from a minibatch
// and releases only the decision: Barker's test on a Poisson batch that is
// thinned by what its records say, after TunaMH (Zhang, Cooper and De Sa 2020).
// With B a public bound on every record's part of the move, I = −log(1−Rate) and
// r a record's log-likelihood ratio, a record is used with probability
// 1 − e^−(I−(B+r)/2) and then counts r + log(that probability for the reverse
// move) − log(the probability). Detailed balance holds exactly, with no
// estimate of a variance (docs/proofs/tunamh.md).
type ThinnedBit struct {
	// Target supplies the per-record loss. Required.
	Target targets.Target
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Proposal says how moves arise. Defaults to any law.
	Proposal Proposal
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| for every record. Zero leaves the bound
	// to the target's certificates, which are enforced in the same way.
	Clip float64
	// Limit, for targets whose only certificate is that of a move, refuses moves
	// whose certified bound exceeds it, whatever the data say. Defaults to none.
	Limit float64
	// Rate is the probability that a record is drawn before thinning, at least
	// 1 − exp(−2·the largest bound) and at most 0.999. Required.
	Rate float64
}

// bit is the mechanism with the same bounds on full batches.
func (m ThinnedBit) bit() AcceptanceBit {
	return AcceptanceBit{Target: m.Target, Temperature: m.Temperature, Proposal: m.Proposal, Clip: m.Clip}
}

// thinning is what a thinned bit enforces, and the buffers of its releases.
type thinning struct {
	bound
	subject   *subject
	event     accountant.Event
	perLength float64 // bound over the length of a move; +Inf for none
	limited   bool    // moves are limited by the target's bound for each
	radius    float64
	tau       float64
	intensity float64 // I = −log(1−rate)
	rate      float64
	largest   float64      // the largest bound of a move that is not refused
	averaged  bool         // the price averages over a drawn move
	charged   float64      // contribution of one person; the largest bound per |Z| when averaged
	terms     []float64    // of a batch
	copies    [2][]float64 // of states, for the target
}

// mostRate keeps thinning probabilities, and the rounding of terms, well away
// from their limits (docs/proofs/tunamh.md, §5).
const mostRate = 0.999

// thinningSlack covers the rounding of terms to the grid.
const thinningSlack = 1.0 / (1 << 20)

// thinning derives what is enforced from the mechanism and the facts.
func (m ThinnedBit) thinning(f Facts) (*thinning, error) {
	bit := m.bit()
	if err := bit.check(f); err != nil {
		return nil, err
	}
	if !(m.Limit >= 0) || math.IsInf(m.Limit, 0) {
		return nil, fmt.Errorf("curator: the limit is %v; it must be positive, or 0 for none", m.Limit)
	}
	if !(m.Rate > 0 && m.Rate <= mostRate) {
		return nil, fmt.Errorf("curator: the rate is %v; it must be in (0, %v]: use the full data beyond", m.Rate, mostRate)
	}
	s, err := f.admit(m.Target)
	if err != nil {
		return nil, err
	}
	if err := m.Proposal.check(); err != nil {
		return nil, err
	}
	t := &thinning{subject: s, perLength: math.Inf(1), radius: f.Radius, tau: bit.temperature(),
		intensity: -math.Log1p(-m.Rate), rate: m.Rate}
	if t.bound, err = bit.bounds(f, s); err != nil {
		return nil, err
	}
	if !math.IsInf(t.slope, 1) {
		t.perLength = t.slope * f.Radius
	}
	t.largest = min(t.constant, t.perLength*m.reach(s.Dim))
	t.averaged = t.perScale <= t.constant && !math.IsInf(t.perScale, 1)
	if math.IsInf(t.largest, 1) && m.Limit > 0 && f.Radius > 0 && s.moves != nil {
		t.limited, t.largest = true, m.Limit
	}
	switch {
	case math.IsInf(t.largest, 1):
		return nil, errors.New("curator: nothing bounds a record's part of the acceptance: give Clip, or a target with a " +
			"certificate that applies here " +
			"(a finite loss range; a linear predictor with a finite Lipschitz constant and moves of known scale; or a bound " +
			"for each move and a Limit; the last two need a Radius)")
	case checkLargest(t.largest) != nil:
		return nil, checkLargest(t.largest)
	case t.intensity < 2*t.largest:
		return nil, fmt.Errorf("curator: the rate is %v, but a record may contribute %v: use a rate of at least 1 − "+
			"exp(−2·%v) = %.4g, or shorter moves",
			m.Rate, t.largest, t.largest, -math.Expm1(-2*t.largest))
	}
	if t.charged = t.perScale; !t.averaged {
		t.charged = t.contribution(f.Adjacency)
	}
	t.charged *= float64(f.RowsPerPerson) * (1 + thinningSlack)
	t.event, err = t.price(f)
	return t, err
}

// reach is the length beyond which drawn moves are refused, and the longest
// other move: a standard normal vector is longer than √d + 4 with probability
// below e⁻⁸.
func (m ThinnedBit) reach(dim int) float64 {
	switch m.Proposal.kind() {
	case isotropic:
		return m.Proposal.Scale * (math.Sqrt(float64(dim)) + 4)
	case oneComponent:
		return m.Proposal.Scale * 5
	case bounded:
		return m.Proposal.Radius
	}
	return math.Inf(1)
}

// contribution is what a record of the largest bound b can do to the log-odds:
// raise them by at most b, and lower them by at most b + log(1 + χ²), χ² being the
// divergence of its inclusion under the move and its reverse
// (docs/proofs/tunamh.md, §3). Substitution charges twice the contribution, so
// there it is the middle.
func (t *thinning) contribution(adj accountant.Adjacency) float64 {
	share := 1.0
	if adj == accountant.Substitute {
		share = 0.5
	}
	fall := math.Expm1(-t.largest)
	return t.largest + share*math.Log1p(fall*fall/math.Expm1(t.intensity-t.largest))
}

// Event is the price of one bit on records with the given facts. It charges
// nothing. Errors: settings out of range; a target that does not fit; no bound
// on a record's contribution; a rate too small for the bound.
func (m ThinnedBit) Event(f Facts) (accountant.Event, error) {
	t, err := m.thinning(f)
	if err != nil {
		return accountant.Event{}, err
	}
	return t.event, nil
}

func (t *thinning) price(f Facts) (accountant.Event, error) {
	if t.averaged {
		// A bound b lowers the log-odds by at most b + b²/(I−B), of one person's k
		// rows by at most kb + (kb)²/(k(I−B)), B the largest bound.
		k := float64(f.RowsPerPerson)
		return accountant.Bit{Contribution: room.Padded(t.charged), Isotropic: true,
			Growth: 1 / (k * (t.intensity - t.largest)), Most: room.Padded(k * t.largest * (1 + thinningSlack))}.
			Event(f.Adjacency)
	}
	return accountant.Bit{Contribution: room.Padded(t.charged)}.Event(f.Adjacency)
}

func (m ThinnedBit) prepare(f Facts, set *record.Set) (accountant.Event, *Bits, error) {
	t, err := m.thinning(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	g, err := newThinnedBits(m, t, set)
	return t.event, g, err
}

// newThinnedBits builds what draws thinned bits over set, before anything is charged.
func newThinnedBits(m ThinnedBit, t *thinning, set *record.Set) (*Bits, error) {
	s, err := Batch{Rate: m.Rate}.newSampler(set.Len())
	if err != nil {
		return nil, err
	}
	// The largest term: r and the logarithm of the ratio of two probabilities.
	lattice := room.NewGrid(t.largest * (1 + 1/math.Expm1(t.intensity-t.largest)))
	t.copies = [2][]float64{make([]float64, t.subject.Dim), make([]float64, t.subject.Dim)}
	p := room.NewPass(t.subject.Subject, set, t.tau, t.slope, lattice, false)
	t.terms = make([]float64, set.Len())
	return &Bits{
		plan: plan{mechanism: m.bit(), subject: t.subject, test: accept.Logistic{}}, sampler: s, unit: lattice.Step, thin: t,
		pass: p, moveStep: make([]float64, t.subject.Dim),
	}, nil
}

// of bounds every record's part of one move. It reads no record.
func (t *thinning) of(next, theta, step []float64) float64 {
	if t.limited {
		return t.tau * t.subject.moveBound(next, theta, t.radius, t.copies)
	}
	if math.IsInf(t.perLength, 1) {
		return t.constant
	}
	return min(t.constant, t.perLength*record.Norm(step))
}

// decideThinned draws the bit of one move from a thinned batch.
func (b *Bits) decideThinned(next, theta []float64, logRatio float64) bool {
	bound := b.thin.of(next, theta, b.moveStep)
	if !(bound <= b.thin.largest) {
		return b.room.Refuse()
	}
	index := b.sampler.draw(b.room.Secret())
	terms := b.thin.terms[:len(index)]
	b.pass.Terms(terms, theta, next, b.moveStep, index, bound)
	sum := b.thin.sum(terms, bound, b.pass.Grid, b.room.Secret())
	return b.room.Logistic(sum, logRatio, b.unit)
}

// sum thins a drawn batch of contributions r and adds what the kept ones count, in grid
// steps: with E = e^(|r|/2) − 1 and k = 1/(e^(I−B/2) − 1), which is
// ±(|r|/2 + log(1 + (1+2k)E/(1−kE))).
func (t *thinning) sum(terms []float64, bound float64, g room.Grid, src *noise.Source) int64 {
	var sum int64
	var halves, odds, counts [128]float64
	k := 1 / math.Expm1(t.intensity-bound/2)
	keep := t.keeper(bound)
	for len(terms) > 0 {
		n := min(len(terms), len(halves))
		for i, r := range terms[:n] {
			halves[i] = math.Abs(r) / 2
		}
		vec.Expm1All(odds[:n], halves[:n])
		for i, e := range odds[:n] {
			odds[i] = float64((1+2*k)*e) / (1 - float64(k*e))
		}
		vec.AddLog1p(counts[:n], halves[:n], odds[:n])
		for i, r := range terms[:n] {
			if keep.draw(src, r) {
				sum += g.Round(math.Copysign(counts[i], r), g.Top)
			}
		}
		terms = terms[n:]
	}
	return sum
}

// keeper draws which records of a batch are used: each with the probability of inclusion
// over that of the draw, p/q = (1 − e^((B+r)/2−I))/q. It leaves out a share of at most
// (1 − e^(B−I))/q, so it asks of few. A record is suspect with chance suspects/2¹⁶, which
// takes 16 bits, and a suspect is left out by the rest of the chance to be.
type keeper struct {
	bound, intensity, rate float64
	suspects               uint64
	word                   uint64 // of which lanes of 16 bits are left
	lanes                  int
}

func (t *thinning) keeper(bound float64) keeper {
	most := 1 - math.Expm1(bound-t.intensity)/math.Expm1(-t.intensity)
	return keeper{bound: bound, intensity: t.intensity, rate: t.rate, suspects: uint64(most*(1<<16)) + 2}
}

func (k *keeper) draw(src *noise.Source, r float64) bool {
	if k.lanes == 0 {
		k.word, k.lanes = src.Uint64(), 4
	}
	lane := k.word & (1<<16 - 1)
	k.word, k.lanes = k.word>>16, k.lanes-1
	return lane >= k.suspects || noise.Bernoulli(src, k.cleared(r))
}

// cleared is the probability that a suspect is used.
func (k *keeper) cleared(r float64) float64 {
	p := -vec.Expm1((k.bound+r)/2-k.intensity) / k.rate
	return max(0, min(1, 1-(1-p)*(1<<16)/float64(k.suspects)))
}
