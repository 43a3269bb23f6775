package curator

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Shaped proposes θ′ ~ N(θ, scale²·LLᵀ), where factor is the lower triangular L,
// row-major, a matrix of norm at most 1: scale is then the standard deviation in the
// widest direction. It is drawn, and priced, like Isotropic (docs/proofs/curator.md,
// "Shaped moves"). factor is copied. It is public: chosen without looking at the
// records, or from what a SecondMoment released, as package starts does.
func Shaped(scale float64, factor []float64) Proposal {
	return Proposal{kind: shaped, scale: scale, factor: slices.Clone(factor)}
}

// multiply replaces v by L·v, in place: row j needs what is before it.
func multiply(factor, v []float64) {
	for j := len(v) - 1; j >= 0; j-- {
		sum := 0.0
		for k, l := range factor[j*len(v) : j*len(v)+j+1] {
			sum += l * v[k]
		}
		v[j] = sum
	}
}

// mostShaped bounds the dimension of shaped moves, for their rounding to stay inside
// what is charged for it.
const mostShaped = 256

// checkShape reports a factor that has no meaning for d parameters, or that lengthens.
func checkShape(factor []float64, d int) error {
	if d > mostShaped {
		return fmt.Errorf("curator: shaped moves are for at most %d parameters; the target has %d", mostShaped, d)
	}
	if len(factor) != d*d {
		return fmt.Errorf("curator: a shape of %d values was given; the target's %d parameters need a matrix of %d",
			len(factor), d, d*d)
	}
	for i, v := range factor {
		if math.IsNaN(v) || math.IsInf(v, 0) || i%d > i/d && v != 0 {
			return fmt.Errorf("curator: value %d of the shape is %v; it must be finite, and 0 above the diagonal", i, v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(d, d, slices.Clone(factor)), mat.SVDNone) {
		return fmt.Errorf("curator: the shape has no norm")
	}
	if norm := svd.Values(nil)[0]; !(norm <= 1) {
		return fmt.Errorf("curator: the shape has norm %v; divide it by that, or a hair more, and multiply the scale", norm)
	}
	return nil
}
