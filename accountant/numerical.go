package accountant

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/pld"
)

// mostParts bounds the work of numerical composition, linear in the number of
// different mechanisms.
const mostParts = 32

// Numerical composes the event's privacy loss distributions numerically (package
// pld), sharpest at the target. Its upper bounds and those of Epsilon and Delta
// all hold: take the smallest. Those of grid_gaussian releases and optima are for continuous
// noise; RefineEpsilon and RefineDelta add what they depart by. For bounded-range releases the family's worst
// case is used, which is looser than the Rényi curve for many releases.
//
// It returns a *NotNumericalError for an event with a release whose distribution is
// not known (zero-concentrated, averaged or several bits, the published Barker
// accounting), or with more than 32 different mechanisms.
func (e Event) Numerical(target pld.Target) (*pld.Result, error) {
	if err := e.valid(); err != nil {
		return nil, err
	}
	mechanisms := e.Resolved().Mechanisms()
	if len(mechanisms) > mostParts {
		return nil,
			&NotNumericalError{fmt.Sprintf("at most %d different mechanisms are composed numerically, and these are %d",
				mostParts, len(mechanisms))}
	}
	var parts []pld.Part
	for _, m := range mechanisms {
		loss, err := lossOf(e.adj, m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pld.Part{Mechanism: loss, Count: m.Count})
	}
	return pld.Compose(parts, target)
}

// RefineEpsilon is Epsilon with the numerical bound among its alternatives, and
// as its answer where it is the smallest; the composition itself, which also
// bounds ε from below, is returned with it. Errors: those of Epsilon and
// Numerical.
func (e Event) RefineEpsilon(delta float64) (Guarantee, *pld.Result, error) {
	g, err := e.Epsilon(delta)
	if err != nil {
		return Guarantee{}, nil, err
	}
	r, err := e.Numerical(pld.AtDelta(delta))
	if err != nil {
		return Guarantee{}, nil, err
	}
	g.Epsilon = g.refined(g.Epsilon, e.departed(func(l float64) float64 { return r.Epsilon(math.Exp(l)) }, delta))
	return g, r, nil
}

// LeastEpsilon is RefineEpsilon where the event is composed numerically, and Epsilon where
// it is not: the smallest ε that is known to hold.
func (e Event) LeastEpsilon(delta float64) (Guarantee, error) {
	if g, _, err := e.RefineEpsilon(delta); err == nil {
		return g, nil
	}
	return e.Epsilon(delta)
}

// RefineDelta is Delta in the same way as RefineEpsilon is Epsilon.
func (e Event) RefineDelta(epsilon float64) (Guarantee, *pld.Result, error) {
	g, err := e.Delta(epsilon)
	if err != nil {
		return Guarantee{}, nil, err
	}
	r, err := e.Numerical(pld.AtEpsilon(epsilon))
	if err != nil {
		return Guarantee{}, nil, err
	}
	d := e.departure()
	g.Delta = g.refined(g.Delta, min(1, math.Exp(d)*(r.Delta(max(0, epsilon-d))+max(0, d-epsilon))))
	return g, r, nil
}

// refined records the numerical bound and returns the better one; an equal
// closed form says more.
func (g *Guarantee) refined(known, numerical float64) float64 {
	g.Alternatives[methodPLD] = numerical
	if numerical < known*(1-1e-9) {
		g.Method, g.Theorem, g.Order = methodPLD, theoremPLD, 0
		return numerical
	}
	return known
}

const theoremPLD = "privacy loss distributions composed numerically (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022)"

// lossOf is a mechanism's privacy loss under an adjacency.
func lossOf(adj Adjacency, m Mechanism) (pld.Mechanism, error) {
	p := m.Params
	switch m.Kind {
	case "gaussian", "grid_gaussian":
		return pld.Gaussian(p["noise_multiplier"])
	case "gaussian_dp":
		return pld.Gaussian(1 / p["mu"])
	case "laplace":
		return pld.Laplace(p["noise_multiplier"])
	case "pure":
		return pld.Pure(p["epsilon"])
	case "approximate":
		return pld.Approximate(p["epsilon"], p["delta"])
	case "randomized_response":
		return pld.RandomizedResponse(p["epsilon"], int64(p["categories"]))
	case "bounded_range":
		return pld.BoundedRange(p["range"])
	case "acceptance_bit":
		return pld.BoundedRange(acceptanceBit{p["contribution"]}.spread(adj))
	case "sampled":
		return sampledLoss(adj, m)
	case "objective_perturbation":
		return pld.LogisticPerturbation(p["noise_multiplier"], p["curvature"], adj == Substitute)
	case "convex_perturbation":
		return pld.ConvexPerturbation(p["noise_multiplier"], p["curvature"])
	case "random_allocation":
		return allocatedLoss(adj, p["noise_multiplier"], int64(p["steps"]))
	}
	return pld.Mechanism{}, noLoss(m)
}

// allocatedLoss is the loss of an epoch. Under substitution a record's norm is half the
// sensitivity.
func allocatedLoss(adj Adjacency, sigma float64, steps int64) (m pld.Mechanism, err error) {
	if adj == Substitute {
		m, err = pld.GaussianAllocationSubstitution(2*sigma, steps)
	} else {
		m, err = pld.GaussianAllocation(sigma, steps)
	}
	if err != nil {
		return m, &NotNumericalError{err.Error()}
	}
	return m, nil
}

// NotNumericalError says why an event is not composed numerically. Epsilon and Delta
// have an answer all the same.
type NotNumericalError struct{ Reason string }

func (e *NotNumericalError) Error() string {
	return "accountant: " + e.Reason + "; use Epsilon or Delta"
}

func noLoss(m Mechanism) error {
	return &NotNumericalError{fmt.Sprintf("no privacy loss distribution is known for %s", m.Kind)}
}

// sampledLoss is the loss of a release computed on one minibatch.
func sampledLoss(adj Adjacency, m Mechanism) (pld.Mechanism, error) {
	inner := m.Inner.Resolved().Mechanisms()
	sigma, gaussian := oneGaussian(inner)
	if !gaussian && (len(inner) != 1 || inner[0].Count != 1) {
		return pld.Mechanism{}, noLoss(m)
	}
	q := m.sampling.ofGroups(m.Inner.largestGroup()).rate
	if m.sampling.scheme == schemePoisson && adj == Substitute {
		switch {
		case gaussian: // one record's norm bound is half the sensitivity
			return pld.PoissonGaussianSubstitution(q, 2*sigma)
		case inner[0].Kind == "acceptance_bit":
			return pld.PoissonBitSubstitution(q, inner[0].Params["contribution"]*inflation)
		}
		return pld.Mechanism{}, noLoss(m)
	}
	base, err := pld.Gaussian(sigma)
	if !gaussian {
		base, err = lossOf(adj, inner[0])
	}
	if err != nil {
		return pld.Mechanism{}, err
	}
	if m.sampling.scheme == schemePoisson {
		return pld.PoissonAddRemove(q, base)
	}
	return pld.WithoutReplacementSubstitution(q, base)
}

// oneGaussian merges Gaussian releases from one batch into one of the returned
// noise multiplier, rounded down.
func oneGaussian(ms []Mechanism) (sigma float64, ok bool) {
	precision := 0.0
	for _, m := range ms {
		s := m.Params["noise_multiplier"]
		switch m.Kind {
		case "gaussian", "grid_gaussian":
		case "gaussian_dp":
			s = 1 / m.Params["mu"]
		default:
			return 0, false
		}
		precision += float64(m.Count) / (s * s)
	}
	return 1 / math.Sqrt(precision) * (1 - 1e-14), len(ms) > 0
}
