package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestCutNormal against 10⁶ draws: means to ± 0.008, over five standard errors of any.
func TestCutNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range [][4]float64{{0, 1, -1, 1}, {1, 2, -0.5, 1}, {-1, 0.5, -2, 5}, {0, 1, -9, 9}} {
		const draws = 1_000_000
		share, mean, square := 0.0, 0.0, 0.0
		for range draws {
			y := c[0] + c[1]*rng.NormFloat64()
			if y < c[2] || y > c[3] {
				share += 1.0 / draws
			}
			y = max(c[2], min(c[3], y))
			mean += y / draws
			square += y * y / draws
		}
		got := cutNormal(c[0], c[1], c[2], c[3])
		for _, v := range [][2]float64{{got.share, share}, {got.mean, mean}, {got.variance, square - mean*mean}} {
			if math.Abs(v[0]-v[1]) > 0.008 {
				t.Errorf("%v: %+v, and draws have %v, %v, %v", c, got, share, mean, square-mean*mean)
			}
		}
	}
}

// cutRegression is a posterior given the exact sums of responses that were cut to
// ±bound, with y = 0.5 + 2·x + N(0, 0.5²), x standard normal: parameters
// (0.5, 2, log(0.5 − least)).
func cutRegression(t *testing.T, bound float64) *Linear {
	t.Helper()
	const n, least = 5000, 0.05
	rng := rand.New(rand.NewPCG(2, 2))
	s := Sums{Moment: make([]float64, 9), Features: 2, Records: n, Radius: 5,
		Columns: []Column{{Kind: Constant, Upper: 1}, {}}}
	for range n {
		z := []float64{1, rng.NormFloat64(), 0}
		z[2] = max(-bound, min(bound, 0.5+2*z[1]+0.5*rng.NormFloat64()))
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*3+k] += u * v
			}
		}
	}
	post, err := NewLinear(LinearConfig{Sums: s, Prior: priors.Gaussian{SD: 3}, MinScale: least,
		ScalePrior: priors.HalfNormal{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// TestCutIsPredicted: of responses with standard deviation 2.06 about 0.5 a cut at ±10
// takes none, and the prediction is next to nothing. One at ±3 takes 16%, of which the sums
// of what is left show 10%, and moves the slope by many standard deviations.
func TestCutIsPredicted(t *testing.T) {
	for _, c := range []struct {
		bound, least, most float64
		cut                bool
	}{{10, 0, 1e-5, false}, {3, 0.08, 0.16, true}} {
		post := cutRegression(t, c.bound)
		got := post.Cut(quick(t, post, 1), -c.bound, c.bound)
		if got.Share < c.least || got.Share > c.most || got.Shift > 0.5 != c.cut {
			t.Errorf("cut at ±%v: %+v", c.bound, got)
		}
		if c.cut && got.Shift < 10 {
			t.Errorf("cut at ±%v: a shift of %v", c.bound, got.Shift)
		}
	}
}
