package proptest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// absolute is the loss |x − θ|, right at every point but the kink x = θ.
type absolute struct{ factor float64 }

func (absolute) Dim() int                          { return 1 }
func (absolute) Shape() (int, bool)                { return 1, false }
func (absolute) LogPrior(theta []float64) float64  { return -theta[0] * theta[0] / 2 }
func (absolute) GradLogPrior(dst, theta []float64) { dst[0] = -theta[0] }

func (absolute) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = math.Abs(x - theta[0])
	}
}

func (a absolute) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = math.Copysign(a.factor, theta[0]-x)
	}
}

// TestKinksAreNoViolations: a gradient is right beside a kink that differences
// straddle, and a wrong one is still caught there.
func TestKinksAreNoViolations(t *testing.T) {
	beside := proptest.TargetOptions{
		State:  func(rng *rand.Rand, theta []float64) { theta[0] = rng.NormFloat64() * 1e-5 },
		Record: func(rng *rand.Rand, x []float64) float64 { x[0] = rng.NormFloat64() * 1e-5; return 0 },
	}
	proptest.CheckTarget(t, absolute{1}, beside)
	mustReject(t, "∂ℓ/∂θ", func(t rapid.TB) { proptest.CheckTarget(t, absolute{0.999}, beside) })
}
