package accountant

import (
	"fmt"
	"strings"
)

// String describes the event in one line, for people.
func (e Event) String() string {
	switch {
	case e.adj == 0:
		return "invalid event"
	case len(e.parts) == 0:
		return "nothing"
	}
	const shown = 8
	terms := make([]string, 0, shown+1)
	for i, p := range e.parts {
		if i == shown {
			terms = append(terms, fmt.Sprintf("… and %d more", len(e.parts)-shown))
			break
		}
		terms = append(terms, p.String())
	}
	return strings.Join(terms, " + ")
}

func (p part) String() string {
	var args []string
	for _, f := range p.m.fields() {
		args = append(args, fmt.Sprintf("%s %v", f.name, f.value))
	}
	s := p.m.kind() + "(" + strings.Join(args, ", ") + ")"
	if p.count != 1 {
		s = fmt.Sprintf("%d × %s", p.count, s)
	}
	return s
}

// MarshalText writes String; the zero value is an error.
func (a Adjacency) MarshalText() ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads the name that String writes. Anything else is an error.
func (a *Adjacency) UnmarshalText(text []byte) error {
	switch string(text) {
	case "substitute":
		*a = Substitute
	case "add_remove":
		*a = AddRemove
	default:
		return fmt.Errorf("accountant: adjacency %q: must be \"substitute\" (one record replaced) or \"add_remove\" (one "+
			"record more or fewer)", text)
	}
	return nil
}

// Equal reports whether two events describe the same releases with the same
// parameters and counts under the same adjacency, in any order.
func (e Event) Equal(o Event) bool {
	return e.adj == o.adj && len(e.parts) == len(o.parts) && e.key() == o.key()
}
