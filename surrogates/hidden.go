package surrogates

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// mostHidden is how many features there may be for XᵀX to be sampled with the
// parameters: it has that many times half as many values.
const mostHidden = 24

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
// K = BT, with T lower triangular and B a square root of about what was released. Its
// prior is flat in a square matrix K, that of d rows of which nothing is known, so that
// near-collinear columns, which noise hides, are as likely as others.
type hidden struct {
	d        int
	released []float64 // d×d
	weight   []float64 // one over the variance of the noise in an entry
	given    float64   // 1 where the prior of coefficients has the root of XᵀX's determinant, or 0
	basis    []float64 // B, its orthogonal columns by falling length
	length   []float64 // theirs
	width    []float64 // about the spread of T's entries, in their order
}

// surely is how many times less noise is taken to be in what is publicly known than
// in what was released.
const surely = 10

// newHidden takes a release of XᵀX.
func newHidden(s Sums) (*hidden, error) {
	d := s.Features
	m := s.moments()
	h := &hidden{d: d, released: m.released, weight: make([]float64, d*d), basis: make([]float64, d*d),
		length: make([]float64, d)}
	least := s.MomentSD * s.MomentSD / (2 * surely * surely)
	for e, v := range m.noise {
		h.weight[e] = 1 / max(v, least)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, append([]float64(nil), h.released...)), true) {
		return nil, errors.New("surrogates: second moments have no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values, length := eigen.Values(nil), h.length
	for i := range d {
		length[i] = math.Sqrt(max(values[d-1-i], s.MomentSD))
		for j := range d {
			h.basis[j*d+i] = length[i] * vectors.At(j, d-1-i)
		}
		for k := range i + 1 {
			h.width = append(h.width, min(0.5, s.MomentSD/math.Sqrt2/(length[i]*length[k])))
		}
	}
	return h, nil
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

// hiddenEvaluator is the density of the parameters' coordinates (coordinates.go) and of T: its rows, with
// logarithms on the diagonal.
type hiddenEvaluator struct {
	*linearEvaluator
	*hidden
	coordinates
	t, k     []float64
	pull, by []float64 // the log density's derivative in XᵀX, and in K
}

func (l *Linear) withHidden(e *linearEvaluator) nuts.LogDensity {
	square := func() []float64 { return make([]float64, l.dim*l.dim) }
	own := *l // the evaluator sets its own XᵀX
	own.square, own.open = square(), square()
	e.Linear = &own
	e.explained = own.newExplained()
	return &hiddenEvaluator{linearEvaluator: e, hidden: l.hidden, coordinates: newCoordinates(l.dim), t: square(),
		k: square(), pull: square(), by: square()}
}

func (e *hiddenEvaluator) Dim() int { return e.dim + 1 + len(e.width) }

func (e *hiddenEvaluator) LogDensityGrad(grad, theta []float64) float64 {
	d, p := e.dim, e.dim+1
	log, ok := e.spread(theta[p:])
	if !ok {
		return math.Inf(-1)
	}
	log += e.fit()
	e.coefficients(e.theta[:d], e.within, e.t, theta[:d])
	e.theta[d] = theta[d]
	v := e.linearEvaluator.LogDensityGrad(e.grad, e.theta)
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return math.Inf(-1)
	}
	e.inSquare(e.pull, e.theta[:d], e.config.MinScale+math.Exp(theta[d]))
	e.slope(e.outward, e.t, e.grad[:d])
	for j := range d {
		grad[j] = dot(e.basis[j*d:j*d+d], e.outward)
	}
	grad[d] = e.grad[d]
	e.back(grad[p:])
	return log + v
}

// exponent is that of T's diagonal entry j in the prior, the Jacobians of XᵀX, of the coordinates
// and of the logarithm included.
func (h *hidden) exponent(j int) float64 { return float64(h.d-j) + h.given - 1 }

// mostLog bounds the logarithms on T's diagonal, far beyond any that fits a release.
const mostLog = 100

// spread sets T, K and XᵀX, and returns the log prior.
func (e *hiddenEvaluator) spread(of []float64) (log float64, ok bool) {
	d := e.d
	e.triangle(e.t, of)
	for j := range d {
		diagonal := of[j*(j+3)/2]
		if !(math.Abs(diagonal) < mostLog) {
			return 0, false
		}
		log += e.exponent(j) * diagonal
	}
	for j := range d {
		for k := range d {
			s := 0.0
			for m := k; m < d; m++ {
				s += e.basis[j*d+m] * e.t[m*d+k]
			}
			e.k[j*d+k] = s
		}
		for k := range j + 1 {
			v := dot(e.k[j*d:j*d+d], e.k[k*d:k*d+d])
			e.square[j*d+k], e.square[k*d+j] = v, v
		}
	}
	return log, true
}

// fit returns the log likelihood of the released XᵀX, and starts pull.
func (e *hiddenEvaluator) fit() (log float64) {
	d := e.d
	for j := range d {
		for k := range j + 1 {
			off, w := e.released[j*d+k]-e.square[j*d+k], e.weight[j*d+k]
			log -= w * off * off / 2
			if j != k {
				w /= 2 // for either of two equal entries
			}
			e.pull[j*d+k], e.pull[k*d+j] = w*off, w*off
		}
	}
	return log
}

// back sets the gradient in T's values from pull, the derivative P in XᵀX: that in K
// is 2PK, and in T Bᵀ times it. Coefficients move with T too.
func (e *hiddenEvaluator) back(grad []float64) {
	d, i := e.d, 0
	for j := range d {
		for k := range d {
			s := 0.0
			for m := range d {
				s += e.pull[j*d+m] * e.k[m*d+k]
			}
			e.by[j*d+k] = 2 * s
		}
	}
	for j := range d {
		for k := range j + 1 {
			s := 0.0
			for m := range d {
				s += e.basis[m*d+j] * e.by[m*d+k]
			}
			if s -= e.outward[k] * e.within[j]; j == k {
				s = s*e.t[j*d+j] + e.exponent(j)
			}
			grad[i] = s
			i++
		}
	}
}
