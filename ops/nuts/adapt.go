package nuts

import (
	"fmt"
	"math"
)

// stepAdapter is dual averaging of the log step size [Hoffman and Gelman 2014,
// §3.2], with their constants, which Stan keeps.
type stepAdapter struct {
	target           float64 // acceptance statistic aimed at
	mu, sBar, xBar   float64
	count            float64
	gamma, t0, kappa float64
}

// restart begins again around ten times the step size eps.
func (a *stepAdapter) restart(eps float64) {
	*a = stepAdapter{target: a.target, mu: math.Log(10 * eps), gamma: 0.05, t0: 10, kappa: 0.75}
}

// learn takes one step's acceptance statistic and returns the next step size.
func (a *stepAdapter) learn(acceptStat float64) float64 {
	a.count++
	eta := 1 / (a.count + a.t0)
	a.sBar = (1-eta)*a.sBar + eta*(a.target-acceptStat)
	x := a.mu - a.sBar*math.Sqrt(a.count)/a.gamma
	weight := math.Pow(a.count, -a.kappa)
	a.xBar = (1-weight)*a.xBar + weight*x
	return math.Exp(x)
}

// final returns the averaged step size to sample with.
func (a *stepAdapter) final() float64 { return math.Exp(a.xBar) }

// schedule says when warm-up updates the metric: at the end of windows of 25,
// 50, 100, … iterations, the last stretched, between 75 iterations at the start
// and 50 at the end that adapt the step size alone. A warm-up too short for that
// is shared out 15%, 75%, 10%; below 20 iterations the metric is left alone.
type schedule struct {
	first, last int // the metric observes iterations first ≤ i < last
	end, window int // of the current window
}

func newSchedule(warmup int) schedule {
	if warmup < 20 {
		return schedule{first: warmup, last: warmup, end: -1}
	}
	s := schedule{first: 75, last: warmup - 50, window: 25}
	if warmup < 75+25+50 {
		s.first = 15 * warmup / 100
		s.last = warmup - warmup/10
		s.window = s.last - s.first
	}
	s.end = s.first + s.window
	return s
}

// observes reports whether the metric learns from iteration i.
func (s *schedule) observes(i int) bool { return i >= s.first && i < s.last }

// closes reports whether iteration i is the last of a window, and opens the next.
func (s *schedule) closes(i int) bool {
	if i+1 != s.end {
		return false
	}
	s.window *= 2
	s.end += s.window
	if s.end+2*s.window > s.last {
		s.end = s.last // no room for the window after this one: stretch it
	}
	return true
}

// initialStep returns a step size whose first leapfrog step changes the energy
// by about log 0.8, found by doubling or halving eps [Hoffman and Gelman 2014,
// algorithm 4].
func (t *transition) initialStep(eps float64) (float64, error) {
	grow := t.oneStepGain(eps) > math.Log(0.8)
	for {
		next := eps / 2
		if grow {
			next = eps * 2
		}
		if next > 1e7 || next < 1e-300 {
			return 0, fmt.Errorf("nuts: no step size suits the starting point (tried up to %v): the density may be improper, "+
				"not continuous, or its gradient wrong", eps)
		}
		eps = next
		if (t.oneStepGain(eps) > math.Log(0.8)) != grow {
			return eps, nil
		}
	}
}

// oneStepGain returns minus the change of energy over one leapfrog step from the
// current point with a fresh momentum.
func (t *transition) oneStepGain(eps float64) float64 {
	t.refresh(&t.current, t.rng)
	before := t.energy(&t.current)
	z := &t.front[0]
	z.set(t.current)
	t.leapfrog(z, eps)
	return before - t.energy(z)
}
