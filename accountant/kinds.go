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

// Kind is one kind of release that JSON documents can list.
type Kind struct {
	// Name is its "kind", Parameters are its other fields, those that may be left out
	// with a question mark.
	Name       string
	Parameters []string
	// About says what is released, in a few words.
	About string

	read decoder
}

// Kinds lists every kind of release in JSON documents.
func Kinds() []Kind { return slices.Clone(registry) }

// registry is what Kinds lists. It is filled in init because nested kinds refer back
// to it.
var registry []Kind

func init() {
	registry = []Kind{
		{"gaussian", []string{"noise_multiplier"}, "Gaussian noise",
			one("noise_multiplier", Gaussian)},
		{"grid_gaussian", []string{"noise_multiplier", "departure"}, "the same on a grid, that far in ε from it",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return GridGaussian(adj, f.number("noise_multiplier"), f.number("departure"))
			}},
		{"discrete_gaussian", []string{"noise_multiplier"}, "discrete Gaussian noise",
			one("noise_multiplier", DiscreteGaussian)},
		{"laplace", []string{"noise_multiplier"}, "Laplace noise",
			one("noise_multiplier", Laplace)},
		{"pure", []string{"epsilon"}, "anything ε-DP",
			one("epsilon", Pure)},
		{"zcdp", []string{"rho"}, "anything ρ-zCDP",
			one("rho", ZCDP)},
		{"gaussian_dp", []string{"mu"}, "anything µ-GDP",
			one("mu", GaussianDP)},
		{"bounded_range", []string{"range"}, "a log-likelihood ratio within an interval of that length",
			one("range", BoundedRange)},
		{"acceptance_bit", []string{"contribution"}, "an accept/reject bit",
			one("contribution", AcceptanceBit)},
		{"approximate", []string{"epsilon", "delta"}, "anything (ε, δ)-DP",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return Approximate(adj, f.number("epsilon"), f.number("delta"))
			}},
		{"randomized_response", []string{"epsilon", "categories?"}, "one of so many values, 2 unless given",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				categories := int64(2)
				if _, ok := f.values["categories"]; ok {
					categories = f.integer("categories")
				}
				return RandomizedResponse(adj, f.number("epsilon"), categories)
			}},
		{"isotropic_bit", []string{"scale"}, "a bit with its public Gaussian move",
			one("scale", IsotropicBit)},
		{"thinned_isotropic_bit", []string{"scale", "growth", "most"}, "the same from a thinned batch",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return ThinnedIsotropicBit(adj, f.number("scale"), f.number("growth"), f.number("most"))
			}},
		{"sign_bits", []string{"dimension", "contribution", "further"}, "a bit a coordinate, and one more",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return SignBits(adj, f.integer("dimension"), f.number("contribution"), f.number("further"))
			}},
		{"objective_perturbation", []string{"noise_multiplier", "curvature"}, "a logistic optimum, perturbed",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return ObjectivePerturbation(adj, f.number("noise_multiplier"), f.number("curvature"))
			}},
		{"convex_perturbation", []string{"noise_multiplier", "curvature"}, "any convex optimum, perturbed",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return ConvexPerturbation(adj, f.number("noise_multiplier"), f.number("curvature"))
			}},
		{"penalty_bit", []string{"variance", "contribution"}, "a bit of the penalty test with that noise",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return PenaltyBit(adj, f.number("variance"), f.number("contribution"))
			}},
		{"isotropic_penalty_bit", []string{"variance", "scale"}, "the same with its public Gaussian move",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return IsotropicPenaltyBit(adj, f.number("variance"), f.number("scale"))
			}},
		{"barker_thm2", []string{"batch"}, "Heikkilä et al. 2019, Theorem 2, as published",
			decodeBarker(false)},
		{"barker_thm2_tightened", []string{"batch"}, "the same with its constant mended",
			decodeBarker(true)},
		{"sampled", []string{"scheme", "rate?", "records?", "batch?", "event"}, "all that reads one minibatch",
			decodeSampled},
		{"random_allocation", []string{"noise_multiplier", "steps", "departure"},
			"releases, each record in one",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				return RandomAllocation(adj, f.number("noise_multiplier"), f.integer("steps"), f.number("departure"))
			}},
		{"group", []string{"rows", "event"}, "one person owns that many records",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				rows, inner := f.integer("rows"), f.event(adj, "event")
				if f.err != nil {
					return Event{}, nil
				}
				return inner.Group(int(rows))
			}},
		{"substitution", []string{"event"}, "an add/remove event restated under substitution",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				if adj != Substitute {
					return Event{}, fmt.Errorf("accountant: substitution: restates an add_remove event under substitute, so the " +
						"document's adjacency must be \"substitute\"")
				}
				inner := f.event(AddRemove, "event")
				if f.err != nil {
					return Event{}, nil
				}
				return inner.Substitution()
			}},
		{"composed", []string{"events"}, "several, one after the other",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				var entries []json.RawMessage
				f.take("events", &entries)
				if f.err != nil {
					return Event{}, nil
				}
				return decodeList(adj, entries)
			}},
	}
}

func decodeBarker(tightened bool) decoder {
	return func(adj Adjacency, f *fieldsOf) (Event, error) {
		if adj != Substitute {
			return Event{}, fmt.Errorf("accountant: %s is stated under substitution only", f.kind)
		}
		return SubsampledBarker(int(f.integer("batch")), tightened)
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
	return inner.Sampled(s)
}

// kind is the kind of a name, and nil without one.
func kind(name string) *Kind {
	i := slices.IndexFunc(registry, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &registry[i]
}

func kinds() []string {
	var names []string
	for _, k := range registry {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

func firstKey(m map[string]json.RawMessage) string { return slices.Sorted(maps.Keys(m))[0] }
