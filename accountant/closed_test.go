package accountant

import (
	"math"
	"math/big"
	"testing"
)

// TestPoissonQuadratureHasConverged: the step's error is far inside the margin that is
// added, and a step of twice the length is not good enough for every case.
func TestPoissonQuadratureHasConverged(t *testing.T) {
	coarse := 0.0
	for _, mu := range []float64{1e-4, 0.02, 0.3, 0.8, 1, 1.3, 2.5, 6, 15} {
		for _, q := range []float64{1e-6, 1e-3, 0.05, 0.5, 0.97} {
			for _, order := range []float64{1.01, 1.3, 1.99, 2.5, 7.7, 40.2, 300.5} {
				fine := poissonRule(order, mu, q, poissonStep(mu)/16)
				got := poissonGaussianIntegral(order, mu, q)
				if r := math.Expm1((order-1)*got)/fine - 1; math.Abs(r-quadratureMargin) > 2e-11 &&
					!math.IsInf(fine, 1) {
					t.Errorf("µ=%v q=%v α=%v: moment in excess by %.3g, margin %v", mu, q, order, r, quadratureMargin)
				}
				coarse = max(coarse, math.Abs(poissonRule(order, mu, q, 2*poissonStep(mu))/fine-1))
			}
		}
	}
	if coarse < quadratureMargin {
		t.Errorf("twice the step errs by %.3g only", coarse)
	}
}

// poissonRule is the trapezoidal rule for the moment less 1, with any step.
func poissonRule(order, mu, q, step float64) float64 {
	sum := 0.0
	for y := -9.5; y <= order*mu+9.5; y += step {
		l, x := logMixture(q, mu*y-mu*mu/2)
		sum += math.Exp(logPowerExcess(order, x, l) - y*y/2)
	}
	return sum * step / math.Sqrt(2*math.Pi)
}

// TestOptimalCompositionIsExact holds compositions of randomised response with e^ε = 2
// to rational arithmetic.
func TestOptimalCompositionIsExact(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 64, 999} {
		for _, u := range []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(7, 1),
			big.NewRat(1000, 3)} {
			exact, _ := responseDelta(n, u).Float64()
			ratio, _ := u.Float64()
			eps := math.Log(ratio)
			got := optimalDelta(math.Ln2, n, eps)
			if got < exact || got > exact*(1+1e-9) {
				t.Errorf("n=%d e^ε=%v: δ = %v, exactly %v", n, ratio, got, exact)
			}
			if exact == 0 || exact > 0.5 || eps == 0 { // near 1, δ says little about ε
				continue
			}
			if back := optimalEpsilon(math.Ln2, n, exact); back < eps*(1-1e-15) || back > eps*(1+1e-8) {
				t.Errorf("n=%d δ=%v: ε = %v, exactly %v", n, exact, back, eps)
			}
		}
	}
}

// responseDelta is Σ_j C(n,j)(2^j − u·2^(n−j))₊/3ⁿ.
func responseDelta(n int64, u *big.Rat) *big.Rat {
	sum, power := new(big.Rat), func(k int64) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(k)))
	}
	for j := range n + 1 {
		d := power(n - j)
		if d.Sub(power(j), d.Mul(d, u)); d.Sign() > 0 {
			sum.Add(sum, d.Mul(d, new(big.Rat).SetInt(new(big.Int).Binomial(n, j))))
		}
	}
	return sum.Quo(sum, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(3), big.NewInt(n), nil)))
}

// TestLongOptimalCompositionsKeepTheirScale: masses far below the smallest float64.
func TestLongOptimalCompositionsKeepTheirScale(t *testing.T) {
	const n, eps = optimalLimit, 0.05
	for _, target := range []float64{1, 10, 60, 150, 250} {
		d := optimalDelta(eps, n, target)
		bar := new(big.Float).SetPrec(200)
		for j := int64(n); float64(2*j-n)*eps > target; j-- {
			l := logChoose(n, float64(j)) - float64(j)*softplus(-eps) - float64(n-j)*softplus(eps)
			bar.Add(bar, big.NewFloat(math.Exp(l)*-math.Expm1(target-float64(2*j-n)*eps)))
		}
		want, _ := bar.Float64()
		if want == 0 {
			t.Fatalf("ε = %v has no δ to compare", target)
		}
		if !near(d, want, 1e-9) {
			t.Errorf("ε = %v: δ = %v, by logarithms %v", target, d, want)
		}
		if back := optimalEpsilon(eps, n, d); !near(back, target, 1e-9) {
			t.Errorf("δ = %v: ε = %v, want %v", d, back, target)
		}
	}
}

// TestGaussianEpsilonIsTheRoot: from above, and no further than its margin.
func TestGaussianEpsilonIsTheRoot(t *testing.T) {
	for _, mu := range []float64{1e-9, 1e-3, 0.1, 0.49, 0.51, 1, 7, 300, 1e5} {
		for _, l := range []float64{-1e-6, -0.1, -1, -11.5, -50, -700, -1e4} {
			eps := gaussianEpsilon(mu, l)
			if logGaussianDelta(mu, eps) > l {
				t.Errorf("µ=%v log δ=%v: log δ(%v) = %v", mu, l, eps, logGaussianDelta(mu, eps))
			}
			if eps > 0 && logGaussianDelta(mu, eps*(1-1e-11)) <= l {
				t.Errorf("µ=%v log δ=%v: ε = %v is not the least", mu, l, eps)
			}
		}
	}
}

// TestBasicAloneRoundsUp: as the exact sum does.
func TestBasicAloneRoundsUp(t *testing.T) {
	for _, n := range []int64{1, 3, 7, 1_000_003, 1<<53 - 1} {
		for _, eps := range []float64{0.1, 1.0 / 3, 1e-9, math.Pi} {
			e := must(must(Pure(Substitute, eps)).Times(n))
			got, ok := e.basicAlone()
			sum := exactSum()
			addTimes(sum, n, eps)
			if want := roundedUp(sum); !ok || got != want {
				t.Errorf("%d times %v: %v, %v, want %v", n, eps, got, ok, want)
			}
		}
	}
}
