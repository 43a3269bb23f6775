package targets

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestSumLossGrad: one pass gives the sums of Loss and LossGrad, for every family,
// over several blocks and with predictors and responses of every kind.
func TestSumLossGrad(t *testing.T) {
	const n, p = 777, 3
	for _, l := range []Loss{{}, betaLoss(t, 1.5)} {
		cfg := RegressionConfig{Features: p, Loss: l, Prior: priors.Gaussian{SD: 1}}
		for _, name := range []string{"logistic", "probit", "poisson"} {
			cfg.Family = name
			m := must[*Regression](t)(New(cfg))
			rng := newRNG()
			for _, scale := range []float64{0, 0.1, 3} {
				rows := Rows{X: make([]float64, n*p), P: p, Y: make([]float64, n)}
				for i := range rows.X {
					rows.X[i] = scale * rng.NormFloat64()
				}
				for i := range rows.Y {
					rows.Y[i] = float64(rng.IntN(2))
				}
				theta := []float64{0.7, -1.1, 0.4}
				loss, each := make([]float64, n), make([]float64, n*p)
				m.Loss(loss, theta, rows)
				m.LossGrad(each, theta, rows)
				want, size, grad, wantGrad := 0.0, 0.0, make([]float64, p), make([]float64, p)
				for i, v := range loss {
					want += v
					size += math.Abs(v)
					for j := range p {
						wantGrad[j] += each[i*p+j]
					}
				}
				if got := m.SumLossGrad(grad, theta, rows); math.Abs(got-want) > 1e-13*size {
					t.Errorf("%s, %s, scale %v: the sum is %v, want %v", name, l.String(), scale, got, want)
				}
				for j := range p {
					if math.Abs(grad[j]-wantGrad[j]) > 1e-11*(1+math.Abs(wantGrad[j])) {
						t.Errorf("%s, %s, scale %v: gradient %v, want %v", name, l.String(), scale, grad, wantGrad)
					}
				}
			}
			rows := Rows{X: make([]float64, 5*p), P: p, Y: []float64{0, 1, math.NaN(), 1, 0}}
			if v := m.SumLossGrad(make([]float64, p), make([]float64, p), rows); !math.IsNaN(v) {
				t.Errorf("%s, %s: a response that is no number gives a sum of %v", name, l.String(), v)
			}
		}
	}
}
