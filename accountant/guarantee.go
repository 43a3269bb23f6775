package accountant

import (
	"fmt"
	"maps"
	"math"
	"sync"
)

// The methods a Guarantee can rest on.
const (
	MethodRDP           = "rdp"            // Rényi curve, converted at the best order
	MethodGaussianExact = "gaussian-exact" // the exact trade-off of composed Gaussians
	MethodPure          = "pure"           // basic or optimal composition of pure costs
	MethodPLD           = "pld"            // numerical accounting, package pld
)

// Guarantee is one (ε, δ) statement with what it rests on.
type Guarantee struct {
	// Epsilon is ≥ 0 and +Inf where no bound holds.
	Epsilon float64
	// Delta is in [0, 1].
	Delta float64
	// Adjacency is that of the event.
	Adjacency Adjacency
	// Method is the one of the Method constants whose bound is the smallest.
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
	theoremRDP      = "Rényi composition (Mironov 2017) and conversion (Canonne, Kamath, Steinke 2020, Prop. 12)"
	theoremExact    = "Gaussian trade-off (Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2)"
	theoremClassic  = "Rényi composition and classic conversion (Mironov 2017, Props. 1 and 3)"
	theoremFilter   = "Rényi filter at one order (Feldman, Zrnic 2021, Thm 4.3)"
	theoremOdometer = "Rényi odometer (Lécuyer 2021)"
	theoremBasic    = "basic composition (Dwork et al. 2006)"
	theoremOptimal  = "optimal composition of one pure mechanism (Kairouz, Oh, Viswanath 2015, Thm 3.3)"
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
	return e.cache.get(query{delta, 'd'}, func() Guarantee {
		best, all := choose(e.epsilonBounds(delta))
		return Guarantee{best.value, delta, e.adj, best.method, best.theorem, best.order, all}
	}), nil
}

func (e Event) epsilonBounds(delta float64) []candidate {
	rest := e.unfailed(delta)
	cs := []candidate{e.rdpEpsilon(rest)}
	if mu, ok := e.gaussianMu(); ok {
		cs = append(cs, candidate{"gaussian-exact", MethodGaussianExact, theoremExact, e.departed(func(l float64) float64 { return gaussianEpsilon(mu, l) }, delta), 0})
	}
	if eps, d, ok := e.basic(); ok {
		if delta < d {
			eps = math.Inf(1)
		}
		cs = append(cs, candidate{"pure", MethodPure, theoremBasic, eps, 0})
	}
	if eps, n, ok := e.repeatedPure(); ok && rest >= 0 {
		cs = append(cs, candidate{"pure-optimal", MethodPure, theoremOptimal, optimalEpsilon(eps, n, rest), 0})
	}
	return cs
}

// departed turns ε at log δ of the pairs that an event is stated as into its own.
func (e Event) departed(epsilon func(logDelta float64) float64, delta float64) float64 {
	d := e.departure()
	return epsilon(math.Log(delta)-d) + d
}

func (e Event) rdpEpsilon(delta float64) candidate {
	c := candidate{"rdp", MethodRDP, theoremRDP, math.Inf(1), 0}
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
		order, eps, rdp := bestOrder(e,
			func(order, rdp float64) float64 { return epsilonValue(order, rdp, l) },
			func(order, _ float64) float64 { return conversionCost(order, l) },
			func(order, rdp float64) float64 { return rdp + conversionCost(order, 0) })
		if pureEps := e.RDP(math.Inf(1)); pureEps < eps {
			order, eps, rdp = math.Inf(1), pureEps, pureEps
		}
		c.order, c.value = order, max(0, eps)
		if epsilonAt(order, rdp, l) == 0 {
			c.value = 0
		}
		c.value *= 1 + slack
	}
	return c
}

// lowestOrder is where the total-variation bound, which falls with the order,
// is tried.
const lowestOrder = 1 + 1.0/(1<<14)

// epsilonValue is epsilonAt without the clamp at 0, so that its minimum has a
// slope to follow; zero stays exact.
func epsilonValue(order, rdp, logDelta float64) float64 {
	if epsilonAt(order, rdp, logDelta) == 0 {
		return min(0, rdp+conversionCost(order, logDelta))
	}
	return rdp + conversionCost(order, logDelta)
}

// Delta returns the smallest δ for which a valid bound gives (epsilon, δ)-DP,
// rounded up; epsilon ≥ 0.
func (e Event) Delta(epsilon float64) (Guarantee, error) {
	if err := e.valid(); err != nil {
		return Guarantee{}, err
	}
	if !(epsilon >= 0) {
		return Guarantee{}, fmt.Errorf("accountant: epsilon %v: must be a number ≥ 0", epsilon)
	}
	return e.cache.get(query{epsilon, 'e'}, func() Guarantee {
		best, all := choose(e.deltaBounds(epsilon))
		return Guarantee{epsilon, best.value, e.adj, best.method, best.theorem, best.order, all}
	}), nil
}

func (e Event) deltaBounds(eps float64) []candidate {
	fail := e.failureProbability()
	withFailure := func(d float64) float64 { return min(1, (d+fail*(1-d))*(1+1e-12)) }
	order, l := e.rdpLogDelta(eps)
	cs := []candidate{{"rdp", MethodRDP, theoremRDP, withFailure(math.Exp(l)), order}}
	if mu, ok := e.gaussianMu(); ok {
		cs = append(cs, candidate{"gaussian-exact", MethodGaussianExact, theoremExact, withFailure(math.Exp(min(0, e.departure()+logGaussianDelta(mu, eps-e.departure())))), 0})
	}
	if p, d, ok := e.basic(); ok {
		if eps < p {
			d = 1
		}
		cs = append(cs, candidate{"pure", MethodPure, theoremBasic, d, 0})
	}
	if p, n, ok := e.repeatedPure(); ok {
		cs = append(cs, candidate{"pure-optimal", MethodPure, theoremOptimal, withFailure(optimalDelta(p, n, eps)), 0})
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
	g := Guarantee{Epsilon: math.Inf(1), Delta: delta, Adjacency: e.adj, Method: MethodRDP, Theorem: theoremClassic}
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

// query is one question an event was asked: a δ ('d') or an ε ('e').
type query struct {
	value float64
	given byte
}

// answers remembers the guarantees of one event.
type answers struct {
	mu    sync.Mutex
	known map[query]Guarantee
}

func (a *answers) get(q query, compute func() Guarantee) Guarantee {
	a.mu.Lock()
	g, ok := a.known[q]
	a.mu.Unlock()
	if !ok {
		g = compute()
		a.mu.Lock()
		if a.known == nil || len(a.known) >= memoLimit {
			a.known = make(map[query]Guarantee)
		}
		a.known[q] = g
		a.mu.Unlock()
	}
	g.Alternatives = maps.Clone(g.Alternatives)
	return g
}
