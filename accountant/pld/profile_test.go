package pld

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// hockeyStick integrates (p − e^ε q)₊ as ∫ p(1 − e^{ε−loss})₊, whose integrand has
// one sign, by composite 8-point Gauss–Legendre from the threshold on.
func hockeyStick(p, loss func(x float64) float64, eps, from, scale float64) float64 {
	nodes := [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	weights := [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
	// The threshold, where the increasing loss passes ε.
	lo, hi := from, from+1e5*scale
	for range 200 {
		mid := (lo + hi) / 2
		if loss(mid) < eps {
			lo = mid
		} else {
			hi = mid
		}
	}
	sum, h := 0.0, scale/50
	for i := range 50 * 30 {
		mid := hi + (float64(i)+0.5)*h
		for j, t := range nodes {
			for _, x := range []float64{mid - t*h/2, mid + t*h/2} {
				sum += weights[j] * p(x) * -math.Expm1(min(0, eps-loss(x)))
			}
		}
	}
	return sum * h / 2
}

// Profiles are accurate to half of profileError, which compositions rely on.
func TestProfilesAgainstQuadrature(t *testing.T) {
	const allowed = profileError / 2
	for _, sigma := range []float64{0.05, 0.3, 1, 5, 9.9, 10.1, 80, 2000} {
		mu := 1 / sigma
		for _, z := range []float64{0, 0.01, 0.5, 2, 5, 12} {
			eps := max(0, mu*z+mu*mu/2-0.1*mu*mu)
			p := func(x float64) float64 { return normal.Density(x - mu) }
			loss := func(x float64) float64 { return mu*x - mu*mu/2 }
			want := hockeyStick(p, loss, eps, -40-mu, 1)
			if got := gaussianDelta(mu, eps); want > 1e-280 && math.Abs(got/want-1) > allowed {
				t.Errorf("Gaussian σ=%v ε=%v: δ = %v, quadrature %v (%.1e)", sigma, eps, got, want, got/want-1)
			}
			for _, q := range []float64{1e-4, 0.01, 0.5, 0.99} {
				v := 2 * sigma * sigma
				// Outputs in units of σ; both mixture terms keep their digits.
				up := func(x float64) float64 { return math.Log1p(q * math.Expm1((2*x*sigma-1)/v)) }
				down := func(x float64) float64 { return math.Log1p(q * math.Expm1((-2*x*sigma-1)/v)) }
				loss := func(x float64) float64 { return up(x) - down(x) }
				e := loss(z)
				p := func(x float64) float64 { return (1-q)*normal.Density(x) + q*normal.Density(x-mu) }
				want := hockeyStick(p, loss, e, -1, 1)
				if got := oppositeDelta(q, mu, e); want > 1e-280 && math.Abs(got/want-1) > allowed {
					t.Errorf("substitution q=%v σ=%v ε=%v: δ = %v, quadrature %v (%.1e)", q, sigma, e, got, want, got/want-1)
				}
			}
		}
	}
}

// The bounded-range profile is the supremum over all bits of log-odds difference
// s, and attained to second order on a fine scan; no bit exceeds it.
func TestBoundedRangeIsSupremumOfBits(t *testing.T) {
	for _, s := range []float64{1e-3, 0.3, 2, 12} {
		for _, share := range []float64{0, 0.1, 0.7, 0.99} {
			eps := share * s
			best := 0.0
			for v := -s/2 - 12; v < 12; v += 1e-3 {
				best = max(best, sigmoid(v+s)-math.Exp(eps)*sigmoid(v))
			}
			if got := rangeDelta(s, eps); best > got*(1+1e-11)+1e-16 || best < got*(1-1e-5)-1e-16 {
				t.Errorf("s=%v ε=%v: δ = %v, scan %v", s, eps, got, best)
			}
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// The profile of sampled bits is the supremum over the acceptance probability.
func TestPoissonBitIsSupremumOverAcceptance(t *testing.T) {
	for _, q := range []float64{1e-3, 0.1, 0.9} {
		for _, c := range []float64{1e-3, 0.2, 1, 4} {
			b := newBitFamily(q, c)
			for _, share := range []float64{0, 0.1, 0.5, 0.9, 0.999} {
				eps := share * b.knee()
				best := 0.0
				for v := -14.0; v < 2; v += 1e-3 {
					h := q*(sigmoid(v+c)-math.Exp(eps)*sigmoid(v-c)) - (1-q)*math.Expm1(eps)*sigmoid(v)
					best = max(best, h)
				}
				got := b.delta(eps)
				if best > got*(1+profileError)+1e-16 || best < got*(1-1e-4)-1e-12 {
					t.Errorf("q=%v c=%v ε=%v: δ = %v, scan %v", q, c, eps, got, best)
				}
			}
			if b.delta(b.knee()*(1+1e-9)) != 0 {
				t.Errorf("q=%v c=%v: losses beyond the knee", q, c)
			}
		}
	}
}
