package accountant

// Proof: docs/proofs/accountant-sampling.md.

import (
	"fmt"
	"math"
)

// sampling says how the records of one minibatch are drawn.
type sampling struct {
	scheme         string
	rate           float64
	records, batch int64
}

const (
	schemePoisson            = "poisson"
	schemeWithoutReplacement = "without_replacement"
)

// poisson keeps every record independently.
func poisson(rate float64) (sampling, error) {
	if !(rate >= 0 && rate <= 1) {
		return sampling{}, fmt.Errorf("accountant: Poisson sampling: rate %v: must be in [0, 1]", rate)
	}
	return sampling{scheme: schemePoisson, rate: rate}, nil
}

// withoutReplacement draws a uniform subset.
func withoutReplacement(records, batch int64) (sampling, error) {
	if records < 1 {
		return sampling{}, fmt.Errorf("accountant: sampling without replacement: records %d: must be at least 1", records)
	}
	if batch < 0 || batch > records {
		return sampling{}, fmt.Errorf("accountant: sampling without replacement: batch %d: must be between 0 and the number "+
			"of records, %d", batch, records)
	}
	return sampling{schemeWithoutReplacement, float64(batch) / float64(records), records, batch}, nil
}

// String describes the sampling in a few words.
func (s sampling) String() string {
	if s.scheme == schemePoisson {
		return fmt.Sprintf("poisson(rate %v)", s.rate)
	}
	return fmt.Sprintf("without_replacement(%d of %d)", s.batch, s.records)
}

// ofGroups bounds the chance that any of k records is in the batch.
func (s sampling) ofGroups(k int64) sampling {
	switch {
	case k == 1:
	case s.scheme == schemePoisson:
		s.rate = min(1, float64(k)*s.rate)
	default:
		if s.batch > s.records/k {
			s.batch = s.records
		} else {
			s.batch *= k
		}
		s.rate = float64(s.batch) / float64(s.records)
	}
	return s
}

// sampled is an event whose releases all read one minibatch.
type sampled struct {
	s     sampling // of records, as stated
	any   sampling // of the records of one person: s, unless inner is stated for several
	inner Event
	curve func(order float64) float64
	pure  float64 // pure ε, +Inf if there is none
	fail  float64 // probability of failure

	moments bool // the curve is a momentCurve, which may fall
}

func (m *sampled) kind() string { return "sampled" }

func (m *sampled) memory(name string) memory { return recall(name) }

func (m *sampled) fields() []field {
	if m.s.scheme == schemePoisson {
		return []field{{"scheme", m.s.scheme}, {"rate", m.s.rate}, {"event", m.inner}}
	}
	return []field{{"scheme", m.s.scheme}, {"records", m.s.records}, {"batch", m.s.batch}, {"event", m.inner}}
}

func (m *sampled) pureEpsilon(Adjacency) float64 { return m.pure }

func (m *sampled) fallsUntil() float64 {
	if m.moments {
		return momentLimit
	}
	return 0
}

func (m *sampled) failure() float64 { return m.fail }

// departure is that of what is sampled: it holds given which other records are drawn.
func (m *sampled) departure() float64 { return m.inner.departure() }

func (m *sampled) rdp(_ Adjacency, order float64) float64 {
	if math.IsInf(order, 1) {
		return m.pure
	}
	return min(m.curve(order), m.pure)
}

// PoissonSampled is the release of e computed on one minibatch that keeps every record
// independently with probability rate in [0, 1] (equivalently: a binomial size, then a
// uniform subset). Everything in e reads the same batch, so two releases from one batch
// are one composition that is sampled.
//
// Supported, each with a proof (docs/proofs/accountant-sampling.md): under add/remove any
// event; under substitution Gaussians only, or one acceptance or isotropic bit, where the
// event's sensitivity is that of two records, each of which moves the release by at most
// half of it. An event that may fail (Approximate) must be alone. Everything else is an
// error. An event that Group stated for persons of k records is charged as
// if drawn k times as often, because any of the k may be in the batch.
func (e Event) PoissonSampled(rate float64) (Event, error) {
	s, err := poisson(rate)
	if err != nil {
		return Event{}, err
	}
	return e.on(s)
}

// SubsetSampled is the release of e computed on a uniform subset of batch out of a public
// number of records, 0 ≤ batch ≤ records: sampling without replacement. It is accounted
// under substitution only, around any event, otherwise as PoissonSampled is.
func (e Event) SubsetSampled(records, batch int64) (Event, error) {
	s, err := withoutReplacement(records, batch)
	if err != nil {
		return Event{}, err
	}
	return e.on(s)
}

// on is the release of e on one minibatch.
func (e Event) on(s sampling) (Event, error) {
	if err := e.valid(); err != nil {
		return Event{}, err
	}
	if s.scheme == schemeWithoutReplacement && e.adj != Substitute {
		return Event{}, fmt.Errorf("accountant: sampling without replacement needs a public number of records, so "+
			"it is accounted under substitution only; the event is stated under %s: use Poisson sampling or restate it", e.adj)
	}
	m := &sampled{s: s, any: s.ofGroups(e.largestGroup()), inner: e, pure: math.Inf(1)}
	var err error
	switch {
	case e.nothing():
		return e, nil
	case m.any.rate == 0:
		m.curve, m.pure = func(float64) float64 { return 0 }, 0
	case e.FailureProbability() > 0:
		err = m.failing()
	case m.any.rate == 1:
		m.curve, m.pure = e.RDP, e.RDP(math.Inf(1))
	default:
		err = m.amplify()
	}
	if err != nil {
		return Event{}, err
	}
	return newEvent(e.adj, m)
}

// failing amplifies one (ε, δ)-DP release to (log(1 + q(e^ε − 1)), qδ)
// (Balle, Barthe, Gaboardi 2018).
func (m *sampled) failing() error {
	inner, ok := m.inner.flat().only()
	a, approx := inner.(approximate)
	if !ok || !approx {
		return fmt.Errorf("accountant: sampling: an event that may fail outright must be sampled alone, not in %v: state "+
			"one Approximate for the whole release", m.inner)
	}
	if m.s.scheme == schemePoisson && m.inner.adj == Substitute && m.any.rate < 1 {
		return m.unsupported()
	}
	m.pure = amplifiedPure(m.any.rate, a.eps)
	m.fail = m.any.rate * a.delta
	m.curve = func(order float64) float64 { return responseRDP(order, m.pure, 2) }
	return nil
}

// amplifiedPure is log(1 + q(e^ε − 1)).
func amplifiedPure(q, eps float64) float64 {
	if eps < 700 {
		return math.Log1p(q * math.Expm1(eps))
	}
	return math.Log(q) + eps
}

func (m *sampled) unsupported() error {
	return fmt.Errorf("accountant: Poisson sampling under substitution has no proven bound for %v, because its "+
		"cost says how a replaced record moves the release, not how one that is absent does; supported are Gaussian (and "+
		"its compositions), acceptance_bit and isotropic_bit: use sampling without replacement, or state the event under "+
		"add_remove and convert the sampled event with Substitution", m.inner)
}

// amplify chooses the curve of a sampled event with 0 < q < 1 that cannot fail.
func (m *sampled) amplify() error {
	e, q := m.inner.flat(), m.any.rate
	if _, ok := e.gaussianMu(); ok {
		return m.amplifyGaussian()
	}
	single, _ := e.only()
	switch leaf := single.(type) {
	case acceptanceBit:
		b := newSampledBit(m.s.scheme, e.adj, q, leaf)
		m.curve, m.pure = b.rdp, b.pureEpsilon()
		return nil
	case isotropicBit:
		if m.s.scheme == schemePoisson {
			m.curve = (&sampledIsotropicBit{q, leaf.scale * inflation, e.adj, leaf}).rdp
			return nil
		}
	}
	if m.s.scheme == schemePoisson && e.adj == Substitute {
		return m.unsupported()
	}
	m.pure = amplifiedPure(q, e.RDP(math.Inf(1)))
	if p, ok := single.(profiled); ok {
		m.curve = newProfileCurve(m.s.scheme, q, p, e.adj).rdp
		return nil
	}
	m.curve, m.moments = newMomentCurve(m.s.scheme, q, e).rdp, true
	return nil
}

func (m *sampled) amplifyGaussian() error {
	mu, _ := m.inner.flat().gaussianMu()
	q := m.any.rate
	switch {
	case mu == 0:
		m.curve, m.pure = func(float64) float64 { return 0 }, 0
	case math.IsInf(mu*mu, 1):
		m.curve = func(float64) float64 { return math.Inf(1) }
	case m.s.scheme == schemeWithoutReplacement:
		m.curve = newProfileCurve(m.s.scheme, q, gridGaussian{gaussian{1 / mu}, m.inner.departure()}, Substitute).rdp
	case m.inner.adj == AddRemove:
		m.curve = func(order float64) float64 { return poissonGaussianRDP(order, mu, q) }
	default:
		m.curve = func(order float64) float64 { return poissonSubstitutionRDP(order, mu, q) }
	}
	return nil
}

// only returns the single mechanism of an event released exactly once.
func (e Event) only() (mechanism, bool) {
	if len(e.parts) == 1 && e.parts[0].count == 1 {
		return e.parts[0].m, true
	}
	return nil, false
}

// grouping mechanisms are stated for several records of one person.
type grouping interface{ records() int64 }

// largestGroup is the largest number of records that a part of the event is
// stated for.
func (e Event) largestGroup() int64 {
	most := int64(1)
	for _, p := range e.parts {
		if g, ok := p.m.(grouping); ok {
			most = max(most, g.records())
		}
	}
	return most
}
