package accountant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// decoder builds the event of one JSON kind from its fields.
type decoder func(adj Adjacency, f *fieldsOf) (Event, error)

// one reads a kind with a single number.
func one(name string, build func(Adjacency, float64) (Event, error)) decoder {
	return func(adj Adjacency, f *fieldsOf) (Event, error) { return build(adj, f.number(name)) }
}

// decoders maps every JSON kind to its reader. It is filled in init because
// nested kinds refer back to it.
var decoders map[string]decoder

func init() {
	decoders = map[string]decoder{
		"gaussian": one("noise_multiplier", Gaussian),
		"grid_gaussian": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return GridGaussian(adj, f.number("noise_multiplier"), f.number("departure"))
		},
		"discrete_gaussian": one("noise_multiplier", DiscreteGaussian),
		"laplace":           one("noise_multiplier", Laplace),
		"pure":              one("epsilon", Pure),
		"zcdp":              one("rho", ZCDP),
		"gaussian_dp":       one("mu", GaussianDP),
		"bounded_range":     one("range", BoundedRange),
		"acceptance_bit":    one("contribution", AcceptanceBit),
		"approximate": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return Approximate(adj, f.number("epsilon"), f.number("delta"))
		},
		"randomized_response": func(adj Adjacency, f *fieldsOf) (Event, error) {
			categories := int64(2)
			if _, ok := f.values["categories"]; ok {
				categories = f.integer("categories")
			}
			return KaryRandomizedResponse(adj, f.number("epsilon"), categories)
		},
		"isotropic_bit": one("scale", IsotropicBit),
		"thinned_isotropic_bit": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return ThinnedIsotropicBit(adj, f.number("scale"), f.number("growth"), f.number("most"))
		},
		"sign_bits": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return SignBits(adj, f.integer("dimension"), f.number("contribution"), f.number("further"))
		},
		"objective_perturbation": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return ObjectivePerturbation(adj, f.number("noise_multiplier"), f.number("curvature"))
		},
		"convex_perturbation": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return ConvexPerturbation(adj, f.number("noise_multiplier"), f.number("curvature"))
		},
		"penalty_bit": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return PenaltyBit(adj, f.number("variance"), f.number("contribution"))
		},
		"isotropic_penalty_bit": func(adj Adjacency, f *fieldsOf) (Event, error) {
			return IsotropicPenaltyBit(adj, f.number("variance"), f.number("scale"))
		},
		"barker_thm2":           decodeBarker(SubsampledBarkerPublished),
		"barker_thm2_tightened": decodeBarker(SubsampledBarkerTightened),
		"sampled":               decodeSampled,
		"group": func(adj Adjacency, f *fieldsOf) (Event, error) {
			rows, inner := f.integer("rows"), f.event(adj, "event")
			if f.err != nil {
				return Event{}, nil
			}
			return GroupPrivacy(inner, int(rows))
		},
		"substitution": func(adj Adjacency, f *fieldsOf) (Event, error) {
			if adj != Substitute {
				return Event{}, fmt.Errorf("accountant: substitution: restates an add_remove event under substitute, so the " +
					"document's adjacency must be \"substitute\"")
			}
			inner := f.event(AddRemove, "event")
			if f.err != nil {
				return Event{}, nil
			}
			return FromAddRemove(inner)
		},
		"composed": func(adj Adjacency, f *fieldsOf) (Event, error) {
			var entries []json.RawMessage
			f.take("events", &entries)
			if f.err != nil {
				return Event{}, nil
			}
			return decodeList(adj, entries)
		},
	}
}

func decodeBarker(build func(batch int) (Event, error)) decoder {
	return func(adj Adjacency, f *fieldsOf) (Event, error) {
		if adj != Substitute {
			return Event{}, fmt.Errorf("accountant: %s is stated under substitution only", f.kind)
		}
		return build(int(f.integer("batch")))
	}
}

func decodeSampled(adj Adjacency, f *fieldsOf) (Event, error) {
	scheme, inner := f.text("scheme"), f.event(adj, "event")
	var s Sampling
	var err error
	switch {
	case f.err != nil:
		return Event{}, nil
	case scheme == schemePoisson:
		s, err = Poisson(f.number("rate"))
	case scheme == schemeWithoutReplacement:
		s, err = WithoutReplacement(f.integer("records"), f.integer("batch"))
	default:
		return Event{}, fmt.Errorf("accountant: sampled: scheme %q: must be %q or %q", scheme, schemePoisson,
			schemeWithoutReplacement)
	}
	if err != nil {
		return Event{}, err
	}
	return Sampled(s, inner)
}

func kinds() []string { return slices.Sorted(maps.Keys(decoders)) }

func firstKey(m map[string]json.RawMessage) string { return slices.Sorted(maps.Keys(m))[0] }
