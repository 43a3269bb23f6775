package surrogates

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Widening is by how much privacy widened the intervals: for each coefficient the standard
// deviation of draws over that which the same records would have given without noise, in the normal
// approximation at the posterior's centre. It is that of the same approximation with noise, if that is
// more: of few records neither approximation is good, and their ratio is.
func (p *Score) Widening(draws Draws) ([]float64, error) {
	with, err := p.covariance(p.mean)
	if err != nil {
		return nil, err
	}
	without, err := p.noiseless(p.mean)
	if err != nil {
		return nil, err
	}
	return widened(draws, with, without, p.combination), nil
}

// widened is by how much wider combinations of coefficients are, in draws or by a covariance, than another says.
func widened(draws Draws, with, without *mat.SymDense, combination func(int) *mat.VecDense) []float64 {
	out, all := make([]float64, without.SymmetricDim()), slices.Concat(draws.Chains...)
	along := make([]float64, len(all))
	for j := range out {
		v := combination(j)
		for i, theta := range all {
			along[i] = dot(v.RawVector().Data, theta[:len(out)])
		}
		out[j] = max(1, max(stat.StdDev(along, nil), sdAlong(v, with))/sdAlong(v, without))
	}
	return out
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
	return widened(draws, without, without, func(j int) *mat.VecDense {
		v := mat.NewVecDense(l.dim, nil)
		v.SetVec(j, 1)
		return v
	}), nil
}

// noiseless is the covariance of the normal approximation without privacy, and so with the log
// loss, whole.
func (p *Score) noiseless(theta []float64) (*mat.SymDense, error) {
	link := whole(p.config.Link)
	precision := p.averageInformation(theta, func(f *features) *features { return featuresOf(f.normal, link, false) })
	p.priors().precision(precision)
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
