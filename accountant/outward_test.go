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
		above("a departure", times(t, must(onGrid(Substitute, 2, 1e-3)), n).departure(), 1e-3*float64(n))
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
		return func() error { _, err := NewOdometer(Substitute, 0.1, order, 0); return err }
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
		"noise on a grid of 0":           {true, event(onGrid(Substitute, 0, 0))},
		"a departure below 0":            {false, event(onGrid(Substitute, 1, -after(0, 1)))},
		"a departure of +Inf":            {false, event(onGrid(Substitute, 1, math.Inf(1)))},
		"a contribution of 0":            {true, event(acceptance(Substitute, 0))},
		"a contribution of +Inf":         {false, event(acceptance(Substitute, math.Inf(1)))},
		"the largest contribution":       {true, event(acceptance(Substitute, math.MaxFloat64))},
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
		"Gaussians": {must(Gaussian(Substitute, 1)), 1e-6, methodGaussianExact, 0},
		"pure":      {must(Pure(Substitute, 1)), 0, methodPure, 0},
		"δ of 1":    {must(ZCDP(Substitute, 1)), 1, methodRDP, 0},
	} {
		g, err := c.e.Epsilon(c.delta)
		if err != nil || g.Method != c.method || g.Order != c.order {
			t.Errorf("%s: %s at order %v (%v), want %s at %v", name, g.Method, g.Order, err, c.method, c.order)
		}
	}
	if order := must(Pure(Substitute, 1)).rdpEpsilon(0).order; !math.IsInf(order, 1) {
		t.Errorf("the Rényi bound of a pure cost is found at order %v", order)
	}
	c := times(t, must(Pure(Substitute, 0.1)), 3).rdpEpsilon(1e-300) // less at no finite order
	if !math.IsInf(c.order, 1) || !near(c.value, 0.3, 1e-12) {
		t.Errorf("the Rényi bound of 3 × ε = 0.1 is %v at order %v", c.value, c.order)
	}
	g, err := must(ZCDP(Substitute, 1)).Epsilon(1e-6)
	if err != nil || g.Method != methodRDP || !(g.Order > 1) || math.IsInf(g.Order, 1) {
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

// bigLogSinhc is log(sinh x/x) by its product, in logarithms: Σ log(1 + x²/k²π²), the tail by
// its expansion; for x of at most 3.
func bigLogSinhc(x float64) float64 {
	const terms = 4000
	sum, square := 0.0, x*x/(math.Pi*math.Pi)
	for k := terms; k >= 1; k-- {
		sum += math.Log1p(square / float64(k*k))
	}
	// Σ_{k>n} 1/k² = 1/n − 1/2n² + 1/6n³ − …, and the same of fourth powers.
	n := float64(terms)
	return sum + square*(1/n-1/(2*n*n)+1/(6*n*n*n)) - square*square/2*(1/(3*n*n*n)-1/(2*n*n*n*n))
}

// TestLogSinhc on both sides of every switch of formula, and its rises.
func TestLogSinhc(t *testing.T) {
	points := []float64{1e-9, 0.5e-4, 0.99e-4, 1.01e-4, 0.01, 0.3, 0.99, 1.01, 1.5, 2.9}
	for _, x := range points {
		want := bigLogSinhc(x)
		if got := logSinhc(x); math.Abs(got-want) > 2e-15+1e-14*want {
			t.Errorf("log(sinh x/x) at %v is %v, want %v", x, got, want)
		}
		for _, h := range []float64{0, 0.1, 0.24, 0.26, 0.7} {
			if x+h > 3 {
				continue
			}
			want := bigLogSinhc(x+h) - bigLogSinhc(x)
			if got := logSinhcRise(x, h); math.Abs(got-want) > 1e-14 {
				t.Errorf("from %v by %v it rises by %v, want %v", x, h, got, want)
			}
		}
	}
}

// TestEventsAreTheirParts: two events are the same when their parts and counts are, in any
// order, and a part of several is told from another.
func TestEventsAreTheirParts(t *testing.T) {
	batch := func(records, size int64) sampling {
		s, err := withoutReplacement(records, size)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := must(acceptance(Substitute, 0.1)), must(Gaussian(Substitute, 3))
	c := must(acceptance(Substitute, 0.2))
	ab, ba := must(Compose(a, b)), must(Compose(b, a))
	if !ab.Equal(ba) || !must(Compose(ab, c)).Equal(must(Compose(c, b, a))) {
		t.Error("the order of parts counts")
	}
	if !times(t, ab, 3).Equal(must(Compose(ba, ab, ba))) {
		t.Error("three times is not thrice")
	}
	inBatch := func(s sampling, e Event) Event { return must(e.on(s)) }
	for _, pair := range [][2]Event{
		{a, c}, {ab, must(Compose(c, b))}, {times(t, a, 2), a}, {must(Compose(times(t, a, 2), c)),
			must(Compose(times(t, c, 2), a))},
		{inBatch(batch(100, 10), a), inBatch(batch(100, 10), c)},
		{inBatch(batch(100, 10), must(Compose(a, c))), inBatch(batch(100, 10), must(Compose(a, times(t, c, 2))))},
		{inBatch(batch(111, 1), a), inBatch(batch(11, 11), a)},
		{must(a.Group(2)), must(c.Group(2))},
	} {
		if pair[0].Equal(pair[1]) {
			t.Errorf("%v is taken for %v", pair[0], pair[1])
		}
		both := must(Compose(pair[0], pair[1]))
		if got, want := both.RDP(3), pair[0].RDP(3)+pair[1].RDP(3); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%v and %v cost %v together, want %v", pair[0], pair[1], got, want)
		}
	}
}

// labelled is a mechanism of which a text is the only parameter.
type labelled struct {
	gaussian
	label string
}

func (m labelled) fields() []field { return []field{{"label", m.label}} }

// TestTextsTellEventsApart, as numbers do.
func TestTextsTellEventsApart(t *testing.T) {
	of := func(label string) Event { return must(newEvent(AddRemove, labelled{gaussian{1}, label})) }
	if a, b := of("a"), of("b"); a.Equal(b) || !a.Equal(of("a")) {
		t.Errorf("%s and %s", a.key(), b.key())
	}
}

// TestRestatedEventsKeepTheirCounts: what an event costs under another name is charged as
// often as it is released, and asking leaves the event as it was.
func TestRestatedEventsKeepTheirCounts(t *testing.T) {
	pair := must(must(Gaussian(AddRemove, 3)).Group(2))
	fails := must(must(Approximate(AddRemove, 0.1, 1e-4)).Group(2))
	e := must(Compose(must(Gaussian(AddRemove, 5)), times(t, pair, 4)))
	before := e.key()
	for _, delta := range []float64{1e-9, 1e-3} {
		got := exactly(t, e, delta)
		want := exactly(t, must(Gaussian(AddRemove, 1/math.Sqrt(1/25.+4*4/9.))), delta)
		if math.Abs(got/want-1) > 1e-11 {
			t.Errorf("δ = %v: ε %v, want %v", delta, got, want)
		}
	}
	if got := e.key(); got != before || !e.Equal(must(Compose(times(t, pair, 4), must(Gaussian(AddRemove, 5))))) {
		t.Errorf("%s became %s", before, got)
	}
	once, twice := fails.FailureProbability(), times(t, fails, 2).FailureProbability()
	if want := 1 - (1-once)*(1-once); math.Abs(twice/want-1) > 1e-11 {
		t.Errorf("two chances of %v make %v", once, twice)
	}
}

// TestDeltasThatFailuresLeave: of a total, by the chance that nothing fails.
func TestDeltasThatFailuresLeave(t *testing.T) {
	e := must(Approximate(Substitute, 1, 0.25))
	for delta, want := range map[float64]float64{0.5: 1 / 3., 0.25: 0, 0.1: -0.2} {
		if got := e.unfailed(delta); math.Abs(got-want) > 1e-12 {
			t.Errorf("of δ = %v %v is left, want %v", delta, got, want)
		}
	}
	if p := times(t, e, 5000).FailureProbability(); p != 1 {
		t.Errorf("what surely fails does so with probability %v", p)
	}
	b, err := NewBudget(BudgetConfig{Epsilon: 100, Delta: 0.1, Adjacency: Substitute, Order: 5})
	if err != nil {
		t.Fatal(err)
	}
	if b.Charge(must(Approximate(Substitute, 1e-3, 1e-9)), 1) == nil {
		t.Error("a budget of one order pays for what may fail")
	}
	if b.Charge(must(acceptance(Substitute, 1e-3)), 1) != nil {
		t.Error("a budget of one order does not pay for what cannot fail")
	}
}

// TestNothingCostsNothing, by each way of asking.
func TestNothingCostsNothing(t *testing.T) {
	if got := gaussianRDP(5, 0); got != 0 {
		t.Errorf("noise without end costs %v", got)
	}
	for _, eps := range []float64{0, 0.5, 3} {
		if got := logGaussianDelta(0, eps); !math.IsInf(got, -1) {
			t.Errorf("a shift of 0 has log δ(%v) = %v", eps, got)
		}
	}
	nothing := times(t, must(Gaussian(Substitute, 1)), 0)
	for _, delta := range []float64{0, 1e-6, 1} {
		if g, err := nothing.Epsilon(delta); err != nil || g.Epsilon != 0 || g.Order != 0 {
			t.Errorf("nothing costs ε = %v at δ = %v, at order %v (%v)", g.Epsilon, delta, g.Order, err)
		}
	}
	if _, err := NewBudget(BudgetConfig{Epsilon: conversionCost(3, math.Log(1e-4)), Delta: 1e-4, Adjacency: Substitute,
		Order: 3}); err == nil {
		t.Error("a budget whose order leaves nothing was made")
	}
}

// TestDeltaThatCoversAnEvent: where δ exceeds what the divergence lets total variation be,
// ε is 0, found at the lowest order.
func TestDeltaThatCoversAnEvent(t *testing.T) {
	const rho = 1e-6
	e := must(ZCDP(Substitute, rho))
	edge := math.Sqrt(-math.Expm1(-e.RDP(lowestOrder)))
	if c := e.rdpEpsilon(edge * (1 + 1e-9)); c.value != 0 || c.order != lowestOrder {
		t.Errorf("just above the bound ε is %v, at order %v", c.value, c.order)
	}
	if c := e.rdpEpsilon(edge / 10); !(c.value > 0) {
		t.Errorf("far below the bound ε is %v", c.value)
	}
}

// TestBitsAreChargedEnlarged: by a factor 1 + 10⁻⁹ under either adjacency, for the rounding of
// the probability with which they are released.
func TestBitsAreChargedEnlarged(t *testing.T) {
	for adj, sides := range map[Adjacency]float64{Substitute: 2, AddRemove: 1} {
		e := must(acceptance(adj, 0.1))
		charged, want := e.RDP(math.Inf(1)), sides*0.1*(1+1e-9)
		if !(charged >= want && charged <= want*(1+1e-12)) {
			t.Errorf("a contribution of 0.1 under %v is charged as %v, want %v", adj, charged, want)
		}
	}
}

// TestNoConversionOfPureCosts: at infinite order a cost is ε itself, whatever δ is.
func TestNoConversionOfPureCosts(t *testing.T) {
	for _, delta := range []float64{0, 1e-6, 0.1} {
		if got := epsilonAt(math.Inf(1), 3, math.Log(delta)); got != 3 {
			t.Errorf("a pure cost of 3 is %v at δ %v", got, delta)
		}
	}
}

// TestManyPartsAreAddedUp: the rounding of a sum of many is charged, and no more.
func TestManyPartsAreAddedUp(t *testing.T) {
	for _, n := range []int{manyParts - 1, manyParts, 3 * manyParts} {
		events, want := make([]Event, n), 0.0
		for i := range events {
			events[i] = must(Gaussian(AddRemove, 10+float64(i)))
			want += events[i].RDP(2)
		}
		if got := must(Compose(events...)).RDP(2); !(got >= want*(1-1e-15) && got <= want*(1+1e-12)) {
			t.Errorf("%d parts cost %v, want %v", n, got, want)
		}
	}
}
