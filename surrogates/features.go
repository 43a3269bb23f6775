package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// coloured turns whitened rows into rows whose mean square matrix is moment exactly,
// constant in column constant when that is not −1. Row-major.
func coloured(moment *mat.SymDense, constant int, z []float64) []float64 {
	d := moment.SymmetricDim()
	m := len(z) / d
	// moment = LLᵀ with the constant's column first, so that L's first column is
	// what the constant explains: the means.
	order := make([]int, 0, d)
	if constant >= 0 {
		order = append(order, constant)
	}
	for j := range d {
		if j != constant {
			order = append(order, j)
		}
	}
	sorted := mat.NewSymDense(d, nil)
	for a, j := range order {
		for b := a; b < d; b++ {
			sorted.SetSym(a, b, moment.At(j, order[b]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sorted) {
		panic("surrogates: a drawn matrix of second moments is not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	x := make([]float64, m*d)
	for i := range m {
		for a, j := range order {
			s := 0.0
			for b := range a + 1 {
				s += lower.At(a, b) * z[i*d+b]
			}
			x[i*d+j] = s
		}
	}
	return x
}

// whitened draws m rows of d values whose mean square matrix is the identity: normal
// rows with their mirror images, but for a first column of ones when there is a
// constant.
func whitened(d, constant, m int, rng *rand.Rand) []float64 {
	z := make([]float64, m*d)
	first := 0
	if constant >= 0 {
		first = 1
	}
	for i := 0; i < m; i += 2 {
		for j := range d {
			v := 1.0
			if j >= first {
				v = rng.NormFloat64()
			}
			z[i*d+j] = v
			if i+1 < m {
				z[(i+1)*d+j] = v
				if j >= first {
					z[(i+1)*d+j] = -v
				}
			}
		}
	}
	square := mat.NewSymDense(d, nil)
	for i := range m {
		square.SymRankOne(square, 1/float64(m), mat.NewVecDense(d, z[i*d:(i+1)*d]))
	}
	var chol mat.Cholesky
	if !chol.Factorize(square) {
		panic("surrogates: fewer synthetic records than features")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	for i := range m { // forward substitution
		row := z[i*d : (i+1)*d]
		for j := range d {
			s := row[j]
			for k := range j {
				s -= lower.At(j, k) * row[k]
			}
			row[j] = s / lower.At(j, j)
		}
	}
	return z
}

// synthetic is how many synthetic records an imputation has.
func synthetic(d int) int { return 2 * int(math.Ceil(max(50, 2.5*float64(d)))) }
