package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/diag"
)

// Rows that are long weigh less, and no release says what their responses are like. Where a model is not quite
// right they have another fit, and Xᵀy is off by some of the records' weight that is missing. Where sums are of
// fitted columns the posterior counts that as noise.

// lightMisfit is by how much an entry of Xᵀy is off a record, in standard deviations of errors, over the root of the
// share of the weight that is missing: the root mean square. Nine public tables, of whose weight a tenth to a
// thousandth was missing, mostly had a half to twice that, and two five times as much.
const lightMisfit = 0.03

// Misfit is by how much an entry of Xᵀy of so many records is to be expected off, in standard deviations of errors,
// where a share of their weight is missing and columns are fitted.
func Misfit(share, records float64) float64 { return lightMisfit * math.Sqrt(max(0, share)) * records }

// lightError is by how much of their standard deviation errors of long rows are off, in the direction of their rows,
// where more weight is missing than usual.
const lightError = 0.1

// far is by how much an entry of Xᵀy is then off, in standard deviations of errors, of rows of such a length or the
// longest that are seen whole.
func (s Sums) far(share, length float64) float64 {
	return lightError * share * float64(s.Records) * max(length, s.Radius)
}

// cutMisfit is that of errors that were cut, over the root of what that took away of their square: of six public tables
// with a hundredth to a third, it was a half to twice that but for one.
const cutMisfit = 0.02

// CutMisfit is by how much an entry of Xᵀy of so many records is to be expected off, in standard deviations of errors,
// where cutting residuals took away a share of their square.
func CutMisfit(share, records float64) float64 { return cutMisfit * math.Sqrt(max(0, share)) * records }

// light is the share of the records' weight that is missing beside what is known to be, as far as noise shows it and at
// least that of normal columns; and what it is more than that.
func (s Sums) light(known float64) (share, more float64) {
	constant := ConstantOf(s.Columns)
	if constant < 0 {
		return 0, 0
	}
	n, square := float64(s.Records), s.Columns[constant].Upper*s.Columns[constant].Upper
	missing := 1 - s.Moment[constant*(s.Features+2)]/(square*n) - known
	usual := usualLight(float64(s.Features-1), s.Radius*s.Radius)
	return max(usual, missing-s.MomentSD/n), max(0, missing-usual)
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
	// Share is the part of the records' weight that is missing, as far as it is more than normal columns make, and
	// than is known.
	Share float64
	// Shift is how far that may move Xᵀy, over what errors and noise leave open in it, if it is of rows as long as bounds
	// allow for.
	Shift float64
	// Hidden is the same of what noise hides: of one of its standard deviations in that share.
	Hidden float64
}

// Light predicts that from draws, where sums are of fitted columns.
func (l *Linear) Light(d Draws) LinearLight {
	s := l.config.Sums
	sigma := l.config.MinScale + math.Exp(diag.Summarize(d.Column(l.dim)).Mean)
	open := sigma*sigma*l.records() + s.MomentSD*s.MomentSD/2
	shift := func(share float64) float64 { return s.far(share, l.config.seen.seen.Far) * sigma / math.Sqrt(open) }
	return LinearLight{Share: l.light, Shift: shift(l.light), Hidden: shift(s.MomentSD / float64(s.Records))}
}
