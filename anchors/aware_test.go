package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestFirstOrderIsAwareOfTheNoise: where the log-likelihood is quadratic, with parameters
// from the prior, what bits and density make together is calibrated: squared distances of
// the truth, in standard deviations, have mean 1 in every direction, within 5.6 standard
// errors (four comparisons, false alarm below 10⁻⁷). Taken for true, the same releases are
// not.
func TestFirstOrderIsAwareOfTheNoise(t *testing.T) {
	const sets, sigma, sd = 20_000, 17.0, 0.3
	model, err := targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: sd}})
	if err != nil {
		t.Fatal(err)
	}
	curvature := []float64{40, 15, 15, 900}
	h := mat.NewSymDense(2, curvature)
	var chol mat.Cholesky
	var root mat.TriDense
	if !chol.Factorize(h) {
		t.Fatal("the curvature is not positive definite")
	}
	chol.LTo(&root)
	rng := rand.New(rand.NewPCG(2, 6))
	normal := func(by float64) *mat.VecDense {
		return mat.NewVecDense(2, []float64{by * rng.NormFloat64(), by * rng.NormFloat64()})
	}
	for aware, calibrated := range map[bool]bool{true: true, false: false} {
		var squares [2]float64
		for range sets {
			truth, anchor := normal(sd), normal(0.1)
			var move, score, sampling mat.VecDense
			move.SubVec(anchor, truth)
			sampling.MulVec(&root, normal(1))
			score.MulVec(h, &move) // of the loss, whose mean falls towards the truth
			score.AddVec(&score, &sampling)
			score.AddVec(&score, normal(sigma))
			d, hidden, err := firstDensity(surrogates.Statistics{Anchor: anchor.RawVector().Data,
				Score: score.RawVector().Data, ScoreSD: sigma, Moment: curvature, Temperature: 1},
				curved{mat.NewSymDense(2, curvature), mat.NewSymDense(2, nil)}, model, aware)
			if err != nil || hidden != 0 {
				t.Fatal(hidden, err)
			}
			// Bits make the density's surrogate of it, whose normal law is exact here.
			for j := range 2 {
				variance := 0.0
				for _, l := range d.factor[2*j : 2*j+j+1] {
					variance += l * l
				}
				off := d.mean[j] - truth.AtVec(j)
				squares[j] += off * off / variance / sets
			}
			theta := normal(1).RawVector().Data
			carried := d.Kept * quadratic(curvature, theta, d.anchor) / 2
			if off := math.Abs(d.Log(theta) - carried - d.surrogate(theta)); off > 1e-9*(1+carried) {
				t.Fatalf("density and bits together are %v off", off)
			}
		}
		worst := 0.0
		for _, v := range squares {
			worst = max(worst, math.Abs(v-1)*math.Sqrt(sets/2))
		}
		if worst < 5.6 != calibrated {
			t.Errorf("aware %v: mean squares %v, %.1f standard errors from 1", aware, squares, worst)
		}
	}
}
