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
		v := p.combination(j)
		out[j] = sdAlong(v, with) / sdAlong(v, without)
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
	l.broad.precision(precision, 1)
	var chol mat.Cholesky
	without := mat.NewSymDense(l.dim, nil)
	if !chol.Factorize(precision) || chol.InverseTo(without) != nil {
		return nil, errors.New("surrogates: the information of the sums is not positive definite")
	}
	if seen := l.config.seen; seen != nil {
		m := mat.NewDense(l.dim, l.dim, seen.seen.Matrix)
		var half, whole mat.Dense
		half.Mul(without, m)
		whole.Mul(m.T(), &half)
		for j := range l.dim {
			without.SetSym(j, j, seen.seen.Unit*seen.seen.Unit*whole.At(j, j))
		}
		draws = l.asTheyAre(draws)
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
	link := whole(p.config.Link)
	precision := p.averageInformation(theta, func(f *features) *features { return newFeatures(f.normal, link) })
	p.priorPrecision(precision)
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
