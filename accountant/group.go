package accountant

import (
	"fmt"
	"math"
)

// grouped relabels one mechanism for several records, or for another
// adjacency. Its curve is that of resolved.
type grouped struct {
	name     string // "group" or "substitution"
	rows     int64
	inner    Event // one mechanism, once
	resolved part
}

// records is how many records the mechanism is stated for.
func (m *grouped) records() int64 {
	rows := m.inner.largestGroup()
	if m.name == "group" {
		rows = saturated(rows, m.rows)
	}
	return rows
}

func (m *grouped) costs() part { return m.resolved }

func (m *grouped) kind() string { return m.name }

func (m *grouped) fields() []field {
	if m.name == "substitution" {
		return []field{{"event", m.inner}}
	}
	return []field{{"rows", m.rows}, {"event", m.inner}}
}

func (m *grouped) rdp(adj Adjacency, order float64) float64 { return m.resolved.rdp(adj, order) }

// saturated is a·b, or the largest number, for a, b ≥ 1.
func saturated(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// Group restates an event for persons who own up to rows ≥ 1 records
// each: the cost of changing all of them. Sensitivities are scaled where the
// mechanism has one; other curves go through the weak triangle inequality
// (Bun, Steinke 2016, group privacy of zCDP: Prop. 27, 5.3 in the arXiv version).
// Sampling and Group may be applied in either order; the smaller cost holds.
func (e Event) Group(rows int) (Event, error) {
	if err := e.valid(); err != nil {
		return Event{}, err
	}
	if rows < 1 {
		return Event{}, fmt.Errorf("accountant: Group: rows %d: must be at least 1 (records per person)", rows)
	}
	if rows == 1 {
		return e, nil
	}
	return e.relabel(e.adj, "group", int64(rows), float64(rows))
}

// Substitution restates an event given under add/remove under substitution,
// as a group of two: replacing a record is removing one and adding one. An
// acceptance bit keeps its contribution, which is stated per record.
func (e Event) Substitution() (Event, error) {
	if err := e.valid(); err != nil {
		return Event{}, err
	}
	if e.adj != AddRemove {
		return Event{}, fmt.Errorf("accountant: Substitution: the event is stated under %s already", e.adj)
	}
	return e.relabel(Substitute, "substitution", 2, 2)
}

func (e Event) relabel(adj Adjacency, name string, rows int64, k float64) (Event, error) {
	events := []Event{empty(adj)}
	for i, p := range e.parts {
		inner := Event{adj: e.adj, parts: []part{p}}
		inner.parts[0].count = 1
		m := &grouped{name: name, rows: rows, inner: inner}
		leaf := inner.flat().parts[0]
		resolved, err := newEvent(adj, scaled(leaf, e.adj, adj, k))
		if err != nil {
			return Event{}, err
		}
		m.resolved = resolved.parts[0]
		one, err := newEvent(adj, m)
		if err != nil {
			return Event{}, err
		}
		if one, err = one.Times(e.parts[i].count); err != nil {
			return Event{}, err
		}
		events = append(events, one)
	}
	return Compose(events...)
}

// scaled is the mechanism seen by k records at once.
func scaled(p part, from, to Adjacency, k float64) mechanism {
	perRecord := k // bits state their contribution per record
	if from != to {
		perRecord = k / 2
	}
	switch m := p.m.(type) {
	case gaussian:
		return gaussian{m.sigma / k}
	case gridGaussian: // k times as far, within the square of that
		return gridGaussian{gaussian{m.sigma / k}, m.departs * k * k}
	case discreteGaussian:
		return discreteGaussian{m.sigma / k}
	case gaussianDP:
		return gaussianDP{m.m * k}
	case zcdp:
		return zcdp{m.rho * k * k}
	case laplace:
		return laplace{m.b / k}
	case pure:
		return pure{m.eps * k}
	case randomizedResponse:
		return pure{m.eps * k}
	case approximate:
		return approximate{m.eps * k, groupDelta(m.eps, m.delta, k)}
	case boundedRange:
		return boundedRange{m.s * k}
	case acceptanceBit:
		return acceptanceBit{m.c * perRecord}
	case convexPerturbation: // sensitivity and curvature are sums over a person's rows
		return convexPerturbation{m.sigma / k, m.curvature * k}
	case isotropicBit:
		return isotropicBit{m.scale * perRecord}
	case thinnedIsotropicBit:
		return thinnedIsotropicBit{m.scale * perRecord, m.growth / perRecord, m.most * perRecord}
	}
	return &chained{link: p, adj: from, rows: k}
}

// groupDelta is δ(e^{kε}−1)/(e^ε−1), the δ of k applications of (ε, δ)-DP.
func groupDelta(eps, delta, k float64) float64 {
	if delta == 0 {
		return 0
	}
	if eps == 0 {
		return min(1, k*delta)
	}
	// Without e^{kε} itself, which may be +Inf.
	return min(1, delta*math.Exp((k-1)*eps)*(math.Expm1(-k*eps)/math.Expm1(-eps))*(1+slack))
}

// chained is a curve for rows records one after another:
//
//	ε_k(α) ≤ kα/(kα−1)·ε_{k−1}((kα−1)/(k−1)) + ε_1(kα).
type chained struct {
	link part
	adj  Adjacency // of the link
	rows float64
}

// longestChain bounds the work of a chain; longer ones are charged their pure cost.
const longestChain = 1 << 16

func (m *chained) kind() string { return "chained" }

func (m *chained) memory(name string) memory { return recall(name) }

func (m *chained) fields() []field {
	return []field{{"rows", m.rows}, {"event", Event{adj: m.adj, parts: []part{m.link}}}}
}

func (m *chained) pureEpsilon(Adjacency) float64 {
	return m.rows * m.link.rdp(m.adj, math.Inf(1))
}

func (m *chained) failure() float64 {
	f, ok := m.link.m.(failing)
	if !ok || f.failure() == 0 {
		return 0
	}
	return groupDelta(m.link.rdp(m.adj, math.Inf(1)), f.failure(), m.rows)
}

func (m *chained) rdp(_ Adjacency, order float64) float64 {
	if math.IsInf(order, 1) || m.rows > longestChain {
		return m.pureEpsilon(m.adj)
	}
	if m.failure() > 0 { // the curve and the failure chain together only as (ε, δ)
		return responseRDP(order, m.pureEpsilon(m.adj), 2)
	}
	total, factor := 0.0, 1.0
	for k := m.rows; k > 1; k-- {
		total += factor * m.link.rdp(m.adj, k*order)
		factor *= k * order / (k*order - 1)
		order = (k*order - 1) / (k - 1)
	}
	total += factor * m.link.rdp(m.adj, order)
	return min(total, m.pureEpsilon(m.adj))
}
