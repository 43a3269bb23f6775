package planning

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// noise is the noise multiplier of repeated Gaussian releases.
func noise(steps int64) Parameter[float64] {
	return Parameter[float64]{Name: "noise", Low: 1e-2, High: 1e5, Event: func(sigma float64) (accountant.Event, error) {
		e, err := accountant.Gaussian(accountant.AddRemove, sigma)
		if err != nil {
			return e, err
		}
		return e.Times(steps)
	}}
}

func sampledGaussian(adj accountant.Adjacency, rate, sigma float64, steps int64) (accountant.Event, error) {
	g, err := accountant.Gaussian(adj, sigma)
	if err != nil {
		return accountant.Event{}, err
	}
	e, err := g.PoissonSampled(rate)
	if err != nil {
		return accountant.Event{}, err
	}
	return e.Times(steps)
}

func epsilon(t rapid.TB, e accountant.Event, err error, delta float64) float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	return g.Epsilon
}

// TestRealIsBest holds real solutions, of falling costs (noise) and of rising
// ones (rate), to their two promises: within the budget, and 1e-6 farther not.
func TestRealIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{
			Epsilon: math.Pow(10, rapid.Float64Range(-1, 1).Draw(t, "log ε")),
			Delta:   math.Pow(10, rapid.Float64Range(-9, -4).Draw(t, "log δ")),
		}
		steps := rapid.Int64Range(1, 10000).Draw(t, "steps")
		p := noise(steps)
		farther := 1 - 1e-6
		if rapid.Bool().Draw(t, "solve the rate") {
			sigma := rapid.Float64Range(0.7, 5).Draw(t, "noise")
			p = Parameter[float64]{Name: "rate", Low: 1e-12, High: 1, Event: func(q float64) (accountant.Event, error) {
				return sampledGaussian(accountant.AddRemove, q, sigma, steps)
			}}
			farther = 1 + 1e-6
		}
		plan, err := Solve(p, b)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Guarantee.Epsilon > b.Epsilon {
			t.Fatalf("ε %v is above the budget's %v", plan.Guarantee.Epsilon, b.Epsilon)
		}
		e, err := p.Event(plan.Value)
		if got := epsilon(t, e, err, b.Delta); got != plan.Guarantee.Epsilon {
			t.Fatalf("the plan says ε %v at %v, the accountant %v", plan.Guarantee.Epsilon, plan.Value, got)
		}
		if plan.AtEnd {
			if plan.Value != p.High {
				t.Fatalf("AtEnd with %v", plan.Value)
			}
			return
		}
		e, err = p.Event(plan.Value * farther)
		if over := epsilon(t, e, err, b.Delta); over <= b.Epsilon {
			t.Fatalf("%s: the budget covers %v too, 1e-6 beyond the plan's %v", p.Name, plan.Value*farther, plan.Value)
		}
	})
}

// TestIntegerIsExact holds integer solutions, rising and falling, to exactness:
// the value fits and its neighbour does not.
func TestIntegerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Epsilon: math.Pow(10, rapid.Float64Range(-2, 1).Draw(t, "log ε")), Delta: 1e-6}
		scale := math.Pow(10, rapid.Float64Range(-5, -1).Draw(t, "log scale"))
		next := int64(1)
		// Rising: the number of bits of one size. Falling: the size of a batch
		// whose mean, of values in [0, 1], is released 100 times.
		p := Parameter[int64]{Name: "count", Low: 0, High: 1 << 62, Event: func(n int64) (accountant.Event, error) {
			e, err := accountant.Bit{Contribution: scale}.Event(accountant.Substitute)
			if err != nil {
				return e, err
			}
			return e.Times(n)
		}}
		if rapid.Bool().Draw(t, "solve the batch") {
			next = -1
			p = Parameter[int64]{Name: "batch", Low: 1, High: 1 << 40, Event: func(n int64) (accountant.Event, error) {
				e, err := accountant.Gaussian(accountant.Substitute, float64(n)*scale)
				if err != nil {
					return e, err
				}
				return e.Times(100)
			}}
		}
		plan, err := Solve(p, b)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Guarantee.Epsilon > b.Epsilon || plan.AtEnd {
			t.Fatalf("%s: %+v for a budget of %v", p.Name, plan, b)
		}
		e, err := p.Event(plan.Value + next)
		if over := epsilon(t, e, err, b.Delta); over <= b.Epsilon {
			t.Fatalf("%s: the budget covers %d too, beyond the plan's %d", p.Name, plan.Value+next, plan.Value)
		}
	})
}

// TestMoreBudgetBuysMore: a plan's value never falls when the budget rises.
func TestMoreBudgetBuysMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := rapid.Float64Range(0.05, 5).Draw(t, "ε")
		more := eps * (1 + rapid.Float64Range(1e-6, 1).Draw(t, "more"))
		scale := rapid.Float64Range(1e-3, 0.05).Draw(t, "scale")
		e, err := accountant.Bit{Contribution: scale}.Event(accountant.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		p := Parameter[int64]{Name: "iterations", Low: 0, High: 1 << 50, Event: e.Times}
		small, err := Solve(p, Budget{eps, 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		large, err := Solve(p, Budget{more, 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		if large.Value < small.Value {
			t.Fatalf("ε %v buys %d steps, ε %v only %d", eps, small.Value, more, large.Value)
		}
		count, err := e.MaxCount(eps, 1e-6)
		if err != nil || count != small.Value {
			t.Fatalf("Solve gives %d steps, MaxCount %d (%v)", small.Value, count, err)
		}
	})
}

// TestNeverAboveOnCrookedCosts: a cost that is not monotone may have several
// solutions; whichever is returned fits, and its neighbour does not.
func TestNeverAboveOnCrookedCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(0, 2), 2, 50).Draw(t, "costs")
		p := Parameter[int64]{Name: "n", Low: 0, High: int64(len(costs)) - 1, Event: func(n int64) (accountant.Event, error) {
			return accountant.Pure(accountant.Substitute, costs[n])
		}}
		const most = 1 + 1e-9 // the accountant rounds up
		plan, err := Solve(p, Budget{most, 0})
		var unreachable *accountant.UnreachableError
		switch {
		case errors.As(err, &unreachable):
			if got := costs[int(unreachable.Nearest)]; got <= 1 {
				t.Fatalf("%v, but %v costs %v", err, unreachable.Nearest, got)
			}
		case err != nil:
			t.Fatal(err)
		case costs[plan.Value] > most:
			t.Fatalf("the plan %d costs %v", plan.Value, costs[plan.Value])
		}
	})
}

// TestUnreachableNamesTheNearest: the error holds the cheaper end and its cost.
func TestUnreachableNamesTheNearest(t *testing.T) {
	_, err := Solve(Parameter[int64]{Name: "batch", Low: 1, High: 100, Event: func(n int64) (accountant.Event, error) {
		return accountant.Gaussian(accountant.Substitute, float64(n)/1000)
	}}, Budget{1, 1e-6})
	var u *accountant.UnreachableError
	if !errors.As(err, &u) {
		t.Fatalf("error %v", err)
	}
	cheapest, err2 := accountant.Gaussian(accountant.Substitute, 0.1)
	if want := epsilon(t, cheapest, err2, 1e-6); u.Nearest != 100 || u.Guarantee.Epsilon != want || u.Target != 1 {
		t.Errorf("nearest %v at ε %v for %v; want 100 at %v for 1", u.Nearest, u.Guarantee.Epsilon, u.Target, want)
	}
	if !strings.Contains(err.Error(), "batch") || !strings.Contains(err.Error(), "100") {
		t.Errorf("the message %q does not name the parameter and the nearest value", err)
	}
}

// TestRangeFits: a budget for the whole range returns the dearer end and says so,
// and an event without cost returns the upper end.
func TestRangeFits(t *testing.T) {
	p := noise(1)
	p.Low = 5 // one release with this much noise costs an ε below 1
	plan, err := Solve(p, Budget{10, 1e-5})
	if err != nil || !plan.AtEnd || plan.Value != 5 {
		t.Errorf("noise: %v at the end %v, %v; want 5 at the end", plan.Value, plan.AtEnd, err)
	}
	free, err := accountant.Pure(accountant.Substitute, 0)
	if err != nil {
		t.Fatal(err)
	}
	count, err := Solve(Parameter[int64]{Name: "n", Low: 0, High: 1 << 40, Event: free.Times}, Budget{0, 0})
	if err != nil || !count.AtEnd || count.Value != 1<<40 {
		t.Errorf("free: %v at the end %v, %v; want 2⁴⁰ at the end", count.Value, count.AtEnd, err)
	}
}

func TestRefusals(t *testing.T) {
	ok := noise(1)
	with := func(change func(*Parameter[float64])) Parameter[float64] {
		p := ok
		change(&p)
		return p
	}
	failed := errors.New("no such release")
	for name, c := range map[string]struct {
		p    Parameter[float64]
		b    Budget
		want string
	}{
		"negative ε":  {ok, Budget{-1, 1e-6}, "Epsilon is -1"},
		"NaN ε":       {ok, Budget{math.NaN(), 1e-6}, "Epsilon is NaN"},
		"infinite ε":  {ok, Budget{math.Inf(1), 1e-6}, "Epsilon is +Inf"},
		"δ of 1":      {ok, Budget{1, 1}, "Delta is 1"},
		"negative δ":  {ok, Budget{1, -0.1}, "Delta is -0.1"},
		"NaN δ":       {ok, Budget{1, math.NaN()}, "Delta is NaN"},
		"no name":     {with(func(p *Parameter[float64]) { p.Name = "" }), Budget{1, 1e-6}, "Name is not set"},
		"no event":    {with(func(p *Parameter[float64]) { p.Event = nil }), Budget{1, 1e-6}, "Event is not set"},
		"empty range": {with(func(p *Parameter[float64]) { p.Low = p.High }), Budget{1, 1e-6}, "Low < High"},
		"NaN range":   {with(func(p *Parameter[float64]) { p.Low = math.NaN() }), Budget{1, 1e-6}, "Low < High"},
		"from zero":   {with(func(p *Parameter[float64]) { p.Low = 0 }), Budget{1, 1e-6}, "Low must be positive"},
		"no end":      {with(func(p *Parameter[float64]) { p.High = math.Inf(1) }), Budget{1, 1e-6}, "finite"},
		"event fails": {with(func(p *Parameter[float64]) {
			p.Event = func(float64) (accountant.Event, error) { return accountant.Event{}, failed }
		}), Budget{1, 1e-6}, failed.Error()},
		"event fails inside": {with(func(p *Parameter[float64]) {
			p.Event = func(x float64) (accountant.Event, error) {
				if x > 0.9 && x < 100 {
					return accountant.Event{}, failed
				}
				return ok.Event(x)
			}
		}), Budget{1, 1e-6}, failed.Error()},
	} {
		if _, err := Solve(c.p, c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want one that says %q", name, err, c.want)
		}
	}
}
