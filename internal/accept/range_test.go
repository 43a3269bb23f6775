package accept

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// sums returns what the curator computes from a batch's contributions.
func sums(x []float64) (sum, squares float64) {
	for _, xi := range x {
		sum += xi
		squares += xi * xi
	}
	return sum, squares
}

// contribution draws from [−c, c], often from its ends.
func contribution(t *rapid.T, c float64) float64 {
	return c * rapid.OneOf(rapid.SampledFrom([]float64{-1, 0, 1}), rapid.Float64Range(-1, 1)).Draw(t, "x")
}

// rounding is what the rounding of two tails can add to the distance of their
// log-odds: each side errs by at most RelErr/(1−½−RelErr). That of the variances is
// less.
const rounding = 2 * 4.01 * RelErr

// TestFixedRange holds the range of a bit given its fixed-size batch
// (docs/proofs/acceptance.md, §4).
func TestFixedRange(t *testing.T) {
	for name, test := range someTests() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := rapid.IntRange(1, 12).Draw(t, "b")
				n := b + rapid.IntRange(0, 100).Draw(t, "rest")
				c := math.Exp2(rapid.Float64Range(-6, 1).Draw(t, "log2 c"))
				public := rapid.Float64Range(-10, 10).Draw(t, "public")
				x := make([]float64, b)
				for i := range x {
					x[i] = contribution(t, c)
				}
				logit := func() float64 {
					sum, squares := sums(x)
					return logitAt(test, sum+public, FixedVariance(n, b, sum, squares))
				}
				before := logit()
				x[0] = contribution(t, c)
				slope, varianceSlope := test.Lipschitz()
				bound := 2*c*slope + 4*c*c*float64(n-b)/float64(n)*varianceSlope + rounding
				if got := math.Abs(logit() - before); got > bound {
					t.Fatalf("replacing a record moves the log-odds by %v, more than %v", got, bound)
				}
			})
		})
	}
}

// TestPoissonRange is the same for a record's presence in a Poisson batch.
func TestPoissonRange(t *testing.T) {
	for name, test := range someTests() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := rapid.Float64Range(0.01, 1).Draw(t, "q")
				c := math.Exp2(rapid.Float64Range(-6, 1).Draw(t, "log2 c"))
				public := rapid.Float64Range(-10, 10).Draw(t, "public")
				x := make([]float64, rapid.IntRange(1, 12).Draw(t, "size"))
				for i := range x {
					x[i] = contribution(t, c)
				}
				logit := func(x []float64) float64 {
					sum, squares := sums(x)
					return logitAt(test, sum+public, PoissonVariance(q, squares))
				}
				slope, varianceSlope := test.Lipschitz()
				bound := c*slope + (1-q)*c*c*varianceSlope + rounding
				if got := math.Abs(logit(x) - logit(x[1:])); got > bound {
					t.Fatalf("removing a record moves the log-odds by %v, more than %v", got, bound)
				}
			})
		})
	}
}

// The sensitivity 4c²(1−b/n) of the variance is attained: all records but one at
// one end, the last one from that end to the other.
func TestFixedVarianceSensitivityIsAttained(t *testing.T) {
	const n, c = 50, 0.3
	for _, b := range []int{2, 3, 10, 49} {
		same := FixedVariance(n, b, float64(b)*c, float64(b)*c*c)
		one := FixedVariance(n, b, float64(b-2)*c, float64(b)*c*c)
		if want := 4 * c * c * (1 - float64(b)/n); math.Abs(one-same-want) > 1e-14 {
			t.Errorf("b = %d: the variance moves by %v, want %v", b, one-same, want)
		}
		// Published form (without the finite-population and b/(b−1) factors):
		// 4(b−1)/b·c² (peers F2, in units of c² = 1/b it is k/b with k = 4(b−1)/b).
		published := (one - same) / (float64(n-b) / n) * float64(b-1) / float64(b)
		if want := 4 * c * c * float64(b-1) / float64(b); math.Abs(published-want) > 1e-14 {
			t.Errorf("b = %d: the published variance moves by %v, want %v", b, published, want)
		}
	}
}

// Both estimates are unbiased: their averages over all batches of a small data set
// equal the exact variance of the batch sum over those batches.
func TestVariancesAreUnbiased(t *testing.T) {
	data := []float64{0.3, -1.1, 0.7, 2.2, -0.4, 0.9, -0.2}
	n := len(data)
	// average returns the mean estimate and the variance of the estimated sum over
	// batches with the given weights; share is the batch's share of the data.
	average := func(share float64, weight func(size int) float64,
		estimate func(size int, sum, squares float64) float64) (mean, variance float64) {
		var first, second, total float64
		for set := range 1 << n {
			var batch []float64
			for i, x := range data {
				if set>>i&1 == 1 {
					batch = append(batch, x/share)
				}
			}
			w := weight(bits.OnesCount(uint(set)))
			sum, squares := sums(batch)
			total += w
			first += w * sum
			second += w * sum * sum
			mean += w * estimate(len(batch), sum, squares)
		}
		first, second = first/total, second/total
		return mean / total, second - first*first
	}
	for b := 2; b <= n; b++ {
		mean, variance := average(float64(b)/float64(n),
			func(size int) float64 {
				if size == b {
					return 1
				}
				return 0
			},
			func(size int, sum, squares float64) float64 {
				if size != b {
					return 0
				}
				return FixedVariance(n, b, sum, squares)
			})
		if math.Abs(mean-variance) > 1e-12 {
			t.Errorf("fixed size %d: the mean estimate is %v, the variance %v", b, mean, variance)
		}
	}
	for _, q := range []float64{0.1, 0.5, 1} {
		mean, variance := average(q,
			func(size int) float64 { return math.Pow(q, float64(size)) * math.Pow(1-q, float64(n-size)) },
			func(_ int, _, squares float64) float64 { return PoissonVariance(q, squares) })
		if math.Abs(mean-variance) > 1e-10 {
			t.Errorf("rate %v: the mean estimate is %v, the variance %v", q, mean, variance)
		}
	}
}

// A mixture over batches moves no further than its parts: with a_k and b_k within s
// in log-odds, so are Σp_k·a_k and Σp_k·b_k (docs/proofs/acceptance.md, §4).
func TestMixturesKeepTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(0, 4).Draw(t, "s")
		var a, b, total float64
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			p := rapid.Float64Range(0.01, 1).Draw(t, "p")
			u := rapid.Float64Range(-12, 12).Draw(t, "u")
			total += p
			a += p / (1 + math.Exp(-u))
			b += p / (1 + math.Exp(-u-s*rapid.Float64Range(-1, 1).Draw(t, "shift")))
		}
		a, b = a/total, b/total
		if d := math.Abs(math.Log(a/(1-a)) - math.Log(b/(1-b))); d > s+1e-9 {
			t.Fatalf("mixtures of parts within %v differ by %v", s, d)
		}
	})
}

func TestVariancesRefuse(t *testing.T) {
	for name, call := range map[string]func(){
		"batch larger than the data": func() { FixedVariance(5, 6, 0, 0) },
		"rate above one":             func() { PoissonVariance(1.5, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
