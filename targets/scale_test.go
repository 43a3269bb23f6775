package targets

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestScalesThatStayHaveNoSlope: beyond the largest log-scale the loss stays, and with
// it the gradient is zero, where differences of the loss are; before it neither is.
func TestScalesThatStayHaveNoSlope(t *testing.T) {
	prior := priors.Gaussian{SD: 1000}
	heteroscedastic, err := New(HeteroscedasticConfig{Features: 1, Prior: prior, MinScale: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	linear, err := New(LinearConfig{Features: 1, Prior: prior, MinScale: 0.3, ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{X: []float64{1}, Y: []float64{2}, P: 1}
	for name, target := range map[string]GradTarget{"heteroscedastic": heteroscedastic, "linear": linear} {
		for omega, want := range map[float64]float64{5: 1, 690: 1, 800: 0} {
			loss := func(omega float64) float64 {
				var dst [1]float64
				target.Loss(dst[:], []float64{0.5, omega}, rows)
				return dst[0]
			}
			gradient := make([]float64, 2)
			target.LossGrad(gradient, []float64{0.5, omega}, rows)
			difference := (loss(omega+1e-3) - loss(omega-1e-3)) / 2e-3
			if math.Abs(gradient[1]-want) > 0.01 || math.Abs(difference-gradient[1]) > 1e-6 {
				t.Errorf("%s at log-scale %v: the gradient is %v and differences give %v, want about %v", name, omega,
					gradient[1], difference, want)
			}
		}
	}
}
