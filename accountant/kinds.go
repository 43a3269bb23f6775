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

// numbers is a kind whose fields are all numbers.
func numbers(kind, about string, build func(x []float64) statable, parameters ...string) jsonKind {
	return jsonKind{kind, parameters, about, mechanismOf(func(f *fieldsOf) statable {
		x := make([]float64, len(parameters))
		for i, p := range parameters {
			x[i] = f.number(p)
		}
		return build(x)
	})}
}

// registry is every kind of release in JSON documents.
var registry []jsonKind

// Nested kinds refer back to the registry.
func init() { registry = slices.Concat(leafKinds, nestedKinds) }

// leafKinds have numbers alone.
var leafKinds = []jsonKind{
	numbers("gaussian", "Gaussian noise",
		func(x []float64) statable { return gaussian{x[0]} }, "noise_multiplier"),
	numbers("grid_gaussian", "the same on a grid, that far in ε from it",
		func(x []float64) statable { return gridGaussian{gaussian{x[0]}, x[1]} }, "noise_multiplier", "departure"),
	numbers("discrete_gaussian", "discrete Gaussian noise",
		func(x []float64) statable { return discreteGaussian{x[0]} }, "noise_multiplier"),
	numbers("laplace", "Laplace noise", func(x []float64) statable { return laplace{x[0]} }, "noise_multiplier"),
	numbers("pure", "anything ε-DP", func(x []float64) statable { return pure{x[0]} }, "epsilon"),
	numbers("zcdp", "anything ρ-zCDP", func(x []float64) statable { return zcdp{x[0]} }, "rho"),
	numbers("gaussian_dp", "anything µ-GDP", func(x []float64) statable { return gaussianDP{x[0]} }, "mu"),
	numbers("bounded_range", "a log-likelihood ratio within an interval of that length",
		func(x []float64) statable { return boundedRange{x[0]} }, "range"),
	numbers("acceptance_bit", "an accept/reject bit",
		func(x []float64) statable { return acceptanceBit{x[0]} }, "contribution"),
	numbers("approximate", "anything (ε, δ)-DP",
		func(x []float64) statable { return approximate{x[0], x[1]} }, "epsilon", "delta"),
	{"randomized_response", []string{"epsilon", "categories?"}, "one of so many values, 2 unless given",
		mechanismOf(func(f *fieldsOf) statable {
			categories := int64(2)
			if _, ok := f.values["categories"]; ok {
				categories = f.integer("categories")
			}
			return randomizedResponse{f.number("epsilon"), categories}
		})},
	numbers("isotropic_bit", "a bit with its public Gaussian move",
		func(x []float64) statable { return isotropicBit{x[0]} }, "scale"),
	numbers("thinned_isotropic_bit", "the same from a thinned batch",
		func(x []float64) statable { return thinnedIsotropicBit{x[0], x[1], x[2]} }, "scale", "growth", "most"),
	{"sign_bits", []string{"dimension", "contribution", "further"}, "a bit a coordinate, and one more",
		mechanismOf(func(f *fieldsOf) statable {
			return signBits{f.integer("dimension"), f.number("contribution"), f.number("further")}
		})},
	numbers("objective_perturbation", "a logistic optimum, perturbed",
		func(x []float64) statable { return objectivePerturbation{x[0], x[1]} }, "noise_multiplier", "curvature"),
	numbers("convex_perturbation", "any convex optimum, perturbed",
		func(x []float64) statable { return convexPerturbation{x[0], x[1]} }, "noise_multiplier", "curvature"),
	numbers("penalty_bit", "a bit of the penalty test with that noise",
		func(x []float64) statable { return penaltyBit{x[0], x[1]} }, "variance", "contribution"),
	numbers("isotropic_penalty_bit", "the same with its public Gaussian move",
		func(x []float64) statable { return isotropicPenaltyBit{x[0], x[1]} }, "variance", "scale"),
	{"barker_thm2", []string{"batch"}, "Heikkilä et al. 2019, Theorem 2, as published",
		decodeBarker(false)},
	{"barker_thm2_tightened", []string{"batch"}, "the same with its constant mended",
		decodeBarker(true)},
	{"random_allocation", []string{"noise_multiplier", "steps", "departure"},
		"releases, each record in one",
		func(adj Adjacency, f *fieldsOf) (Event, error) {
			m := newAllocation(adj, f.number("noise_multiplier"), f.integer("steps"), f.number("departure"))
			if f.err != nil {
				return Event{}, nil
			}
			return stated(adj, m)
		}},
}

// nestedKinds hold other events.
var nestedKinds = []jsonKind{
	{"sampled", []string{"scheme", "rate?", "records?", "batch?", "event"}, "all that reads one minibatch",
		decodeSampled},
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
