package anchors

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Fit says whether columns are fitted before the anchor is released. Bounds of numbers are public,
// and most columns fill a small part of them, and some nearly follow from others. Noise is in
// proportion to the longest row that the bounds allow for. So Score first releases second moments
// twice, with much noise, and looks at records through a map that makes numbers centred, of variance 1
// and uncorrelated, as far as the noise tells (curator.View). Each time noise is that of rows as long
// as typical ones, and hides a fiftieth of what it hid before. Rows that are much longer than typical
// ones are left out.
type Fit uint8

const (
	// AnyFit is Afford's to decide, and Unfitted otherwise.
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

const (
	fitLooks       = 2    // second moments that are released first, each at half the price of the last ones
	fitMomentShare = 0.12 // of ρ, of the last second moments
	fitFirstNoise  = 2    // noise multiplier of the first optimum over the last's
	fitFirstRidge  = 2    // ridge of the first optimum over the last's
	fitDoubt       = 0.3  // share by which a normal law of the features may have the curvature wrong
	fitReach       = 50   // the longest optimum about which the last one's ridge is
)

// fittable reports whether columns can be fitted: of two labels, by a link that the room's minimiser
// takes from far centres too.
func (c Config) fittable(m model) bool {
	if c.Aim == Sums {
		return len(c.numbers()) > 0 && len(c.Columns) <= mostFeatures && surrogates.ConstantOf(c.Columns) >= 0
	}
	return c.Aim == Score && m.regression != nil && m.regression.Standardized() > 0 &&
		slices.Contains([]string{"logistic", "probit"}, m.regression.Family()) &&
		len(c.numbers()) > 0 && surrogates.ConstantOf(c.Columns) >= 0
}

// fitFloor is the part of the square of half the distance of a number's bounds that noise may hide in the
// first second moments for columns to be fitted.
const fitFloor = 0.15

// worthFitting predicts whether fitted columns are known better. Where records are few the first
// second moments say nothing.
func (c Config) worthFitting(m model, f curator.Facts, rho float64) Fit {
	if !c.fittable(m) || c.Law == Spherical || c.OptimumNoise != 0 || c.MomentNoise != 0 {
		return Unfitted
	}
	c.Fit = Fitted
	c.MomentNoise = c.momentNoise(m, f, rho)
	first := c.fitMoment(nil)
	if c.Aim == Sums {
		c.MomentNoise = multiplier(f, rho/sumsWhole) * adjacent(f, math.Sqrt2)
		first = c.earlierSums(f, 0)
	}
	noise, err := first.NoiseSD(f)
	if err != nil {
		return Unfitted
	}
	square, numbers := 0.0, c.numbers()
	for _, j := range numbers {
		half := (c.Columns[j].Upper - c.Columns[j].Lower) / 2
		square += half * half / float64(len(numbers))
	}
	floor := fitFloor
	if c.Aim == Sums {
		floor = sumsFloor
	}
	if noise*math.Sqrt(2*float64(len(numbers))) < floor*square*float64(f.Records) {
		return Fitted
	}
	return Unfitted
}

// numbers are the columns that are fitted: those that are numbers, and of Sums levels too.
func (c Config) numbers() (all []int) {
	for j, column := range c.Columns {
		if column.Kind == surrogates.Number || c.Aim == Sums && column.Kind == surrogates.Level {
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

// radius is the longest row that is seen in fitted columns: of a normal law few are longer.
func (c Config) radius() float64 {
	k, groups, square := float64(len(c.numbers())), map[int]bool{}, 1.0
	if c.Aim == Sums { // longer rows weigh less
		return math.Sqrt(square + k)
	}
	for _, column := range c.Columns {
		if column.Kind == surrogates.Level && !groups[column.Group] {
			groups[column.Group] = true
			square++
		}
	}
	return math.Sqrt(square + k + 2*math.Sqrt(2*k) + 2)
}

// seen are the facts of records as the anchor sees them.
func (c Config) seen(f curator.Facts) curator.Facts {
	if c.Fit == Fitted {
		f.Radius = c.radius()
	}
	return f
}

// fitMoment is the mechanism of the second moments that are released first: of rows as they are, and
// then in the view.
func (c Config) fitMoment(view *curator.View) curator.SecondMoment {
	return curator.SecondMoment{NoiseMultiplier: min(curator.MostNoise, c.MomentNoise*math.Sqrt(fitLooks)), View: view}
}

// fitCost is the price of them.
func (c Config) fitCost(m model, f curator.Facts) ([]accountant.Event, error) {
	first, err := c.fitMoment(nil).Event(f)
	if err != nil {
		return nil, err
	}
	second, err := c.fitMoment(c.view).Event(f)
	if err != nil {
		return nil, err
	}
	optimum, err := c.firstOptimum(m).Event(f)
	all := []accountant.Event{first, optimum}
	for range fitLooks - 1 {
		all = append(all, second)
	}
	return all, err
}

// firstOptimum is the mechanism of the optimum about which the ridge of the anchor's is.
func (c Config) firstOptimum(m model) curator.Optimum {
	o := c.optimum(m)
	o.Reach, o.Ridge, o.NoiseMultiplier = 0, fitFirstRidge*c.Ridge, min(curator.MostNoise, fitFirstNoise*c.OptimumNoise)
	return o
}

// inView is the configuration of an anchor of fitted columns.
func (c Config) inView() Config {
	if c.Fit != Fitted {
		return c
	}
	c.view = &curator.View{Radius: c.radius()}
	columns, numbers := make([]surrogates.Column, len(c.Columns)), c.numbers()
	for j, column := range c.Columns {
		if !slices.Contains(numbers, j) { // these have no bounds any more
			column.Lower, column.Upper = column.Lower/unit(column), column.Upper/unit(column)
			if columns[j] = column; c.Aim == Sums && column.Kind == surrogates.Constant {
				columns[j].Missing = sumsMissing
			}
		}
	}
	c.Columns = columns
	return c
}

// fit is a map of rows to fitted ones, and the releases that make it.
type fit struct {
	columns []surrogates.Column // as they are
	numbers []int               // the columns that are numbers
	facts   curator.Facts       // of the records as they are
	radius  float64
	fewest  float64           // share of the records that count, at least
	noise   [fitLooks]float64 // standard deviations of the released moments' diagonals
	moments [fitLooks]*curator.Moments
	optima  *curator.Optima // of the first optimum
	matrix  *mat.Dense
}

func newFit(c Config, f curator.Facts) (*fit, error) {
	t := &fit{columns: c.Columns, numbers: c.numbers(), facts: f, radius: c.radius(), fewest: 0.5}
	for i := range t.noise {
		view := &curator.View{Radius: t.radius}
		if i == 0 {
			view = nil
		}
		var err error
		if t.noise[i], err = c.fitMoment(view).NoiseSD(f); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// prior is the model's, of fitted columns. That of numbers is standardized, whatever it is here.
func (t *fit) prior(model priors.Gaussian) priors.Gaussian {
	out := priors.Gaussian{SDs: make([]float64, len(t.columns))}
	for j, c := range t.columns {
		out.SDs[j] = model.SD
		if model.SDs != nil {
			out.SDs[j] = model.SDs[j]
		}
		if c.Kind != surrogates.Number {
			out.SDs[j] *= math.Abs(unit(c))
		}
	}
	return out
}

// counted is how many records the moments of fitted columns say are seen: fewer than all only if noise
// does not explain it.
func (t *fit) counted(moment []float64, sd float64) int64 {
	constant, n := surrogates.ConstantOf(t.columns), float64(t.facts.Records)
	missing := max(0, n-moment[constant*(len(t.columns)+1)]-sd)
	return max(1, int64(n-min(n/2, missing)))
}

// size is the number of values that are released before the anchor.
func (t *fit) size() int { return fitLooks*len(t.columns)*len(t.columns) + len(t.columns) }

// centre is the optimum among them, no longer than fitReach.
func (t *fit) centre(values []float64) []float64 {
	at := slices.Clone(values[t.size()-len(t.columns) : t.size()])
	if long := floats.Norm(at, 2); long > fitReach {
		floats.Scale(fitReach/long*(1-1e-9), at)
	}
	return at
}

// fitRequests are those of what is released before the anchor of fitted columns.
func (s *Chains) fitRequests() (all []curator.Request) {
	if s.fit == nil {
		return nil
	}
	for i := range s.fit.moments {
		view := s.config.view
		if i == 0 {
			view = nil
		}
		all = append(all, curator.RequestFor(&s.fit.moments[i], s.config.fitMoment(view), 1))
	}
	return append(all, curator.RequestFor(&s.fit.optima, s.config.firstOptimum(s.model), 1))
}

// lookAt releases the anchor. Of fitted columns it releases second moments before, points the view where
// they say, and finds the anchor beside an optimum there: its ridge moves it little.
func (s *Chains) lookAt(ctx context.Context, values, anchor []float64) error {
	if s.fit == nil {
		return s.optima.ReleaseContext(ctx, anchor)
	}
	d := s.facts.Features
	for i, grant := range s.fit.moments {
		if err := grant.Release(values[i*d*d:(i+1)*d*d], nil); err != nil {
			return err
		}
		s.fit.from(values[:(i+1)*d*d])
		s.config.view.Matrix = s.fit.matrix.RawMatrix().Data
	}
	if err := s.fit.optima.ReleaseContext(ctx, values[fitLooks*d*d:s.fit.size()]); err != nil {
		return err
	}
	return s.optima.ReleaseAbout(ctx, anchor, s.fit.centre(values))
}

// describeFit makes the map, and says what the releases in it are.
func (s *Chains) describeFit(r *Release) error {
	d := s.facts.Features
	s.fit.from(r.Values[:fitLooks*d*d])
	r.Statistics.Records = s.fit.counted(r.Statistics.Moment, r.Statistics.MomentSD)
	floats.AddScaled(r.Statistics.Score, s.config.Ridge, s.fit.centre(r.Values))
	optimum := s.config.firstOptimum(s.model)
	sd, err := optimum.ScoreSD(s.facts)
	first := surrogates.Look{Anchor: r.Values[s.fit.size()-d : s.fit.size()], Score: make([]float64, d), ScoreSD: sd}
	floats.AddScaled(first.Score, -optimum.Ridge, first.Anchor)
	r.Earlier = []surrogates.Look{first}
	return err
}
