package proptest

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/targets"
)

// bent is a loss of θ₁·x, and its slope.
type bent struct {
	lone
	loss, slope func(eta float64) float64
}

func (bent) Shape() (int, bool) { return 1, false }

func (b bent) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = b.loss(theta[0] * rows.X[i])
	}
}

func (b bent) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		dst[2*i], dst[2*i+1] = b.slope(theta[0]*rows.X[i])*rows.X[i], 0
	}
}

func (bent) GradLogPrior(dst, _ []float64) { clear(dst) }

// TestLostLosses: a loss that overflows beside a finite gradient is rejected, and so is a gradient that
// overflows beside a loss. Where both do, or a loss ends for good, neither is.
func TestLostLosses(t *testing.T) {
	softplus := func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	zero := func(float64) float64 { return 0 }
	one := func(v float64) float64 { return math.Copysign(min(1, math.Abs(v)*1e300), v) }
	for _, c := range []struct {
		name        string
		loss, slope func(eta float64) float64
		wrong       bool
	}{
		{"a logarithm of an exponential", func(v float64) float64 { return math.Log(1 + math.Exp(v)) }, sigmoid, true},
		{"the same with care", softplus, sigmoid, false},
		{"an exponential", math.Exp, math.Exp, false},
		{"a square", func(v float64) float64 { return v * v / 2 }, func(v float64) float64 { return v }, false},
		{"a bound", func(v float64) float64 { return map[bool]float64{true: math.Inf(1)}[v > 50] }, zero, false},
		{"a difference of infinities", func(v float64) float64 { return math.Exp(v) - math.Exp(v) + v },
			func(float64) float64 { return 1 }, true},
		{"a size by a root", math.Abs, func(v float64) float64 { return v / math.Sqrt(v*v) }, true},
		{"a size", math.Abs, one, false},
	} {
		e, said := newEvaluator(TargetOptions{}.withDefaults().stage(bent{lone{log: zero}, c.loss, c.slope}, 1)), ""
		for _, x := range []float64{1e-300, 1e-200, 1e-9, 1, 700, 720, 1e5, 1e9, 1e120, 1e200} {
			for _, theta := range []float64{-1, 1} {
				z := targets.Rows{X: []float64{x}, P: 1}
				s := scene{theta: []float64{theta, 0}, next: []float64{0, 0}, z: z}
				said += e.isFinite(s) + e.gradientAgrees(s)
			}
		}
		if (said != "") != c.wrong {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}
