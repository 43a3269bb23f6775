package surrogates

import (
	"fmt"
	"math"
)

// Statistics is what the releases at an anchor say of the records: public values and
// the standard deviations of the noise in them. The records may be tempered; d is
// the number of features.
type Statistics struct {
	// Anchor is θ₀, d values. Required.
	Anchor []float64
	// Score is τ·Σ ∂ℓ(z; θ₀)/∂θ with independent normal noise of standard deviation
	// ScoreSD in every coordinate. The optimality of a private optimum with ridge Λ
	// gives −Λ·θ₀. Required; ScoreSD may be 0, in experiments without privacy.
	Score   []float64
	ScoreSD float64
	// Spherical says that the score's noise b has density ∝ exp(−‖b‖/s) rather than a
	// normal one, s = ScoreSD/√(d+1).
	Spherical bool
	// Ridge is Λ where Anchor is the optimum that Score follows from, and 0 where
	// Score was released by itself. The likelihood of an optimum has a determinant
	// that depends on the features.
	Ridge float64
	// Moment is Σ w·xxᵀ, d×d, row-major and symmetric, with normal noise of standard
	// deviation MomentSD on the diagonal and MomentSD/√2 off it. The weight w is 1,
	// or, when Weighted, the loss's second derivative in the linear predictor at θ₀
	// (without τ). Required; MomentSD may be 0. It need not be positive definite.
	Moment   []float64
	MomentSD float64
	Weighted bool
	// Records is N, public. Required, positive.
	Records int64
	// Temperature is τ, in (0, 1]. Defaults to 1.
	Temperature float64
	// Radius bounds ‖x‖₂. Required, positive.
	Radius float64
	// Columns says what is publicly known of the features; nil for nothing, or one
	// for each.
	Columns []Column
}

// Column is what a schema says of one feature. The zero value says nothing.
type Column struct {
	// Kind defaults to Number.
	Kind ColumnKind
	// Lower and Upper bound a Number; both 0 for unbounded. A Constant is Upper in
	// every record. A Level is Upper in the records that have it and Lower in others.
	Lower, Upper float64
	// Missing says of a Constant about what share of its sum of squares is not there, because
	// longer records weigh less or are left out. Then that sum says how many records count.
	// 0 means that all do.
	Missing float64
	// Varies says of a Constant that it is less than Upper in records that were shortened before their responses were
	// drawn, so that they count whole all the same.
	Varies bool
	// Own adds to the variance of a Number in the priors that are of it (Config.Effect).
	Own float64
	// Ends says of a Number that it is likely to be Lower or Upper in every record, and nothing between.
	Ends bool
	// Group numbers the category that a Level belongs to: a record has at most one
	// Level of a group. Numbers and Constants have none.
	Group int
}

// ColumnKind is what a feature can be.
type ColumnKind uint8

// The kinds of feature.
const (
	Number   ColumnKind = iota // any number within the bounds
	Constant                   // the intercept
	Level                      // the indicator of a level of a category
)

func (s Statistics) temperature() float64 {
	if s.Temperature == 0 {
		return 1
	}
	return s.Temperature
}

// Check reports what is wrong with the statistics.
func (s Statistics) Check() error {
	d := len(s.Anchor)
	switch {
	case d == 0:
		return fmt.Errorf("surrogates: Statistics.Anchor is empty; give the released anchor")
	case len(s.Score) != d:
		return fmt.Errorf("surrogates: Statistics.Score has %d values for an anchor of %d; give one for each",
			len(s.Score), d)
	case len(s.Moment) != d*d:
		return fmt.Errorf("surrogates: Statistics.Moment has %d values; %d features have a matrix of %d",
			len(s.Moment), d, d*d)
	case s.Records < 1:
		return fmt.Errorf("surrogates: Statistics.Records is %d; give the public number of records", s.Records)
	case s.Columns != nil && len(s.Columns) != d:
		return fmt.Errorf("surrogates: %d Columns for %d features; give one for each, or none", len(s.Columns), d)
	case !(s.temperature() > 0 && s.temperature() <= 1):
		return fmt.Errorf("surrogates: Statistics.Temperature is %v; it must be above 0 and at most 1, or 0 for 1",
			s.Temperature)
	case !(s.Radius > 0) || math.IsInf(s.Radius, 1):
		return fmt.Errorf("surrogates: Statistics.Radius is %v; it must be positive and finite", s.Radius)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"ScoreSD", s.ScoreSD}, {"Ridge", s.Ridge}, {"MomentSD", s.MomentSD}} {
		if !(v.value >= 0) || math.IsInf(v.value, 1) {
			return fmt.Errorf("surrogates: Statistics.%s is %v; it must be at least 0 and finite", v.name, v.value)
		}
	}
	for _, v := range [][]float64{s.Anchor, s.Score, s.Moment} {
		for i, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("surrogates: a released value, number %d of its vector, is %v; releases are finite", i, x)
			}
		}
	}
	return checkColumns(s.Columns)
}

func checkColumns(columns []Column) error {
	for j, c := range columns {
		if c.Kind > Level {
			return fmt.Errorf("surrogates: Columns[%d].Kind is %d; use Number, Constant or Level", j, c.Kind)
		}
		if c.Lower > c.Upper || math.IsNaN(c.Lower+c.Upper) || math.IsInf(c.Upper-c.Lower, 0) {
			return fmt.Errorf("surrogates: Columns[%d] has bounds %v and %v; Lower must not exceed Upper "+
				"and both must be finite", j, c.Lower, c.Upper)
		}
		if c.Kind == Constant && c.Upper == 0 || c.Kind == Level && c.Lower == c.Upper {
			return fmt.Errorf("surrogates: Columns[%d] would be the same number in every record; a Constant needs an Upper "+
				"other than 0, a Level two values", j)
		}
	}
	return nil
}

// Link is the model of a response given its linear predictor, as far as a score at
// an anchor can tell.
type Link interface {
	// Slope returns the mean and the variance of the loss's slope at linear
	// predictor at, for a response drawn at linear predictor eta, and the derivatives
	// of both in eta. At eta = at the mean is 0 for a log loss.
	Slope(at, eta float64) (mean, variance, dMean, dVariance float64)
	// Weight returns the mean of the loss's second derivative at linear predictor
	// at, for a response drawn at eta.
	Weight(at, eta float64) float64
}
