package noise

import (
	"crypto/sha256"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Every statistical test of this package rejects at falseAlarm, so that the
// whole package raises a false alarm with a probability below 10^-6 for a random
// seed (there are fewer than 100 of them). The seeds are fixed: a run repeats.
const falseAlarm = 1e-8

// testSource returns the insecure source of a test.
func testSource(name string) *Source { return NewInsecure(sha256.Sum256([]byte(name))) }

// script plays given words, then panics: a test states every word it needs.
type script []uint64

func (s *script) Uint64() uint64 {
	word := (*s)[0]
	*s = (*s)[1:]
	return word
}

func discreteGaussian(t testing.TB, sigma float64) *DiscreteGaussian {
	t.Helper()
	g, err := NewDiscreteGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// chiSquare returns the p-value of Pearson's test. Cells expected to hold fewer
// than 100 counts are pooled, so that the chi-squared law is good far out.
func chiSquare(counts []int, probs []float64) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	statistic, cells := 0.0, 0
	pooledCount, pooledMean := 0.0, 0.0
	add := func(count, mean float64) {
		statistic += (count - mean) * (count - mean) / mean
		cells++
	}
	for i, c := range counts {
		if mean := float64(total) * probs[i]; mean < 100 {
			pooledCount, pooledMean = pooledCount+float64(c), pooledMean+mean
		} else {
			add(float64(c), mean)
		}
	}
	if pooledMean >= 100 {
		add(pooledCount, pooledMean)
	} else if pooledCount > 300 {
		return 0 // a Poisson count with a mean below 100 exceeds 300 with chance < 1e-50
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(statistic)
}

// ksNull reports whether the samples of two sizes (math.Inf(1) for a known law)
// differ by no more than chance, given the largest distance d of their
// distribution functions (Smirnov's asymptotic bound, which is conservative).
func ksNull(d, n, m float64) bool {
	return d <= math.Sqrt(math.Log(2/falseAlarm)/2)*math.Sqrt(1/n+1/m)
}

// ksDistance returns the largest distance of the distribution functions of two
// samples, which it sorts.
func ksDistance(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	i, j, d := 0, 0, 0.0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return d
}

// bigExp returns exp(t) for t ≥ 0 with a relative error below 2^-prec. It sums
// the positive series, unlike expNeg, which alternates and squares.
func bigExp(t *big.Rat, prec uint) *big.Float {
	x := new(big.Float).SetPrec(prec + 64).SetRat(t)
	term := new(big.Float).SetPrec(prec + 64).SetInt64(1)
	sum := new(big.Float).SetPrec(prec + 64).SetInt64(1)
	for i := int64(1); term.Sign() > 0 && term.MantExp(nil) > sum.MantExp(nil)-int(prec)-32; i++ {
		term.Mul(term, x)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	return sum
}

// scaledExpNeg returns 2^prec·exp(−t) as a float accurate to 60 fractional bits.
func scaledExpNeg(t *big.Rat, prec uint) *big.Float {
	e := bigExp(t, prec+64)
	scale := new(big.Float).SetPrec(prec + 128).SetInt(new(big.Int).Lsh(big.NewInt(1), prec))
	return scale.Quo(scale, e)
}

// distance returns |x − y| for an integer x.
func distance(x *big.Int, y *big.Float) float64 {
	d := new(big.Float).SetPrec(y.Prec()).SetInt(x)
	f, _ := d.Sub(d, y).Float64()
	return math.Abs(f)
}

func TestChiSquare(t *testing.T) {
	// (50² + 0 + 50²)/200 = 25 with two degrees of freedom: p = exp(−12.5).
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	if p := chiSquare([]int{150, 200, 250}, third); math.Abs(p-math.Exp(-12.5)) > 1e-15 {
		t.Errorf("p = %v, want exp(-12.5)", p)
	}
	// Pooling: the two small cells hold 60 + 60 of 1200, expected 120 together.
	if p := chiSquare([]int{1080, 60, 60}, []float64{0.9, 0.05, 0.05}); math.Abs(p-1) > 1e-12 {
		t.Errorf("p = %v, want 1", p)
	}
}

func TestKSDistance(t *testing.T) {
	if d := ksDistance([]float64{3, 1, 2, 4}, []float64{2, 2}); d != 0.5 {
		t.Errorf("distance %v, want 0.5", d)
	}
	if ksNull(0.031, 1e4, math.Inf(1)) || !ksNull(0.030, 1e4, math.Inf(1)) {
		t.Error("the critical value for 10^4 points at 1e-8 is 0.0309")
	}
}
