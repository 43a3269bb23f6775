package surrogates

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
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

// noiseless is the covariance of the normal approximation without privacy, and so with the log
// loss, whole.
func (p *Score) noiseless(theta []float64) (*mat.SymDense, error) {
	precision, link := mat.NewSymDense(p.dim, nil), whole(p.config.Link)
	for _, im := range p.imputations {
		one := newFeatures(im.features.normal, link).information(theta)
		one.ScaleSym(p.config.Statistics.size()/float64(len(p.imputations)), one)
		precision.AddSym(precision, one)
	}
	p.broad.precision(precision)
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return nil, errors.New("surrogates: the information of the records is not positive definite")
	}
	out := mat.NewSymDense(p.dim, nil)
	return out, chol.InverseTo(out)
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

// Curvature reports whether the release beside a score should be the loss's curvature at
// the anchor rather than plain second moments, from the anchor and public facts; momentSD
// would be the noise of the curvature. It should where the curvature along the anchor
// stands out of that noise, for normal features as long as the radius: a far anchor
// leaves too little of it. In wide tables of categories plain moments say more of rare
// levels. Weights of counts are e^η: there plain moments have less noise, and say of which law
// the features are, where those of weighted features do not.
func Curvature(anchor []float64, link Link, records int64, radius, momentSD float64, columns []Column) bool {
	const outstanding = 3
	d := float64(len(anchor))
	if _, count := countOf(link); count {
		return false
	}
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
