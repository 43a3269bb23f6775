package anchors

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Rows that are left out move no coefficient of a model that is right. No model quite is, and where
// records are many the fit of the other rows is then another one. So the anchor and the last second moments
// see rows of up to twice the radius, as far as noise allows. Its multiplier stays: the map shrinks by as much.
const (
	reachMost   = 2    // times the radius
	reachSome   = 1.3  // that noise always allows, where rows that are left out may count
	reachFreely = 0.8  // information that the score's noise leaves at least, where they may not
	reachHalf   = 0.5  // where they may
	reachFrom   = 1.05 // what is less is none
	reachUsual  = 0.02 // of rows of a normal law that are left out
	reachMisfit = 0.1  // mean slope of rows that are left out, in standard deviations of a slope, that is to be expected
)

// widen sets the reach, by what was released before the anchor: how many rows were left out of the last
// second moments of the map, and how steep slopes are at the first optimum.
func (t *fitScore) widen(values []float64) {
	if t.reach = 1; t.near() {
		return
	}
	d, n := len(t.columns), float64(t.facts.Records)
	constant := surrogates.ConstantOf(t.columns)
	left := 1 - values[(fitLooks-1)*d*d+constant*(d+1)]/n
	left = max(reachUsual, left) + t.noise[fitLooks-1]/n
	information := t.information(values)
	allows := func(kept float64) float64 { return math.Sqrt(information*(1/kept-1)) / t.scoreSD }
	// Standard deviations by which rows that are left out move the score.
	moved := reachMisfit * left * t.radius * math.Sqrt(n*information/(information+t.scoreSD*t.scoreSD))
	reach := min(reachMost, max(allows(reachFreely), min(math.Sqrt(moved), max(reachSome, allows(reachHalf)))))
	if reach >= reachFrom {
		t.reach = reach
	}
}

// information is that of the records in the score of the intercept, at the first optimum.
func (t *fitScore) information(values []float64) float64 {
	at := values[t.size()-len(t.columns) : t.size()]
	middle := at[surrogates.ConstantOf(t.columns)]
	spread := math.Sqrt(max(0, floats.Dot(at, at)-middle*middle))
	sum, total := 0.0, 0.0
	for z := -4.0; z <= 4; z += 0.125 {
		eta, weight := middle+spread*z, math.Exp(-z*z/2)
		_, variance, _, _ := t.model.link.Slope(eta, eta)
		sum, total = sum+weight*variance, total+weight
	}
	return float64(t.facts.Records) * sum / total
}

// aim points the view where the map says, for rows of up to so many times the radius.
func (t *fitScore) aim(reach float64) {
	var seen mat.Dense
	seen.Scale(1/reach, t.matrix)
	t.config.view.Matrix = seen.RawMatrix().Data
}

// unreached restates statistics of rows that were seen shrunk by the reach.
func (t *fitScore) unreached(s *surrogates.Statistics) {
	floats.Scale(1/t.reach, s.Anchor)
	floats.Scale(t.reach, s.Score)
	floats.Scale(t.reach*t.reach, s.Moment)
	s.ScoreSD *= t.reach
	s.MomentSD *= t.reach * t.reach
	s.Ridge *= t.reach * t.reach
	s.Radius *= t.reach
}
