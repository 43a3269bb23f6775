package proptest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// checkSums expects gradients to add up to what the loss and the log prior change by along
// segments of every length. Where they do not, halving leads to the place that is to blame: a
// jump, or one where the laws of scenes are held.
func checkSums(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	e := newEvaluator(o.stage(target, 26))
	if e.grad == nil || t.Failed() {
		return
	}
	for i := range o.Effort.times(600, 60) {
		s := e.plain()
		for j := range s.next { // along one parameter, all of them, or as a chain may move
			if i%3 == 0 && j != i/3%e.d || i%3 == 1 && j > 0 {
				s.next[j] = s.theta[j]
			}
		}
		for _, c := range []curve{e.ofLoss(s), e.ofPrior(s)} {
			at, jump := c.blame()
			if math.IsNaN(at) {
				continue
			}
			if c.place(at); jump != 0 {
				fatalf(t, "%s jumps by %.3g at θ = %s, on the way to %s%s: its gradient is no derivative there (Seed %d)", c.name,
					jump, text(c.theta), text(s.next), c.record, o.Seed)
			}
			there := s.clone()
			there.theta, there.usual, there.plausible = c.theta, false, false
			e.hold(t, there)
		}
	}
}

// curve is a function along the segment from θ to θ′, and its slope.
type curve struct {
	name, record string
	s            scene
	theta, g     []float64
	f            func(theta []float64) float64
	grad         func(g, theta []float64)
}

func (e *evaluator) ofLoss(s scene) curve {
	return curve{"Loss", " of " + describe(s.z), s, make([]float64, e.d), make([]float64, e.d),
		func(theta []float64) float64 { return e.loss(theta, s.z) },
		func(g, theta []float64) { e.grad.LossGrad(g, theta, s.z) }}
}

func (e *evaluator) ofPrior(s scene) curve {
	return curve{"LogPrior", "", s, make([]float64, e.d), make([]float64, e.d), e.target.LogPrior, e.grad.GradLogPrior}
}

func (c curve) place(at float64) {
	for j, t := range c.s.theta {
		c.theta[j] = t + at*(c.s.next[j]-t)
	}
}

func (c curve) value(at float64) float64 {
	c.place(at)
	return c.f(c.theta)
}

func (c curve) slope(at float64) (along float64) {
	c.place(at)
	c.grad(c.g, c.theta)
	for j, g := range c.g {
		along += g * (c.s.next[j] - c.s.theta[j])
	}
	return along
}

// missing is what the slopes leave of the change from a to b, by Simpson's rule on two panels.
func (c curve) missing(a, b float64) float64 {
	m := (a + b) / 2
	sum := c.slope(a) + 4*c.slope((a+m)/2) + 2*c.slope(m) + 4*c.slope((m+b)/2) + c.slope(b)
	return c.value(b) - c.value(a) - (b-a)*sum/12
}

// blame halves a segment whose slopes do not add up towards what they miss most. It returns the
// place, NaN if there is none, and the jump of the value there. Where a function is unbounded it
// does not jump: its values go on to change just beside.
func (c curve) blame() (at, jump float64) {
	a, b := 0.0, 1.0
	worst := c.missing(a, b)
	size := 1e-7 * (1 + math.Abs(c.value(a)) + math.Abs(c.value(b)))
	if !finite(worst) || math.Abs(worst) < size {
		return math.NaN(), 0
	}
	for b-a > 1e-12 {
		m := (a + b) / 2
		left, right := math.Abs(c.missing(a, m)), math.Abs(c.missing(m, b))
		if most := max(left, right); !finite(most) || most < size/10 {
			if most > 10*size*(b-a) { // a kink, or a wrong slope
				return m, 0
			}
			return math.NaN(), 0
		}
		if left > right {
			b = m
		} else {
			a = m
		}
	}
	w := 100 * (b - a)
	jump = c.value(b) - c.value(a)
	beside := math.Abs(c.value(a)-c.value(a-w)) + math.Abs(c.value(b+w)-c.value(b))
	if !finite(beside) || math.Abs(jump) < size || math.Abs(jump) < 10*beside {
		jump = 0
	}
	return (a + b) / 2, jump
}
