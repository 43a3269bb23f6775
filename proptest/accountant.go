package proptest

import (
	"encoding/json"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// slack is the relative difference that outward rounding may make between two
// computations of one cost.
const slack = 1e-6

// CheckAccountant holds an event, such as the price of a user's own mechanism,
// to the laws of accounting:
//
//   - the Rényi curve is nonnegative, not NaN, and nondecreasing in the order;
//     orders of at most 1 cost +Inf;
//   - composition adds curves, whatever its order, and agrees with Times;
//   - ε falls as δ grows and δ falls as ε grows; converting there and back does
//     not gain anything; more releases never cost less; ε is at most the classic
//     conversion's;
//   - JSON gives back an equal event with the same curve, bit for bit;
//   - groups, and substitution instead of add/remove, never cost less;
//   - a batch never costs more than the full data, nor less than a smaller batch;
//   - MaxCount is the largest count that fits, and a Budget agrees with it.
//
// No part is statistical.
func CheckAccountant(t rapid.TB, event accountant.Event) {
	t.Helper()
	if event.Adjacency() == 0 {
		failf(t, "the event is the zero value; make one with package accountant")
		return
	}
	for _, law := range []func(*rapid.T, accountant.Event){
		curveRises, compositionAdds, conversionsAgree, countsMatter, relationsCostMore, batchesCostLess,
	} {
		property(t, func(rt *rapid.T) {
			rt.Helper()
			law(rt, event)
		})
	}
	jsonKeeps(t, event)
	if event.RDP(2) > 0 {
		budgetsAgree(t, event)
	}
}

// orders generates Rényi orders from just above 1 to a million.
func orders() *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(-6, 6), func(x float64) float64 { return 1 + math.Pow(10, x) })
}

// deltas generates δ from 10⁻¹² to a half.
func deltas() *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(-12, -0.31), func(x float64) float64 { return math.Pow(10, x) })
}

func curveRises(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	a, b := orders().Draw(rt, "order"), orders().Draw(rt, "other order")
	a, b = min(a, b), max(a, b)
	low, high, top := e.RDP(a), e.RDP(b), e.RDP(math.Inf(1))
	if !(low >= 0) || !(low <= high*(1+slack)+1e-300) || !(high <= top*(1+slack)+1e-300) {
		failf(rt, "%v: the curve is %v at order %v, %v at %v and %v at +Inf; it must be nonnegative and nondecreasing", e,
			low, a, high, b, top)
	}
	for _, order := range []float64{1, 0.5, 0, -2, math.NaN()} {
		if v := e.RDP(order); !math.IsInf(v, 1) {
			failf(rt, "%v: the curve is %v at order %v, where only +Inf is right", e, v, order)
		}
	}
}

// near compares two computations of one cost.
func near(a, b float64) bool { return a == b || math.Abs(a-b) <= slack*max(a, b) }

func must(rt rapid.TB, what string) func(accountant.Event, error) accountant.Event {
	return func(e accountant.Event, err error) accountant.Event {
		if err != nil {
			rt.Fatalf("proptest: %s: %v\nreproduce: %s", what, err, Command(rt.Name()))
		}
		return e
	}
}

func compositionAdds(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	n, order := rapid.Int64Range(1, 1000).Draw(rt, "count"), orders().Draw(rt, "order")
	noise := must(rt, "a Gaussian event")(accountant.Gaussian(e.Adjacency(), 3))
	many := must(rt, "Times")(e.Times(n))
	both := must(rt, "Compose")(accountant.Compose(e, noise))
	swapped := must(rt, "Compose")(accountant.Compose(noise, e))
	one := e.RDP(order)
	if got, want := many.RDP(order), float64(n)*one; !near(got, want) {
		failf(rt, "%d releases of %v cost %v at order %v, not %d times %v", n, e, got, order, n, one)
	}
	if got, want := both.RDP(order), one+noise.RDP(order); !near(got, want) {
		failf(rt, "%v with a Gaussian costs %v at order %v, not the sum %v", e, got, order, want)
	}
	if !both.Equal(swapped) || !near(both.RDP(order), swapped.RDP(order)) {
		failf(rt, "%v and a Gaussian compose differently in the two orders", e)
	}
	if twice := must(rt, "Compose")(accountant.Compose(e, e)); !twice.Equal(must(rt, "Times")(e.Times(2))) {
		failf(rt, "%v composed with itself is not its Times(2)", e)
	}
	if other, err := accountant.Gaussian(3-e.Adjacency(), 3); err == nil {
		if _, err := accountant.Compose(e, other); err == nil {
			failf(rt, "%v composes with an event of the other adjacency", e)
		}
	}
}

// epsilon is ε at δ, failing on an error.
func epsilon(rt rapid.TB, e accountant.Event, delta float64) float64 {
	g, err := e.Epsilon(delta)
	if err != nil || math.IsNaN(g.Epsilon) || g.Epsilon < 0 || g.Adjacency != e.Adjacency() || g.Method == "" ||
		g.Theorem == "" {
		rt.Fatalf("proptest: %v at δ = %v: %+v, error %v; want ε ≥ 0, the event's adjacency, a method and a "+
			"theorem\nreproduce: %s", e, delta, g, err, Command(rt.Name()))
	}
	return g.Epsilon
}

func conversionsAgree(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	a, b := deltas().Draw(rt, "δ"), deltas().Draw(rt, "other δ")
	a, b = min(a, b), max(a, b)
	dear, cheap := epsilon(rt, e, a), epsilon(rt, e, b)
	if cheap > dear*(1+slack)+1e-12 {
		failf(rt, "%v: ε = %v at δ = %v but %v at the larger %v", e, dear, a, cheap, b)
	}
	if classic, err := e.ClassicEpsilon(a); err != nil || dear > classic.Epsilon*(1+slack)+1e-12 {
		failf(rt, "%v: ε = %v at δ = %v exceeds the classic conversion's %v (error %v)", e, dear, a, classic.Epsilon, err)
	}
	if math.IsInf(dear, 1) {
		return
	}
	back, err := e.Delta(dear)
	if err != nil || back.Delta > a*(1+1e-3) {
		failf(rt, "%v: ε = %v at δ = %v, but δ = %v at that ε (error %v)", e, dear, a, back.Delta, err)
	}
	more, err := e.Delta(dear + 1)
	if err != nil || more.Delta > back.Delta*(1+slack) {
		failf(rt, "%v: δ = %v at ε = %v but %v at %v (error %v)", e, back.Delta, dear, more.Delta, dear+1, err)
	}
}

func countsMatter(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	delta := deltas().Draw(rt, "δ")
	n := rapid.Int64Range(1, 500).Draw(rt, "count")
	few, more := must(rt, "Times")(e.Times(n)), must(rt, "Times")(e.Times(n+1))
	if a, b := epsilon(rt, few, delta), epsilon(rt, more, delta); a > b*(1+slack)+1e-12 {
		failf(rt, "%v: %d releases cost ε = %v at δ = %v, %d cost %v", e, n, a, delta, n+1, b)
	}
}

// relationsCostMore compares wider neighbouring relations.
func relationsCostMore(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	order := orders().Draw(rt, "order")
	one := e.RDP(order)
	if group, err := e.Group(rapid.IntRange(2, 8).Draw(rt, "rows")); err == nil &&
		group.RDP(order)*(1+slack) < one {
		failf(rt, "%v costs %v at order %v and a group of several rows only %v", e, one, order, group.RDP(order))
	}
	if e.Adjacency() != accountant.AddRemove {
		return
	}
	if both, err := e.Substitution(); err == nil && both.RDP(order)*(1+slack) < one {
		failf(rt, "%v costs %v at order %v under add/remove and only %v under substitution", e, one, order, both.RDP(order))
	}
}

// batchesCostLess compares batches where the accountant has a price for them.
func batchesCostLess(rt *rapid.T, e accountant.Event) {
	rt.Helper()
	order := rapid.Float64Range(1.1, 64).Draw(rt, "order")
	full, before := e.RDP(order), 0.0
	for _, batch := range []int64{1, 10, 100, 500, 1000} {
		sampled, err := e.SubsetSampled(1000, batch)
		if e.Adjacency() == accountant.AddRemove {
			sampled, err = e.PoissonSampled(float64(batch) / 1000)
		}
		if err != nil {
			return // the accountant says that it has no proof, and so no price
		}
		cost := sampled.RDP(order)
		if !(cost <= full*(1+slack)+1e-15) || !(before <= cost*(1+slack)+1e-15) {
			failf(rt, "%v at order %v: a batch of %d in 1000 costs %v, a smaller one %v, the full data %v", e, order, batch,
				cost, before, full)
		}
		before = cost
	}
}

func jsonKeeps(t rapid.TB, e accountant.Event) {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		failf(t, "%v cannot be written as JSON: %v", e, err)
		return
	}
	var back accountant.Event
	if err := json.Unmarshal(data, &back); err != nil {
		failf(t, "%v written as %s cannot be read: %v", e, data, err)
		return
	}
	if !back.Equal(e) || fmt.Sprint(back) != fmt.Sprint(e) || back.RDP(2.5) != e.RDP(2.5) {
		failf(t, "%v written as %s is read as %v", e, data, back)
	}
}

// budgetsAgree spends a budget to its last release.
func budgetsAgree(t rapid.TB, e accountant.Event) {
	t.Helper()
	const delta = 1e-6
	limit := epsilon(t, must(t, "Times")(e.Times(5)), delta)
	if math.IsInf(limit, 1) || limit == 0 {
		return
	}
	most, err := e.MaxCount(limit, delta)
	if err != nil || most < 5 {
		failf(t, "MaxCount(%v, %v, %v) is %d, error %v, where five releases fit", e, limit, delta, most, err)
		return
	}
	if most < math.MaxInt64 {
		if over := epsilon(t, must(t, "Times")(e.Times(most+1)), delta); over <= limit {
			failf(t, "MaxCount(%v, %v, %v) is %d, but one more costs only %v", e, limit, delta, most, over)
		}
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: limit, Delta: delta, Adjacency: e.Adjacency()})
	if err != nil {
		failf(t, "a budget of ε = %v: %v", limit, err)
		return
	}
	if err := budget.Charge(e, most); err != nil {
		failf(t, "a budget of ε = %v refuses the %d releases that MaxCount allows: %v", limit, most, err)
	}
	if most < math.MaxInt64 && budget.Charge(e, 1) == nil {
		failf(t, "a budget of ε = %v accepts one release more than the %d that fit", limit, most)
	}
}
