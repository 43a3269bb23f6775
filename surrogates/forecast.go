package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Widening is by how much privacy widened the intervals: for each coefficient the
// standard deviation of the normal approximation at the posterior's centre, over that
// which the same records would have given without noise.
func (p *Score) Widening() ([]float64, error) {
	with, err := p.covariance(p.mean)
	if err != nil {
		return nil, err
	}
	without, err := p.noiseless(p.mean)
	if err != nil {
		return nil, err
	}
	out := make([]float64, p.dim)
	for j := range out {
		out[j] = math.Sqrt(with.At(j, j) / without.At(j, j))
	}
	return out, nil
}

// Widening is by how much privacy widened the intervals of the coefficients: the standard
// deviations of draws over those that the same sums would give without noise, at the
// draws' median scale of errors.
func (l *Linear) Widening(draws Draws) ([]float64, error) {
	scales := slices.Concat(draws.Column(l.dim)...)
	slices.Sort(scales)
	sigma := l.config.MinScale + math.Exp(scales[len(scales)/2])
	precision := mat.NewSymDense(l.dim, append([]float64(nil), l.square...))
	precision.ScaleSym(1/(sigma*sigma), precision)
	l.broad.precision(precision)
	var chol mat.Cholesky
	without := mat.NewSymDense(l.dim, nil)
	if !chol.Factorize(precision) || chol.InverseTo(without) != nil {
		return nil, errors.New("surrogates: the information of the sums is not positive definite")
	}
	out := make([]float64, l.dim)
	for j := range out {
		sd := stat.StdDev(slices.Concat(draws.Column(j)...), nil)
		out[j] = max(1, sd/math.Sqrt(without.At(j, j)))
	}
	return out, nil
}

// noiseless is the covariance of the normal approximation without privacy.
func (p *Score) noiseless(theta []float64) (*mat.SymDense, error) {
	precision := p.information(theta)
	p.broad.precision(precision)
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return nil, errors.New("surrogates: the information of the records is not positive definite")
	}
	out := mat.NewSymDense(p.dim, nil)
	return out, chol.InverseTo(out)
}

// Plan is what is public of a release before anything is spent.
type Plan struct {
	// Records is N and Features d, the intercept included. Required, positive.
	Records  int64
	Features int
	// Radius bounds the rows' length. Required, positive. Rows are taken to be as long
	// as that, in all directions alike.
	Radius float64
	// ScoreSD is the noise of the score. Required; 0 for no privacy.
	ScoreSD float64
	// Link and Prior are the model. Required.
	Link  Link
	Prior targets.Prior
	// Temperature is τ, in (0, 1]. Defaults to 1.
	Temperature float64
	// Seed is public: parameters are drawn from the prior.
	Seed uint64
}

// Forecast is what a release would give, in the median over parameters drawn from
// the prior. Draws of a posterior given a release are free, so there is no effective
// sample size to foresee.
type Forecast struct {
	// Error is the root mean square, over coefficients, of the posterior's standard
	// deviation: about the error of its mean.
	Error float64
	// Widening is Error over what it would be without noise.
	Widening float64
	// Kept is the part of the records' information that the noise leaves, in (0, 1]:
	// the mean eigenvalue of H(H + σ²I)⁻¹.
	Kept float64
}

// Foresee returns the forecast. The noise of second moments is left out: it is of less
// consequence up to some 24 features. Errors: a Plan out of range.
func Foresee(c Plan) (Forecast, error) {
	const parameters = 33
	if c.Features < 1 || c.Records < 1 {
		return Forecast{}, fmt.Errorf("surrogates: a Plan of %d records with %d features; at least 1 of each is needed",
			c.Records, c.Features)
	}
	if c.Prior == nil {
		return Forecast{}, errors.New("surrogates: Plan.Prior is not set; give the prior of the coefficients")
	}
	if err := c.Prior.Check(c.Features); err != nil {
		return Forecast{}, fmt.Errorf("surrogates: Plan.Prior: %w", err)
	}
	d := c.Features
	rng := rand.New(rand.NewPCG(c.Seed, 0xf0e5))
	var errs, widenings, kept []float64
	for i := range uint64(parameters) {
		theta := make([]float64, d)
		c.Prior.Sample(theta, rng)
		s := Statistics{
			Anchor: theta, Score: make([]float64, d), ScoreSD: c.ScoreSD, Moment: make([]float64, d*d), Records: c.Records,
			Temperature: c.Temperature, Radius: c.Radius, Columns: make([]Column, d),
		}
		s.Columns[0] = Column{Kind: Constant, Upper: c.Radius}
		for j := range d {
			s.Moment[j*d+j] = float64(c.Records) * c.Radius * c.Radius / float64(d)
		}
		p, _, err := assemble(Config{Statistics: s, Link: c.Link, Prior: c.Prior, Imputations: 1, Seed: c.Seed + i})
		if err != nil {
			return Forecast{}, err
		}
		with, err := p.covariance(theta)
		if err != nil {
			return Forecast{}, err
		}
		without, err := p.noiseless(theta)
		if err != nil {
			return Forecast{}, err
		}
		e := math.Sqrt(mat.Trace(with) / float64(d))
		errs, widenings = append(errs, e), append(widenings, e/math.Sqrt(mat.Trace(without)/float64(d)))
		kept = append(kept, keptBy(p.information(theta), c.ScoreSD))
	}
	return Forecast{Error: middle(errs), Widening: middle(widenings), Kept: middle(kept)}, nil
}

// keptBy is the mean eigenvalue of H(H + σ²I)⁻¹.
func keptBy(h *mat.SymDense, sd float64) float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return 0
	}
	sum := 0.0
	for _, v := range eigen.Values(nil) {
		v = max(v, 0)
		sum += v / (v + sd*sd + math.SmallestNonzeroFloat64)
	}
	return sum / float64(h.SymmetricDim())
}

func middle(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// Curvature reports whether the release beside a score should be the loss's curvature at
// the anchor rather than plain second moments, from the anchor and public facts; momentSD
// would be the noise of the curvature. It should where the curvature along the anchor
// stands out of that noise, for normal features as long as the radius: a far anchor
// leaves too little of it. In wide tables of categories plain moments say more of rare
// levels.
func Curvature(anchor []float64, link Link, records int64, radius, momentSD float64, columns []Column) bool {
	const outstanding = 3
	d := float64(len(anchor))
	if len(anchor) > mostImputed && (Config{Statistics: Statistics{Columns: columns}}).categories() {
		return false
	}
	sum, along := 0.0, 0.0
	for z := -4.0; z <= 4; z += 1.0 / 128 { // by far finer than what weights vary over
		p, eta := math.Exp(-z*z/2), z*radius*math.Sqrt(dot(anchor, anchor)/d)
		sum += p
		along += p * z * z * link.Weight(eta, eta)
	}
	return float64(records)*radius*radius/d*along/sum > outstanding*momentSD*math.Sqrt(d)
}
