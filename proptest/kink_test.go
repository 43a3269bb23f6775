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

// faint is the loss slope·max(0, θ − x), with its gradient times factor.
type faint struct {
	absolute
	slope float64
}

func (f faint) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		dst[i] = f.slope * max(0, theta[0]-x)
	}
}

func (f faint) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		if dst[i] = 0; theta[0] > x {
			dst[i] = f.slope * f.factor
		}
	}
}

// TestFaintKinksAreNoViolations: the derivative is right at a kink, and as near to one as
// may be, however faint it is. A wrong one that narrow differences can show is caught.
func TestFaintKinksAreNoViolations(t *testing.T) {
	at := func(place float64) proptest.TargetOptions {
		return proptest.TargetOptions{Effort: proptest.Quick,
			State:  func(_ *rand.Rand, theta []float64) { theta[0] = place },
			Record: func(_ *rand.Rand, x []float64) float64 { x[0] = 0; return 0 }}
	}
	for _, slope := range []float64{1e-14, 1e-13, 1e-12, 2e-11, 4e-11, 1e-10, 1e-9, 1e-7, 1} {
		for _, place := range []float64{0, 1e-9, -1e-7, 1e-6, 1e-5, -1e-4, 3e-4, 1e-3, -3e-3, 0.01, 0.05} {
			proptest.CheckTarget(t, faint{absolute{1}, slope}, at(place))
		}
	}
	mustReject(t, "∂ℓ/∂θ", func(t rapid.TB) { proptest.CheckTarget(t, faint{absolute{1.5}, 1e-9}, at(1)) })
}
