package accountant

import (
	"fmt"
	"math"
)

// Delta returns the smallest δ for which a valid bound gives (epsilon, δ)-DP,
// rounded up; epsilon ≥ 0.
func (e Event) Delta(epsilon float64) (Guarantee, error) {
	if err := e.valid(); err != nil {
		return Guarantee{}, err
	}
	if !(epsilon >= 0) {
		return Guarantee{}, fmt.Errorf("accountant: epsilon %v: must be a number ≥ 0", epsilon)
	}
	best, all := choose(e.deltaBounds(epsilon))
	return Guarantee{epsilon, best.value, e.adj, best.method, best.theorem, best.order, all}, nil
}

func (e Event) deltaBounds(eps float64) []candidate {
	fail := e.FailureProbability()
	withFailure := func(d float64) float64 { return min(1, (d+fail*(1-d))*(1+1e-12)) }
	departs := e.departure()
	order, l := e.rdpLogDelta(eps)
	cs := []candidate{{"rdp", methodRDP, theoremRDP, withFailure(math.Exp(l)), order}}
	if mu, ok := e.gaussianMu(); ok {
		cs = append(cs, candidate{"gaussian-exact", methodGaussianExact, theoremExact,
			withFailure(math.Exp(min(0, departs+logGaussianDelta(mu, eps-departs)))), 0})
	} else if dominating, ok := e.dominated(); ok {
		cs = append(cs, candidate{methodDominating, methodDominating, theoremDominating,
			withFailure(min(1, math.Exp(departs)*dominating.delta(eps-departs))), 0})
	}
	if p, d, ok := e.basic(); ok {
		if eps < p {
			d = 1
		}
		cs = append(cs, candidate{"pure", methodPure, theoremBasic, d, 0})
	}
	if p, n, ok := e.repeatedPure(); ok {
		cs = append(cs, candidate{"pure-optimal", methodPure, theoremOptimal, withFailure(optimalDelta(p, n, eps)), 0})
	}
	return cs
}

func (e Event) rdpLogDelta(eps float64) (order, logDelta float64) {
	switch {
	case e.nothing() || math.IsInf(eps, 1):
		return 0, math.Inf(-1)
	case e.RDP(math.Inf(1)) <= eps:
		return math.Inf(1), math.Inf(-1)
	}
	order, l, rdp := bestOrder(e,
		func(order, rdp float64) float64 { return (order-1)*(rdp-eps+math.Log1p(-1/order)) - math.Log(order) },
		func(order, _ float64) float64 { return (order-1)*(math.Log1p(-1/order)-eps) - math.Log(order) },
		func(order, rdp float64) float64 {
			if rdp > eps+1 {
				return math.Inf(1)
			}
			return math.Inf(-1)
		})
	if v := logDeltaAt(lowestOrder, e.RDP(lowestOrder), eps); v < l {
		return lowestOrder, v
	}
	return order, logDeltaAt(order, rdp, eps)
}

// ClassicEpsilon is Epsilon by the Rényi curve and the classic conversion
// ε(α) + log(1/δ)/(α−1) alone (Mironov 2017, Prop. 3), which most publications
// print: never smaller than Epsilon, for comparison with them.
func (e Event) ClassicEpsilon(delta float64) (Guarantee, error) {
	if err := e.valid(); err != nil {
		return Guarantee{}, err
	}
	if !(delta > 0 && delta < 1) {
		return Guarantee{}, fmt.Errorf("accountant: ClassicEpsilon: delta %v: must be in (0, 1)", delta)
	}
	g := Guarantee{Epsilon: math.Inf(1), Delta: delta, Adjacency: e.adj, Method: methodRDP, Theorem: theoremClassic}
	if rest := e.unfailed(delta); rest > 0 && !e.nothing() {
		l := math.Log(rest)
		classic := func(order, rdp float64) float64 { return rdp - l/(order-1) }
		g.Order, g.Epsilon, _ = bestOrder(e, classic, classic, func(_, rdp float64) float64 { return rdp })
	}
	if e.nothing() {
		g.Epsilon = 0
	}
	g.Epsilon *= 1 + slack
	g.Alternatives = map[string]float64{"rdp-classic": g.Epsilon}
	return g, nil
}

// logDeltaAt converts a cost at one order to log δ at a given ε ≥ 0.
func logDeltaAt(order, rdp, eps float64) float64 {
	if math.IsInf(rdp, 1) {
		return 0
	}
	variation := math.Log(-math.Expm1(-rdp)) / 2
	tail := (order-1)*(rdp-eps+math.Log1p(-1/order)) - math.Log(order)
	return min(0, variation, tail)
}

const theoremClassic = "Rényi composition and classic conversion (Mironov 2017, Props. 1 and 3)"
