package anchors

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

const (
	fitLooks       = 5    // second moments that are released first, together at the price of the last ones
	fitMomentShare = 0.12 // of ρ, of the last second moments
	fitFirstNoise  = 2    // noise multiplier of the first optimum over the last's
	fitFirstRidge  = 2    // ridge of the first optimum over the last's
	fitDoubt       = 0.3  // share by which a normal law of the features may have the curvature wrong
	fitFloor       = 0.3  // part of a number's bounds that noise may hide (fitKind.first)
	fitReach       = 50   // the longest optimum about which the last one's ridge is
)

// scoreFit is that of Score, of numbers: second moments, and a first optimum unless there are nearer
// anchors.
type scoreFit struct{}

// fits: of labels, whose loss the room's minimiser takes from far centres too, and of counts with nearer
// anchors, which need no centre.
func (scoreFit) fits(c Config, m model) bool {
	return m.regression != nil && m.regression.Standardized() > 0 && (m.loss.Count() == 0 || c.near(m))
}

func (scoreFit) has(column surrogates.Column) bool { return column.Kind == surrogates.Number }

// radius: of a normal law few rows are longer.
func (scoreFit) radius(c Config) float64 {
	k, groups, square := float64(len(c.numbers())), map[int]bool{}, 1.0
	for _, column := range c.Columns {
		if column.Kind == surrogates.Level && !groups[column.Group] {
			groups[column.Group] = true
			square++
		}
	}
	return math.Sqrt(square + k + 2*math.Sqrt(2*k) + 2)
}

func (scoreFit) first(c Config, m model, f curator.Facts, rho float64) (curator.SecondMoment, float64) {
	c.MomentNoise = c.momentNoise(m, f, rho)
	return c.fitMoment(0), c.scoreFloor(m)
}

// scoreFloor is the part of a number's bounds that noise may hide. A map does nothing for levels, and rows in it are
// longer beside what levels are. That costs levels of a regression of labels more than the map brings where they are
// half as many again as numbers.
func (c Config) scoreFloor(m model) float64 {
	levels := 0
	for _, column := range c.Columns {
		if column.Kind == surrogates.Level {
			levels++
		}
	}
	if 2*levels >= 3*len(c.numbers()) && !c.near(m) { // moments hardly matter to counts
		return 0
	}
	return fitFloor
}

func (scoreFit) mechanisms(c Config, m model, _ curator.Facts) []mechanism {
	all := []mechanism{c.fitMoment(0)}
	if !c.near(m) {
		all = append(all, c.firstOptimum(m))
	}
	for look := 1; look < fitLooks; look++ {
		all = append(all, c.fitMoment(look))
	}
	return all
}

// fitMoment is the mechanism of the second moments that are released first: of rows as they are, and
// then in the view.
func (c Config) fitMoment(look int) curator.SecondMoment {
	m := curator.SecondMoment{NoiseMultiplier: min(curator.MostNoise, c.MomentNoise*math.Sqrt(fitLooks)), View: c.view}
	if look == 0 {
		m.View = nil
	}
	return m
}

// firstOptimum is the mechanism of the optimum about which the ridge of the anchor's is.
func (c Config) firstOptimum(m model) curator.Optimum {
	o := c.optimum(m)
	o.Reach, o.Ridge, o.NoiseMultiplier = 0, fitFirstRidge*c.Ridge, min(curator.MostNoise, fitFirstNoise*c.OptimumNoise)
	return o
}

// fitScore is a map with the releases that make it.
type fitScore struct {
	fit
	model   model
	noise   [fitLooks]float64 // standard deviations of the released moments' diagonals
	scoreSD float64           // that of the noise in the anchor's score, at reach 1
	reach   float64           // longest rows that the anchor sees, over the radius
	moments [fitLooks]*curator.Moments
	optima  *curator.Optima // of the first optimum
}

func (scoreFit) begin(c Config, m model, f curator.Facts) (fitted, error) {
	t := &fitScore{fit: newFit(c, f, 0.5), model: m}
	t.ownShare = surrogates.OwnShare
	for i := range t.noise {
		var err error
		if t.noise[i], err = t.config.fitMoment(i).NoiseSD(f); err != nil {
			return nil, err
		}
	}
	var err error
	t.scoreSD, err = t.config.optimum(m).ScoreSD(c.seen(f))
	return t, err
}

// from makes the map that released second moments say, the first of which are of rows as they are.
func (t *fitScore) from(moments []float64) {
	d := len(t.columns)
	t.matrix = mat.NewDense(d, d, nil)
	for j := range d {
		t.matrix.Set(j, j, 1)
	}
	for i := 0; len(moments) > 0; i++ {
		t.next(mat.NewSymDense(d, slices.Clone(moments[:d*d])), t.noise[i], i == 0)
		moments = moments[d*d:]
	}
}

// prior is the model's, of fitted columns. That of numbers is standardized, whatever it is here, and the
// intercept's is as much wider as these spread predictors.
func (t *fitScore) prior(model priors.Gaussian) priors.Gaussian {
	out := priors.Gaussian{SDs: make([]float64, len(t.columns))}
	for j, c := range t.columns {
		out.SDs[j] = model.SD
		if model.SDs != nil {
			out.SDs[j] = model.SDs[j]
		}
		if c.Kind != surrogates.Number {
			out.SDs[j] *= math.Abs(unit(c))
		}
		if c.Kind == surrogates.Constant {
			out.SDs[j] *= surrogates.Openness(len(t.numbers))
		}
	}
	return out
}

// counted is how many records the moments of fitted columns say are seen: fewer than all only if noise
// does not explain it.
func (t *fitScore) counted(moment []float64, sd float64) int64 {
	constant, n := surrogates.ConstantOf(t.columns), float64(t.facts.Records)
	missing := max(0, n-moment[constant*(len(t.columns)+1)]-sd)
	return max(1, int64(n-min(n/2, missing)))
}

// size is the number of values that are released before the anchor.
func (t *fitScore) size() int {
	if t.near() {
		return fitLooks * len(t.columns) * len(t.columns)
	}
	return fitLooks*len(t.columns)*len(t.columns) + len(t.columns)
}

// near reports whether nearer anchors follow, in place of a first optimum.
func (t *fitScore) near() bool { return t.config.near(t.model) }

// centre is the optimum among them, no longer than fitReach.
func (t *fitScore) centre(values []float64) []float64 {
	at := slices.Clone(values[t.size()-len(t.columns) : t.size()])
	if long := floats.Norm(at, 2); long > fitReach {
		floats.Scale(fitReach/long*(1-1e-9), at)
	}
	return at
}

func (t *fitScore) requests() (all []curator.Request) {
	for i := range t.moments {
		all = append(all, curator.RequestFor(&t.moments[i], t.config.fitMoment(i), 1))
	}
	if t.near() {
		return all
	}
	return append(all, curator.RequestFor(&t.optima, t.config.firstOptimum(t.model), 1))
}

// look releases second moments, points the view where they say and as far as they allow, and finds an
// optimum there.
func (t *fitScore) look(ctx context.Context, values []float64) error {
	square := len(t.columns) * len(t.columns)
	for i, grant := range t.moments {
		if err := grant.Release(values[i*square:(i+1)*square], nil); err != nil {
			return err
		}
		t.from(values[:(i+1)*square])
		t.aim(1)
	}
	if t.near() {
		return nil
	}
	t.widen(values)
	t.aim(t.reach)
	return t.optima.ReleaseContext(ctx, values[fitLooks*square:t.size()])
}

// owned sets what is a number's own.
func (t *fitScore) owned(s *surrogates.Statistics) {
	moment := mat.NewSymDense(len(t.columns), slices.Clone(s.Moment))
	_, covariance := t.covariance(moment, 1, t.counts(moment, 1))
	s.Columns = slices.Clone(s.Columns)
	own := t.own(covariance)
	for a, j := range t.numbers {
		s.Columns[j].Own = own.At(a, a)
	}
}

// describe makes the map, and has the anchor's ridge about the first optimum.
func (t *fitScore) describe(r *Release) error {
	d := len(t.columns)
	t.from(r.Values[:fitLooks*d*d])
	t.widen(r.Values)
	if !t.near() {
		floats.AddScaled(r.Statistics.Score, t.config.Ridge, t.centre(r.Values))
	}
	t.unreached(&r.Statistics)
	r.Statistics.Records = t.counted(r.Statistics.Moment, r.Statistics.MomentSD)
	var err error
	if r.Left, err = t.leftOut(r); err != nil {
		return err
	}
	t.owned(&r.Statistics)
	if t.near() {
		return nil
	}
	optimum := t.config.firstOptimum(t.model)
	sd, err := optimum.ScoreSD(t.config.seen(t.facts))
	first := surrogates.Look{Anchor: slices.Clone(r.Values[t.size()-d : t.size()]), Score: make([]float64, d), ScoreSD: sd}
	floats.AddScaled(first.Score, -optimum.Ridge, first.Anchor)
	t.unreachedLook(&first)
	r.Earlier = []surrogates.Look{first}
	return err
}
