package surrogates

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// mostClimbs bounds the steps to the mode of XᵀX, which need not be exact.
const mostClimbs = 40

// climb moves B by Newton's steps until BBᵀ is about the mode of XᵀX without coefficients, and sets factor.
func (h *hidden) climb() error {
	e := h.alone()
	of, grad := make([]float64, h.values()), make([]float64, h.values())
	value := func() float64 {
		if log, ok := e.spread(of); ok {
			return log + e.fit()
		}
		return math.Inf(-1)
	}
	for range mostClimbs {
		clear(of)
		at := value()
		e.back(grad)
		var err error
		if h.factor, err = lowerOfInverse(e.precision()); err != nil {
			return err
		}
		slope, step := make([]float64, len(of)), make([]float64, len(of))
		across(slope, h.factor, grad)
		if dot(slope, slope) < 0.1 { // twice by how much the mode is higher
			return nil
		}
		unwhiten(step, slope, make([]float64, len(of)), h.factor)
		for scale := 1.0; scale > 1e-3; scale /= 2 {
			floats.ScaleTo(of, scale, step)
			if value() > at {
				break
			}
		}
		if err := h.about(e.square, 0); err != nil {
			return err
		}
	}
	return nil
}

// alone is the density without coefficients. It shares B.
func (h *hidden) alone() *hiddenEvaluator {
	of := *h
	of.still = 1
	return of.evaluator(&linearEvaluator{Linear: &Linear{dim: h.d, square: make([]float64, h.d*h.d)}})
}

// lowerOfInverse is the lower factor of a covariance, by its precision, whose entries may differ much in size.
func lowerOfInverse(precision *mat.SymDense) ([]float64, error) {
	d := precision.SymmetricDim()
	scale := make([]float64, d)
	for j := range scale {
		scale[j] = 1 / math.Sqrt(precision.At(j, j))
	}
	var chol mat.Cholesky
	inverse := mat.NewSymDense(d, nil)
	if !chol.Factorize(rescaled(precision, scale)) || chol.InverseTo(inverse) != nil {
		return nil, errors.New("surrogates: the precision of second moments is not positive definite")
	}
	return lowerOf(rescaled(inverse, scale))
}

// values is how many T has.
func (h *hidden) values() int { return h.d * (h.d + 1) / 2 }

// precision is about that of T's values at BBᵀ, if that is the mode. With noise alike in all entries it would be
// diagonal, and each that is known better adds to it.
func (h *hidden) precision() *mat.SymDense {
	d := h.d
	out := mat.NewSymDense(h.values(), nil)
	i := 0
	for j := range d {
		for k := range j + 1 {
			v := h.length[j] * h.length[j] * h.length[k] * h.length[k] / h.noise
			v += h.exponent(j)
			if j == k {
				v *= 2
			}
			out.SetSym(i, i, v)
			i++
		}
	}
	along := mat.NewVecDense(h.values(), nil)
	for a := range d {
		for b := range a + 1 {
			usual := 1 / h.noise
			if a == b {
				usual /= 2
			}
			if more := h.weight[a*d+b] - usual; more > 1e-9*usual {
				inProduct(along.RawVector().Data, h.basis[a*d:(a+1)*d], h.basis[b*d:(b+1)*d])
				out.SymRankOne(out, more, along)
			}
		}
	}
	return out
}

// inProduct sets how x·TTᵀy moves with T's values at T = I.
func inProduct(dst, x, y []float64) {
	i := 0
	for j := range x {
		for k := range j + 1 {
			dst[i] = x[j]*y[k] + x[k]*y[j]
			i++
		}
	}
}
