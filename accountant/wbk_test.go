package accountant

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// wangBalleKasiviswanathan is Theorem 27 of Wang, Balle, Kasiviswanathan (2019)
// for the Gaussian of noise multiplier m (over the replace-one sensitivity) on
// fixed-size batches, at an integer order, in arbitrary precision: the bound
// that the profile integral has to beat.
func wangBalleKasiviswanathan(order int, m, q float64) float64 {
	const precision = 2000
	float := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	// E L^i = exp(i(i−1)/2m²), as powers of r = exp(1/2m²).
	r := bigExp(float(1 / (2 * m * m)))
	moment := func(i int) *big.Float { return bigPower(r, i*(i-1)) }
	// |E (L−1)^l|
	central := func(l int) *big.Float {
		sum := float(0)
		for i := range l + 1 {
			term := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Binomial(int64(l), int64(i)))
			term.Mul(term, moment(i))
			if (l-i)%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
		}
		return sum.Abs(sum)
	}
	least := func(a, b *big.Float) *big.Float {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}
	total := float(1)
	for j := 2; j <= order; j++ {
		var factor *big.Float
		plain := new(big.Float).SetPrec(precision).Mul(float(2), moment(j))
		if j == 2 {
			e := new(big.Float).SetPrec(precision).Sub(moment(2), float(1))
			factor = least(e.Mul(e, float(4)), plain)
		} else {
			b := new(big.Float).SetPrec(precision).Mul(central(2*(j/2)), central(2*((j+1)/2)))
			b.Sqrt(b)
			factor = least(b.Mul(b, float(4)), plain)
		}
		term := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Binomial(int64(order), int64(j)))
		term.Mul(term, bigPower(float(q), j))
		total.Add(total, term.Mul(term, factor))
	}
	excess, _ := new(big.Float).Sub(total, float(1)).Float64()
	return math.Log1p(excess) / float64(order-1)
}

// bigPower is x to the power n ≥ 0.
func bigPower(x *big.Float, n int) *big.Float {
	result := new(big.Float).SetPrec(x.Prec()).SetInt64(1)
	for square := new(big.Float).Set(x); n > 0; n /= 2 {
		if n%2 == 1 {
			result.Mul(result, square)
		}
		square = new(big.Float).SetPrec(x.Prec()).Mul(square, square)
	}
	return result
}

func fixedSizeGaussian(t rapid.TB, m float64, batch int64) (Event, float64) {
	const records = 100_000
	s, err := withoutReplacement(records, batch)
	if err != nil {
		t.Fatal(err)
	}
	return must(must(Gaussian(Substitute, m)).on(s)), float64(batch) / records
}

// TestTheorem27 checks this file's formula against the reference file's.
func TestTheorem27(t *testing.T) {
	for _, c := range load(t).WithoutReplacement { // the formula is the theorem's
		if got := wangBalleKasiviswanathan(int(c.Order), c.Sigma, c.Q); c.Order <= 64 && !near(got, c.WBK, 1e-6) {
			t.Errorf("σ=%v q=%v α=%v: Theorem 27 gives %v, the reference %v", c.Sigma, c.Q, c.Order, got, c.WBK)
		}
	}
}

// TestSmallerThanTheorem27: of the two bounds on fixed-size batches the profile
// integral, which is charged, is the smaller.
func TestSmallerThanTheorem27(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := math.Exp(rapid.Float64Range(math.Log(0.3), math.Log(30)).Draw(t, "log of the noise"))
		e, q := fixedSizeGaussian(t, m, rapid.Int64Range(1, 100_000).Draw(t, "batch"))
		order := rapid.IntRange(2, 24).Draw(t, "order")
		if got, theorem := e.RDP(float64(order)), wangBalleKasiviswanathan(order, m, q); got > theorem*(1+1e-9) {
			t.Fatalf("σ=%v q=%v α=%d: charged %v, Theorem 27 gives %v", m, q, order, got, theorem)
		}
	})
}
