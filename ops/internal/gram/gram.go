// Package gram sums weighted outer products of bounded vectors exactly, on a
// public grid, and knows how far one record can move the sum.
package gram

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// Gram sums w·z·zᵀ over records, w ≥ 0 and w·‖z‖² ≤ Size.
type Gram struct {
	dim        int
	size, step float64
}

// New returns sums of dim×dim products with w·‖z‖² ≤ size, positive and finite.
func New(dim int, size float64) Gram {
	_, e := math.Frexp(size)
	return Gram{dim: dim, size: size, step: math.Ldexp(1, e-30)}
}

// Len returns the number of entries in an upper triangle.
func (g Gram) Len() int { return g.dim * (g.dim + 1) / 2 }

// Sensitivities returns, under substitution, the L1 sensitivity of the upper
// triangle and the Frobenius sensitivity of the matrix, as computed from the given
// number of records. Two positive semidefinite matrices of norm at most size are
// √2·size apart at most; by Cauchy and Schwarz the L1 norm of an upper triangle,
// which weighs the diagonal once and the rest by ½ twice, is at most
// √(dim + dim(dim−1)/4) times the Frobenius norm.
// Rounding moves every entry of either record's matrix by at most a step, and so
// does the rounding of its products; what is left is that of two sums of up to
// records·size to float64, and of their multiplication by √2.
func (g Gram) Sensitivities(records int) (l1, frobenius float64) {
	p := float64(g.dim)
	rounding := p * (p + 1) * (2*g.step + float64(records)*g.size*0x1p-50)
	return g.size*math.Sqrt(p*(p+3)/2) + rounding, g.size*math.Sqrt2 + rounding
}

// Sum returns the upper triangle of Σ w·z·zᵀ, row by row. record writes the i-th
// of n vectors to z, of length dim, and returns its weight. The sum is one of
// integers: it is exact and does not depend on the order of records.
func (g Gram) Sum(n int, record func(i int, z []float64) (weight float64)) []float64 {
	total, z := make([]int64, g.Len()), make([]float64, g.dim)
	for r := range n {
		w := record(r, z)
		i := 0
		for j := range g.dim {
			for k := j; k < g.dim; k++ {
				total[i] += vec.Quantize(w*z[j]*z[k], g.size, 1/g.step)
				i++
			}
		}
	}
	out := make([]float64, len(total))
	for i, t := range total {
		out[i] = float64(t) * g.step
	}
	return out
}

// Isometric multiplies the entries of an upper triangle that are off the
// diagonal by √2, so that its L2 norm is the Frobenius norm of the matrix, or by
// 1/√2 when back is set.
func (g Gram) Isometric(triangle []float64, back bool) {
	factor := math.Sqrt2
	if back {
		factor = math.Sqrt2 / 2
	}
	i := 0
	for j := range g.dim {
		for k := j; k < g.dim; k++ {
			if j != k {
				triangle[i] *= factor
			}
			i++
		}
	}
}

// Matrix returns the symmetric matrix of an upper triangle.
func (g Gram) Matrix(triangle []float64) *mat.SymDense {
	m := mat.NewSymDense(g.dim, nil)
	for j := range g.dim {
		for k := j; k < g.dim; k++ {
			m.SetSym(j, k, triangle[0])
			triangle = triangle[1:]
		}
	}
	return m
}

// Eigen returns the eigenvalues of a, negative ones replaced by zero, and its
// eigenvectors in columns: those of the nearest positive semidefinite matrix.
func Eigen(a *mat.SymDense) (values []float64, vectors *mat.Dense, err error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, nil, fmt.Errorf("gram: no eigenvalues were found")
	}
	vectors = new(mat.Dense)
	eigen.VectorsTo(vectors)
	values = eigen.Values(nil)
	for i, v := range values {
		values[i] = max(v, 0)
	}
	return values, vectors, nil
}
