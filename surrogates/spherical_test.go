package surrogates

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestSphericalNoise: where records are few beside the noise, the likelihood of a score at
// distance r from its mean falls as e^(−r/s): within 0.45 up to r = 4s; most of
// it is the cusp at 0. That of normal noise of the same variance is off by 2.
func TestSphericalNoise(t *testing.T) {
	const s, d = 50.0, 3
	off := func(spherical bool) float64 {
		worst, zero := 0.0, 0.0
		for i, r := range []float64{0, 1, 2, 4} {
			release := Statistics{Anchor: make([]float64, d), Score: []float64{r * s * 0.6, 0, r * s * 0.8},
				ScoreSD: s * math.Sqrt(d+1), Spherical: spherical, Moment: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, Records: 3,
				Radius: 1}
			p, err := New(Config{Statistics: release, Link: Normal{SD: 1}, Prior: priors.Gaussian{SD: 1}, Imputations: 1})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Density().LogDensityGrad(make([]float64, d), make([]float64, d))
			if i == 0 {
				zero = v
			}
			worst = max(worst, math.Abs(v-zero+r))
		}
		return worst
	}
	if e := off(true); e > 0.45 {
		t.Errorf("the log likelihood is off by %v", e)
	}
	if e := off(false); e < 1.5 {
		t.Errorf("normal noise is off by %v only: the test tells nothing apart", e)
	}
}
