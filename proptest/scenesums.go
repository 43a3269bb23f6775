package proptest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// sumTest is how a reader sees that a sum is wrong.
var sumTest = []string{
	"d := target.Dim()",
	"losses, slopes, sum := make([]float64, rows.Len()), make([]float64, rows.Len()*d), make([]float64, d)",
	"target.Loss(losses, theta, rows)",
	"target.LossGrad(slopes, theta, rows)",
	"got, want := append([]float64{target.SumLossGrad(sum, theta, rows)}, sum...), make([]float64, d+1)",
	"for i, loss := range losses {",
	"\twant[0] += loss",
	"\tfor j, slope := range slopes[i*d : (i+1)*d] {",
	"\t\twant[j+1] += slope",
	"\t}",
	"}",
	"for j := range got {",
	"\tif !(math.Abs(got[j]-want[j]) <= 1e-9*math.Abs(want[j])) {",
	"\t\tt.Error(got, want)",
	"\t}",
	"}"}

// sumAgrees compares SumLossGrad of a scene's record, alone and before a usual one, with its own loss and gradient:
// what a sum leaves out may be the records of one kind.
func (e *evaluator) sumAgrees(s scene) string {
	m, ok := e.target.(targets.SumTarget)
	if !ok || e.grad == nil || e.overflows(s) || math.IsInf(e.target.LogPrior(s.theta), -1) {
		return ""
	}
	largest, loss := 1.0, e.loss(s.theta, s.z)
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	usual, slopes := e.loss(s.theta, e.usual), make([]float64, e.d)
	e.grad.LossGrad(slopes, s.theta, e.usual)
	for _, x := range s.z.X {
		largest = max(largest, math.Abs(x))
	}
	if !finite(largest) || !finite(loss) || !finite(usual) {
		return ""
	}
	both := targets.Rows{X: slices.Concat(s.z.X, e.usual.X), P: s.z.P, Y: slices.Concat(s.z.Y, e.usual.Y)}
	sum := make([]float64, e.d)
	for _, e.summed = range []targets.Rows{s.z, both} {
		rows := e.summed
		with, what := 0.0, "that record"
		if rows.Len() > 1 {
			with, what = 1, "it and "+describe(e.usual)
		}
		want, size := loss+with*usual, math.Abs(loss)+with*math.Abs(usual)
		if got := m.SumLossGrad(sum, s.theta, rows); apartBy(got, want) > 1e-9*size+1e-12 &&
			apartBy(got, want) > 1e-9*size+1e-12+rounding(e.target, s.theta, s.z) {
			return fmt.Sprintf("SumLossGrad's loss is %v over %s, whose own add up to %v, at %v", got, what, want, s.still())
		}
		for j, got := range sum {
			want, size := e.gradient[j]+with*slopes[j], math.Abs(e.gradient[j])+with*math.Abs(slopes[j])
			if finite(want) && apartBy(got, want) > 1e-9*size+1e-12*largest &&
				apartBy(got, want) > 1e-9*size+1e-12*largest+e.shaky(s, j) {
				return fmt.Sprintf("SumLossGrad in parameter %d is %v over %s, whose own add up to %v, at %v", j, got, what, want,
					s.still())
			}
		}
	}
	return ""
}

// apartBy is the distance of two numbers; that from no number is infinite.
func apartBy(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.Inf(1)
	}
	return math.Abs(a - b)
}
