package anchors

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// LeftOut is what rows that are left out of fitted columns may do to a score, since they are too long in the map.
// It follows from released and public values and costs nothing.
type LeftOut struct {
	// Share is the part of the records that is left out beyond what normal numbers would lose: at
	// least that part, as far as noise shows it. Where bounds leave room for longer rows, and noise
	// may hide many, it is the likely part plus one standard deviation of noise.
	Share float64
	// Shift is how far they may move an entry of the score, in its standard deviations, if their
	// mean slope is off by a tenth of a slope's standard deviation.
	Shift float64
}

// reachLight is the share of rows beyond the radius, over that of normal numbers, from which some may be far beyond.
const reachLight = 0.03

// leftOut says that of statistics of rows as they are.
func (t *fitScore) leftOut(r *Release) (l LeftOut, err error) {
	d, constant, n := len(t.columns), surrogates.ConstantOf(t.columns), float64(t.facts.Records)
	s := r.Statistics
	seen, noise := s.Moment[constant*(d+1)]/n, s.MomentSD/n
	long := t.reach * t.radius
	l.Share = max(0, 1-seen-noise-t.usual(t.reach))
	before := r.Values[(fitLooks-1)*d*d+constant*(d+1)] / n
	if light := 1-before-t.usual(1)+2*t.noise[fitLooks-1]/n < reachLight; !light && t.room(long) {
		l.Share = max(0, 1-seen-t.usual(t.reach)) + noise
	}
	variance, sd := reachLabels, s.ScoreSD
	if t.near() {
		most := t.model.centred.Most()
		variance = most * most / 2
		sd, err = t.config.look(t.model, t.facts, nearLooks-1).NoiseSD(t.config.seen(t.facts))
	}
	l.Shift = reachMisfit * l.Share * n * long * math.Sqrt(variance/(variance*n+sd*sd))
	return l, err
}

// usual is the share of normal rows that are longer than so many times the radius.
func (t *fitScore) usual(reach float64) float64 {
	k := float64(len(t.numbers))
	rest := t.radius*t.radius - k - 2*math.Sqrt(2*k) - 2 // of the constant and of levels
	return mathext.GammaIncRegComp(k/2, max(0, reach*reach*t.radius*t.radius-rest)/2)
}

// room reports whether a number at a bound makes a row longer than that in the map.
func (t *fitScore) room(long float64) bool { return !(t.far() <= long) }
