package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// hiddenEvaluator is the density of the parameters' coordinates (coordinates.go) and of T: its rows, with
// logarithms on the diagonal.
type hiddenEvaluator struct {
	*linearEvaluator
	*hidden
	coordinates
	t, k     []float64
	pull, by []float64 // the log density's derivative in XᵀX, and in K
	turn     []float64 // in T, from XᵀX
}

func (l *Linear) withHidden(e *linearEvaluator) nuts.LogDensity {
	own := *l // the evaluator sets its own XᵀX
	own.square, own.open = make([]float64, l.dim*l.dim), make([]float64, l.dim*l.dim)
	e.Linear = &own
	e.explained = own.newExplained()
	return l.hidden.evaluator(e)
}

func (h *hidden) evaluator(of *linearEvaluator) *hiddenEvaluator {
	square := func() []float64 { return make([]float64, h.d*h.d) }
	return &hiddenEvaluator{linearEvaluator: of, hidden: h, coordinates: newCoordinates(h.d), t: square(), k: square(),
		pull: square(), by: square(), turn: square()}
}

func (e *hiddenEvaluator) Dim() int { return e.dim + 1 + e.values() }

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
func (h *hidden) exponent(j int) float64 { return float64(h.d-j) + h.still + h.nu - 1 }

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
	clear(e.k)
	for j := range d {
		row := e.k[j*d : (j+1)*d]
		for m := range d {
			floats.AddScaled(row[:m+1], e.basis[j*d+m], e.t[m*d:m*d+m+1])
		}
	}
	for j := range d {
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
	return log + e.apart()
}

// back sets the gradient in T's values from pull, the derivative P in XᵀX: that in K
// is 2PK, and in T Bᵀ times it. Coefficients move with T too.
func (e *hiddenEvaluator) back(grad []float64) {
	d := e.d
	clear(e.by)
	clear(e.turn)
	for m := range d {
		row := e.by[m*d : (m+1)*d]
		for j := range d {
			floats.AddScaled(row, 2*e.pull[m*d+j], e.k[j*d:(j+1)*d])
		}
		for j := range d {
			floats.AddScaled(e.turn[j*d:j*d+j+1], e.basis[m*d+j], row[:j+1])
		}
	}
	i := 0
	for j := range d {
		for k := range j + 1 {
			s := e.turn[j*d+k]
			if s -= e.outward[k] * e.within[j]; j == k {
				s = s*e.t[j*d+j] + e.exponent(j)
			}
			grad[i] = s
			i++
		}
	}
}
