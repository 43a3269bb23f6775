package accountant

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func newBudget(t testing.TB, epsilon, delta float64) *Budget {
	t.Helper()
	b, err := NewBudget(BudgetConfig{Epsilon: epsilon, Delta: delta, Adjacency: Substitute})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func remaining(t testing.TB, b *Budget, e Event) int64 {
	t.Helper()
	n, err := b.Remaining(e)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Remaining is exact: that many fit, one more does not; refusals charge nothing
// and say what was asked, spent and left.
func TestBudgetRemainingIsExact(t *testing.T) {
	b := newBudget(t, 1, 1e-6)
	bit := must(acceptance(Substitute, 0.01))
	if err := b.Charge(must(Gaussian(Substitute, 20)), 3); err != nil {
		t.Fatal(err)
	}
	n := remaining(t, b, bit)
	before := b.Events()
	err := b.Charge(bit, n+1)
	var over *ExceededError
	if !errors.As(err, &over) {
		t.Fatalf("charging %d: %v, want *ExceededError", n+1, err)
	}
	for _, word := range []string{"asked", "spent", "left"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("refusal %q does not say %q", err, word)
		}
	}
	spent, _ := b.Spent()
	if over.SpentEpsilon != spent.Epsilon || over.TotalEpsilon <= 1 || over.Left() != 1-spent.Epsilon {
		t.Errorf("refusal %+v, spent %v", over, spent.Epsilon)
	}
	if !b.Events().Equal(before) {
		t.Error("a refused charge changed the ledger")
	}
	if err := b.Charge(bit, n); err != nil {
		t.Errorf("charging the remaining %d: %v", n, err)
	}
	if got := remaining(t, b, bit); got != 0 {
		t.Errorf("%d remain after charging all", got)
	}
	if got := remaining(t, b, must(ZCDP(Substitute, 0))); got != math.MaxInt64 {
		t.Errorf("%d free events remain", got)
	}
	if err := b.Charge(must(Gaussian(AddRemove, 1e9)), 1); err == nil || errors.As(err, &over) {
		t.Errorf("charging under the other adjacency: %v", err)
	}
	if err := b.Charge(bit, -1); err == nil {
		t.Error("a negative count was accepted")
	}
	if err := b.Charge(bit, 0); err != nil {
		t.Errorf("charging nothing: %v", err)
	}
}

// TestPureBudgets: a budget without a δ takes pure releases until its ε is spent, and none
// that has no pure cost.
func TestPureBudgets(t *testing.T) {
	b := newBudget(t, 1, 0)
	if n := remaining(t, b, must(Pure(Substitute, 0.25))); n != 4 {
		t.Errorf("%d releases of ε = 0.25 fit into 1", n)
	}
	if n := remaining(t, b, must(Gaussian(Substitute, 100))); n != 0 {
		t.Errorf("%d Gaussian releases fit into δ = 0", n)
	}
	if err := b.Charge(must(Pure(Substitute, 0.25)), 4); err != nil {
		t.Error(err)
	}
	if err := b.Charge(must(Pure(Substitute, 1e-9)), 1); err == nil {
		t.Error("a spent budget went on")
	}
}

// Any order of charges keeps the total within the budget, and the state comes
// back from JSON exactly.
func TestBudgetNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := NewBudget(BudgetConfig{Epsilon: 2, Delta: 1e-5, Adjacency: Substitute})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "charges") {
			e := leaf(t, Substitute, "leaf")(strength(t, "strength"))
			_ = b.Charge(e, rapid.Int64Range(0, 1000).Draw(t, "count"))
			g, err := b.Spent()
			if err != nil || g.Epsilon > 2 || g.Delta != 1e-5 {
				t.Fatalf("spent %v, %v", g, err)
			}
		}
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		restored := new(Budget)
		if err := json.Unmarshal(data, restored); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(restored)
		if err != nil || string(again) != string(data) || restored.Config() != b.Config() ||
			!restored.Events().Equal(b.Events()) {
			t.Fatalf("%s came back as %s, %v", data, again, err)
		}
	})
}

func TestBudgetConcurrentCharges(t *testing.T) {
	b := newBudget(t, 1, 1e-6)
	bit := must(acceptance(Substitute, 0.05))
	fit := remaining(t, b, bit)
	var mu sync.Mutex
	var granted int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range fit/4 + 1 {
				if b.Charge(bit, 1) == nil {
					mu.Lock()
					granted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if granted != fit {
		t.Errorf("%d charges granted concurrently, %d fit", granted, fit)
	}
}

func TestBudgetSplit(t *testing.T) {
	b := newBudget(t, 1, 1e-6)
	children, err := b.Split(1.0/3, 1.0/3, 1.0/3)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, c := range children {
		total += c.Config().Epsilon
	}
	if total > 1 || total < 1-1e-9 {
		t.Errorf("children hold ε %v in all", total)
	}
	if err := b.Charge(must(Pure(Substitute, 1e-3)), 1); err == nil {
		t.Error("a split budget still pays")
	}
	for _, shares := range [][]float64{{}, {0}, {-1}, {math.NaN()}, {0.6, 0.6}, {1.5}} {
		if _, err := newBudget(t, 1, 1e-6).Split(shares...); err == nil {
			t.Errorf("Split(%v): no error", shares)
		}
	}
}

func TestBudgetRestoreRefusesRubbish(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"epsilon":1,"delta":0}`, `{"epsilon":-1,"delta":0,"spent":{"adjacency":"substitute","events":[]}}`,
		`{"epsilon":1,"delta":0,"spent":{"adjacency":"substitute","events":[]},"more":1}`,
	} {
		if err := json.Unmarshal([]byte(text), new(Budget)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// The filter admits exactly what fits at its order, and an odometer reading is
// never below the filter that would have stopped there.
func TestFilterAndOdometer(t *testing.T) {
	const delta, order = 1e-6, 12
	f, err := NewFilter(BudgetConfig{2, delta, Substitute, order}, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOdometer(Substitute, delta, order, 0)
	if err != nil {
		t.Fatal(err)
	}
	if g := o.Spent(); g.Epsilon != 0 {
		t.Errorf("an unused odometer reads %v", g.Epsilon)
	}
	e := must(Gaussian(Substitute, 10))
	admitted, last := 0, 0.0
	for f.Charge(e, 1) == nil {
		admitted++
		if err := o.Charge(e, 1); err != nil {
			t.Fatal(err)
		}
		reading := o.Spent().Epsilon
		if reading < last {
			t.Fatalf("the odometer fell from %v to %v", last, reading)
		}
		last = reading
	}
	want := math.Floor((2 - conversionCost(order, math.Log(delta))) / (order * 0.01 / 2))
	if float64(admitted) != want {
		t.Errorf("%d releases admitted, want %v", admitted, want)
	}
	if g := f.Spent(); g.Epsilon > 2 || g.Epsilon < 1.9 || last < g.Epsilon {
		t.Errorf("filter at %v, odometer at %v", g.Epsilon, last)
	}
	var over *ExceededError
	if err := f.Charge(e, 1); !errors.As(err, &over) || over.TotalEpsilon <= 2 {
		t.Errorf("refusal %v", err)
	}
	for _, bad := range []Event{must(Gaussian(AddRemove, 10)), must(Approximate(Substitute, 0.1, 1e-9)), {}} {
		if f.Charge(bad, 1) == nil || o.Charge(bad, 1) == nil {
			t.Errorf("%v was charged", bad)
		}
	}
	if err := o.Charge(must(Gaussian(Substitute, 0)), 1); err != nil || !math.IsInf(o.Spent().Epsilon, 1) {
		t.Errorf("no noise: odometer %v, %v", o.Spent().Epsilon, err)
	}
}

// TestOwnEpsilonAndDelta: an event stated as (ε, δ)-DP has exactly that
// guarantee at its own δ.
func TestOwnEpsilonAndDelta(t *testing.T) {
	for _, delta := range []float64{0, 1e-300, 1e-8, 0.1} {
		e, err := Approximate(Substitute, 0.1, delta)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := e.Epsilon(delta); err != nil || g.Epsilon != 0.1 {
			t.Errorf("an (0.1, %v) event costs ε = %v at its own δ, error %v", delta, g.Epsilon, err)
		}
		if g, err := e.Delta(0.1); err != nil || g.Delta > delta {
			t.Errorf("an (0.1, %v) event costs δ = %v at its own ε, error %v", delta, g.Delta, err)
		}
	}
}

// TestSmallChargesAddUp: a thousand charges that are each lost in the rounding of
// what was spent before count for at least as much as one of a thousand.
func TestSmallChargesAddUp(t *testing.T) {
	f, err := NewFilter(BudgetConfig{100, 1e-6, Substitute, 2}, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOdometer(Substitute, 1e-6, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	large, small := must(Gaussian(Substitute, 0.5)), must(Gaussian(Substitute, 1.2e8))
	rho := small.RDP(2)
	for _, charge := range []func(Event, int64) error{f.Charge, o.Charge} {
		if err := charge(large, 1); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			if err := charge(small, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if plain := large.RDP(2) + rho; plain != large.RDP(2) {
		t.Fatal("a small charge is not small enough for this test")
	}
	for name, spent := range map[string]float64{"filter": f.spent, "odometer": o.spent} {
		if want := large.RDP(2) + 1000*rho; spent < want {
			t.Errorf("%s: %v after 1000 small charges, want at least %v", name, spent, want)
		}
	}
}

// TestBudgetsInUseAreNotReplaced: no document makes a budget forget what was spent.
func TestBudgetsInUseAreNotReplaced(t *testing.T) {
	b := newBudget(t, 1, 1e-6)
	if err := b.Charge(must(Pure(Substitute, 0.9)), 1); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"epsilon":9,"delta":0,"spent":{"adjacency":"substitute","events":[]}}`),
		b); err == nil {
		t.Error("a budget in use was replaced")
	}
	if g, err := b.Spent(); err != nil || g.Epsilon < 0.89 || b.Config().Epsilon != 1 {
		t.Errorf("%v spent of %v, %v", g.Epsilon, b.Config().Epsilon, err)
	}
}

// TestGroupsOfAnySizeAnswer: a number of rows from a document costs no time.
func TestGroupsOfAnySizeAnswer(t *testing.T) {
	g, err := must(SignBits(Substitute, 3, 0.1, 0)).Group(math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if rdp := g.RDP(2); !math.IsInf(rdp, 1) {
		t.Errorf("the largest group costs %v", rdp)
	}
}

// TestBudgetOfOneOrder admits what a filter at that order does, whatever the
// events, stays one when it is restored, and never more than a budget that takes
// the best order afterwards.
func TestBudgetOfOneOrder(t *testing.T) {
	c := BudgetConfig{Epsilon: 2, Delta: 1e-6, Adjacency: Substitute, Order: 12}
	b, err := NewBudget(c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFilter(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	best := newBudget(t, c.Epsilon, c.Delta)
	charges, admitted := []Event{must(Gaussian(Substitute, 11)), must(acceptance(Substitute, 0.03)),
		must(Pure(Substitute, 0.02))}, 0
	for i := 0; ; i++ {
		e := charges[i%len(charges)]
		if b.Charge(e, 1) != nil {
			break
		}
		if admitted++; f.Charge(e, 1) != nil || best.Charge(e, 1) != nil {
			t.Fatalf("charge %d fits a budget of one order, and not a filter or a budget of any", i)
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if b = new(Budget); json.Unmarshal(text, b) != nil || b.Config() != c {
			t.Fatalf("restored as %+v", b.Config())
		}
	}
	if want := f.limit / ((charges[0].RDP(12) + charges[1].RDP(12) + charges[2].RDP(12)) /
		3); math.Abs(float64(admitted)-want) > 2 {
		t.Errorf("%d charges admitted, want about %v", admitted, want)
	}
	var over *ExceededError
	g, err := b.Spent()
	if err != nil || g.Order != 12 || g.Epsilon > 2 || !errors.As(b.Charge(charges[0], 1), &over) ||
		over.SpentEpsilon != g.Epsilon {
		t.Errorf("spent %+v (%v), refusal %v", g, err, over)
	}
	if n, err := b.Remaining(charges[0]); n != 0 || err != nil {
		t.Errorf("%d more fit, %v", n, err)
	}
	if err := b.Charge(must(Approximate(Substitute, 0.001, 1e-9)), 1); err == nil {
		t.Error("a failure was charged at one order")
	}
	if _, err := b.Split(0.5); err == nil {
		t.Error("a budget of one order was split")
	}
	for _, bad := range []BudgetConfig{
		{1, 1e-6, Substitute, 1}, {1, 1e-6, Substitute, -2}, {1, 1e-6, Substitute, math.Inf(1)},
		{1, 1e-6, Substitute, math.NaN()},
		{1, 0, Substitute, 8}, {1, 1e-6, Substitute, 2},
	} {
		if _, err := NewBudget(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
