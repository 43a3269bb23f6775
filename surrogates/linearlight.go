package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/diag"
)

// Rows that are long weigh less, and no release says what their responses are like. If the errors of the
// weight that is missing are off by lightError of their standard deviation on average, in the direction
// of their rows, Xᵀy is off by that times their length. Where sums are of fitted columns the posterior
// counts that as noise.

// lightError is by how much of their standard deviation errors of long rows are off on average, where a
// model is nearly right.
const lightError = 0.1

// light is the share of the records' weight that is missing, as far as it is more than normal columns make, or
// than is known. What noise makes seem missing counts for little beside that noise itself.
func (s Sums) light(known float64) float64 {
	constant := ConstantOf(s.Columns)
	if constant < 0 {
		return 0
	}
	n, square := float64(s.Records), s.Columns[constant].Upper*s.Columns[constant].Upper
	seen := s.Moment[constant*(s.Features+2)] / (square * n)
	return max(0, 1-seen-max(known, usualLight(float64(s.Features-1), s.Radius*s.Radius)))
}

// usualLight is the share that k uncorrelated normal columns of variance 1 beside a constant of 1 are missing,
// where rows whose square is above most count for most over it.
func usualLight(k, most float64) (share float64) {
	if k == 0 || most <= 1 {
		return 0
	}
	const step = 0.05
	for t := most - 1 + step/2; t < most+20*(k+4); t += step { // of most/(1+t)², times the chance of more than t
		share += step * most / ((1 + t) * (1 + t)) * mathext.GammaIncRegComp(k/2, t/2)
	}
	return share
}

// LinearLight is what rows that weigh less may do to coefficients. It follows from released values and
// costs nothing.
type LinearLight struct {
	// Share is the part of the records' weight that is missing, as far as it is more than normal columns make, or
	// than is known.
	Share float64
	// Shift is how far what is missing may move Xᵀy, over what errors and noise leave open in it.
	Shift float64
}

// Light predicts that from draws, where sums are of fitted columns.
func (l *Linear) Light(d Draws) LinearLight {
	s := l.config.Sums
	sigma := l.config.MinScale + math.Exp(diag.Summarize(d.Column(l.dim)).Mean)
	open := sigma*sigma*l.records() + s.MomentSD*s.MomentSD/2
	return LinearLight{Share: l.light, Shift: l.doubt * sigma / math.Sqrt(open)}
}
