package proptest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

func (e *evaluator) lossAt(eta float64, y []float64) float64 {
	e.onto[0] = eta
	e.linear.LossAt(e.onto, e.onto, y)
	return e.onto[0]
}

func (e *evaluator) slopeAt(eta float64, y []float64) float64 {
	e.onto[0] = eta
	e.linear.SlopeAt(e.onto, e.onto, y)
	return e.onto[0]
}

// predictorAgrees compares LossAt and SlopeAt at the linear predictor with Loss
// and LossGrad, and SlopeAt with differences of LossAt.
func (e *evaluator) predictorAgrees(s scene) string {
	if e.linear == nil {
		return ""
	}
	eta, terms := 0.0, 0.0
	for j, x := range s.z.X {
		eta += x * s.theta[j]
		terms += math.Abs(x * s.theta[j])
	}
	l, at, slope := e.loss(s.theta, s.z), e.lossAt(eta, s.z.Y), e.slopeAt(eta, s.z.Y)
	if !finite(eta) || !finite(l) || !finite(at) {
		return ""
	}
	f := func(offset float64) float64 { return e.lossAt(eta+offset, s.z.Y) }
	if want, plain := line(f).plainSlope(max(1, math.Abs(eta))); plain && math.IsNaN(slope) {
		return fmt.Sprintf("SlopeAt says that ∂ℓ/∂η is NaN at η = %v, and differences of LossAt give %.6g, at %v", eta,
			want, s.still())
	}
	if !finite(slope) {
		return ""
	}
	if bound := e.linear.PredictorLipschitz(); math.Abs(slope)*(1-1e-12) > bound {
		return fmt.Sprintf("Lipschitz: found the slope %v at η = %v, beyond PredictorLipschitz = %v: the certificate is "+
			"violated at %v", slope, eta, bound, s.still())
	}
	// What the predictor's own rounding can change.
	by := 4e-16*terms + 1e-300
	bend := e.bend(eta, 4*by, slope, s.z.Y)
	if !(math.Abs(l-at) <= 1e-12*(1+math.Abs(l))+8*by*math.Abs(slope)+bend*by) {
		return fmt.Sprintf("LossAt is %v at η = %v, where Loss is %v, at %v", at, eta, l, s.still())
	}
	// A small residual of a large mean owes the mean's rounding to the predictor's.
	if want, wrong := wrongSlope(f, eta, slope, 1e-12); wrong && !(math.Abs(slope-want.value) <= want.off+bend) {
		return fmt.Sprintf("SlopeAt says that ∂ℓ/∂η is %v at η = %v, differences of LossAt give %v ± %.1g, at %v", slope,
			eta, want.value, want.off, s.still())
	}
	if e.grad == nil {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	for j, got := range e.gradient {
		want := slope * s.z.X[j]
		if finite(got) && !(math.Abs(got-want) <= 1e-11*math.Abs(want)+1e-13+4*bend*math.Abs(s.z.X[j])) {
			return fmt.Sprintf("∂ℓ/∂θ%s is %v where SlopeAt times the feature is %v, at %v", index(j), got, want, s.still())
		}
	}
	return ""
}

// bend is what rounding of the predictor by so much does to the slope. Where the slopes on both sides
// agree, and that between them is another one, it is a value of its own, which rounding did not make.
func (e *evaluator) bend(eta, by, slope float64, y []float64) float64 {
	above, below := e.slopeAt(eta+by, y), e.slopeAt(eta-by, y)
	bend := math.Abs(above - slope)
	if apart := math.Abs(above - below); apart <= 1e-3*bend {
		return apart
	}
	return bend
}

// checkPredictors scans the predictor of a linear target.
func checkPredictors(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	e := newEvaluator(o.stage(target, 21))
	if e.linear == nil || t.Failed() {
		return
	}
	law := sceneLaws[slices.IndexFunc(sceneLaws, func(l sceneLaw) bool { return l.name == "linear" })]
	try := func(eta float64, y targets.Rows) {
		t.Helper()
		s := scene{theta: make([]float64, e.d), next: make([]float64, e.d), z: cloneRows(y)}
		clear(s.z.X)
		j := e.rng.IntN(e.d)
		s.theta[j], s.z.X[j] = eta, 1
		if law.holds(e, s) != "" {
			e.report(t, law, s)
		}
	}
	n := o.Effort.times(600, 100)
	for i := range n {
		u := 2*(float64(i)+e.rng.Float64())/float64(n) - 1
		z := e.record()
		if e.response && i%3 == 0 {
			z.Y[0] = o.Response(replies[e.rng.IntN(len(replies))])
		}
		try(10*u, z)
		try(math.Sinh(7*u), z)
		try(math.Sinh(12*u), z)
	}
	checkManyPredictors(t, e)
}

// checkManyPredictors evaluates predictors in batches, in place and not, and in the other order alone: what
// is kept for one that comes again is another's then.
func checkManyPredictors(t rapid.TB, e *evaluator) {
	t.Helper()
	for _, n := range []int{2, 3, 64, 257, 1025} {
		eta, rows := make([]float64, n), e.o.plausible(e.rng, e.target, n)
		for i := range eta {
			if eta[i] = 3 * e.rng.NormFloat64(); i%7 == 3 {
				eta[i] = eta[i-1]
			}
		}
		for _, f := range []struct {
			name string
			eval func(dst, eta, y []float64)
		}{{"LossAt", e.linear.LossAt}, {"SlopeAt", e.linear.SlopeAt}} {
			apart, inPlace, alone := make([]float64, n), slices.Clone(eta), make([]float64, 1)
			f.eval(apart, eta, rows.Y)
			f.eval(inPlace, inPlace, rows.Y)
			for i := n - 1; i >= 0; i-- {
				var y []float64
				if rows.Y != nil {
					y = rows.Y[i : i+1]
				}
				f.eval(alone, eta[i:i+1], y)
				if !same(apart[i], alone[0]) || !same(inPlace[i], alone[0]) {
					fatalf(t, "%s of predictor %d of %d, %v, is %v, in place %v, and alone %v (Seed %d)", f.name, i, n, eta[i],
						apart[i], inPlace[i], alone[0], e.o.Seed)
				}
			}
		}
	}
}
