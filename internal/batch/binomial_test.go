package batch

import (
	"fmt"
	"math"
	"math/big"
	mathrand "math/rand/v2"
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

// exactly returns P(X ≤ k) for k from 0 to n.
func exactly(n int64, q float64) []*big.Rat {
	p := new(big.Rat).SetFloat64(q)
	rest := new(big.Rat).Sub(big.NewRat(1, 1), p)
	out, sum := make([]*big.Rat, n+1), new(big.Rat)
	for k := range n + 1 {
		mass := new(big.Rat).SetInt(new(big.Int).Binomial(n, k))
		for range k {
			mass.Mul(mass, p)
		}
		for range n - k {
			mass.Mul(mass, rest)
		}
		out[k] = new(big.Rat).Set(sum.Add(sum, mass))
	}
	return out
}

// smallLaws draws n and q for which rational arithmetic is quick.
func smallLaws(t *rapid.T) (n int64, q float64) {
	return rapid.Int64Range(0, 20).Draw(t, "n"), rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.SampledFrom([]float64{0, 5e-324, 1e-300, 1e-40, 0x1p-20, 0.5, 0x1.fffffffffffffp-1, 1}),
	).Draw(t, "q")
}

// TestBinomialTable compares the table with rational arithmetic: every entry is within
// an eighth of doubt, which the test of the law would not notice.
func TestBinomialTable(t *testing.T) {
	two128 := new(big.Int).Lsh(big.NewInt(1), 128)
	rapid.Check(t, func(t *rapid.T) {
		n, q := smallLaws(t)
		b, err := NewBinomial(n, q)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range exactly(n, q) {
			entry := new(big.Int)
			if i := int64(k) - b.first; i >= 0 && i < int64(len(b.cumulative)) {
				entry = b.cumulative[i].big()
			} else if i >= 0 {
				entry.Set(two128)
			}
			off := new(big.Rat).SetFrac(entry, two128)
			if d, _ := off.Sub(off, want).Float64(); math.Abs(d) > 0x1p-101 {
				t.Fatalf("P(X ≤ %d) is off by %g", k, d)
			}
		}
	})
}

// script gives its words, and then those of a generator.
type script struct {
	words []uint64
	after mathrand.Source
	taken []uint64
}

func (s *script) Uint64() uint64 {
	word := s.after.Uint64()
	if i := len(s.taken); i < len(s.words) {
		word = s.words[i]
	}
	s.taken = append(s.taken, word)
	return word
}

// TestBinomialIsExact: the draw is the quantile of the real number whose digits are the
// words taken, however close to a jump that is.
func TestBinomialIsExact(t *testing.T) {
	decided := 0
	for look := 0; look < 50 && decided == 0; look++ { // again only where chance showed none
		rapid.Check(t, func(t *rapid.T) {
			n, q := smallLaws(t)
			b, err := NewBinomial(n, q)
			if err != nil {
				t.Fatal(err)
			}
			upTo := exactly(n, q)
			// Words that agree with those of P(X ≤ k), but for the last bits.
			s := &script{after: mathrand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)}
			width := uint(64 * rapid.IntRange(1, 7).Draw(t, "words"))
			jump := upTo[rapid.Int64Range(0, n).Draw(t, "k")]
			u := new(big.Int).Lsh(jump.Num(), width)
			u.Quo(u, jump.Denom()).Add(u, big.NewInt(rapid.Int64Range(-2*doubt, 2*doubt).Draw(t, "off")))
			if rapid.Bool().Draw(t, "at an end") {
				u.SetInt64(0)
			}
			u.And(u, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width), big.NewInt(1)))
			for shift := int(width) - 64; shift >= 0; shift -= 64 {
				word := new(big.Int).Rsh(u, uint(shift))
				s.words = append(s.words, word.And(word, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
			}
			got := b.sample(s)
			if len(s.taken) > 2 {
				decided++
			}
			low, one := new(big.Int), big.NewInt(1)
			for _, word := range s.taken {
				low.Lsh(low, 64).Or(low, new(big.Int).SetUint64(word))
			}
			scale := new(big.Int).Lsh(one, uint(64*len(s.taken)))
			if got > 0 && new(big.Rat).SetFrac(low, scale).Cmp(upTo[got-1]) < 0 {
				t.Fatalf("%d drawn, but U < P(X < %d)", got, got)
			}
			if new(big.Rat).SetFrac(low.Add(low, one), scale).Cmp(upTo[got]) > 0 {
				t.Fatalf("%d drawn, but U may exceed P(X ≤ %d)", got, got)
			}
		})
	}
	if decided == 0 {
		t.Error("128 bits were always enough: the test shows nothing")
	}
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
		if outside > 0x1p-101 {
			t.Errorf("%s: %g lies outside the table", name, outside)
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
		want := 0
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
