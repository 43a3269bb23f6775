package starts

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Shape returns a factor for curator.Shaped moves from what curator.Moments released:
// that of the covariance (weight·M + precision·I)⁻¹, divided by its norm, where M is
// the nearest matrix to moment with no eigenvalue below what its noise hides. For
// logistic regression at temperature τ a weight of τ/8 stands for the mean of
// τp(1−p); precision is the prior's, 1/SD². It is post-processing: free. moment is
// row-major and symmetric, noiseSD that of curator.SecondMoment.
//
// Shaped moves reach along every direction of such a posterior in about as many
// steps. That saves steps, not privacy (docs/settings.md). Errors: a moment that is
// not square or finite; a weight, precision or noiseSD that is not positive.
func Shape(moment []float64, noiseSD, weight, precision float64) ([]float64, error) {
	d := int(math.Sqrt(float64(len(moment))))
	if d < 1 || d*d != len(moment) {
		return nil, fmt.Errorf("starts: a second moment of %d values is not a square matrix", len(moment))
	}
	for _, v := range []float64{noiseSD, weight, precision} {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("starts: the noise, the weight and the precision of a shape are %v, %v and %v; they must "+
				"be positive and finite", noiseSD, weight, precision)
		}
	}
	m := mat.NewSymDense(d, append([]float64(nil), moment...))
	var eigen mat.EigenSym
	if !finite(moment) || !eigen.Factorize(m, true) {
		return nil, fmt.Errorf("starts: a second moment has no eigenvalues; all its values must be finite")
	}
	// The noise's own largest eigenvalue is about √(2·dim) off-diagonal deviations.
	hidden := noiseSD * math.Sqrt(float64(d))
	values := eigen.Values(nil)
	widest := 0.0
	for i, v := range values {
		values[i] = 1 / (weight*max(v, hidden) + precision)
		widest = max(widest, values[i])
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	covariance := mat.NewSymDense(d, nil)
	for i, v := range values {
		covariance.SymRankOne(covariance, v/widest, vectors.ColView(i))
	}
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		return nil, fmt.Errorf("starts: a shape is too narrow in some direction to be told from none; raise the precision")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	factor := make([]float64, d*d)
	for j := range d {
		for k := range j + 1 {
			factor[j*d+k] = lower.At(j, k) * (1 - 1e-9) // so that its norm is below 1, rounding included
		}
	}
	return factor, nil
}

func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
