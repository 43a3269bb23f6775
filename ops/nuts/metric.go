package nuts

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// metric is the Euclidean metric of the momentum, as its inverse: an estimate
// of the target's covariance.
type metric interface {
	// velocity sets dst to M⁻¹p.
	velocity(dst, p []float64)
	// momentum sets p to a draw from N(0, M).
	momentum(p []float64, rng *rand.Rand)
	// observe adds a draw of the current window to the estimate, and update
	// takes the estimate over and begins a new window.
	observe(theta []float64)
	update()
	// inverse returns M⁻¹, row by row; only its diagonal if it is diagonal.
	inverse() []float64
}

// newMetric returns the identity metric of a kind.
func newMetric(kind MetricKind, dim int) metric {
	switch kind {
	case Dense:
		m := &denseMetric{inv: mat.NewSymDense(dim, nil), chol: mat.NewTriDense(dim, mat.Lower, nil),
			mean: make([]float64, dim), delta: make([]float64, dim), scatter: mat.NewSymDense(dim, nil)}
		for i := range dim {
			m.inv.SetSym(i, i, 1)
			m.chol.SetTri(i, i, 1)
		}
		return m
	case Unit:
		return &unitMetric{ones(dim)}
	}
	return &diagonalMetric{inv: ones(dim), mean: make([]float64, dim), scatter: make([]float64, dim)}
}

// ones returns n ones.
func ones(n int) []float64 {
	out := make([]float64, n)
	floats.AddConst(1, out)
	return out
}

// shrink returns the weight of the estimate from n draws and the constant added
// to every variance: Stan's regularisation towards 10⁻³.
func shrink(n float64) (weight, add float64) { return n / (n + 5), 1e-3 * 5 / (n + 5) }

// unitMetric is the identity, and stays so.
type unitMetric struct{ diagonal []float64 }

func (m *unitMetric) velocity(dst, p []float64)            { copy(dst, p) }
func (m *unitMetric) momentum(p []float64, rng *rand.Rand) { normals(p, rng) }
func (m *unitMetric) observe([]float64)                    {}
func (m *unitMetric) update()                              {}
func (m *unitMetric) inverse() []float64                   { return m.diagonal }

// normals fills p with standard normal draws.
func normals(p []float64, rng *rand.Rand) {
	for i := range p {
		p[i] = rng.NormFloat64()
	}
}

// diagonalMetric has a variance per coordinate, estimated by Welford's updates.
type diagonalMetric struct {
	inv           []float64
	n             float64
	mean, scatter []float64
}

func (m *diagonalMetric) velocity(dst, p []float64) { floats.MulTo(dst, m.inv, p) }

func (m *diagonalMetric) momentum(p []float64, rng *rand.Rand) {
	for i, v := range m.inv {
		p[i] = rng.NormFloat64() / math.Sqrt(v)
	}
}

func (m *diagonalMetric) observe(theta []float64) {
	m.n++
	for i, v := range theta {
		delta := v - m.mean[i]
		m.mean[i] += delta / m.n
		m.scatter[i] += delta * (v - m.mean[i])
	}
}

func (m *diagonalMetric) update() {
	if m.n > 1 {
		weight, add := shrink(m.n)
		for i, s := range m.scatter {
			m.inv[i] = weight*s/(m.n-1) + add
		}
	}
	m.n = 0
	clear(m.mean)
	clear(m.scatter)
}

func (m *diagonalMetric) inverse() []float64 { return m.inv }

// denseMetric has a full covariance matrix inv = chol·cholᵀ.
type denseMetric struct {
	inv         *mat.SymDense
	chol        *mat.TriDense
	n           float64
	mean, delta []float64
	scatter     *mat.SymDense
}

func (m *denseMetric) velocity(dst, p []float64) {
	blas64.Symv(1, m.inv.RawSymmetric(), vector(p), 0, vector(dst))
}

// momentum solves cholᵀ·p = z, so that p has covariance (chol·cholᵀ)⁻¹ = M.
func (m *denseMetric) momentum(p []float64, rng *rand.Rand) {
	normals(p, rng)
	blas64.Trsv(blas.Trans, m.chol.RawTriangular(), vector(p))
}

// vector returns x for blas64.
func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func (m *denseMetric) observe(theta []float64) {
	m.n++
	for i, v := range theta {
		m.delta[i] = v - m.mean[i]
		m.mean[i] += m.delta[i] / m.n
	}
	blas64.Syr((m.n-1)/m.n, vector(m.delta), m.scatter.RawSymmetric())
}

func (m *denseMetric) update() {
	if m.n > 1 {
		weight, add := shrink(m.n)
		dim := len(m.mean)
		estimate := mat.NewSymDense(dim, nil)
		estimate.ScaleSym(weight/(m.n-1), m.scatter)
		for i := range dim {
			estimate.SetSym(i, i, estimate.At(i, i)+add)
		}
		var factor mat.Cholesky
		if factor.Factorize(estimate) { // otherwise rounding made it singular: keep the last metric
			m.inv = estimate
			factor.LTo(m.chol)
		}
	}
	m.n = 0
	clear(m.mean)
	m.scatter.Zero()
}

func (m *denseMetric) inverse() []float64 {
	dim := len(m.mean)
	out := make([]float64, 0, dim*dim)
	for i := range dim {
		for j := range dim {
			out = append(out, m.inv.At(i, j))
		}
	}
	return out
}
