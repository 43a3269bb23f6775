package accountant

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func sample(t testing.TB, s sampling, err error, e Event) Event {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return must(e.on(s))
}

func epsilon(t testing.TB, e Event, delta float64) float64 {
	t.Helper()
	g, err := e.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	return g.Epsilon
}

// TestEdgeCases holds the recommendations of "edge_cases" in the reference file.
func TestEdgeCases(t *testing.T) {
	inf := math.Inf(1)
	halfBatch, err := withoutReplacement(100, 50)
	half := func(e Event) Event { return sample(t, halfBatch, err, e) }
	gauss := must(Gaussian(AddRemove, 1))
	for name, c := range map[string]struct {
		e           Event
		delta, want float64
	}{
		"σ=0":                     {must(Gaussian(AddRemove, 0)), 1e-5, inf},
		"σ=0 without replacement": {half(must(Gaussian(Substitute, 0))), 1e-5, inf},
		"σ=0 poisson":             {poissonOf(t, 0.01, must(Gaussian(AddRemove, 0))), 1e-5, inf},
		"σ=1e-200 poisson":        {poissonOf(t, 0.01, must(Gaussian(AddRemove, 1e-200))), 1e-5, inf},
		"σ=+Inf":                  {must(Gaussian(AddRemove, inf)), 1e-5, 0},
		"σ=+Inf sampled":          {half(must(Gaussian(Substitute, inf))), 1e-5, 0},
		"Laplace scale 0":         {must(Laplace(AddRemove, 0)), 1e-5, inf},
		"no steps":                {must(gauss.Times(0)), 1e-5, 0},
		"no steps, δ=0":           {must(gauss.Times(0)), 0, 0},
		"q=0":                     {poissonOf(t, 0, gauss), 1e-5, 0},
		"δ=0":                     {gauss, 0, inf},
		"δ=0, pure":               {must(must(Pure(AddRemove, 0.25)).Times(4)), 0, 1},
		"δ=0, no cost":            {must(ZCDP(AddRemove, 0)), 0, 0},
		"δ=1":                     {must(Gaussian(AddRemove, 0.01)), 1, 0},
	} {
		if got := epsilon(t, c.e, c.delta); got != c.want && !near(got, c.want, 1e-12) {
			t.Errorf("%s: ε %v, want %v", name, got, c.want)
		}
	}
	if got := epsilon(t, poissonOf(t, 1, gauss), 1e-5); got != epsilon(t, gauss, 1e-5) &&
		!near(got, epsilon(t, gauss, 1e-5), 0.1) {
		t.Errorf("q=1: ε %v, unsampled %v", got, epsilon(t, gauss, 1e-5))
	}
	for _, order := range []float64{1.5, 2, 7.3, 64} { // continuous as q → 1
		if got, want := poissonOf(t, 1-1e-12, gauss).RDP(order), gauss.RDP(order); !near(got, want, 1e-9) {
			t.Errorf("q→1, α=%v: RDP %v, unsampled %v", order, got, want)
		}
	}
	// δ = 1e-300: 37.54462747557966 on the reference's grid of orders.
	if g, _ := gauss.Epsilon(1e-300); g.Alternatives["rdp"] > 37.54462747557966*(1+1e-9) || g.Epsilon < 37 {
		t.Errorf("δ=1e-300: %v", g)
	}
	// σ=0.1, q=0.01, α=2, T=1.
	if got := poissonOf(t, 0.01, must(Gaussian(AddRemove, 0.1))).RDP(2); !near(got, 90.7896596280238, 1e-9) {
		t.Errorf("σ=0.1: RDP(2) %v", got)
	}
	for _, order := range []float64{1, 0.5, 0, -1, math.NaN(), math.Inf(-1)} {
		if got := gauss.RDP(order); !math.IsInf(got, 1) {
			t.Errorf("RDP(%v) = %v, want +Inf", order, got)
		}
	}
	if got := must(Pure(AddRemove, 0.5)).RDP(inf); !near(got, 0.5, 1e-12) {
		t.Errorf("pure RDP(∞) = %v", got)
	}
	if got := gauss.RDP(inf); !math.IsInf(got, 1) {
		t.Errorf("Gaussian RDP(∞) = %v", got)
	}
}

// TestRecordedMistakes holds our answers to the recorded mistakes of other
// accountants (accounting-facts.md; "known_upstream_defects" in the reference).
func TestRecordedMistakes(t *testing.T) {
	// 1. The count of repeated events matters.
	if got := epsilon(t, must(must(BoundedRange(Substitute, 1)).Times(100)), 1e-5); got < 30 || got > 34.912 {
		t.Errorf("100 exponential mechanisms: ε %v, want at most 34.912", got)
	}
	const p, k = 0.5, 4.0
	rr := must(RandomizedResponse(Substitute, math.Log((1-p+p/k)/(p/k)), k))
	if got := epsilon(t, must(rr.Times(50)), 1e-5); got < 69.17 || got > 71.3 {
		t.Errorf("50 randomised responses: ε %v, want at least 69.17 (numerical) and little more", got)
	}
	// 2. Two releases from one minibatch are one sampled composition.
	one := must(must(Gaussian(AddRemove, 1)).Times(100))
	if got := poissonOf(t, 0.01, one).rdpEpsilon(1e-5).value; !near(got, 80.57, 0.01) {
		t.Errorf("100 Gaussians in one batch: ε %v, want about 80.57", got)
	}
	// 4. Replace-one: noise stated over the substitution sensitivity is never
	// reinterpreted over the record norm: std 1 with records of norm 1 is 0.5.
	if got := epsilon(t, must(Gaussian(Substitute, 0.5)), 1e-5); !near(got, 9.9973, 2e-3) {
		t.Errorf("std 1, record norm 1, substitution: ε %v, want 9.997", got)
	}
	// 5. Fractional orders are exact (theirs: 8.416e-4 and +Inf).
	if got := poissonOf(t, 0.1, must(Gaussian(AddRemove, 4))).RDP(1.1); !near(got, 3.527e-4, 1e-3) {
		t.Errorf("σ=4 q=0.1 α=1.1: RDP %v, want 3.527e-4", got)
	}
	if got := poissonOf(t, 0.1, must(Gaussian(AddRemove, 1))).RDP(1.5); math.IsInf(got, 1) {
		t.Errorf("σ=1 q=0.1 α=1.5: RDP %v", got)
	}
	// 6. σ=20, q=1e-4, T=10⁶: Rényi gives 0.0148 where a fixed grid gives 0.0585.
	if got := epsilon(t, must(poissonOf(t, 1e-4, must(Gaussian(AddRemove, 20))).Times(1e6)), 1e-5); got > 0.0149 {
		t.Errorf("σ=20: ε %v, want at most 0.0148", got)
	}
	// 8. Asking does not change the answer, and small optimal orders are found.
	e := must(must(Gaussian(AddRemove, 1)).Times(3))
	if a, b := epsilon(t, e, 1e-5), epsilon(t, e, 1e-5); a != b {
		t.Errorf("ε %v, then %v", a, b)
	}
}

// TestRefusals: what cannot be a number is an error (mistake 3 among them).
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := must(Gaussian(Substitute, 1))
	bad := map[string]func() error{}
	for _, x := range []float64{nan, -1, math.Inf(-1)} {
		for name, build := range map[string]func(Adjacency, float64) (Event, error){
			"Gaussian": Gaussian, "DiscreteGaussian": DiscreteGaussian, "Laplace": Laplace, "Pure": Pure, "ZCDP": ZCDP,
			"GaussianDP": GaussianDP, "RandomizedResponse": func(adj Adjacency, epsilon float64) (Event, error) {
				return RandomizedResponse(adj, epsilon, 2)
			}, "BoundedRange": BoundedRange,
			"AcceptanceBit": acceptance, "IsotropicBit": isotropic,
		} {
			bad[name] = func() error { _, err := build(Substitute, x); return err }
			bad[name+" without adjacency"] = func() error { _, err := build(0, 1); return err }
		}
		bad["Epsilon"] = func() error { _, err := ok.Epsilon(x); return err }
		bad["Delta"] = func() error { _, err := ok.Delta(x); return err }
		bad["Poisson"] = func() error { _, err := poisson(x); return err }
		bad["Approximate"] = func() error { _, err := Approximate(Substitute, 1, x); return err }
		bad["MaxCount"] = func() error { _, err := ok.MaxCount(x, 0.1); return err }
		for name, err := range bad {
			if err() == nil {
				t.Errorf("%s(%v): no error", name, x)
			}
		}
	}
	wor, _ := withoutReplacement(10, 5)
	poi, _ := poisson(0.5)
	add := must(Gaussian(AddRemove, 1))
	for name, f := range map[string]func() error{
		"δ=1.5":                 func() error { _, err := ok.Epsilon(1.5); return err },
		"rate 1.5":              func() error { _, err := poisson(1.5); return err },
		"batch > records":       func() error { _, err := withoutReplacement(10, 11); return err },
		"batch < 0":             func() error { _, err := withoutReplacement(10, -1); return err },
		"no records":            func() error { _, err := withoutReplacement(0, 0); return err },
		"negative count":        func() error { _, err := ok.Times(-1); return err },
		"count overflow":        func() error { e := must(ok.Times(math.MaxInt64)); _, err := e.Times(2); return err },
		"sum overflow":          func() error { e := must(ok.Times(math.MaxInt64)); _, err := Compose(e, e); return err },
		"mixed adjacency":       func() error { _, err := Compose(ok, add); return err },
		"compose nothing":       func() error { _, err := Compose(); return err },
		"compose zero":          func() error { _, err := Compose(ok, Event{}); return err },
		"zero event":            func() error { _, err := Event{}.Epsilon(0.1); return err },
		"zero event times":      func() error { _, err := Event{}.Times(1); return err },
		"wor under add_remove":  func() error { _, err := add.on(wor); return err },
		"poisson bounded range": func() error { _, err := must(BoundedRange(Substitute, 1)).on(poi); return err },
		"poisson laplace":       func() error { _, err := must(Laplace(Substitute, 1)).on(poi); return err },
		"failing composition": func() error {
			_, err := must(Compose(ok, must(Approximate(Substitute, 1, 0.1)))).on(wor)
			return err
		},
		"categories 1":       func() error { _, err := RandomizedResponse(Substitute, 1, 1); return err },
		"infinite ε":         func() error { _, err := Pure(Substitute, inf); return err },
		"rows 0":             func() error { _, err := ok.Group(0); return err },
		"convert substitute": func() error { _, err := ok.Substitution(); return err },
		"barker batch 5":     func() error { _, err := SubsampledBarker(5, false); return err },
		"budget without ε": func() error {
			_, err := NewBudget(BudgetConfig{Delta: 0.1, Adjacency: Substitute})
			return err
		},
		"budget without adjacency": func() error { _, err := NewBudget(BudgetConfig{Epsilon: 1, Delta: 0.1}); return err },
		"budget δ=1": func() error {
			_, err := NewBudget(BudgetConfig{Epsilon: 1, Delta: 1, Adjacency: Substitute})
			return err
		},
		"zero budget config":     func() error { _, err := NewBudget(BudgetConfig{}); return err },
		"filter without order":   func() error { _, err := NewFilter(BudgetConfig{1, 1e-6, Substitute, 0}, 0); return err },
		"filter order too small": func() error { _, err := NewFilter(BudgetConfig{1, 1e-6, Substitute, 1.5}, 0); return err },
		"odometer without δ":     func() error { _, err := NewOdometer(Substitute, 0, 8, 0); return err },
	} {
		err := f()
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.HasPrefix(err.Error(), "accountant: ") {
			t.Errorf("%s: error %q does not start with the package's name", name, err)
		}
	}
	if got := (Event{}).RDP(2); !math.IsInf(got, 1) {
		t.Errorf("zero event costs %v", got)
	}
	_, _, err := SolveParameter(func(x float64) (Event, error) { return Gaussian(Substitute, x) }, 1, 2, 0.01, 1e-6, false)
	if u := new(UnreachableError); !errors.As(err, &u) || u.Nearest != 2 || !(u.Guarantee.Epsilon > 0.01) {
		t.Errorf("unreachable target: %v", err)
	}
}

// TestOnlyNothingIsFree: a Rényi cost of exactly 1 converts to more than 0, as its
// neighbours do.
func TestOnlyNothingIsFree(t *testing.T) {
	for _, rdp := range []float64{math.Nextafter(1, 0), 1, math.Nextafter(1, 2)} {
		if got := epsilonAt(3, rdp, math.Log(1e-6)); !(got > 1) {
			t.Errorf("a cost of %v converts to ε %v", rdp, got)
		}
	}
	if got := epsilonAt(3, 0, math.Log(1e-6)); got != 0 {
		t.Errorf("no cost converts to ε %v", got)
	}
}

// TestCostsThatDeltaCovers: where δ exceeds what a divergence lets total variation be,
// 2·log δ ≥ log(1 − e^−ρ) (Bretagnolle and Huber), ε is 0, and not before.
func TestCostsThatDeltaCovers(t *testing.T) {
	const delta = 1e-3
	edge := -math.Log1p(-delta * delta)
	for _, order := range []float64{1.5, 4, 30} {
		if eps := epsilonAt(order, edge*(1-1e-9), math.Log(delta)); eps != 0 {
			t.Errorf("order %v: a cost within δ has ε = %v", order, eps)
		}
		if eps := epsilonAt(order, edge*(1+1e-9), math.Log(delta)); order < 30 && eps == 0 {
			t.Errorf("order %v: a cost beyond δ has no ε", order)
		}
	}
}

// TestNoOrderAtDeltaZero: a budget of one Rényi order has no ε without δ.
func TestNoOrderAtDeltaZero(t *testing.T) {
	for _, order := range []float64{1.5, 12, 1e9} {
		if _, err := NewBudget(BudgetConfig{Epsilon: 100, Adjacency: Substitute, Order: order}); err == nil {
			t.Errorf("order %v at δ = 0: granted", order)
		}
	}
}

// TestHugeGaussians have a finite ε as long as a float64 holds it.
func TestHugeGaussians(t *testing.T) {
	for mu, finite := range map[float64]bool{1e150: true, 1e154: true, 1.4e154: false, 1e300: false} {
		if eps := gaussianEpsilon(mu, math.Log(1e-5)); finite != (eps < math.Inf(1)) ||
			!(eps >= min(mu*mu/2, math.MaxFloat64)) {
			t.Errorf("noise of 1/%v has ε = %v", mu, eps)
		}
	}
}

// TestLimitsAreRoundedDown, below and above 0.
func TestLimitsAreRoundedDown(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 30} {
		exact := epsilon - conversionCost(3, math.Log(1e-4))
		if got := limitAt(3, epsilon, 1e-4); !(got < exact && exact-got < 1e-11) {
			t.Errorf("ε = %v at order 3 allows %v, want a hair below %v", epsilon, got, exact)
		}
	}
}

// TestGaussianOfNothing: at the δ that ε = 0 has, ε is 0, and not a little more.
func TestGaussianOfNothing(t *testing.T) {
	for _, mu := range []float64{1e-9, 0.3, 1, 8} {
		if eps := gaussianEpsilon(mu, logGaussianDelta(mu, 0)); eps != 0 {
			t.Errorf("µ = %v: ε %v", mu, eps)
		}
	}
}

// TestGaussianOfNoNoise: a release without noise has δ = 1 at every ε.
func TestGaussianOfNoNoise(t *testing.T) {
	for _, epsilon := range []float64{0, 1, 1e6} {
		if l := logGaussianDelta(math.Inf(1), epsilon); l != 0 {
			t.Errorf("log δ(%v) = %v", epsilon, l)
		}
	}
}

// TestDeparturesAddUp: a composition of discrete Gaussians is charged with the departure
// of each of its releases, in ε and in log δ, and with no more.
func TestDeparturesAddUp(t *testing.T) {
	const departs = 3 * 0.01
	grid, plain := must(onGrid(AddRemove, 2, 0.01)), must(Gaussian(AddRemove, 1.5))
	e := must(Compose(must(grid.Times(3)), must(plain.Times(2))))
	one := must(Gaussian(AddRemove, 1/math.Sqrt(3/4.0+2/2.25)))
	for _, delta := range []float64{1e-12, 1e-5, 0.1} {
		got, want := exactly(t, e, delta), exactly(t, one, delta*math.Exp(-departs))+departs
		if !(got >= want*(1-1e-11)) || !(got <= want*(1+1e-11)) {
			t.Errorf("δ = %v: ε %v, want %v", delta, got, want)
		}
	}
}

// TestDeparturesAddUpOnBatches: a release on a batch departs as the release does, which
// numerical composition adds.
func TestDeparturesAddUpOnBatches(t *testing.T) {
	batch, err := poisson(0.3)
	if err != nil {
		t.Fatal(err)
	}
	const delta, departs = 1e-5, 5 * 0.01
	refined := func(release Event, delta float64) float64 {
		g, _, err := must(must(release.on(batch)).Times(5)).RefineEpsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		return g.Alternatives[methodPLD]
	}
	got := refined(must(onGrid(AddRemove, 1, 0.01)), delta)
	want := refined(must(Gaussian(AddRemove, 1)), delta*math.Exp(-departs)) + departs
	if math.Abs(got-want) > 1e-3 || got < want-1e-6 {
		t.Errorf("ε %v, want %v", got, want)
	}
}

// TestEventsThatDifferAreNotMerged: a composition of two events that differ in one parameter,
// of any type, costs what both do, in either order.
func TestEventsThatDifferAreNotMerged(t *testing.T) {
	of := func(records, batch int64) Event {
		s, err := withoutReplacement(records, batch)
		if err != nil {
			t.Fatal(err)
		}
		return must(must(acceptance(Substitute, 0.5)).on(s))
	}
	rate := func(q float64) Event {
		s, err := poisson(q)
		if err != nil {
			t.Fatal(err)
		}
		return must(must(acceptance(Substitute, 0.5)).on(s))
	}
	bit := must(acceptance(Substitute, 0.1))
	for _, pair := range [][2]Event{
		{must(SignBits(Substitute, 2, 0.1, 0.1)), must(SignBits(Substitute, 20, 0.1, 0.1))},
		{must(SignBits(Substitute, 2, 0.1, 0.1)), must(SignBits(Substitute, 2, 0.1, 0.3))},
		{must(RandomizedResponse(Substitute, 1, 2)), must(RandomizedResponse(Substitute, 1, 9))},
		{must(bit.Group(2)), must(bit.Group(3))},
		{must(SubsampledBarker(60, false)), must(SubsampledBarker(6000, false))},
		{must(SubsampledBarker(60, false)), must(SubsampledBarker(60, true))},
		{of(100, 10), of(1000, 10)}, {of(1000, 100), of(1000, 10)}, {rate(0.1), rate(0.2)},
	} {
		want := pair[0].RDP(2) + pair[1].RDP(2)
		for i := range pair {
			if got := must(Compose(pair[i], pair[1-i])).RDP(2); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("%v and %v: together %v, want %v", pair[i], pair[1-i], got, want)
			}
		}
		if pair[0].Equal(pair[1]) {
			t.Errorf("%v is taken for %v", pair[0], pair[1])
		}
	}
}

// exactly is ε by the exact trade-off of Gaussians.
func exactly(t *testing.T, e Event, delta float64) float64 {
	t.Helper()
	g, err := e.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	return g.Alternatives[methodGaussianExact]
}

// TestLargeDeltas: where δ is near 1 it is Φ(a) − e^ε·Φ(a − µ) to the last digits of 1 − δ.
func TestLargeDeltas(t *testing.T) {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	for _, mu := range []float64{2.5, 3, 4, 6, 9} {
		for _, a := range []float64{1.001, 1.1, 1.5, 2, 3, 4} {
			eps := mu * (mu/2 - a)
			want := math.Log1p(-tail(a) - math.Exp(eps)*tail(mu-a))
			if got := logGaussianDelta(mu, eps); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("µ = %v, ε = %v: log δ is %v, want %v", mu, eps, got, want)
			}
		}
	}
}

// TestConversionsAreRoundedUp: ε by the Rényi curve is that of its order, and the slack.
func TestConversionsAreRoundedUp(t *testing.T) {
	for _, e := range []Event{must(ZCDP(Substitute, 0.01)), must(acceptance(AddRemove, 0.3)),
		must(must(Gaussian(Substitute, 3)).Times(7))} {
		g, err := e.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		c := e.rdpEpsilon(1e-6)
		if least := epsilonAt(c.order, e.RDP(c.order), math.Log(1e-6)) * (1 + slack/2); c.value < least {
			t.Errorf("%v: ε %v at order %v, want at least %v", e, c.value, c.order, least)
		}
		if g.Alternatives[methodRDP] != c.value {
			t.Errorf("%v: Epsilon lists %v, the curve has %v", e, g.Alternatives[methodRDP], c.value)
		}
	}
}

// asked is a mechanism that counts how often its curve is worked out.
type asked struct {
	gaussian
	count *int
}

func (m asked) rdp(adj Adjacency, order float64) float64 {
	*m.count++
	return m.gaussian.rdp(adj, order)
}

// askedSlow is one whose curve is worth remembering.
type askedSlow struct{ asked }

func (askedSlow) memory(name string) memory { return recall(name) }

// TestSlowCurvesAreRemembered at each order, by whatever the event is composed into.
func TestSlowCurvesAreRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(asked) mechanism
		want int
	}{
		"slow":  {func(m asked) mechanism { return askedSlow{m} }, 2},
		"quick": {func(m asked) mechanism { return m }, 8},
	} {
		forget()
		count := 0
		e, err := newEvent(AddRemove, c.of(asked{gaussian{1}, &count}))
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []float64{2, 3, 2, 3} { // one does not make it forget the other
			if one, two := e.RDP(order), must(Compose(e, must(e.Times(2)))).RDP(order); !near(two, 3*one, 1e-9) {
				t.Errorf("%s: %v and %v at order %v", name, one, two, order)
			}
		}
		if count != c.want {
			t.Errorf("%s: the curve was worked out %d times, want %d", name, count, c.want)
		}
	}
}

// forget empties the memories that later events would share.
func forget() { clear(recalled.kept) }

// TestStatedAgainIsRemembered: a slow mechanism with the same parameters is worked out once at an
// order, under one adjacency, and memories of others are dropped before they fill the machine's.
func TestStatedAgainIsRemembered(t *testing.T) {
	forget()
	count := 0
	price := func(adj Adjacency, sigma float64) float64 {
		return must(newEvent(adj, askedSlow{asked{gaussian{sigma}, &count}})).RDP(2)
	}
	once := price(AddRemove, 1)
	if again := price(AddRemove, 1); again != once || count != 1 {
		t.Errorf("%v and %v, worked out %d times", once, again, count)
	}
	if other, sub := price(AddRemove, 2), price(Substitute, 1); other == once || count != 3 {
		t.Errorf("noise of 2 costs %v, of 1 %v and %v by adjacency: worked out %d times", other, once, sub, count)
	}
	for i := range recallLimit {
		price(AddRemove, 3+float64(i))
	}
	if again := price(AddRemove, 1); again != once || len(recalled.kept) > recallLimit {
		t.Errorf("%v in place of %v with %d memories", again, once, len(recalled.kept))
	}
}

// langevinOf is coth x − 1/x by the series of cosh and sinh in 300 bits.
func langevinOf(x float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	term, cosh, sinh := number(1), number(1), number(0)
	for k := 1.0; k < 80; k++ {
		term.Quo(term.Mul(term, number(x)), number(k))
		if int(k)%2 == 1 {
			sinh.Add(sinh, term)
		} else {
			cosh.Add(cosh, term)
		}
	}
	out, _ := cosh.Sub(cosh.Quo(cosh, sinh), number(0).Quo(number(1), number(x))).Float64()
	return out
}

// TestLangevin holds the slope of bounded ranges' prices to the definition, in 300 bits.
func TestLangevin(t *testing.T) {
	for x := 0.001; x < 5; x *= 1.01 {
		tolerance := 6e-16
		if x >= 0.3 {
			tolerance = 2e-14 // what the subtraction of 1/x leaves
		}
		if got, want := langevin(x), langevinOf(x); !near(got, want, tolerance) {
			t.Errorf("at %v: %v, want %v: off by %v", x, got, want, got/want-1)
		}
	}
}
