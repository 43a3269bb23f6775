package dpsgld

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestLogisticBias measures the kernel on a certified logistic posterior
// against quadrature: with privacy noise for nearly all of the Langevin noise,
// means and standard deviations are within 3% of a standard deviation plus 5
// Monte Carlo standard errors (6·10⁻⁷ each; seeds fixed). The published update,
// which has half the variance, is the mutant to be rejected.
func TestLogisticBias(t *testing.T) {
	p := posteriors.Circle()
	exact := p.Exact(1, 1)
	for _, tc := range []struct {
		name   string
		config Config
		right  bool
	}{
		{"Langevin", Config{Driven: kernels.Driven{Step: kernels.Constant(0.03), NoiseMultiplier: 5}}, true},
		{"published", Config{Driven: kernels.Driven{Step: kernels.Constant(0.03), NoiseMultiplier: 2},
			AsPublished: true}, false},
	} {
		c := tc.config
		c.Target = p.Target
		draws, _ := posteriors.Walk(t, posteriors.Must(factory(c)(p.Seal(), 2*steps)), exact.Mean, 2*steps)
		if exact.Agree(t, tc.name, draws, 5, 0.03) != tc.right {
			t.Errorf("%s: within the documented bias: %v, want %v", tc.name, !tc.right, tc.right)
		}
	}
}
