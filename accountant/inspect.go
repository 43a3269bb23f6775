package accountant

// Mechanism is one term of an event, for software that accounts it by other
// means (package pld) or displays it.
type Mechanism struct {
	// Kind is the JSON kind, such as "gaussian" or "sampled".
	Kind string
	// Count is how many times it is released, ≥ 1.
	Count int64
	// Params holds the numeric parameters under their JSON names.
	Params map[string]float64
	// Sampling says in a few words how the minibatch is drawn, if Kind is "sampled".
	Sampling string
	// Inner is the event inside "sampled", "group" and "substitution".
	Inner Event

	sampling sampling
}

// Mechanisms lists the terms of the composition, equal ones merged.
func (e Event) Mechanisms() []Mechanism {
	out := make([]Mechanism, len(e.parts))
	for i, p := range e.parts {
		out[i] = Mechanism{Kind: p.m.kind(), Count: p.count, Params: make(map[string]float64)}
		for _, f := range p.m.fields() {
			switch v := f.value.(type) {
			case float64:
				out[i].Params[f.name] = v
			case int64:
				out[i].Params[f.name] = float64(v)
			case Event:
				out[i].Inner = v
			}
		}
		if s, ok := p.m.(*sampled); ok {
			out[i].sampling, out[i].Sampling = s.s, s.s.String()
		}
	}
	return out
}

// Resolved returns the event with group and adjacency relabellings replaced by
// the mechanisms they amount to, where that is a mechanism of this package.
func (e Event) Resolved() Event {
	if e.adj == 0 {
		return e
	}
	out := e.flat()
	for _, p := range out.parts {
		if _, ok := p.m.(*chained); ok {
			return e
		}
	}
	return out
}
