package surrogates

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// mostHidden is how many features there may be for XᵀX to be sampled with the
// parameters: it has that many times half as many values.
const mostHidden = 40

// mostClear is the norm that noise in XᵀX usually has, over its smallest eigenvalue, up to which errors in
// it move coefficients nearly to first order. Then it need not be sampled, and draws are many times as fast.
const mostClear = 0.1

// clear reports whether noise hides so little of XᵀX.
func (s Sums) clear() bool {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(s.Features, s.square()), false) {
		return false
	}
	return s.MomentSD*math.Sqrt(2*float64(s.Features)) < mostClear*eigen.Values(nil)[0]
}

// hidden is what is not known of XᵀX, sampled along with the parameters: XᵀX = KKᵀ,
// K = BT, with T lower triangular and B a square root of about the mode. Its prior is flat
// in a square matrix K, that of d rows of which nothing is known, so that two collinear
// columns, which noise hides, are as likely as others, times what is learnt of correlations.
type hidden struct {
	d        int
	released []float64 // d×d
	noise    float64   // the variance of that in most entries off the diagonal
	weight   []float64 // one over the variance of the noise in an entry
	still    float64   // 1 where coefficients stay as T moves, and not their coordinates, or 0
	nu       float64   // ν, how near 0 correlations are (uncorrelated.go)
	constant int       // the column of the intercept, or −1
	basis    []float64 // B, its orthogonal columns by falling length
	length   []float64 // theirs
	factor   []float64 // lower, of about the covariance of T's values, in their order: its rows
}

// surely is how many times less noise is taken to be in what is publicly known than
// in what was released.
const surely = 10

// newHidden takes a release of XᵀX.
func newHidden(s Sums) (*hidden, error) {
	d := s.Features
	m := s.moments()
	h := &hidden{d: d, released: m.released, noise: s.MomentSD * s.MomentSD / 2, weight: make([]float64, d*d),
		nu: m.uncorrelated(), constant: m.constant, basis: make([]float64, d*d), length: make([]float64, d)}
	least := s.MomentSD * s.MomentSD / (2 * surely * surely)
	for e, v := range m.noise {
		h.weight[e] = 1 / max(v, least)
	}
	if err := h.about(h.released, s.MomentSD); err != nil {
		return nil, err
	}
	return h, h.climb()
}

// about sets B to a square root of a matrix, with eigenvalues of at least so much.
func (h *hidden) about(square []float64, least float64) error {
	d := h.d
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, slices.Clone(square)), true) {
		return errors.New("surrogates: second moments have no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for i := range d {
		h.length[i] = math.Sqrt(max(values[d-1-i], least, 1e-12*values[d-1]))
		for j := range d {
			h.basis[j*d+i] = h.length[i] * vectors.At(j, d-1-i)
		}
	}
	return nil
}

// moments is the posterior of XᵀX.
func (s Sums) moments() *moments {
	m := newMoments(s.square(), s.MomentSD, float64(s.Records)*s.Radius*s.Radius, s.Columns, s.Features)
	m.counting(s.Columns, s.Records)
	return m
}

// square is the released XᵀX.
func (s Sums) square() []float64 {
	d := s.Features
	out := make([]float64, d*d)
	for j := range d {
		copy(out[j*d:(j+1)*d], s.Moment[j*(d+1):])
	}
	return out
}

// centre is BBᵀ, which T = I makes.
func (h *hidden) centre() []float64 {
	d := h.d
	out := make([]float64, d*d)
	for j := range d {
		for k := range d {
			out[j*d+k] = dot(h.basis[j*d:j*d+d], h.basis[k*d:k*d+d])
		}
	}
	return out
}
