package accountant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// decoder builds the event of one JSON kind from its fields.
type decoder func(adj Adjacency, f *fieldsOf) (Event, error)

// mechanismOf reads a kind whose fields are numbers.
func mechanismOf(read func(f *fieldsOf) statable) decoder {
	return func(adj Adjacency, f *fieldsOf) (Event, error) {
		m := read(f)
		if f.err != nil {
			return Event{}, nil
		}
		return stated(adj, m)
	}
}

// one reads a kind with a single number.
func one[M statable](name string, build func(x float64) M) decoder {
	return mechanismOf(func(f *fieldsOf) statable { return build(f.number(name)) })
}

// jsonKind is one kind of release that JSON documents can list.
type jsonKind struct {
	// name is its "kind", parameters are its other fields, those that may be left out
	// with a question mark.
	name       string
	parameters []string
	// about says what is released, in a few words.
	about string

	read decoder
}

// registry is filled in init because nested kinds refer back to it.
var registry []jsonKind

func init() {
	registry = []jsonKind{
		{"gaussian", []string{"noise_multiplier"}, "Gaussian noise",
			one("noise_multiplier", func(x float64) gaussian { return gaussian{x} })},
		{"grid_gaussian", []string{"noise_multiplier", "departure"}, "the same on a grid, that far in ε from it",
			mechanismOf(func(f *fieldsOf) statable {
				return gridGaussian{gaussian{f.number("noise_multiplier")}, f.number("departure")}
			})},
		{"discrete_gaussian", []string{"noise_multiplier"}, "discrete Gaussian noise",
			one("noise_multiplier", func(x float64) discreteGaussian { return discreteGaussian{x} })},
		{"laplace", []string{"noise_multiplier"}, "Laplace noise",
			one("noise_multiplier", func(x float64) laplace { return laplace{x} })},
		{"pure", []string{"epsilon"}, "anything ε-DP",
			one("epsilon", func(x float64) pure { return pure{x} })},
		{"zcdp", []string{"rho"}, "anything ρ-zCDP",
			one("rho", func(x float64) zcdp { return zcdp{x} })},
		{"gaussian_dp", []string{"mu"}, "anything µ-GDP",
			one("mu", func(x float64) gaussianDP { return gaussianDP{x} })},
		{"bounded_range", []string{"range"}, "a log-likelihood ratio within an interval of that length",
			one("range", func(x float64) boundedRange { return boundedRange{x} })},
		{"acceptance_bit", []string{"contribution"}, "an accept/reject bit",
			one("contribution", func(x float64) acceptanceBit { return acceptanceBit{x} })},
		{"approximate", []string{"epsilon", "delta"}, "anything (ε, δ)-DP",
			mechanismOf(func(f *fieldsOf) statable {
				return approximate{f.number("epsilon"), f.number("delta")}
			})},
		{"randomized_response", []string{"epsilon", "categories?"}, "one of so many values, 2 unless given",
			mechanismOf(func(f *fieldsOf) statable {
				categories := int64(2)
				if _, ok := f.values["categories"]; ok {
					categories = f.integer("categories")
				}
				return randomizedResponse{f.number("epsilon"), categories}
			})},
		{"isotropic_bit", []string{"scale"}, "a bit with its public Gaussian move",
			one("scale", func(x float64) isotropicBit { return isotropicBit{x} })},
		{"thinned_isotropic_bit", []string{"scale", "growth", "most"}, "the same from a thinned batch",
			mechanismOf(func(f *fieldsOf) statable {
				return thinnedIsotropicBit{f.number("scale"), f.number("growth"), f.number("most")}
			})},
		{"sign_bits", []string{"dimension", "contribution", "further"}, "a bit a coordinate, and one more",
			mechanismOf(func(f *fieldsOf) statable {
				return signBits{f.integer("dimension"), f.number("contribution"), f.number("further")}
			})},
		{"objective_perturbation", []string{"noise_multiplier", "curvature"}, "a logistic optimum, perturbed",
			mechanismOf(func(f *fieldsOf) statable {
				return objectivePerturbation{f.number("noise_multiplier"), f.number("curvature")}
			})},
		{"convex_perturbation", []string{"noise_multiplier", "curvature"}, "any convex optimum, perturbed",
			mechanismOf(func(f *fieldsOf) statable {
				return convexPerturbation{f.number("noise_multiplier"), f.number("curvature")}
			})},
		{"penalty_bit", []string{"variance", "contribution"}, "a bit of the penalty test with that noise",
			mechanismOf(func(f *fieldsOf) statable {
				return penaltyBit{f.number("variance"), f.number("contribution")}
			})},
		{"isotropic_penalty_bit", []string{"variance", "scale"}, "the same with its public Gaussian move",
			mechanismOf(func(f *fieldsOf) statable {
				return isotropicPenaltyBit{f.number("variance"), f.number("scale")}
			})},
		{"barker_thm2", []string{"batch"}, "Heikkilä et al. 2019, Theorem 2, as published",
			decodeBarker(false)},
		{"barker_thm2_tightened", []string{"batch"}, "the same with its constant mended",
			decodeBarker(true)},
		{"sampled", []string{"scheme", "rate?", "records?", "batch?", "event"}, "all that reads one minibatch",
			decodeSampled},
		{"random_allocation", []string{"noise_multiplier", "steps", "departure"},
			"releases, each record in one",
			func(adj Adjacency, f *fieldsOf) (Event, error) {
				m := newAllocation(adj, f.number("noise_multiplier"), f.integer("steps"), f.number("departure"))
				if f.err != nil {
					return Event{}, nil
				}
				return stated(adj, m)
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
	switch {
	case f.err != nil:
		return Event{}, nil
	case scheme == schemePoisson:
		return inner.PoissonSampled(f.number("rate"))
	case scheme == schemeWithoutReplacement:
		return inner.SubsetSampled(f.integer("records"), f.integer("batch"))
	}
	return Event{}, fmt.Errorf("accountant: sampled: scheme %q: must be %q or %q", scheme, schemePoisson,
		schemeWithoutReplacement)
}

// kind is the kind of a name, and nil without one.
func kind(name string) *jsonKind {
	i := slices.IndexFunc(registry, func(k jsonKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &registry[i]
}

func kinds() []string {
	var names []string
	for _, k := range registry {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return names
}

func firstKey(m map[string]json.RawMessage) string { return slices.Sorted(maps.Keys(m))[0] }
