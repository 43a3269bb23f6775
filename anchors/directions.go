package anchors

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// seen: directions whose released curvature is not so many standard deviations of its
// noise are hidden.
const seen = 3

// rounding is the share of the largest curvature below which one may be rounding: where all chances are 0 or 1.
const rounding = 1e-12

// directions are those of the released curvature, and what is known along each.
type directions struct {
	axes      *mat.Dense // orthonormal columns
	curvature []float64  // released, less a standard deviation of its noise, and at least 0
	score     []float64
	weight    []float64 // of the score: h/(h + σ²), or 1 where the noise is left out
	hidden    []bool
	least     float64 // weight of those that are not hidden, 0 for none
}

// scales are Config.Scales.
func (c Config) scales(theta []float64) []float64 {
	if c.Scales != nil {
		return c.Scales(theta)
	}
	return slices.Repeat([]float64{1}, len(theta))
}

// curved is the curvature of the loss at the anchor, temperature left out, as a release says. Along
// a direction v its noise has a standard deviation of at most v·noise·v.
type curved struct{ of, noise *mat.SymDense }

// curvature is of released products between the scales of parameters, or of features.
func (a *first) curvature(s surrogates.Statistics) curved {
	if a.classes != nil {
		return classCurvature(a.classes, s, a.config.Columns)
	}
	scales, d := a.config.scales(s.Anchor), a.side
	c := curved{mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)}
	for j, by := range scales {
		for k := range j + 1 {
			c.of.SetSym(k, j, by*scales[k]*(s.Moment[j*d+k]+s.Moment[k*d+j])/2)
		}
		c.noise.SetSym(j, j, by*by*s.MomentSD)
	}
	return c
}

// directionsOf are those of a curvature.
func directionsOf(s surrogates.Statistics, c curved, t targets.GradTarget, aware bool) (*directions, error) {
	basis, err := span(t, s.Anchor, s.Radius)
	if err != nil {
		return nil, err
	}
	d, m := basis.Dims()
	var inner, vectors mat.Dense
	inner.Product(basis.T(), c.of, basis)
	along := mat.NewSymDense(m, nil)
	for j := range m {
		for k := range j + 1 {
			along.SetSym(k, j, s.Temperature*(inner.At(j, k)+inner.At(k, j))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(along, true) {
		return nil, errors.New("anchors: the released curvature has no eigenvalues")
	}
	eigen.VectorsTo(&vectors)
	w := &directions{axes: new(mat.Dense), curvature: eigen.Values(nil), score: make([]float64, m),
		weight: make([]float64, m), hidden: make([]bool, m), least: 1}
	w.axes.Mul(basis, &vectors)
	mat.NewVecDense(m, w.score).MulVec(w.axes.T(), mat.NewVecDense(d, s.Score))
	largest := w.curvature[m-1] // they rise
	for j, h := range w.curvature {
		axis := w.axes.ColView(j)
		noise := s.Temperature * max(0, mat.Inner(axis, c.noise, axis))
		w.hidden[j] = h <= max(seen*noise, rounding*largest)
		h = max(0, h-noise)
		w.curvature[j], w.weight[j] = h, 1
		if aware && h > 0 {
			w.weight[j] = h / (h + s.ScoreSD*s.ScoreSD)
		}
		if !w.hidden[j] {
			w.least = min(w.least, w.weight[j])
		}
	}
	if !slices.Contains(w.hidden, false) {
		w.least = 0
	}
	return w, nil
}

// newton moves theta to where the log-likelihood is predicted to be highest, as far as the
// noise of the score lets that be known.
func (w *directions) newton(theta []float64) {
	for j, h := range w.curvature {
		if w.hidden[j] {
			continue
		}
		most := mostSteps / math.Sqrt(h)
		along := max(-most, min(most, -w.weight[j]*w.score[j]/h))
		for i := range theta {
			theta[i] += along * w.axes.At(i, j)
		}
	}
}

// firstDensity makes the density that stands for everything but remainders of order 1.
// With h the curvature in a direction, g the score there and K its weight, a direction has
//
//	exp{−K·(g·δ + ½h·δ²) + ½κh·δ²}
//
// of which bits carry κ = min K. The last part takes away what they carry.
func firstDensity(s surrogates.Statistics, c curved, t targets.GradTarget, aware bool) (*Density, int, error) {
	w, err := directionsOf(s, c, t, aware)
	if err != nil {
		return nil, 0, err
	}
	d := len(s.Anchor)
	out := &Density{prior: t, estimate: slices.Clone(s.Anchor), Kept: w.least, Widening: 1, flat: make([]float64, d*d),
		carried: make([]float64, d*d), anchor: s.Anchor, precision: mat.NewSymDense(d, nil)}
	whole, hidden := mat.NewSymDense(d, nil), 0
	for j, h := range w.curvature {
		v := w.axes.ColView(j)
		if w.hidden[j] {
			hidden++
		}
		if h > 0 {
			for i := range d {
				out.estimate[i] -= w.score[j] / h * v.AtVec(i)
			}
		}
		out.precision.SymRankOne(out.precision, w.weight[j]*h, v)
		whole.SymRankOne(whole, h, v)
		for i := range d {
			for k := range d {
				both := h * v.AtVec(i) * v.AtVec(k)
				out.flat[i*d+k] += w.weight[j] * both
				out.carried[i*d+k] += min(w.least, w.weight[j]) * both
			}
		}
	}
	if err := out.approximate(); err != nil {
		return nil, 0, err
	}
	return out, hidden, out.compare(whole, w.told())
}

// told has in column j what records can tell of parameter j: the part of it that is in the
// span. A softmax regression's is without the common shift of the classes.
func (w *directions) told() *mat.Dense {
	var out mat.Dense
	out.Mul(w.axes, w.axes.T())
	return &out
}

// compare fills in the widening against a release without noise, which would have the
// whole curvature, and the parameters that the prior bounds: of which what records can tell
// has more than a third of the standard deviation that the prior's curvature gives it.
func (d *Density) compare(whole *mat.SymDense, told *mat.Dense) error {
	alone := mat.NewSymDense(len(d.mean), nil)
	d.addPrior(alone)
	d.addPrior(whole)
	var chol mat.Cholesky
	n := len(d.mean)
	without := mat.NewSymDense(n, nil)
	if !chol.Factorize(whole) || chol.InverseTo(without) != nil {
		return errors.New("anchors: the released curvature and the prior leave a direction without bounds")
	}
	factor, ratios := mat.NewDense(n, n, d.factor), make([]float64, n)
	for j := range ratios {
		v := told.ColView(j)
		var along mat.VecDense
		along.MulVec(factor.T(), v)
		with, prior := mat.Dot(&along, &along), 0.0
		for i := range n {
			prior += v.AtVec(i) * v.AtVec(i) / alone.At(i, i)
		}
		ratios[j] = math.Sqrt(with / mat.Inner(v, without, v))
		if 9*with > prior {
			d.bound = append(d.bound, j)
		}
	}
	d.Widening = middle(ratios)
	return nil
}

// span is an orthonormal basis of the directions in which any record's gradient at theta
// can point, by columns: of a softmax regression all but the common shifts of the classes.
// Records are made up, so it is public.
func span(t targets.GradTarget, theta []float64, radius float64) (*mat.Dense, error) {
	const none = 1e-9
	d := t.Dim()
	features, response := t.Shape()
	n := 50 + 20*d
	rng := rand.New(rand.NewPCG(1, 0x5ba4))
	rows := targets.Rows{P: features, X: make([]float64, n*features)}
	for i := range rows.X {
		rows.X[i] = max(radius, 1) * rng.NormFloat64()
	}
	if response {
		rows.Y = make([]float64, n)
		for i := range rows.Y {
			rows.Y[i] = float64(i % 8)
		}
	}
	gradients := make([]float64, n*d)
	t.LossGrad(gradients, theta, rows)
	gram := mat.NewSymDense(d, nil)
	for i := range n {
		g := mat.NewVecDense(d, gradients[i*d:(i+1)*d])
		if square := mat.Dot(g, g); square > 0 && !math.IsInf(square, 1) {
			gram.SymRankOne(gram, 1/square, g)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, errors.New("anchors: the target has no finite gradients at the anchor")
	}
	values := eigen.Values(nil) // rising
	from := 0
	for from < d-1 && values[from] <= none*values[d-1] {
		from++
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return mat.DenseCopyOf(vectors.Slice(0, d, from, d)), nil
}
