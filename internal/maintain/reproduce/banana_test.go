package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestBananaTarget puts the model through the promises of a target, and holds it to
// the library's bent Gaussian mean, another implementation, in every coordinates.
func TestBananaTarget(t *testing.T) {
	library, err := targets.New(targets.GaussianMeanConfig{
		Features: 2, Covariance: mat.NewDiagDense(2, []float64{1 / bananaTau1, 1 / bananaTau2}), Curvature: bananaBend,
		Prior: priors.Gaussian{SD: 1 / math.Sqrt(bananaTau0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, b := range []banana{bananaPlain, bananaScaled, bananaStraight} {
		proptest.CheckTarget(t, b, proptest.TargetOptions{Effort: proptest.Quick})
		rows := targets.Rows{P: 2}
		for range 20 {
			rows.X = append(rows.X, 50*rng.NormFloat64())
		}
		one, other := []float64{rng.NormFloat64(), rng.NormFloat64()}, []float64{rng.NormFloat64(), rng.NormFloat64()}
		here, there, want := make([]float64, 10), make([]float64, 10), make([]float64, 10)
		b.Loss(here, one, rows)
		b.Loss(there, other, rows)
		library.LossRatio(want, b.theta(one), b.theta(other), rows)
		for i := range want {
			if got := here[i] - there[i]; math.Abs(got-want[i]) > 1e-9*(1+math.Abs(want[i])) {
				t.Errorf("%v: a ratio is %v, the library's %v", b, got, want[i])
			}
		}
		if got, want := b.LogPrior(one)-b.LogPrior(other),
			library.LogPrior(b.theta(one))-library.LogPrior(b.theta(other)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: a prior ratio is %v, the library's %v", b, got, want)
		}
		for j, v := range b.phi(b.theta(one)) {
			if math.Abs(v-one[j]) > 1e-12 {
				t.Errorf("%v: coordinate %d does not come back: %v for %v", b, j, v, one[j])
			}
		}
	}
}

// TestBananaExact holds the exact draws to the moments of θ in closed form, within 5
// standard errors of 1000 draws: a false alarm below 10⁻⁶ for each of two means.
func TestBananaExact(t *testing.T) {
	p := newBananaProblem(rand.New(rand.NewPCG(1, 9)))
	post := newBananaPosterior(p.records.X)
	want := [2]float64{post.mean[0], post.mean[1] - bananaBend*(post.mean[0]*post.mean[0]+post.sd[0]*post.sd[0])}
	for j := range want {
		x := coordinate(p.exact, j)
		mean, sd := stat.MeanStdDev(x, nil)
		if z := (mean - want[j]) / (sd / math.Sqrt(bananaExact)); math.Abs(z) > 5 {
			t.Errorf("the mean of θ%d is %.3f, %.1f standard errors from %.3f", j+1, mean, z, want[j])
		}
	}
}

func TestNewton(t *testing.T) {
	got := newton(2, func(grad, theta []float64) float64 {
		d, e := theta[0]-1, theta[1]+2
		grad[0], grad[1] = -4*d-e-4*d*d*d, -2*e-d
		return -2*d*d - d*e - e*e - d*d*d*d
	})
	if math.Abs(got[0]-1) > 1e-9 || math.Abs(got[1]+2) > 1e-9 {
		t.Errorf("the maximum is at %v, want (1, −2)", got)
	}
}

// TestClippedShare: with no clip in reach nothing is clipped, and with none at all
// everything is.
func TestClippedShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	p := newBananaProblem(rng)
	for clip, want := range map[float64]float64{1e9: 0, 1e-12: 1} {
		states := [][]float64{{0.3, 5}}
		if got := (bananaContender{target: bananaScaled, gradientClip: clip}).clippedShare(p.records, states,
			rng); got != want {
			t.Errorf("clip %v: a share of %v of the gradients is clipped, want %v", clip, got, want)
		}
		if got := (bananaContender{target: bananaScaled, ratioClip: clip, ratioScale: 0.3}).clippedShare(p.records, states,
			rng); got != want {
			t.Errorf("clip %v: a share of %v of the ratios is clipped, want %v", clip, got, want)
		}
	}
}
