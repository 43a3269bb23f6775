package anchors

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Fit says whether columns are fitted before the anchor is released. Bounds of numbers are public,
// and most columns fill a small part of them, and some nearly follow from others. Noise is in
// proportion to the longest row that the bounds allow for. So Score first releases second moments
// several times, with much noise, and looks at records through a map that makes numbers centred, of
// variance 1 and uncorrelated, as far as the noise tells (curator.View). Each time noise is that of rows
// as long as typical ones, and hides a part of what it hid before. Rows that are much longer than
// typical ones are left out.
type Fit uint8

const (
	// AnyFit lets Afford decide, and is Unfitted without Afford.
	AnyFit Fit = iota
	// Unfitted columns are looked at as they are.
	Unfitted
	// Fitted columns are for Score of standardized coefficients (targets.RegressionConfig).
	Fitted
)

// String is the fit's name.
func (f Fit) String() string {
	switch f {
	case AnyFit:
		return "auto"
	case Unfitted:
		return "no"
	case Fitted:
		return "yes"
	}
	return fmt.Sprintf("Fit(%d)", uint8(f))
}

// fitKind is what an aim makes of fitted columns, and what it releases before its anchor for that.
type fitKind interface {
	// fits reports whether a model's columns can be fitted, and has whether one of them is.
	fits(c Config, m model) bool
	has(column surrogates.Column) bool
	// radius is the longest row that is seen in fitted columns.
	radius(c Config) float64
	// first are the second moments that are released first where ρ is to be spent, and the part of the square
	// of half the distance of a number's bounds that their noise may hide for columns to be fitted.
	first(c Config, m model, f curator.Facts, rho float64) (curator.SecondMoment, float64)
	// mechanisms are those of the releases before the anchor.
	mechanisms(c Config, m model, f curator.Facts) []mechanism
	begin(c Config, m model, f curator.Facts) (fitted, error)
}

// fitted makes these releases.
type fitted interface {
	// inView is the configuration of the anchor.
	inView() Config
	requests() []curator.Request
	// size is the number of values that look releases.
	size() int
	look(ctx context.Context, values []float64) error
	// describe says what the releases are, where those of the anchor have been described.
	describe(r *Release) error
}

// mechanism is one with a price.
type mechanism interface {
	Event(f curator.Facts) (accountant.Event, error)
}

// prices are those of one release of each mechanism.
func prices(f curator.Facts, of ...mechanism) (all []accountant.Event, err error) {
	for _, m := range of {
		event, err := m.Event(f)
		if err != nil {
			return nil, err
		}
		all = append(all, event)
	}
	return all, nil
}

// kindOfFit is that of the aim, nil for none.
func (c Config) kindOfFit() fitKind {
	switch c.Aim {
	case Score:
		return scoreFit{}
	case Sums:
		return sumsFit{}
	}
	return nil
}

// fittable reports whether columns can be fitted.
func (c Config) fittable(m model) bool {
	kind := c.kindOfFit()
	return kind != nil && kind.fits(c, m) && len(c.numbers()) > 0 && surrogates.ConstantOf(c.Columns) >= 0
}

// worthFitting predicts whether fitted columns are known better. Where records are few the first
// second moments say nothing.
func (c Config) worthFitting(m model, f curator.Facts, rho float64) Fit {
	if !c.fittable(m) || c.Law == Spherical || c.OptimumNoise != 0 || c.MomentNoise != 0 {
		return Unfitted
	}
	c.Fit = Fitted
	first, floor := c.kindOfFit().first(c, m, f, rho)
	noise, err := first.NoiseSD(f)
	if err != nil {
		return Unfitted
	}
	square, numbers, scale := 0.0, c.numbers(), c.Columns[surrogates.ConstantOf(c.Columns)].Upper
	for _, j := range numbers {
		half := min(scale, (c.Columns[j].Upper-c.Columns[j].Lower)/2)
		square += half * half / float64(len(numbers))
	}
	if noise*math.Sqrt(2*float64(len(numbers))) < floor*square*float64(f.Records) {
		return Fitted
	}
	return Unfitted
}

// numbers are the columns that are fitted.
func (c Config) numbers() (all []int) {
	for j, column := range c.Columns {
		if c.kindOfFit().has(column) {
			all = append(all, j)
		}
	}
	return all
}

// unit is what a column that is no number has, at most or always, and a fitted one has as 1.
func unit(c surrogates.Column) float64 {
	if c.Kind == surrogates.Constant {
		return c.Upper
	}
	return c.Farthest()
}

// seen are the facts of records as the anchor sees them.
func (c Config) seen(f curator.Facts) curator.Facts {
	if c.Fit == Fitted {
		f.Radius = c.kindOfFit().radius(c)
	}
	return f
}

// inView is the configuration of an anchor of fitted columns.
func (c Config) inView() Config {
	if c.Fit != Fitted {
		return c
	}
	c.view = &curator.View{Radius: c.kindOfFit().radius(c)}
	columns, numbers := make([]surrogates.Column, len(c.Columns)), c.numbers()
	for j, column := range c.Columns {
		if !slices.Contains(numbers, j) { // these have no bounds any more
			column.Lower, column.Upper = column.Lower/unit(column), column.Upper/unit(column)
			columns[j] = column
		}
	}
	c.Columns = columns
	return c
}

// fit is a map of rows to fitted ones.
type fit struct {
	config  Config              // in the view
	columns []surrogates.Column // as they are, but that Sums know nothing of them
	bounds  []surrogates.Column // as they are
	numbers []int               // the columns that are fitted
	facts   curator.Facts       // of the records as they are
	radius  float64
	fewest  float64 // share of the records that count, at least
	matrix  *mat.Dense
	// lighter is what the variance of normal numbers is seen as in later looks, where long rows weigh less: 0 for 1.
	lighter float64
	// whole is the covariance of numbers by the first second moments, as they are, wholeMean their means over the
	// constant, and wholeNoise the standard deviation of the noise in a mean square.
	whole      *mat.SymDense
	wholeMean  []float64
	wholeNoise float64
	// ownShare is the part of a number's variance that others are taken to say nothing of, at least.
	ownShare float64
	// ends are the conditional variances of numbers at their bounds, as they are, that the map allows for at least; 0 of
	// others.
	ends []float64
}

func newFit(c Config, f curator.Facts, fewest float64) fit {
	return fit{config: c.inView(), columns: c.Columns, bounds: c.Columns, numbers: c.numbers(), facts: f,
		radius: c.kindOfFit().radius(c), fewest: fewest}
}

func (t *fit) inView() Config { return t.config }
