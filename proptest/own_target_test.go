package proptest_test

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// ownTarget is median regression through the origin: Laplace errors and a
// standard normal prior.
type ownTarget struct{}

func (ownTarget) Dim() int                         { return 1 }
func (ownTarget) Shape() (int, bool)               { return 1, true }
func (ownTarget) LogPrior(theta []float64) float64 { return -theta[0] * theta[0] / 2 }

func (ownTarget) Loss(dst, theta []float64, rows targets.Rows) {
	for i, y := range rows.Y {
		dst[i] = math.Abs(y - theta[0]*rows.X[i])
	}
}

// RatioBound lets the curator clip nobody: |ratio| ≤ |θ′ − θ|·|x|.
func (ownTarget) RatioBound(theta, next []float64, radius float64) float64 {
	return radius * math.Abs(next[0]-theta[0]) * (1 + 1e-9)
}

func TestOwnTarget(t *testing.T) {
	proptest.CheckTarget(t, ownTarget{}, proptest.TargetOptions{Tightness: 0.95})
}
