package pld

import "testing"

// The case of accounting-facts.md, from cold: σ=1, q=.01, T=10⁴, δ=10⁻⁵ (the
// other accountant: 2329 ms at grid 1e-4, in excess of the exact 6.187713 by
// (θ+1)Th²/12 = 3.4e-5, which ours must not exceed).
func BenchmarkPoissonGaussian(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := must(PoissonAddRemove(0.01, must(Gaussian(1))))
		r := compose(b, AtDelta(1e-5), Part{m, 10_000})
		if e := r.Epsilon(1e-5); e < 6.18771 || e > 6.187747 {
			b.Fatal(e)
		}
	}
}

// The same with its lower bound.
func BenchmarkBracket(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := must(PoissonAddRemove(0.01, must(Gaussian(1))))
		r := compose(b, AtDelta(1e-5), Part{m, 10_000})
		if r.LowerEpsilon(1e-5) > r.Epsilon(1e-5) {
			b.Fatal("bracket")
		}
	}
}

// A million small steps, where a fixed grid fails.
func BenchmarkSmallSteps(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := must(PoissonAddRemove(1e-4, must(Gaussian(20))))
		if e := compose(b, AtDelta(1e-5), Part{m, 1_000_000}).Epsilon(1e-5); e > 0.0148 {
			b.Fatal(e)
		}
	}
}

// Bits on Poisson batches, whose profile is solved for at every point.
func BenchmarkPoissonBits(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compose(b, AtDelta(1e-6), Part{must(PoissonBitSubstitution(0.007, 1)), 20_000})
	}
}

// The reference cases from cold, each at its first δ (docs/figures.md compares them).
func BenchmarkReference(b *testing.B) {
	for _, c := range reference(b) {
		if c.Accountant != "pld" {
			continue
		}
		b.Run(c.ID, func(b *testing.B) {
			for b.Loop() {
				delta := c.Results[0].Delta
				compose(b, AtDelta(delta), refParts(c)...).Epsilon(delta)
			}
		})
	}
}
