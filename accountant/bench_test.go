package accountant

import (
	"fmt"
	"math"
	"testing"
)

// The setting of the speed figures: σ=1, q=0.01, T=10⁴, δ=10⁻⁵, add/remove.
const (
	benchSigma, benchRate = 1.0, 0.01
	benchSteps            = 10_000
	benchDelta            = 1e-5
)

func dpsgd(t testing.TB, sigma float64) Event {
	return must(poissonOf(t, benchRate, must(Gaussian(AddRemove, sigma))).Times(benchSteps))
}

// BenchmarkColdEpsilon composes and converts from nothing (dp_accounting: 108 ms).
func BenchmarkColdEpsilon(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		forget()
		epsilon(b, dpsgd(b, benchSigma), benchDelta)
	}
}

// BenchmarkRepeatedEpsilon asks an unchanged event again.
func BenchmarkRepeatedEpsilon(b *testing.B) {
	e := dpsgd(b, benchSigma)
	epsilon(b, e, benchDelta)
	b.ReportAllocs()
	for b.Loop() {
		epsilon(b, e, benchDelta)
	}
}

// BenchmarkClosedForms composes and converts 100 releases (dp_accounting: 0.27 and 0.19 ms).
func BenchmarkClosedForms(b *testing.B) {
	for _, build := range []func(Adjacency, float64) (Event, error){Gaussian, Laplace} {
		b.Run(must(build(AddRemove, 5)).Mechanisms()[0].Kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				epsilon(b, must(must(build(AddRemove, 5)).Times(100)), benchDelta)
			}
		})
	}
}

// BenchmarkSigmaForEpsilon solves for the noise at ε = 1 (dp_accounting: 300 ms).
func BenchmarkSigmaForEpsilon(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		forget()
		_, _, err := SolveParameter(func(x float64) (Event, error) { return dpsgd(b, x), nil }, 0.1, 100, 1,
			benchDelta, false)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMaxCount solves for the exact number of iterations at ε = 8.
func BenchmarkMaxCount(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		forget()
		e := poissonOf(b, benchRate, must(Gaussian(AddRemove, benchSigma)))
		if _, err := e.MaxCount(8, benchDelta); err != nil {
			b.Fatal(err)
		}
	}
}

// heterogeneous is 10⁵ different events of four kinds.
func heterogeneous() Event {
	events := make([]Event, 0, 100_000)
	for i := range 25_000 {
		x := 0.001 * (1 + float64(i)/25_000)
		events = append(events,
			must(Gaussian(Substitute, 1/x)), must(acceptance(Substitute, x)),
			must(Laplace(Substitute, 1/x)), must(BoundedRange(Substitute, x)))
	}
	return must(Compose(events...))
}

// BenchmarkHeterogeneousEpsilon is the first query over 10⁵ different events.
func BenchmarkHeterogeneousEpsilon(b *testing.B) {
	e := heterogeneous()
	b.ReportAllocs()
	for b.Loop() {
		epsilon(b, e, benchDelta)
	}
}

// BenchmarkRDP evaluates one order of each kind of curve, from cold.
func BenchmarkRDP(b *testing.B) {
	poisson, _ := poisson(0.007)
	fixed, _ := withoutReplacement(1_000_000, 7000)
	for _, c := range []struct {
		name  string
		event func() Event
	}{
		{"bit", func() Event { return must(acceptance(Substitute, 0.1)) }},
		{"isotropic bit", func() Event { return must(isotropic(Substitute, 0.1)) }},
		{"poisson bit", func() Event { return must(must(acceptance(Substitute, 0.1)).on(poisson)) }},
		{"fixed-size bit", func() Event { return must(must(acceptance(Substitute, 0.1)).on(fixed)) }},
		{"poisson isotropic bit", func() Event { return must(must(isotropic(Substitute, 0.1)).on(poisson)) }},
		{"fixed-size bounded range", func() Event { return must(must(BoundedRange(Substitute, 0.1)).on(fixed)) }},
		{"fixed-size gaussian", func() Event { return must(must(Gaussian(Substitute, 1)).on(fixed)) }},
		{"poisson gaussian", func() Event { return must(must(Gaussian(AddRemove, 1)).on(poisson)) }},
		{"poisson gaussian substitution", func() Event { return must(must(Gaussian(Substitute, 0.5)).on(poisson)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				forget()
				c.event().RDP(16.5)
			}
		})
	}
}

// BenchmarkCharge charges a budget that already holds other events.
func BenchmarkCharge(b *testing.B) {
	budget, err := NewBudget(BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: Substitute})
	if err != nil {
		b.Fatal(err)
	}
	if err := budget.Charge(must(Gaussian(Substitute, 50)), 1); err != nil {
		b.Fatal(err)
	}
	bit := must(acceptance(Substitute, 1e-7))
	b.ReportAllocs()
	for b.Loop() {
		if err := budget.Charge(bit, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleEvent_Epsilon() {
	// A chain of 10⁵ exact Barker steps, each record moving the log-odds by at
	// most 0.001, under substitution.
	bit, err := acceptance(Substitute, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	chain, _ := bit.Times(100_000)
	g, _ := chain.Epsilon(1e-6)
	fmt.Printf("(%.3f, %g)-DP under %s, by %s at order %.1f\n", g.Epsilon, g.Delta, g.Adjacency, g.Method, g.Order)
	// Output: (1.472, 1e-06)-DP under substitute, by rdp at order 15.9
}

func ExampleBudget() {
	budget, _ := NewBudget(BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: Substitute})
	step, _ := acceptance(Substitute, 0.001)
	n, _ := budget.Remaining(step)
	fmt.Println("steps that fit:", n)
	fmt.Println("all of them:", budget.Charge(step, n))
	fmt.Println("one more:", budget.Charge(step, 1) != nil)
	// Output:
	// steps that fit: 48713
	// all of them: <nil>
	// one more: true
}

func ExampleSolveParameter() {
	// The noise that makes 10⁴ Poisson-sampled gradient steps (1, 1e-5)-DP.
	sampling, _ := poisson(0.01)
	steps := func(noise float64) (Event, error) {
		g, err := Gaussian(AddRemove, noise)
		if err != nil {
			return Event{}, err
		}
		if g, err = g.on(sampling); err != nil {
			return Event{}, err
		}
		return g.Times(10_000)
	}
	noise, g, err := SolveParameter(steps, 0.1, 100, 1, 1e-5, false)
	fmt.Printf("noise multiplier %.4f, ε %.4f, %v, %v\n", noise, g.Epsilon, g.Epsilon <= 1, err)
	// Output: noise multiplier 4.1253, ε 1.0000, true, <nil>
}

// Splitting a batch's releases must not be cheaper than stating them together:
// two Gaussians in one batch cost more than two batches of one each.
func TestOneBatchIsNotTwo(t *testing.T) {
	g := must(Gaussian(AddRemove, 1))
	together := poissonOf(t, 0.01, must(g.Times(2)))
	apart := must(poissonOf(t, 0.01, g).Times(2))
	if a, b := together.RDP(8), apart.RDP(8); a <= b {
		t.Errorf("one batch %v, two batches %v", a, b)
	}
	if a, b := together.RDP(8), poissonOf(t, 0.01, must(Gaussian(AddRemove, 1/math.Sqrt2))).RDP(8); !near(a, b, 1e-9) {
		t.Errorf("two Gaussians %v, one of their joint noise %v", a, b)
	}
}
