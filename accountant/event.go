package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Event is an immutable fact about what is released: a composition of
// mechanisms, each with a count, under one adjacency. Copying an Event is
// cheap; all methods are safe for concurrent use. The zero Event is invalid:
// it costs +Inf and every operation on it is an error.
type Event struct {
	adj   Adjacency
	parts []part
}

// part is one mechanism of a composition, released count > 0 times.
type part struct {
	m     mechanism
	key   string // identifies the mechanism and its parameters exactly
	count int64
	memo  memory  // nil when the curve is cheap
	falls float64 // the order up to which the curve may fall, as a loose bound can; 0 if it does not
}

// mechanism is one kind of release with its parameters. Its adjacency is that
// of the Event that holds it.
type mechanism interface {
	kind() string
	// fields lists the parameters under their JSON names, in a fixed order.
	fields() []field
	// rdp bounds the Rényi divergence at an order in (1, +Inf], both directions.
	rdp(adj Adjacency, order float64) float64
}

// field is one named parameter: a float64, an int64, a string or an Event.
type field struct {
	name  string
	value any
}

// slow mechanisms have a curve that is worth remembering per order, and bring the memory of
// what is named so: the adjacency and the key.
type (
	slow   interface{ memory(name string) memory }
	memory interface {
		get(order float64, compute func() float64) float64
	}
)

// uneven mechanisms may have a curve that falls as the order grows, up to one.
type uneven interface{ fallsUntil() float64 }

// statable mechanisms have parameters that a user states.
type statable interface {
	mechanism
	// check reports parameters without meaning.
	check() error
}

// stated is one release as a user states it.
func stated(adj Adjacency, m statable) (Event, error) {
	if err := m.check(); err != nil {
		return Event{}, err
	}
	return newEvent(adj, m)
}

func newEvent(adj Adjacency, m mechanism) (Event, error) {
	if err := adj.check(); err != nil {
		return Event{}, err
	}
	p := part{m: m, key: keyOf(m), count: 1, falls: fallsUntil(m)}
	if s, ok := m.(slow); ok {
		p.memo = s.memory(adj.String() + ":" + p.key)
	}
	return Event{adj: adj, parts: []part{p}}, nil
}

// fallsUntil is the order up to which a curve, or one that it is made of, may fall.
func fallsUntil(m mechanism) (order float64) {
	if u, ok := m.(uneven); ok {
		order = u.fallsUntil()
	}
	for _, f := range m.fields() {
		if inner, ok := f.value.(Event); ok {
			order = max(order, inner.fallsUntil())
		}
	}
	return order
}

// fallsUntil is the order up to which a part's curve may fall, 0 if none does.
func (e Event) fallsUntil() (order float64) {
	for _, p := range e.parts {
		order = max(order, p.falls)
	}
	return order
}

func keyOf(m mechanism) string {
	var room [64]byte
	b := append(room[:0], m.kind()...)
	for _, f := range m.fields() {
		b = append(append(append(b, ' '), f.name...), '=')
		switch v := f.value.(type) {
		case float64:
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case string:
			b = append(b, v...)
		case Event:
			b = append(append(append(b, '('), v.key()...), ')')
		}
	}
	return string(b)
}

// key is equal for two events exactly when they describe the same releases,
// in whatever order.
func (e Event) key() string {
	keys := make([]string, len(e.parts))
	for i, p := range e.parts {
		keys[i] = strconv.FormatInt(p.count, 10) + "*" + p.key
	}
	slices.Sort(keys)
	return e.adj.String() + ":" + strings.Join(keys, "+")
}

// Adjacency returns the adjacency the event's parameters are stated under.
func (e Event) Adjacency() Adjacency { return e.adj }

// Compose returns the event of releasing all given events, each fixed in
// advance. Compositions are flattened and equal mechanisms merged into one
// count. At least one event is required and all must share an adjacency.
func Compose(events ...Event) (Event, error) {
	if len(events) == 0 {
		return Event{}, fmt.Errorf("accountant: Compose of no events: at least one is required, because an event carries " +
			"an adjacency")
	}
	out := Event{adj: events[0].adj}
	index := make(map[string]int, len(events))
	for i, e := range events {
		if err := e.adj.check(); err != nil {
			return Event{}, fmt.Errorf("accountant: Compose: event %d is the zero Event; build events with Gaussian, "+
				"Bit, …", i)
		}
		if e.adj != out.adj {
			return Event{}, fmt.Errorf("accountant: Compose: event %d is stated under %s, earlier ones under %s; restate it, "+
				"or convert with Event.Substitution", i, e.adj, out.adj)
		}
		for _, p := range e.parts {
			j, seen := index[p.key]
			if !seen {
				index[p.key] = len(out.parts)
				out.parts = append(out.parts, p)
				continue
			}
			sum := out.parts[j].count + p.count
			if sum < 0 {
				return Event{}, fmt.Errorf("accountant: Compose: more than %d releases of %s", int64(math.MaxInt64), p.key)
			}
			out.parts[j].count = sum
		}
	}
	return out, nil
}

// Times returns n independent releases of the event, n ≥ 0, in O(1) of n.
// Zero releases cost nothing.
func (e Event) Times(n int64) (Event, error) {
	if err := e.valid(); err != nil {
		return Event{}, err
	}
	if n < 0 {
		return Event{}, fmt.Errorf("accountant: count %d: must be at least 0", n)
	}
	out := Event{adj: e.adj}
	if n == 0 {
		return out, nil
	}
	out.parts = slices.Clone(e.parts)
	for i := range out.parts {
		if out.parts[i].count > math.MaxInt64/n {
			return Event{}, fmt.Errorf("accountant: count %d: more than %d releases in all", n, int64(math.MaxInt64))
		}
		out.parts[i].count *= n
	}
	return out, nil
}

func (e Event) valid() error {
	if e.adj.check() != nil {
		return fmt.Errorf("accountant: the zero Event describes no release; build events with Gaussian, Bit, …")
	}
	return nil
}

// nothing reports whether the event releases nothing.
func (e Event) nothing() bool { return len(e.parts) == 0 }

// restated mechanisms are others under another name: of what these cost.
type restated interface{ costs() part }

// flat replaces relabelled parts by what they cost.
func (e Event) flat() Event {
	e.parts = slices.Clone(e.parts)
	for i, p := range e.parts {
		if g, ok := p.m.(restated); ok {
			e.parts[i] = g.costs()
			e.parts[i].count = p.count
		}
	}
	return e
}
