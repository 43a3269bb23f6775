package nuts_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestPosterior: along both ways of evaluating a target, over several blocks, the
// density is the log prior less the tempered sum of the losses, and its gradient
// that of its central differences.
func TestPosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := targets.Rows{P: 2}
	for range 700 {
		rows.X = append(rows.X, rng.NormFloat64(), rng.NormFloat64())
		rows.Y = append(rows.Y, float64(rng.IntN(2)))
	}
	prior := priors.Gaussian{SD: 2}
	logistic, err1 := targets.New(targets.RegressionConfig{Features: 2, Prior: prior})
	linear, err2 := targets.New(targets.LinearConfig{Features: 2, Prior: prior, MinScale: 0.1,
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for name, target := range map[string]targets.GradTarget{"along rows": logistic, "by gradients": linear} {
		for _, temperature := range []float64{1, 0.3} {
			p := nuts.Posterior(target, rows, temperature)
			theta, grad, scratch := make([]float64, p.Dim()), make([]float64, p.Dim()), make([]float64, p.Dim())
			for j := range theta {
				theta[j] = 0.3 - 0.2*float64(j)
			}
			loss := make([]float64, rows.Len())
			target.Loss(loss, theta, rows)
			want := target.LogPrior(theta)
			for _, l := range loss {
				want -= temperature * l
			}
			if got := p.LogDensityGrad(grad, theta); math.Abs(got-want) > 1e-10*math.Abs(want) {
				t.Errorf("%s, τ = %v: %v, want %v", name, temperature, got, want)
			}
			for j := range theta {
				const h = 1e-5
				at := theta[j]
				theta[j] = at + h
				up := p.LogDensityGrad(scratch, theta)
				theta[j] = at - h
				down := p.LogDensityGrad(scratch, theta)
				theta[j] = at
				if d := (up - down) / (2 * h); math.Abs(d-grad[j]) > 1e-4*(1+math.Abs(d)) {
					t.Errorf("%s, τ = %v: the gradient is %v in coordinate %d, differences give %v", name, temperature, grad[j], j, d)
				}
			}
		}
	}
}
