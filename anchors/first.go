package anchors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Anchors of order 1: for any target with gradients. A descent along noisy gradients finds
// the anchor, the score there and the second moments of gradients are released in one
// vector, and bits decide what a linear polynomial leaves of the loss.

// Shares of ρ, and of the release what its second moments have. What is left is the
// release's.
const (
	descentShare  = 0.2
	firstBitShare = 0.25
	productWeight = 0.5 // of which the square is the share
)

// looks are the releases after the descent: one that a Newton step follows, and one of
// which the chain is made.
const looks = 2

// mostSteps is how many posterior standard deviations a Newton step goes in a direction.
const mostSteps = 30

// descentSteps of a descent at most, whose gradients have the noise that their share buys.
const descentSteps = starts.DefaultSteps

// mostFirst is how many parameters a model of order 1 may have: its second moments grow
// with the square.
const mostFirst = 64

// descent is the number of steps and the noise multiplier of the descent before a release
// with a given one, where bits have a share.
func descent(release, bits float64) (steps int64, noise float64) {
	ratio := (1 - descentShare - bits) / (looks * descentShare)
	most := math.Pow(curator.MostNoise/release, 2) / ratio
	steps = int64(max(1, min(descentSteps, math.Floor(most))))
	return steps, min(curator.MostNoise, release*math.Sqrt(float64(steps)*ratio))
}

// first is what an anchor of order 1 is released by.
type first struct {
	config  Config
	classes *targets.Softmax // whose curvature the moments of features make, or nil
	side    int              // of the second moments
	slope   *targets.Tangent // of the descent
	tangent *targets.Tangent // of the release
	descent *curator.Gradients
	release *curator.Gradients
	longest float64 // cut of the descent's gradients
}

func newFirst(c Config, m model, f curator.Facts) (*first, error) {
	slope, err := targets.New(targets.TangentConfig{Target: m.first})
	if err != nil {
		return nil, err
	}
	a, radius := &first{config: c, slope: slope, classes: classesOf(m, f), side: m.first.Dim()}, 0.0
	if a.classes != nil {
		a.side, radius = f.Features, f.Radius
	}
	a.tangent, err = targets.New(targets.TangentConfig{Target: m.first, Weight: productWeight, Radius: radius})
	return a, err
}

// mechanisms are those of the descent, so many times, and of the release.
func (a *first) mechanisms() (each curator.NoisyGradient, steps int64, last curator.NoisyGradient) {
	bits := firstBitShare
	if !a.config.Aim.Bits() {
		bits = 0
	}
	steps, noise := descent(a.config.OptimumNoise, bits)
	return curator.NoisyGradient{Target: a.slope, Clip: 1, NoiseMultiplier: noise}, steps,
		curator.NoisyGradient{Target: a.tangent, Clip: 1, NoiseMultiplier: a.config.OptimumNoise}
}

func (a *first) requests() []curator.Request {
	each, steps, last := a.mechanisms()
	return []curator.Request{curator.RequestFor(&a.descent, each, steps),
		curator.RequestFor(&a.release, last, looks)}
}

// size is the number of values of a look: the anchor and the sums.
func (a *first) size() int { return a.slope.Dim() + a.tangent.Dim() }

// kept is how many looks chains are made of, the last one first.
func (a *first) kept() int {
	if a.config.Aim == Score {
		return looks
	}
	return 1
}

// look descends from theta = 0, makes a Newton step from where that ended, and the release
// there.
func (a *first) look(ctx context.Context, f curator.Facts, t targets.GradTarget,
	lengths func([]float64) targets.Lengths) ([]float64, error) {
	values := make([]float64, a.kept()*a.size())
	theta, sums := values[:t.Dim():t.Dim()], values[t.Dim():a.size()]
	if err := a.setOff(theta, lengths); err != nil {
		return nil, err
	}
	_, steps, _ := a.mechanisms()
	if err := starts.Descend(ctx, t, theta, 1, steps, &cut{first: a, lengths: lengths}); err != nil {
		return nil, err
	}
	public := make([]float64, len(sums))
	for n := range looks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.tangent.At(theta, lengths(theta)); err != nil {
			return nil, err
		}
		if err := a.release.Release(sums, public); err != nil || n == looks-1 {
			return values, err
		}
		copy(values[a.size():], values[:a.size()])
		s, err := a.statistics(values, lengths, f)
		if err != nil {
			return nil, err
		}
		w, err := directionsOf(s, a.curvature(s), t, true)
		if err != nil {
			return nil, err
		}
		w.newton(theta)
	}
	return values, nil
}

// setOff prepares the descent's first gradient.
func (a *first) setOff(theta []float64, lengths func([]float64) targets.Lengths) error {
	l := lengths(theta)
	a.longest = l.Score
	return a.slope.At(theta, l)
}

// cut are gradients that are cut at the length predicted where they are taken.
type cut struct {
	*first
	lengths func([]float64) targets.Lengths
}

func (g *cut) NoiseSD() float64 { return g.descent.NoiseSD() * g.longest }

func (g *cut) Release(dst, theta []float64) error {
	if err := g.setOff(theta, g.lengths); err != nil {
		return err
	}
	if err := g.descent.Release(dst, theta); err != nil {
		return err
	}
	for j := range dst {
		dst[j] *= g.longest
	}
	return nil
}

// statistics are what a release says.
func (a *first) statistics(values []float64, lengths func([]float64) targets.Lengths,
	f curator.Facts) (surrogates.Statistics,
	error) {
	d, tau := a.slope.Dim(), a.config.temperature()
	s := surrogates.Statistics{Anchor: values[:d:d], Score: make([]float64, d), Moment: make([]float64, a.side*a.side),
		Weighted: true, Records: f.Records, Temperature: tau, Radius: f.Radius}
	if err := a.tangent.At(s.Anchor, lengths(s.Anchor)); err != nil {
		return s, err
	}
	_, _, last := a.mechanisms()
	sd, err := last.NoiseSD(f)
	if err != nil {
		return s, err
	}
	a.tangent.Read(s.Score, s.Moment, values[d:a.size()])
	s.ScoreSD, s.MomentSD = a.tangent.Noise(sd)
	for j := range s.Score {
		s.Score[j] *= tau
	}
	s.ScoreSD *= tau
	return s, nil
}

// firstCost is the price of an anchor of order 1.
func (c Config) firstCost(m model, f curator.Facts) (accountant.Event, error) {
	a, err := newFirst(c, m, f)
	if err != nil {
		return accountant.Event{}, err
	}
	if _, err := c.lengths(m, f); err != nil {
		return accountant.Event{}, err
	}
	if c.Aim == Score && a.classes == nil {
		return accountant.Event{}, errors.New("anchors: Score needs second moments of a softmax regression's features; " +
			"give records sealed with a Radius")
	}
	if err := checkFirst(c); err != nil {
		return accountant.Event{}, err
	}
	each, steps, last := a.mechanisms()
	event, err := each.Event(f)
	if err != nil {
		return accountant.Event{}, err
	}
	if event, err = event.Times(steps); err != nil {
		return accountant.Event{}, err
	}
	release, err := last.Event(f)
	if err == nil {
		release, err = release.Times(looks)
	}
	if err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(event, release)
}

func checkFirst(c Config) error {
	if c.OptimumNoise > 0 && c.OptimumNoise <= curator.MostNoise {
		return nil
	}
	return fmt.Errorf("anchors: Config.OptimumNoise is %v; it must be positive and at most %v, as Afford chooses it",
		c.OptimumNoise, curator.MostNoise)
}

// affordFirst is Afford of order 1.
func (c Config) affordFirst(m model, f curator.Facts, rho, epsilon, delta float64) (Config, error) {
	if c.Aim == Auto {
		c.Aim = Remainder
		if c.Variance == 0 && classesOf(m, f) != nil {
			c.Aim = Score
		}
	}
	c.Law = Normal
	if !c.Aim.Bits() {
		return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.OptimumNoise = x }, c.OptimumNoise)
	}
	if c.Clip == 0 {
		// Posterior spreads have a mean leverage of d/N, and a remainder is half of a move's
		// square: no record of ten times that needs more, six spreads out.
		most := 10 * reach * reach / 2 * float64(m.first.Dim()) / float64(f.Records)
		c.Clip = min(c.clipFor(f, firstBitShare*rho), most)
	}
	c.chooseRate(f)
	return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.OptimumNoise = x }, c.OptimumNoise)
}

// nearly: a score is cut at the certificate, and so no record, where that is at most so
// many times as long as asked for.
const nearly = 1.5

// lengths is Config.Lengths within the target's certificate.
func (c Config) lengths(m model, f curator.Facts) (func([]float64) targets.Lengths, error) {
	bound := certified(m, f)
	switch {
	case c.Lengths != nil && c.Aim != Score: // whose mean is that of whole gradients
		return func(theta []float64) targets.Lengths {
			l := c.Lengths(theta)
			if bound <= nearly*l.Score {
				l.Score = bound
			}
			return targets.Lengths{Score: l.Score, Products: min(bound, l.Products)}
		}, nil
	case bound > 0 && !math.IsInf(bound, 1):
		return func([]float64) targets.Lengths { return targets.Lengths{Score: bound, Products: bound} }, nil
	}
	return nil, errors.New("anchors: nothing bounds a record's gradient; give Config.Lengths, or a target with a " +
		"certificate and records sealed with a Radius")
}

// certified is the certificate of a record's gradient, +Inf for none.
func certified(m model, f curator.Facts) float64 {
	if t, ok := m.first.(targets.GradCertificate); ok && f.Radius > 0 {
		return t.GradBound(f.Radius)
	}
	return math.Inf(1)
}

// seen: directions whose released curvature is not so many standard deviations of its
// noise are hidden.
const seen = 3

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
	for j, h := range w.curvature {
		axis := w.axes.ColView(j)
		noise := s.Temperature * mat.Inner(axis, c.noise, axis)
		w.hidden[j] = h <= seen*noise
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

// fromFirst walks with bits on remainders of order 1.
func (s *Chains) fromFirst(seed uint64, r *Release) ([]kernels.Chain, error) {
	d, hidden, err := firstDensity(r.Statistics, s.first.curvature(r.Statistics), s.model.first,
		s.config.Aim == Remainder)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Widening, r.Hidden = d.Kept, d.Widening, hidden
	if hidden > 0 {
		r.Widening = 0 // of a curvature that is not known
	}
	r.Bound = d.bound
	cut := s.lengths(r.Statistics.Anchor).Score
	r.Shortened = cut < certified(s.model, s.facts)
	if err := errors.Join(s.remainder.Anchor(r.Statistics.Anchor, d.Kept, d.Log),
		s.remainder.CutTangents(cut)); err != nil {
		return nil, err
	}
	return s.walks(d, seed), nil
}
