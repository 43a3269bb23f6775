package anchors

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Sums of fitted columns are of residuals. Each look before the last releases second moments of rows
// and responses, which make a map of rows and a first regression, and then counts of how large its
// residuals are. So noise is in proportion to these, and not to the bounds of responses.
const (
	sumsLooks       = 2
	sumsMomentNoise = 2    // noise multiplier of earlier moments over the last's
	sumsSizesNoise  = 5    // that of the sizes of residuals
	sumsFloor       = 0.4  // in place of fitFloor, since centred responses alone are worth it
	sumsShort       = 0.7  // square of the longest row in earlier looks, over the mean that is aimed at
	sumsLong        = 4    // that in the last, where noise hides next to nothing (fitSums.long)
	sumsMisfit      = 0.08 // what rows that weigh less say otherwise there, a record, where that is 1
	sumsCut         = 4    // spreads of residuals that are seen, usually
	sumsLeastCut    = 4    // at least
	sumsMostCut     = 10   // at most, where noise hides little
	sumsTail        = 0.01 // share of the residuals that may be cut
	sumsMissing     = 0.5  // of the records' weight, of which no more is known beforehand
	sumsLeast       = 0.1  // of it that there is, at least

	// sumsWhole is the price of all releases over that of the last moments.
	sumsWhole = 1 + sumsLooks*(1.0/(sumsMomentNoise*sumsMomentNoise)+1.0/(sumsSizesNoise*sumsSizesNoise))
)

func (c Config) sizes(f curator.Facts) curator.NoisyGradient {
	return curator.NoisyGradient{Target: sizes{f.Features, c.Response}, Clip: 1,
		NoiseMultiplier: min(curator.MostNoise, sumsSizesNoise*c.MomentNoise)}
}

// earlierSums is the mechanism of second moments before the last: of rows as they are, and then in the
// view.
func (c Config) earlierSums(f curator.Facts, look int) curator.SecondMoment {
	m := c.moment(model{}, f)
	m.NoiseMultiplier = min(curator.MostNoise, sumsMomentNoise*m.NoiseMultiplier)
	if look == 0 {
		m.View, m.Response = nil, c.Response
	}
	return m
}

// sumsFit is that of Sums, of numbers and levels.
type sumsFit struct{}

func (sumsFit) fits(c Config, _ model) bool { return len(c.Columns) <= mostFeatures }

func (sumsFit) has(column surrogates.Column) bool { return column.Kind != surrogates.Constant }

// radius: longer rows weigh less.
func (sumsFit) radius(c Config) float64 { return math.Sqrt(1 + float64(len(c.numbers()))) }

func (sumsFit) first(c Config, _ model, f curator.Facts, rho float64) (curator.SecondMoment, float64) {
	c.MomentNoise = multiplier(f, rho/sumsWhole) * adjacent(f, math.Sqrt2)
	return c.earlierSums(f, 0), sumsFloor
}

func (sumsFit) mechanisms(c Config, _ model, f curator.Facts) (all []mechanism) {
	for look := range sumsLooks {
		all = append(all, c.earlierSums(f, look), c.sizes(f))
	}
	return all
}

// fitSums is what is known of records before their last sums: how they are seen then.
type fitSums struct {
	fit
	grants   [sumsLooks]*curator.Moments
	counts   [sumsLooks]*curator.Gradients
	of       sizes
	bin      float64   // standard deviation of the noise in a count
	offset   []float64 // coefficients of which residuals are seen
	share    float64   // of the records' weight in rows as they are
	law      law       // of residuals
	gain     float64   // of rows and residuals, so that rows that weigh less fill the radius
	reach    float64   // the largest residual that is seen
	momentSD [sumsLooks]float64
}

func (sumsFit) begin(c Config, _ model, f curator.Facts) (fitted, error) {
	t := &fitSums{fit: newFit(c, f, sumsLeast), of: sizes{f.Features, c.Response}}
	t.columns = slices.Clone(c.Columns)
	for _, j := range t.numbers {
		t.columns[j] = surrogates.Column{}
	}
	t.config.Columns[surrogates.ConstantOf(c.Columns)].Missing = sumsMissing
	var err error
	for i := range t.momentSD {
		if t.momentSD[i], err = t.config.earlierSums(f, i).NoiseSD(f); err != nil {
			return nil, err
		}
	}
	t.bin, err = t.config.sizes(f).NoiseSD(f)
	return t, err
}

// square and size are numbers of values that are released: of second moments, and of all before the last.
func (t *fitSums) square() int { return (len(t.columns) + 1) * (len(t.columns) + 1) }

func (t *fitSums) size() int { return sumsLooks * (t.square() + sizeBins) }

func (t *fitSums) requests() (all []curator.Request) {
	for i := range sumsLooks {
		all = append(all, curator.RequestFor(&t.grants[i], t.config.earlierSums(t.facts, i), 1),
			curator.RequestFor(&t.counts[i], t.config.sizes(t.facts), 1))
	}
	return all
}

// look releases what is before the last moments, and points the view where that says.
func (t *fitSums) look(ctx context.Context, values []float64) error {
	d, one := len(t.columns), t.square()+sizeBins
	counts := make([]float64, d+sizeBins)
	for i := range sumsLooks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.grants[i].Release(values[i*one:i*one+t.square()], nil); err != nil {
			return err
		}
		t.from(values[:i*one+t.square()])
		if err := t.counts[i].Release(counts, append(slices.Clone(t.offset), make([]float64, sizeBins)...)); err != nil {
			return err
		}
		copy(values[i*one+t.square():(i+1)*one], counts[d:])
		t.from(values[:(i+1)*one])
		t.config.view.Matrix = t.seen()
	}
	return nil
}

// from fills in what releases say.
func (t *fitSums) from(values []float64) {
	d := len(t.columns)
	t.matrix, t.offset, t.gain = mat.NewDense(d, d, nil), make([]float64, d), 1
	for j := range d {
		t.matrix.Set(j, j, 1)
	}
	unit := t.config.moment(model{}, t.facts).ResponseUnit(t.facts)
	for i := 0; len(values) > 0; i++ {
		sums, noise := t.sums(values[:t.square()], t.momentSD[i]), 0.0
		if i == 0 {
			first := t.config.earlierSums(t.facts, 0)
			unit = first.ResponseUnit(t.facts)
			sums.Moment, sums.MomentSD = slices.Clone(values[:t.square()]), t.momentSD[0]
		}
		noise = sums.MomentSD
		square := mat.NewSymDense(d, nil)
		for j := range d {
			for k := range j + 1 {
				square.SetSym(j, k, sums.Moment[j*(d+1)+k])
			}
		}
		more := mat.NewVecDense(d, t.regress(square, sums.Moment, noise))
		var change mat.VecDense
		change.MulVec(t.matrix.T(), more)
		for j := range d {
			t.offset[j] += unit * change.AtVec(j)
		}
		if i == 0 {
			constant := surrogates.ConstantOf(t.columns)
			level := t.columns[constant].Upper
			n := float64(t.facts.Records)
			t.share = min(1, max(sumsLeast, square.At(constant, constant)/(level*level*n)))
		}
		t.next(square, noise, i == 0)
		t.lighter = lighter(float64(len(t.numbers)), t.radius*t.radius*t.share*sumsShort)
		long := sumsShort
		if i == sumsLooks-1 {
			long = t.long()
		}
		t.gain = 1 / math.Sqrt(t.share*long)
		if values = values[t.square():]; len(values) == 0 {
			return
		}
		t.measure(values[:sizeBins])
		unit, values = t.unit(), values[sizeBins:]
	}
}

// regress is a regression by sums with noise: directions in which it hides all have no coefficient.
func (t *fitSums) regress(square *mat.SymDense, moment []float64, noise float64) []float64 {
	d := len(t.columns)
	floor := noise * math.Sqrt(2*float64(d))
	var eigen mat.EigenSym
	if !eigen.Factorize(square, true) {
		return make([]float64, d)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	theta := make([]float64, d)
	for range 2 {
		variance := noise * noise / 2 * (1 + floats.Dot(theta, theta))
		clear(theta)
		for i, v := range eigen.Values(nil) {
			along := 0.0
			for j := range d {
				along += vectors.At(j, i) * moment[j*(d+1)+d]
			}
			c := along / max(v, floor) * max(0, 1-variance/(along*along+math.SmallestNonzeroFloat64))
			for j := range d {
				theta[j] += c * vectors.At(j, i)
			}
		}
	}
	return theta
}

// measure fills in how large residuals are, and how large ones are seen.
func (t *fitSums) measure(counts []float64) {
	n := float64(t.facts.Records)
	t.law = t.of.fit(counts, n, t.bin)
	t.reach = t.gain * min(t.of.edge(0), max(t.deviations()*t.law.spread, t.of.beyond(counts, n, t.bin, t.law)))
}

// deviations is where residuals are cut, in their spreads. Noise in Xᵀy is in proportion to it, and what the cut says
// otherwise to the root of what it takes away. Together the two are least here.
func (t *fitSums) deviations() (best float64) {
	least := math.Inf(1)
	for d := float64(sumsLeastCut); d <= sumsMostCut; d += 0.25 {
		misfit := t.law.scale() * surrogates.CutMisfit(t.law.cut(d, t.law.tail+t.law.tailSD), float64(t.facts.Records))
		if v := math.Pow(t.noise()*t.long()*d, 2) + misfit*misfit; v < least {
			least, best = v, d
		}
	}
	return best
}

// noise is the standard deviation of that in Xᵀy of rows and residuals, where both are seen up to their spreads:
// 1.5 times a row's square counts in a record (curator.SecondMoment), of residuals in units of √2 over it.
func (t *fitSums) noise() float64 {
	return 1.5 * math.Sqrt2 * t.config.moment(model{}, t.facts).NoiseMultiplier * t.radius * t.share
}

// long is the square of the longest row in the last look, over the mean that is aimed at. Noise in Xᵀy is in
// proportion to it. By how much more rows that weigh less move Xᵀy falls with about its square in public tables, to
// sumsMisfit standard deviations of errors a record in bad ones. Together the two are least here.
func (t *fitSums) long() float64 {
	misfit := sumsMisfit * float64(t.facts.Records)
	return min(sumsLong, max(sumsShort, math.Cbrt(math.Sqrt2*misfit/(sumsCut*t.noise()))))
}

// unit is that of residuals in rows of the view, their gain left out.
func (t *fitSums) unit() float64 { return t.reach * math.Sqrt2 / t.radius }

// seen is the matrix of the view.
func (t *fitSums) seen() []float64 {
	d := len(t.columns)
	out := make([]float64, 0, d*d+d+1)
	for _, v := range t.matrix.RawMatrix().Data {
		out = append(out, t.gain*v)
	}
	for _, b := range t.offset {
		out = append(out, -t.gain*b/t.reach)
	}
	return append(out, t.gain/t.reach)
}

// describe has the sums of rows without the gain.
func (t *fitSums) describe(r *Release) error {
	t.from(r.Values[:t.size()])
	r.Sums = t.sums(r.Sums.Moment, r.Sums.MomentSD)
	return nil
}

// sums are those of released moments in the view, of rows without the gain.
func (t *fitSums) sums(moment []float64, sd float64) surrogates.Sums {
	f, square := t.config.seen(t.facts), t.gain*t.gain
	out := surrogates.Sums{Moment: slices.Clone(moment), MomentSD: sd / square, Features: f.Features, Records: f.Records,
		Radius: f.Radius / t.gain, Columns: t.config.Columns}
	floats.Scale(1/square, out.Moment)
	if c := surrogates.ConstantOf(t.columns); t.columns[c].Varies && t.share > 0 { // its square is that of such records
		out.Columns = slices.Clone(out.Columns)
		out.Columns[c].Upper *= math.Sqrt(t.share)
	}
	return out
}

// cut is the part of the residuals' square that is taken away, where noise hides so many of its standard deviations.
func (t *fitSums) cut(off float64) float64 {
	return t.law.cut(t.reach/t.gain/t.law.spread, t.law.tail+off*t.law.tailSD)
}

// through says how the last sums see records.
func (t *fitSums) through() surrogates.Seen {
	missing := 1 - t.share
	if t.columns[surrogates.ConstantOf(t.columns)].Varies {
		missing = 0
	}
	return surrogates.Seen{Matrix: slices.Clone(t.matrix.RawMatrix().Data), Offset: slices.Clone(t.offset), Unit: t.unit(),
		Missing: missing, Far: t.far(), Cut: t.cut(0), CutSD: t.cut(1) - t.cut(0)}
}

// lighter is the variance of k normal numbers of variance 1, where rows whose square is above most weigh most
// over it.
func lighter(k, most float64) float64 {
	const step = 0.05
	weight, square := 0.0, 0.0
	law := distuv.ChiSquared{K: k}
	for r := step / 2; r < math.Sqrt(k)+10; r += step { // the length of such a row, but for the constant
		s := r * r
		w := 2 * r * law.Prob(s) * min(1, most/(1+s))
		weight += w
		square += w * s / k
	}
	return square / weight
}
