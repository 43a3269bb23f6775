package normal

import (
	"math"
	"math/big"
	"testing"
)

// TestMills: the ratio and its fall agree with quadrature of
// m(y) = ∫₀^∞ e^(−yt−t²/2) dt on both sides of every switch of formula.
func TestMills(t *testing.T) {
	for _, y := range []float64{-3, 0, 1, 7.05, 7.08, 29.9, 30.1, 300} {
		const n = 200_000
		width := 12 / max(1, y/3)
		ratio, fall := 0.0, 0.0
		for i := range n {
			x := (float64(i) + 0.5) * width / n
			w := math.Exp(-y*x-x*x/2) * width / n
			ratio += w
			fall += x * w
		}
		if got := Mills(y); math.Abs(got/ratio-1) > 1e-8 {
			t.Errorf("Mills(%v) = %v, quadrature %v", y, got, ratio)
		}
		if got := MillsFall(y); math.Abs(got/fall-1) > 1e-8 {
			t.Errorf("MillsFall(%v) = %v, quadrature %v", y, got, fall)
		}
	}
	if got := Density(1.5) * Mills(1.5); math.Abs(got/Tail(1.5)-1) > 1e-14 {
		t.Errorf("φ·m = %v, the tail is %v", got, Tail(1.5))
	}
}

// TestMillsFallFarOut: the series that is used from 30 on is 1 − y·m(y), as far as the
// subtraction leaves digits.
func TestMillsFallFarOut(t *testing.T) {
	for y := 30.0; y < 60; y += 0.5 {
		if got, want := MillsFall(y), 1-y*Mills(y); math.Abs(got/want-1) > 3e-11 { // 10395/y¹⁰ is left out
			t.Errorf("at %v: %v, want %v", y, got, want)
		}
	}
}

// TestMillsFallIsTheSeries: from 30 on the series errs by its first term that is left out,
// and so by no other.
func TestMillsFallIsTheSeries(t *testing.T) {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	for y := 30.0; y <= 42; y += 1.5 {
		fraction := number(y) // Laplace's, in 300 bits
		for k := 400.0; k >= 1; k-- {
			fraction.Add(number(y), new(big.Float).Quo(number(k), fraction))
		}
		fall := new(big.Float).Sub(number(1), new(big.Float).Quo(number(y), fraction))
		relative, _ := new(big.Float).Sub(new(big.Float).Quo(number(MillsFall(y)), fall), number(1)).Float64()
		if left := relative * math.Pow(y, 10) / 10395; !(left > 0.95 && left < 1.05) {
			t.Errorf("at %v: off by %v of the first term that is left out", y, left)
		}
	}
}

// TestMillsInManyDigits: √(π/2)·e^(y²/2) less the series Σ y^(2k+1)/(2k+1)!!, in 600 bits.
func TestMillsInManyDigits(t *testing.T) {
	const halfPi = "1.5707963267948966192313216916397514420985846996875529104874722961539082031431" // OEIS A019669
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }
	root, _, err := big.ParseFloat(halfPi, 10, 600, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	root.Sqrt(root)
	for y := -4.0; y < 10; y += 0.0625 {
		square := new(big.Float).Mul(number(y), number(y))
		exp, odd := number(1), number(y)
		power, product := number(1), number(y)
		for k := 1.0; k < 400; k++ {
			power.Quo(power.Mul(power, square), number(2*k))
			exp.Add(exp, power)
			product.Quo(product.Mul(product, square), number(2*k+1))
			odd.Add(odd, product)
		}
		want, _ := exp.Mul(exp, root).Sub(exp, odd).Float64()
		if got := Mills(y); math.Abs(got/want-1) > 3e-14 {
			t.Errorf("Mills(%v) = %v, want %v: off by %.2g", y, got, want, got/want-1)
		}
		if got, want := Density(y)*Mills(y), Tail(y); math.Abs(got/want-1) > 3e-14 {
			t.Errorf("at %v: φ·m = %v, the tail is %v", y, got, want)
		}
	}
}
