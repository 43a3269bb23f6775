package proptest

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/curator"
)

// tail is a set of releases: those whose statistic is at least, or at most, a
// threshold.
type tail struct {
	at    float64
	upper bool
}

func (s tail) String() string {
	switch {
	case !s.upper && math.IsInf(s.at, -1):
		return "statistic is NaN or −Inf"
	case s.upper:
		return fmt.Sprintf("statistic ≥ %.6g", s.at)
	}
	return fmt.Sprintf("statistic ≤ %.6g", s.at)
}

// count returns how many of the sorted values are in the tail.
func (s tail) count(sorted []float64) int {
	if s.upper {
		return len(sorted) - sort.SearchFloat64s(sorted, s.at)
	}
	return sort.Search(len(sorted), func(i int) bool { return sorted[i] > s.at })
}

// distinguish chooses an event on one half of the releases and counts it on the
// other.
func distinguish(m Mechanism, o MechanismOptions, onA, onB [][]float64) (Audit, error) {
	half := o.Releases / 2
	statistic := o.Statistic
	if statistic == nil {
		statistic = projection(onA[:half], onB[:half])
	}
	claim, delta := m.Claim(), o.Delta
	event, order := choose(values(onA[:half], statistic), values(onB[:half], statistic), claim)
	n := o.Releases - half
	a := Audit{
		Claimed: o.price.epsilon, Delta: delta, ClaimedRDP: claim.RDP(order), Order: order,
		Event: event.String(), Trials: n,
		OnA: event.count(values(onA[half:], statistic)), OnB: event.count(values(onB[half:], statistic)),
	}
	// Four one-sided bounds share one part of the false-alarm rate: below and above,
	// A and B. Another is the privacy curve's.
	each := o.FalseAlarm / (4 * shares)
	var whole divergence
	var err error
	if a.World, whole, err = worlds(m, o, onA, onB, statistic); err != nil {
		return Audit{}, err
	}
	pLow, pHigh := audit.ClopperPearson(a.OnA, n, each)
	qLow, qHigh := audit.ClopperPearson(a.OnB, n, each)
	a.Lower = lowerEpsilon(pLow, pHigh, qLow, qHigh, delta)
	if !mayFail(claim) {
		a.LowerRDP, a.From = lowerRDP(order, pLow, pHigh, qLow, qHigh), a.counted()
	}
	a.near = whole.near
	if a.promise = whole.promise; whole.lower*a.ClaimedRDP > a.LowerRDP*whole.claimed {
		a.LowerRDP, a.ClaimedRDP, a.Order, a.From = whole.lower, whole.claimed, whole.order, whole.from
	}
	if a.promise == 0 {
		a.promise = a.World.Excess
	}
	return a, nil
}

// lowerEpsilon is the largest ε that the bounds on P and Q of an event, and of
// its complement, exclude at δ; 0 if none.
func lowerEpsilon(pLow, pHigh, qLow, qHigh, delta float64) float64 {
	best := 0.0
	for _, pair := range [][2]float64{{pLow, qHigh}, {qLow, pHigh}, {1 - pHigh, 1 - qLow}, {1 - qHigh, 1 - pLow}} {
		if pair[0] > delta {
			best = max(best, math.Log((pair[0]-delta)/pair[1]))
		}
	}
	return best
}

// lowerRDP is the smallest Rényi divergence, in the direction with the larger
// one, between two Bernoulli laws inside the bounds: that of the nearest ends.
func lowerRDP(order, pLow, pHigh, qLow, qHigh float64) float64 {
	switch {
	case pLow > qHigh:
		return bernoulliRDP(order, pLow, qHigh)
	case qLow > pHigh:
		return bernoulliRDP(order, pHigh, qLow)
	}
	return 0
}

// bernoulliRDP is the larger of D_order(p‖q) and D_order(q‖p) of Bernoulli laws.
func bernoulliRDP(order, p, q float64) float64 {
	d := func(p, q float64) float64 {
		yes := order*math.Log(p) + (1-order)*math.Log(q)
		no := order*math.Log1p(-p) + (1-order)*math.Log1p(-q)
		top := max(yes, no)
		return (top + math.Log(math.Exp(yes-top)+math.Exp(no-top))) / (order - 1)
	}
	return max(0, d(p, q), d(q, p))
}

// auditOrders are the Rényi orders that a distinguisher chooses from.
var auditOrders = []float64{1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64}

// choose returns the tail and order whose estimated lower bound, at four
// standard errors, exceeds the claim by the largest factor.
func choose(onA, onB []float64, claim accountant.Event) (tail, float64) {
	var best tail
	prices := make([]float64, len(auditOrders))
	for i, alpha := range auditOrders {
		prices[i] = claim.RDP(alpha)
	}
	order, ratio := auditOrders[0], math.Inf(-1)
	for _, event := range tails(onA, onB) {
		pLow, pHigh := estimate(event.count(onA), len(onA))
		qLow, qHigh := estimate(event.count(onB), len(onB))
		for i, alpha := range auditOrders {
			if r := lowerRDP(alpha, pLow, pHigh, qLow, qHigh) / prices[i]; r > ratio {
				best, order, ratio = event, alpha, r
			}
		}
	}
	return best, order
}

// tails lists candidate events: both sides of 200 quantiles of all releases.
func tails(onA, onB []float64) []tail {
	all := slices.Concat(onA, onB)
	slices.Sort(all)
	var events []tail
	for i := range 200 {
		at := all[i*(len(all)-1)/199]
		events = append(events, tail{at, true}, tail{at, false})
	}
	return events
}

// estimate is a frequency with four standard errors on either side.
func estimate(k, n int) (low, high float64) {
	p := (float64(k) + 1) / (float64(n) + 2)
	e := 4 * math.Sqrt(p*(1-p)/float64(n))
	return max(p-e, 0), min(p+e, 1)
}

func releases(m Mechanism, r curator.Records, seed uint64, count int) ([][]float64, error) {
	all, err := m.Release(r, seed, count)
	if err != nil {
		return nil, fmt.Errorf("the mechanism fails: %w", err)
	}
	if len(all) != count {
		return nil, fmt.Errorf("the mechanism made %d releases of %d", len(all), count)
	}
	return all, nil
}

// values are the sorted statistics of releases. NaN sorts first, as an outcome
// of its own below all numbers.
func values(all [][]float64, statistic func([]float64) float64) []float64 {
	v := make([]float64, len(all))
	for i, r := range all {
		if v[i] = statistic(r); math.IsNaN(v[i]) {
			v[i] = math.Inf(-1)
		}
	}
	slices.Sort(v)
	return v
}

// projection is the statistic along the difference of two samples' means, of length 1.
func projection(onA, onB [][]float64) func([]float64) float64 {
	direction := meanDifference(onA, onB)
	if n := norm(direction); n > 0 && finite(n) {
		times(direction, 1/n)
	}
	return onto(direction)
}

// meanDifference is that of two samples, of what is finite.
func meanDifference(onA, onB [][]float64) []float64 {
	mean := make([]float64, len(onA[0]))
	for i := range onA {
		for j := range mean {
			if d := onA[i][j] - onB[i][j]; finite(d) { // one NaN would make every statistic NaN
				mean[j] += d / float64(len(onA))
			}
		}
	}
	return mean
}

// onto is the product with a direction.
func onto(direction []float64) func([]float64) float64 {
	return func(release []float64) float64 {
		sum := 0.0
		for j, v := range release {
			sum += v * direction[j]
		}
		return sum
	}
}

// mayFail reports whether an event has a part that its Rényi curve leaves out.
func mayFail(e accountant.Event) bool {
	for _, m := range e.Mechanisms() {
		if m.Kind == "approximate" || m.Inner.Adjacency() != 0 && mayFail(m.Inner) {
			return true
		}
	}
	return false
}
