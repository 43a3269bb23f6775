package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// OEIS A001113, rounded to 60 decimals.
func TestBigExpKnowsE(t *testing.T) {
	const e = "2.718281828459045235360287471352662497757247093699959574966968"
	if got := bigExp(big.NewRat(1, 1), 220).Text('f', 60); got != e {
		t.Errorf("exp(1) = %s, want %s", got, e)
	}
}

// TestExpNegWithinTwo holds expNeg to its bound of 2 units, for the arguments of
// the tail too, where t reaches thousands and so does prec.
func TestExpNegWithinTwo(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		prec := uint(rapid.SampledFrom([]int{56, 63, 120, 184, 2000}).Draw(t, "prec"))
		x := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 60), rapid.Float64Range(0, 1500)).Draw(t, "t")
		r := new(big.Rat).SetFloat64(x)
		if rapid.Bool().Draw(t, "not dyadic") {
			r.Mul(r, big.NewRat(1, 3))
		}
		d := distance(expNeg(r, prec), scaledExpNeg(r, prec))
		worst = max(worst, d)
		if d > 2 {
			t.Fatalf("expNeg(%v, %d) is off by %v units", r, prec, d)
		}
	})
	t.Logf("largest error %.3f units", worst)
}

func TestTablesWithinTwo(t *testing.T) {
	for i, got := range tables().whole {
		if d := distance(new(big.Int).SetUint64(got), scaledExpNeg(big.NewRat(int64(i), 1), 63)); d > 2 {
			t.Errorf("exp(-%d) is off by %v units", i, d)
		}
	}
	for i, got := range tables().frac {
		if d := distance(new(big.Int).SetUint64(got), scaledExpNeg(big.NewRat(int64(i), 256), 63)); d > 2 {
			t.Errorf("exp(-%d/256) is off by %v units", i, d)
		}
	}
}

func TestFixedWithinTwo(t *testing.T) {
	check := func(x uint64) {
		r := new(big.Rat).SetFrac(new(big.Int).SetUint64(x), new(big.Int).Lsh(big.NewInt(1), 56))
		if d := distance(new(big.Int).SetUint64(tables().fixed(x)), scaledExpNeg(r, 56)); d > 2 {
			t.Errorf("fixed(%#x) is off by %v units", x, d)
		}
	}
	const third = 1 << 56 / 3
	for _, x := range []uint64{0, 1, 1<<48 - 1, 1 << 48, 1<<56 - 1, 1 << 56, third, 44<<56 - 1, 44 << 56, math.MaxUint64} {
		check(x)
	}
	src := testSource(t.Name())
	for range 5000 {
		check(uint64n(src, 45<<56))
	}
	for range 1000 {
		check(uint64n(src, 1<<50))
	}
}
