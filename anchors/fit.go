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
	fitReach       = 50   // the longest optimum about which the last one's ridge is
)

// fittable reports whether columns can be fitted: of two labels, by a link that the room's minimiser
// takes from far centres too.
func (c Config) fittable(m model) bool {
	return c.Aim == Score && m.regression != nil && m.regression.Standardized() > 0 &&
		slices.Contains([]string{"logistic", "probit"}, m.regression.Family()) &&
		len(c.numbers()) > 0 && constantOf(c.Columns) >= 0
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
	noise, err := c.fitMoment(nil).NoiseSD(f)
	if err != nil {
		return Unfitted
	}
	square, numbers := 0.0, c.numbers()
	for _, j := range numbers {
		half := (c.Columns[j].Upper - c.Columns[j].Lower) / 2
		square += half * half / float64(len(numbers))
	}
	if noise*math.Sqrt(2*float64(len(numbers))) < fitFloor*square*float64(f.Records) {
		return Fitted
	}
	return Unfitted
}

// numbers are the columns that are numbers.
func (c Config) numbers() (all []int) {
	for j, column := range c.Columns {
		if column.Kind == surrogates.Number {
			all = append(all, j)
		}
	}
	return all
}

func constantOf(columns []surrogates.Column) int {
	for j, column := range columns {
		if column.Kind == surrogates.Constant {
			return j
		}
	}
	return -1
}

// unit is the largest value of a column that is no number, which a fitted one has as 1.
func unit(c surrogates.Column) float64 { return max(math.Abs(c.Lower), math.Abs(c.Upper)) }

// radius is the longest row that is seen in fitted columns: of a normal law few are longer.
func (c Config) radius() float64 {
	k, groups, square := float64(len(c.numbers())), map[int]bool{}, 1.0
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
	columns := make([]surrogates.Column, len(c.Columns))
	for j, column := range c.Columns {
		switch column.Kind {
		case surrogates.Number:
			columns[j] = surrogates.Column{}
		default:
			by := unit(column)
			if column.Upper < 0 && column.Kind == surrogates.Constant {
				by = -by
			}
			column.Lower, column.Upper = column.Lower/by, column.Upper/by
			columns[j] = column
		}
	}
	c.Columns = columns
	return c
}

// fit is a map of rows to fitted ones, and the releases that make it.
type fit struct {
	columns []surrogates.Column // as they are
	facts   curator.Facts       // of the records as they are
	radius  float64
	noise   [fitLooks]float64 // standard deviations of the released moments' diagonals
	moments [fitLooks]*curator.Moments
	optima  *curator.Optima // of the first optimum
	matrix  *mat.Dense
}

func newFit(c Config, f curator.Facts) (*fit, error) {
	t := &fit{columns: c.Columns, facts: f, radius: c.radius()}
	view := &curator.View{Radius: t.radius}
	var err error
	for i := range t.noise {
		if t.noise[i], err = c.fitMoment(view).NoiseSD(f); err != nil {
			return nil, err
		}
	}
	t.noise[0], err = c.fitMoment(nil).NoiseSD(f)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// from makes the map that released second moments say, the first of which are of rows as they are.
func (t *fit) from(moments []float64) {
	d := len(t.columns)
	t.matrix = mat.NewDense(d, d, nil)
	for j := range d {
		t.matrix.Set(j, j, 1)
	}
	for i := 0; len(moments) > 0; i++ {
		t.next(mat.NewSymDense(d, append([]float64(nil), moments[:d*d]...)), t.noise[i], i == 0)
		moments = moments[d*d:]
	}
}

// next follows the map by the one that second moments of rows in it say.
func (t *fit) next(moment *mat.SymDense, noise float64, first bool) {
	d, constant := len(t.columns), constantOf(t.columns)
	var numbers []int
	for j, c := range t.columns {
		switch {
		case c.Kind == surrogates.Number:
			numbers = append(numbers, j)
		case first:
			by := unit(c)
			if j == constant {
				by = c.Upper
			}
			t.matrix.Set(j, j, 1/by)
		}
	}
	level := 1.0 // of the constant in the rows that the moments are of
	if first {
		level = t.columns[constant].Upper
	}
	n := float64(t.facts.Records)
	count := min(n, max(n/2, moment.At(constant, constant)/(level*level)))
	k := len(numbers)
	// Numbers less their mean, by the constant, which is 1 in the map.
	mean, centred := make([]float64, k), mat.NewDense(k, d, nil)
	for a, j := range numbers {
		mean[a] = moment.At(j, constant) / (count * level)
		for l := range d {
			centred.Set(a, l, t.matrix.At(j, l)-mean[a]*t.matrix.At(constant, l))
		}
	}
	covariance := mat.NewSymDense(k, nil)
	for a, j := range numbers {
		for b := range a + 1 {
			covariance.SetSym(a, b, moment.At(j, numbers[b])/count-mean[a]*mean[b])
		}
	}
	longest := t.radius
	if first {
		longest = t.facts.Radius
	}
	// No less than what noise makes of a matrix of zeros, unless bounds alone say more.
	floor := min(noise/count*math.Sqrt(2*float64(k)), longest*longest/(t.radius*t.radius))
	var rows mat.Dense
	rows.Mul(whitener(covariance, floor), centred)
	for a, j := range numbers {
		t.matrix.SetRow(j, rows.RawRowView(a))
	}
}

// whitener is the inverse root of a covariance matrix with eigenvalues of at least floor, turned so
// that each of its rows is as near as can be to a multiple of a unit vector.
func whitener(covariance *mat.SymDense, floor float64) *mat.Dense {
	k := covariance.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		panic("anchors: eigenvalues of a finite symmetric matrix did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	inverse, root := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = math.Sqrt(max(v, floor))
	}
	for a := range k {
		for b := range k {
			p, q := 0.0, 0.0
			for i, v := range values {
				e := vectors.At(a, i) * vectors.At(b, i)
				p, q = p+e/v, q+e*v
			}
			inverse.Set(a, b, p)
			root.Set(a, b, q)
		}
	}
	// Of whiteners QW the one nearest to the inverse standard deviations has Q = (root·1/sd)'s polar factor, transposed.
	for b := range k {
		sd := mat.Norm(root.ColView(b), 2)
		for a := range k {
			root.Set(a, b, root.At(a, b)/sd)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(root, mat.SVDFull) {
		return inverse
	}
	var u, v, q, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&v, u.T())
	out.Mul(&q, inverse)
	return &out
}

// back turns coefficients of fitted columns into those of columns as they are.
func (t *fit) back(theta []float64) {
	var out mat.VecDense
	out.MulVec(t.matrix.T(), mat.NewVecDense(len(theta), theta))
	copy(theta, out.RawVector().Data)
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
			out.SDs[j] *= unit(c)
		}
	}
	return out
}

// counted is how many records the moments of fitted columns say are seen: fewer than all only if noise
// does not explain it.
func (t *fit) counted(moment []float64, sd float64) int64 {
	constant, n := constantOf(t.columns), float64(t.facts.Records)
	missing := max(0, n-moment[constant*(len(t.columns)+1)]-sd)
	return max(1, int64(n-min(n/2, missing)))
}

// size is the number of values that are released before the anchor.
func (t *fit) size() int { return fitLooks*len(t.columns)*len(t.columns) + len(t.columns) }

// centre is the optimum among them, no longer than fitReach.
func (t *fit) centre(values []float64) []float64 {
	at := append([]float64(nil), values[t.size()-len(t.columns):t.size()]...)
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
