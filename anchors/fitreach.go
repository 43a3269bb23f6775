package anchors

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Rows that are left out move no coefficient of a model that is right. No model quite is, and where
// records are many the fit of the other rows is then another one. So both optima and the last second moments
// see rows of up to twice the radius, as far as noise allows. Its multiplier stays: the map shrinks by as much.
const (
	reachMost   = 2    // times the radius
	reachSome   = 1.3  // that noise always allows
	reachHalf   = 0.5  // information that the score's noise leaves at least, beyond
	reachFrom   = 1.05 // what is less is none
	reachUsual  = 0.02 // of rows of a normal law that are left out
	reachLabels = 0.06 // variance of a slope, of chances of a fifth
	reachMisfit = 0.1  // mean slope of rows that are left out, in standard deviations of a slope, that is to be expected
)

// widen sets the reach, by how many rows were left out of the last second moments of the map.
func (t *fitScore) widen(values []float64) {
	if t.reach = 1; t.near() {
		return
	}
	d, n := len(t.columns), float64(t.facts.Records)
	left := 1 - values[(fitLooks-1)*d*d+surrogates.ConstantOf(t.columns)*(d+1)]/n
	left = max(reachUsual, left) + t.noise[fitLooks-1]/n
	information := reachLabels * n
	// By how many standard deviations rows that are left out may move the score. Of tails that fall with the
	// third power of a row's length it falls with the square of the reach.
	moved := reachMisfit * left * t.radius * math.Sqrt(n*information/(information+t.scoreSD*t.scoreSD))
	allowed := math.Sqrt(information*(1/reachHalf-1)) / t.scoreSD
	if reach := min(reachMost, math.Sqrt(moved), max(reachSome, allowed)); reach >= reachFrom {
		t.reach = reach
	}
}

// aim points the view where the map says, for rows of up to so many times the radius.
func (t *fitScore) aim(reach float64) {
	var seen mat.Dense
	seen.Scale(1/reach, t.matrix)
	t.config.view.Matrix = seen.RawMatrix().Data
}

// unreachedLook restates an optimum of rows that were seen shrunk by the reach.
func (t *fitScore) unreachedLook(l *surrogates.Look) {
	floats.Scale(1/t.reach, l.Anchor)
	floats.Scale(t.reach, l.Score)
	l.ScoreSD *= t.reach
}

// unreached restates statistics of such rows.
func (t *fitScore) unreached(s *surrogates.Statistics) {
	floats.Scale(1/t.reach, s.Anchor)
	floats.Scale(t.reach, s.Score)
	floats.Scale(t.reach*t.reach, s.Moment)
	s.ScoreSD *= t.reach
	s.MomentSD *= t.reach * t.reach
	s.Ridge *= t.reach * t.reach
	s.Radius *= t.reach
}
