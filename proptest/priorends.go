package proptest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// checkPriorEnds expects a log prior that becomes −∞ along a parameter to have gone there as its gradient says. Where
// a support ends, it has, up to a wall. A density that underflows loses its digits first.
func checkPriorEnds(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	e := newEvaluator(o.stage(target, 29))
	if e.grad == nil || t.Failed() {
		return
	}
	for range 3 {
		s := e.plain()
		for _, j := range someOf(e.d, 8) {
			for _, far := range []float64{1000, -1000} {
				copy(s.next, s.theta)
				s.next[j] = far * e.unit[j]
				if said := e.endsWell(s); said != "" {
					fatalf(t, "%s (Seed %d)", said, o.Seed)
				}
			}
		}
	}
}

// endsWell looks nearer and nearer to where the log prior ends on the way from a state.
func (e *evaluator) endsWell(s scene) string {
	c := e.ofPrior(s)
	inside, beyond := 0.0, 1.0
	if !finite(c.value(inside)) || !math.IsInf(c.value(beyond), -1) {
		return ""
	}
	for range 60 {
		if m := (inside + beyond) / 2; math.IsInf(c.value(m), -1) {
			beyond = m
		} else {
			inside = m
		}
	}
	for k := 1; k < 16; k++ {
		a, b := inside*(1-math.Ldexp(1, -k)), inside*(1-math.Ldexp(1, -k-1))
		m := (a + b) / 2
		change, miss := c.value(b)-c.value(a), c.missing(a, b)
		finer := c.missing(a, m) + c.missing(m, b)
		if plain := math.Abs(change - miss); math.Abs(miss) > 0.05*(plain+math.Abs(change)) && plain > 0 &&
			math.Abs(miss-finer) < 0.01*math.Abs(miss) && math.Abs(miss) > 1e-9*math.Abs(c.value(b)) {
			c.place(beyond)
			end := text(c.theta)
			c.place(a)
			return fmt.Sprintf("LogPrior is −Inf at θ = %s, and on the last part of the way there, from θ = %s, it changes by "+
				"%.3g where GradLogPrior says %.3g: it has lost its digits before it ends, as log(1 − tanh²) does", end,
				text(c.theta), change, change-miss)
		}
	}
	return ""
}
