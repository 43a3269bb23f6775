package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func choleskyOf(s *mat.SymDense) ([]float64, bool) {
	d := s.SymmetricDim()
	out := make([]float64, d*d)
	for j := range d {
		for k := range j + 1 {
			out[j*d+k] = s.At(j, k)
		}
	}
	return out, cholesky(out, d)
}

// cholesky overwrites the lower triangle of a with its Cholesky factor.
func cholesky(a []float64, d int) bool {
	for j := range d {
		row := a[j*d : j*d+j+1]
		for k := range j {
			row[k] = (row[k] - dot(row[:k], a[k*d:k*d+k])) / a[k*d+k]
		}
		v := row[j] - dot(row[:j], row[:j])
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		row[j] = math.Sqrt(v)
	}
	return true
}

// forward solves L·dst = b.
func forward(dst, lower, b []float64) {
	d := len(b)
	for j := range d {
		dst[j] = (b[j] - dot(lower[j*d:j*d+j], dst[:j])) / lower[j*d+j]
	}
}

// backward solves Lᵀ·dst = b.
func backward(dst, lower, b []float64) {
	d := len(b)
	copy(dst, b)
	for j := d - 1; j >= 0; j-- {
		dst[j] /= lower[j*d+j]
		floats.AddScaled(dst[:j], -dst[j], lower[j*d:j*d+j])
	}
}

func dot(a, b []float64) float64 { return floats.Dot(a, b) }
