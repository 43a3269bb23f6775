package accountant

import (
	"math"
	"math/big"
	"testing"
)

// TestSmallRangesAreTheSeries: where ε_BR is a series it is that of log(sinh x/x), in
// rational arithmetic to x¹², near order 1 as far out.
func TestSmallRangesAreTheSeries(t *testing.T) {
	// log(sinh x/x) = Σ cₖ·x²ᵏ.
	coefficients := []*big.Rat{big.NewRat(1, 6), big.NewRat(-1, 180), big.NewRat(1, 2835), big.NewRat(-1, 37800),
		big.NewRat(1, 467775), big.NewRat(-691, 3831077250)}
	logSinhc := func(x *big.Rat) *big.Rat {
		square, power, sum := new(big.Rat).Mul(x, x), big.NewRat(1, 1), new(big.Rat)
		for _, c := range coefficients {
			power.Mul(power, square)
			sum.Add(sum, new(big.Rat).Mul(c, power))
		}
		return sum
	}
	for _, order := range []float64{1 + 0x1p-20, 1.125, 1.5, 2, 3.25, 17, 512, 1 << 20} {
		for _, x := range []float64{0x1p-30, 0.01, 0.03, 0.04999} { // αs/2
			s := 2 * x / order
			a, half := new(big.Rat).SetFloat64(order), new(big.Rat).SetFloat64(s/2)
			whole := new(big.Rat).Mul(a, half)
			below := new(big.Rat).Sub(whole, half)
			rise := new(big.Rat).Sub(logSinhc(whole), logSinhc(half))
			rise.Quo(rise, new(big.Rat).Sub(a, big.NewRat(1, 1)))
			rise.Add(rise, logSinhc(whole)).Sub(rise, logSinhc(below))
			want, _ := rise.Float64()
			if got := boundedRangeRDP(order, s); !near(got, want, 2e-15) {
				t.Errorf("α = %v, s = %v: %v, want %v, relative error %.2g", order, s, got, want, got/want-1)
			}
		}
	}
}

// TestCostsAreRoundedUp: what is reported of a sum in closed form is more than the sum, by
// a hair.
func TestCostsAreRoundedUp(t *testing.T) {
	above := func(what string, got, exact float64) {
		t.Helper()
		if !(got > exact*(1+5e-14)) || !(got < exact*(1+3e-12)) {
			t.Errorf("%s is %v, want a hair more than %v", what, got, exact)
		}
	}
	for _, n := range []int64{1, 7, 1000} {
		gauss := times(t, must(Gaussian(Substitute, 2)), n)
		above("a Rényi cost", gauss.RDP(3), 3*float64(n)/8)
		above("a departure", times(t, must(GridGaussian(Substitute, 2, 1e-3)), n).departure(), 1e-3*float64(n))
		above("a chance to fail", times(t, must(Approximate(Substitute, 1, 1e-9)), n).FailureProbability(),
			-math.Expm1(float64(n)*math.Log1p(-1e-9)))
		above("an exact ε", gaussianEpsilon(0.5*math.Sqrt(float64(n)), math.Log(1e-6)),
			gaussianRoot(0.5*math.Sqrt(float64(n)), math.Log(1e-6)))
		bound := gauss.rdpEpsilon(1e-6)
		above("ε by way of orders", bound.value, epsilonValue(bound.order, gauss.RDP(bound.order), math.Log(1e-6)))
		pure := times(t, must(Pure(Substitute, 0.5)), n)
		above("a pure ε", pure.rdpEpsilon(0).value, 0.5*float64(n))
	}
}

// gaussianRoot is ε at log δ, by bisection.
func gaussianRoot(mu, logDelta float64) float64 {
	lo, hi := 0.0, 1e4
	for range 200 {
		if mid := (lo + hi) / 2; logGaussianDelta(mu, mid) > logDelta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// TestBudgetsCoverTheirLimits: a budget covers what costs exactly what it allows, in ε or
// at an order, and nothing that costs a hair more.
func TestBudgetsCoverTheirLimits(t *testing.T) {
	e := must(Gaussian(Substitute, 3))
	g, err := e.Epsilon(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	const order = 9
	atOrder := 0.0 // the ε whose limit at the order is the event's cost
	for k := range 1000 {
		e = must(Gaussian(Substitute, 3+float64(k)/64))
		lo, hi := 0.0, 100.0
		for range 100 {
			if mid := (lo + hi) / 2; limitAt(order, mid, 1e-6) < e.RDP(order) {
				lo = mid
			} else {
				hi = mid
			}
		}
		if limitAt(order, hi, 1e-6) == e.RDP(order) {
			atOrder = hi
			break
		}
	}
	if atOrder == 0 {
		t.Fatal("no event costs a limit exactly: the test shows nothing")
	}
	for _, c := range []struct {
		event   Event
		epsilon float64
		order   float64
	}{{must(Gaussian(Substitute, 3)), g.Epsilon, 0}, {e, atOrder, order}} {
		for _, allowed := range []bool{true, false} {
			config := BudgetConfig{Epsilon: c.epsilon, Delta: 1e-6, Adjacency: Substitute, Order: c.order}
			if !allowed {
				config.Epsilon *= 1 - 1e-14
			}
			b, err := NewBudget(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Charge(c.event, 1); (err == nil) != allowed {
				t.Errorf("order %v, ε = %v: %v", c.order, config.Epsilon, err)
			}
		}
	}
}

// TestEdgesOfSettings: of every setting that has an edge, the edge itself is taken or
// refused as documented.
func TestEdgesOfSettings(t *testing.T) {
	budget := func(epsilon, delta, order float64) func() error {
		return func() error {
			_, err := NewBudget(BudgetConfig{Epsilon: epsilon, Delta: delta, Adjacency: Substitute, Order: order})
			return err
		}
	}
	event := func(_ Event, err error) func() error { return func() error { return err } }
	ok := must(Gaussian(Substitute, 1))
	after := math.Nextafter
	odometer := func(order float64) func() error {
		return func() error { _, err := NewOdometer(Substitute, 0.1, order); return err }
	}
	for name, c := range map[string]struct {
		taken bool
		try   func() error
	}{
		"a budget of ε = 0":              {false, budget(0, 0.1, 0)},
		"a budget of the least ε":        {true, budget(after(0, 1), 0, 0)},
		"a budget of ε = +Inf":           {false, budget(math.Inf(1), 0.1, 0)},
		"a budget of the largest ε":      {true, budget(math.MaxFloat64, 0.1, 0)},
		"a budget of δ just below 1":     {true, budget(1, after(1, 0), 0)},
		"a budget of δ = 1":              {false, budget(1, 1, 0)},
		"a budget of δ below 0":          {false, budget(1, -after(0, 1), 0)},
		"a budget of order 1":            {false, budget(1e9, 0.1, 1)},
		"a budget of an order above 1":   {true, budget(1e9, 0.1, 1.0001)},
		"a budget of order +Inf":         {false, budget(1e9, 0.1, math.Inf(1))},
		"a budget of the largest order":  {true, budget(1e9, 0.1, math.MaxFloat64)},
		"an odometer of order 1":         {false, odometer(1)},
		"an odometer of order above 1":   {true, odometer(after(1, 2))},
		"an odometer of order +Inf":      {false, odometer(math.Inf(1))},
		"noise of 0":                     {true, event(Gaussian(Substitute, 0))},
		"noise below 0":                  {false, event(Gaussian(Substitute, -after(0, 1)))},
		"noise on a grid of 0":           {true, event(GridGaussian(Substitute, 0, 0))},
		"a departure below 0":            {false, event(GridGaussian(Substitute, 1, -after(0, 1)))},
		"a departure of +Inf":            {false, event(GridGaussian(Substitute, 1, math.Inf(1)))},
		"a contribution of 0":            {true, event(AcceptanceBit(Substitute, 0))},
		"a contribution of +Inf":         {false, event(AcceptanceBit(Substitute, math.Inf(1)))},
		"the largest contribution":       {true, event(AcceptanceBit(Substitute, math.MaxFloat64))},
		"no releases":                    {true, event(ok.Times(0))},
		"the most releases":              {true, event(ok.Times(math.MaxInt64))},
		"fewer than none":                {false, event(ok.Times(-1))},
		"the most, in two parts":         {true, event(Compose(times(t, ok, math.MaxInt64-1), ok))},
		"one more than the most":         {false, event(Compose(times(t, ok, math.MaxInt64), ok))},
		"the most, twice half":           {true, event(times(t, ok, math.MaxInt64/2).Times(2))},
		"more than the most, by product": {false, event(times(t, ok, math.MaxInt64/2+1).Times(2))},
	} {
		if err := c.try(); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, delta := range []float64{0, 1} {
		if _, err := ok.Epsilon(delta); err != nil {
			t.Errorf("ε at δ = %v: %v", delta, err)
		}
	}
}

// TestOrdersAreNamed: a guarantee names the order that its bound was found at, and none
// where its bound has none.
func TestOrdersAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		e      Event
		delta  float64
		method string
		order  float64
	}{
		"Gaussians": {must(Gaussian(Substitute, 1)), 1e-6, MethodGaussianExact, 0},
		"pure":      {must(Pure(Substitute, 1)), 0, MethodPure, 0},
		"δ of 1":    {must(ZCDP(Substitute, 1)), 1, MethodRDP, 0},
	} {
		g, err := c.e.Epsilon(c.delta)
		if err != nil || g.Method != c.method || g.Order != c.order {
			t.Errorf("%s: %s at order %v (%v), want %s at %v", name, g.Method, g.Order, err, c.method, c.order)
		}
	}
	if order := must(Pure(Substitute, 1)).rdpEpsilon(0).order; !math.IsInf(order, 1) {
		t.Errorf("the Rényi bound of a pure cost is found at order %v", order)
	}
	g, err := must(ZCDP(Substitute, 1)).Epsilon(1e-6)
	if err != nil || g.Method != MethodRDP || !(g.Order > 1) || math.IsInf(g.Order, 1) {
		t.Errorf("ρ = 1: %s at order %v (%v)", g.Method, g.Order, err)
	}
}

// TestAllDeltaIsFree: at δ = 1 every event has ε 0, those that surely fail too.
func TestAllDeltaIsFree(t *testing.T) {
	for name, e := range map[string]Event{"Gaussian": must(Gaussian(Substitute, 0.01)),
		"failing": times(t, must(Approximate(Substitute, 1, 0.5)), 5000)} {
		if rest := e.unfailed(1); rest != 1 {
			t.Errorf("%s: %v of δ = 1 is left", name, rest)
		}
		if got := epsilon(t, e, 1); got != 0 {
			t.Errorf("%s: ε %v", name, got)
		}
	}
}
