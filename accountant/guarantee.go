package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"
)

// The methods a Guarantee can rest on.
const (
	methodRDP           = "rdp"            // Rényi curve, converted at the best order
	methodGaussianExact = "gaussian-exact" // the exact trade-off of composed Gaussians
	methodPure          = "pure"           // basic or optimal composition of pure costs
	methodPLD           = "pld"            // numerical accounting, package pld
)

// Guarantee is one (ε, δ) statement with what it rests on.
type Guarantee struct {
	// Epsilon is ≥ 0 and +Inf where no bound holds.
	Epsilon float64
	// Delta is in [0, 1].
	Delta float64
	// Adjacency is that of the event.
	Adjacency Adjacency
	// Method is the accounting whose bound is the smallest: "rdp", "gaussian-exact",
	// "dominating", "pure" or "pld".
	Method string
	// Theorem names the source of that bound.
	Theorem string
	// Order is the Rényi order used, 0 if the method uses none.
	Order float64
	// Alternatives lists every valid bound on the number that was asked for (ε
	// or δ), the chosen one included.
	Alternatives map[string]float64
}

// candidate is one bound on the number asked for.
type candidate struct {
	name, method, theorem string
	value, order          float64
}

// The names under which Alternatives lists each bound, and their theorems.
const (
	theoremRDP   = "Rényi composition (Mironov 2017) and conversion (Canonne, Kamath, Steinke 2020, Prop. 12)"
	theoremExact = "Gaussian trade-off (Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2)"
	// theoremFilter is for releases that earlier ones chose, within a budget.
	theoremFilter = "Rényi filter at one order (Feldman, Zrnic 2021, Thm 4.3)"
)

func choose(cs []candidate) (candidate, map[string]float64) {
	best, all := cs[0], make(map[string]float64, len(cs))
	for _, c := range cs {
		all[c.name] = c.value
		if c.value < best.value {
			best = c
		}
	}
	return best, all
}

// Epsilon returns the smallest ε for which a valid bound gives (ε, delta)-DP,
// rounded up; delta is in [0, 1]. δ = 0 is answered by pure compositions only.
func (e Event) Epsilon(delta float64) (Guarantee, error) {
	if err := e.valid(); err != nil {
		return Guarantee{}, err
	}
	if !(delta >= 0 && delta <= 1) {
		return Guarantee{}, fmt.Errorf("accountant: delta %v: must be in [0, 1]", delta)
	}
	best, all := choose(e.epsilonBounds(delta))
	return Guarantee{best.value, delta, e.adj, best.method, best.theorem, best.order, all}, nil
}

func (e Event) epsilonBounds(delta float64) []candidate {
	rest := e.unfailed(delta)
	cs := []candidate{e.rdpEpsilon(rest)}
	if mu, ok := e.gaussianMu(); ok {
		cs = append(cs, candidate{"gaussian-exact", methodGaussianExact, theoremExact,
			e.departed(func(l float64) float64 { return gaussianEpsilon(mu, l) }, delta), 0})
	}
	for _, more := range otherBounds {
		cs = append(cs, more(e, delta, rest)...)
	}
	return cs
}

// otherBounds are those of pure costs (pure.go): on ε at δ, of which rest is left to
// what does not fail.
var otherBounds []func(e Event, delta, rest float64) []candidate

// departed turns ε at log δ of the pairs that an event is stated as into its own.
func (e Event) departed(epsilon func(logDelta float64) float64, delta float64) float64 {
	d := e.departure()
	return epsilon(math.Log(delta)-d) + d
}

func (e Event) rdpEpsilon(delta float64) candidate {
	c := candidate{"rdp", methodRDP, theoremRDP, math.Inf(1), 0}
	switch {
	case e.nothing() || delta >= 1:
		c.value = 0
	case delta == 0:
		c.value, c.order = e.RDP(math.Inf(1)), math.Inf(1)
	case delta > 0:
		l := math.Log(delta)
		if rdp := e.RDP(lowestOrder); epsilonAt(lowestOrder, rdp, l) == 0 {
			c.order, c.value = lowestOrder, 0
			break
		}
		// Whichever order is suggested, the bound at it holds.
		order, _, _ := bestOrder(e,
			func(order, rdp float64) float64 { return epsilonValue(order, rdp, l) },
			func(order, _ float64) float64 { return conversionCost(order, l) },
			func(order, rdp float64) float64 { return rdp + conversionCost(order, 0) })
		rdp := e.RDP(order)
		eps := epsilonValue(order, rdp, l)
		if pureEps := e.RDP(math.Inf(1)); pureEps < eps {
			order, eps = math.Inf(1), pureEps
		}
		c.order, c.value = order, max(0, eps)*(1+slack)
	}
	return c
}

// lowestOrder is where the total-variation bound, which falls with the order,
// is tried.
const lowestOrder = 1 + 1.0/(1<<14)
