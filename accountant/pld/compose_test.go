package pld

import (
	"math"
	"testing"
)

func gaussian(t testing.TB, sigma float64) Mechanism {
	t.Helper()
	m, err := Gaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compose(t testing.TB, target Target, parts ...Part) *Result {
	t.Helper()
	r, err := Compose(parts, target)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// T-fold composition of Gaussian noise σ is the Gaussian mechanism of noise
// σ/√T (Dong, Roth, Su 2022): a closed form.
func TestGaussianCompositionIsExact(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		count int64
	}{{1, 2}, {2, 100}, {5, 7}, {0.1, 3}, {20, 10_000}, {300, 1_000_003}, {0.5, 17}} {
		mu := math.Sqrt(float64(c.count)) / c.sigma
		for _, delta := range []float64{0.3, 1e-2, 1e-5, 1e-10, 1e-40, 1e-200} {
			// Past Compose, which would merge the Gaussians.
			p := newJob([]Part{{gaussian(t, c.sigma), c.count}}, 0, AtDelta(delta), false).prepare(0)
			b := p.run()
			got := b.epsilon(delta)
			if got == 0 {
				if gaussianDelta(mu, 0) > delta {
					t.Errorf("σ=%v T=%d δ=%g: ε = 0", c.sigma, c.count, delta)
				}
				continue
			}
			if low := gaussianDelta(mu, got); low > delta {
				t.Errorf("σ=%v T=%d δ=%g: ε = %v has true δ %v", c.sigma, c.count, delta, got, low)
			}
			if high := gaussianDelta(mu, got*(1-2e-5)-1e-5*mu); high < delta {
				t.Errorf("σ=%v T=%d δ=%g: ε = %v is loose: δ %v a little below it", c.sigma, c.count, delta, got, high)
			}
		}
	}
}
