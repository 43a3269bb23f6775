package batch

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func binomial(t testing.TB, n int64, q float64) *Binomial {
	t.Helper()
	b, err := NewBinomial(n, q)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBinomialTableIsExact compares the table with rational arithmetic: the
// total variation, computed exactly, is at most what is reported.
func TestBinomialTableIsExact(t *testing.T) {
	two128 := new(big.Int).Lsh(big.NewInt(1), 128)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 20).Draw(t, "n")
		q := rapid.OneOf(
			rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0, 5e-324, 1e-300, 1e-40, 0x1p-20, 0.5, 0x1.fffffffffffffp-1, 1}),
		).Draw(t, "q")
		b, err := NewBinomial(n, q)
		if err != nil {
			t.Fatal(err)
		}
		p := new(big.Rat).SetFloat64(q)
		rest := new(big.Rat).Sub(big.NewRat(1, 1), p)
		variation := new(big.Rat)
		below := new(big.Int)
		for k := range n + 1 {
			upTo := new(big.Int) // 2^128·P(X ≤ k) of the table
			if i := k - b.first; i >= 0 && i < int64(len(b.cumulative)) {
				upTo = b.cumulative[i].big()
			} else if i >= 0 {
				upTo.Set(two128)
			}
			got := new(big.Rat).SetFrac(new(big.Int).Sub(upTo, below), two128)
			below = upTo
			want := new(big.Rat).SetInt(new(big.Int).Binomial(n, k))
			for range k {
				want.Mul(want, p)
			}
			for range n - k {
				want.Mul(want, rest)
			}
			got.Sub(got, want)
			variation.Add(variation, got.Abs(got))
		}
		variation.Mul(variation, big.NewRat(1, 2))
		if variation.Cmp(new(big.Rat).SetFloat64(b.TotalVariation())) > 0 {
			v, _ := variation.Float64()
			t.Fatalf("total variation %g, reported %g", v, b.TotalVariation())
		}
		if b.TotalVariation() > 0x1p-100 {
			t.Fatalf("reported total variation %g", b.TotalVariation())
		}
	})
}

// The probabilities were computed with Python's decimal module at 70 digits: the
// mass at k by Stirling's series with ten terms, then the masses below it by
// their ratios, for the exact value of the float64 q.
var largeTables = []struct {
	n     int64
	q     float64
	upTo  map[int64]string // k and P(X ≤ k)
	size  int              // most entries the table should have
	build func() (*Binomial, error)
}{
	{1e6, 1e-3, map[int64]string{
		873: "0.0000219454448648824459350749", 1000: "0.5084093682207755449402283206", 1094: "0.9984098408164629383351474893",
	}, 1000, func() (*Binomial, error) { return NewBinomial(1e6, 1e-3) }},
	{1e9, 1e-6, map[int64]string{
		873: "0.0000221318399808285744319909", 1000: "0.5084093671685076132681902348", 1094: "0.9984020580807132270230275976",
	}, 1000, func() (*Binomial, error) { return NewBinomial(1e9, 1e-6) }},
	{29305, 0.9, map[int64]string{
		26169: "0.0000384064557882928684586897", 26374: "0.4989642013171873684975408799",
		26528: "0.9987358608201712389693377066",
	}, 2000, func() (*Binomial, error) { return NewBinomial(29305, 0.9) }},
	{1e9, 0.5, map[int64]string{
		499936754: "0.0000316716914891624526147684", 500000000: "0.5000126156626069468845891047",
		500047434: "0.9986501959002949258159033476",
	}, 400000, func() (*Binomial, error) { return NewBinomial(1e9, 0.5) }},
}

// TestBinomialLargeTables compares entries with the probabilities above, and
// sums what the table leaves out by log-gamma.
func TestBinomialLargeTables(t *testing.T) {
	for _, c := range largeTables {
		b, err := c.build()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("n = %d, q = %g", c.n, c.q)
		if len(b.cumulative) > c.size || len(b.guide) > 4*c.size {
			t.Errorf("%s: %d entries and %d guides", name, len(b.cumulative), len(b.guide))
		}
		for k, text := range c.upTo {
			want, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatal(text)
			}
			got := new(big.Rat).SetFrac(b.cumulative[k-b.first].big(), new(big.Int).Lsh(big.NewInt(1), 128))
			if d, _ := want.Sub(want, got).Float64(); math.Abs(d) > 1e-27 {
				t.Errorf("%s: P(X ≤ %d) is off by %g", name, k, d)
			}
		}
		outside := 0.0
		last := b.first + int64(len(b.cumulative))
		for k := b.first - 1; k >= max(0, b.first-20000); k-- {
			outside += binomialMass(c.n, k, c.q)
		}
		for k := last + 1; k <= min(c.n, last+20000); k++ {
			outside += binomialMass(c.n, k, c.q)
		}
		if v := b.TotalVariation(); outside > v || v > 0x1p-100 {
			t.Errorf("%s: %g lies outside the table, the reported total variation is %g", name, outside, v)
		}
	}
}

func (a uint128) big() *big.Int {
	hi := new(big.Int).SetUint64(a.hi)
	return hi.Lsh(hi, 64).Or(hi, new(big.Int).SetUint64(a.lo))
}

// binomialMass is P(X = k) to about 1e-5.
func binomialMass(n, k int64, q float64) float64 {
	lgamma := func(x int64) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lgamma(n) - lgamma(k) - lgamma(n-k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
}

// TestBinomialQuantile compares the guided search with a linear one, near the
// entries and their guide cells.
func TestBinomialQuantile(t *testing.T) {
	laws := []*Binomial{binomial(t, 1000, 0.1), binomial(t, 3, 0.5), binomial(t, 1, 0.25), binomial(t, 7, 0),
		binomial(t, 1e6, 1e-3)}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(laws).Draw(t, "law")
		u := uint128{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
		if n := len(b.cumulative); n > 0 && rapid.Bool().Draw(t, "at an entry") {
			u = b.cumulative[rapid.IntRange(0, n-1).Draw(t, "entry")]
			if rapid.Bool().Draw(t, "just before") && u.lo > 0 {
				u.lo--
			}
		} else if rapid.Bool().Draw(t, "at a guide cell") && b.shift < 64 {
			u = uint128{hi: u.hi >> b.shift << b.shift}
		}
		want := b.first
		for _, c := range b.cumulative {
			if c.atMost(u) {
				want++
			}
		}
		if got := b.quantile(u); got != want {
			t.Fatalf("quantile(%v) = %d, want %d", u, got, want)
		}
	})
}

// TestBinomialSample draws 10^5 sizes; q off by 1% is the mutant.
func TestBinomialSample(t *testing.T) {
	const n, q, low, high = 1_000_000, 1e-3, 850, 1150
	probs := make([]float64, high-low+1)
	rest := 1.0
	for k := range probs {
		probs[k] = binomialMass(n, int64(low+k), q)
		rest -= probs[k]
	}
	probs[len(probs)-1] += rest // what lies outside
	src := testSource(t.Name())
	fits := func(q float64) float64 {
		b, counts := binomial(t, n, q), make([]int, len(probs))
		for range 100000 {
			counts[min(uint64(b.Sample(src)-low), uint64(len(counts)-1))]++
		}
		return chiSquare(counts, probs)
	}
	if p := fits(q); p < falseAlarm {
		t.Errorf("p = %g", p)
	}
	if p := fits(q * 1.01); p >= falseAlarm {
		t.Errorf("q off by 1%% is not rejected: p = %g", p)
	}
}

func TestBinomialConstants(t *testing.T) {
	src := testSource(t.Name())
	for _, c := range []struct {
		n    int64
		q    float64
		want int64
	}{{0, 0.3, 0}, {5, 0, 0}, {5, 1, 5}, {math.MaxInt32, 1, math.MaxInt32}, {1000, 5e-324, 0}, {1e9, 1e-300, 0}} {
		b := binomial(t, c.n, c.q)
		if got := b.Sample(src); got != c.want {
			t.Errorf("Binomial(%d, %g) gives %d", c.n, c.q, got)
		}
		if c.q*(1-c.q) == 0 && b.TotalVariation() != 0 {
			t.Errorf("Binomial(%d, %g) is constant and reports an error of %g", c.n, c.q, b.TotalVariation())
		}
	}
}

func TestNewBinomialRefuses(t *testing.T) {
	for _, q := range []float64{math.NaN(), -1e-300, 1.0000000000000002, math.Inf(1), math.Inf(-1)} {
		if b, err := NewBinomial(10, q); err == nil || b != nil {
			t.Errorf("q = %v was accepted", q)
		}
	}
	for _, n := range []int64{-1, math.MaxInt32 + 1, math.MaxInt64, math.MinInt64} {
		if b, err := NewBinomial(n, 0.5); err == nil || b != nil {
			t.Errorf("n = %d was accepted", n)
		}
	}
}
