package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// coloured turns whitened rows into rows whose mean square matrix is moment exactly,
// constant in column constant when that is not −1, and whose products with toward are even
// as the first normal column is. Row-major.
func coloured(moment *mat.SymDense, constant int, z, toward []float64) []float64 {
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
	mirror := make([]float64, d) // Lᵀ·toward, without the constant's
	for a, j := range order {
		for b := range a + 1 {
			mirror[b] += lower.At(a, b) * toward[j]
		}
	}
	first := normalColumn(constant)
	clear(mirror[:first])
	reflects(mirror, first)
	x, row := make([]float64, m*d), make([]float64, d)
	for i := range m {
		along := 2 * dot(mirror, z[i*d:(i+1)*d])
		for b := range row {
			row[b] = z[i*d+b] - along*mirror[b]
		}
		for a, j := range order {
			s := 0.0
			for b := range a + 1 {
				s += lower.At(a, b) * row[b]
			}
			x[i*d+j] = s
		}
	}
	return x
}

// normalColumn is the first column of whitened rows that is not constant.
func normalColumn(constant int) int {
	if constant >= 0 {
		return 1
	}
	return 0
}

// reflects turns v into the unit normal of a mirror in which v's direction is axis j, or 0
// where none is needed.
func reflects(v []float64, j int) {
	length := math.Sqrt(dot(v, v))
	if j < len(v) && length > 0 {
		v[j] -= length
		length = math.Sqrt(dot(v, v))
	}
	for i := range v {
		if length > 0 {
			v[i] /= length
		}
	}
}

// whitened draws m rows of d values whose mean square matrix is the identity: normal
// rows with their mirror images, but for a first column of ones when there is a
// constant. The next column is spread evenly, over quantiles.
func whitened(d, constant, m int, rng *rand.Rand) []float64 {
	z, first := make([]float64, m*d), normalColumn(constant)
	for i := 0; i < m; i += 2 {
		for j := range d {
			v := 1.0
			switch {
			case j == first:
				v = distuv.UnitNormal.Quantile((float64(i) + 1) / float64(2*m))
			case j > first:
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
