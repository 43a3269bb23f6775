package accountant

// Proof: docs/proofs/accountant-curves.md.

import "fmt"

// Adjacency says which pairs of data sets a cost protects. It has no default:
// the zero value is invalid everywhere. Costs stated under different
// adjacencies are never composed; see Event.Substitution for the one conversion.
type Adjacency int8

const (
	// Substitute relates data sets of one public size that differ in one record.
	Substitute Adjacency = iota + 1
	// AddRemove relates a data set to the same data set with one record fewer.
	AddRemove
)

// String returns "substitute" or "add_remove", the names used in JSON.
func (a Adjacency) String() string {
	switch a {
	case Substitute:
		return "substitute"
	case AddRemove:
		return "add_remove"
	}
	return "invalid"
}

func (a Adjacency) check() error {
	if a != Substitute && a != AddRemove {
		return fmt.Errorf("accountant: adjacency is required: state accountant.Substitute or accountant.AddRemove")
	}
	return nil
}
