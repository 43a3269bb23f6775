package surrogates

import (
	"math"
	"slices"
)

// Where XᵀX = KKᵀ is sampled too, K = BT, coefficients β are sampled in coordinates α: TᵀBᵀβ = Bᵀα, so that
// Kᵀβ is what it would be with T = I. That is known about as well however short K is along a direction that noise
// hides, while β is farther out the shorter K is. In β itself an effective draw took ten times as many gradients.

// coordinates has buffers of a density in α.
type coordinates struct {
	theta, grad     []float64 // parameters, and the log density's derivative in them
	within, outward []float64 // Bᵀβ, and the derivative in Bᵀα
}

func newCoordinates(d int) coordinates {
	return coordinates{make([]float64, d+1), make([]float64, d+1), make([]float64, d), make([]float64, d)}
}

// triangle sets T from its values: its rows, with logarithms on the diagonal.
func (h *hidden) triangle(t, of []float64) {
	d, i := h.d, 0
	for j := range d {
		i += copy(t[j*d:j*d+j], of[i:])
		t[j*d+j] = math.Exp(of[i])
		i++
	}
}

// coefficients sets β from α, and within to Bᵀβ.
func (h *hidden) coefficients(beta, within, t, alpha []float64) {
	d := h.d
	clear(within)
	for j, a := range alpha {
		for i := range d {
			within[i] += h.basis[j*d+i] * a
		}
	}
	for i := d - 1; i >= 0; i-- { // Tᵀ has nothing below its diagonal
		for j := i + 1; j < d; j++ {
			within[i] -= t[j*d+i] * within[j]
		}
		within[i] /= t[i*d+i]
	}
	for j := range d {
		beta[j] = 0
		for i, v := range within {
			beta[j] += h.basis[j*d+i] * v / (h.length[i] * h.length[i])
		}
	}
}

// slope sets outward to the derivative in Bᵀα, T⁻¹B⁻¹ times that in β.
func (h *hidden) slope(outward, t, grad []float64) {
	d := h.d
	for i := range d {
		s := 0.0
		for j, g := range grad {
			s += h.basis[j*d+i] * g
		}
		s /= h.length[i] * h.length[i]
		outward[i] = (s - dot(t[i*d:i*d+i], outward[:i])) / t[i*d+i]
	}
}

// parametersAt turns what was sampled into parameters, in place.
func (l *Linear) parametersAt(theta []float64) {
	if l.hidden == nil {
		return
	}
	d := l.dim
	t := make([]float64, d*d)
	l.hidden.triangle(t, theta[d+1:])
	l.hidden.coefficients(theta[:d], make([]float64, d), t, slices.Clone(theta[:d]))
}
