package accountant

// Proof: docs/proofs/optimum.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// objectivePerturbation is the exact minimum of an objective with a random linear term,
// of losses such as the logistic one.
type objectivePerturbation struct{ sigma, curvature float64 }

// Perturbation is the release of the exact minimum of a sum of convex losses of linear
// predictors, a ridge (Λ/2)‖θ‖² with Λ > 0 and a linear term b·θ, b ~ N(0, σ²I)
// (docs/proofs/optimum.md; after Kifer, Smith, Thakurta 2012).
type Perturbation struct {
	// NoiseMultiplier ≥ 0 is σ over the L2 sensitivity of the gradients' sum.
	NoiseMultiplier float64
	// Curvature ≥ 0 bounds Σ ℓ″‖x‖²/Λ over the rows of one person. With s =
	// 1/NoiseMultiplier the curve is
	//
	//	α·s²/2 + log(2Φ((α−1)s))/(α−1) + Curvature.
	Curvature float64
	// Logistic says that every loss is τ times a logistic one, or one whose curvature is at most
	// p(1−p) too where its slope is p of the largest. It is cheaper, since a loss whose slope
	// is extreme has no curvature. Curvature then bounds Σ τ‖x‖²/Λ. With
	// K = α−1, N standard normal and
	//
	//	f_t(y) = max over p in [0, 1] of p·y + p(1−p)·t
	//
	// the curve is s²/2 + log E exp(K·f_t(sN))/K with t = Curvature under add/remove, and
	// s²/2 + [log E exp(K·f_t(sN)) + log E exp(K·f_0(sN))]/2K with t = 2·Curvature under
	// substitution (Redberg, Koskela, Wang 2023). The first term of f is the linear term's
	// part, the second the determinant's.
	Logistic bool
	// Coordinates is the length of θ, from 1 to 4096: b is drawn on a grid, whose part is
	// added.
	Coordinates int
}

// Event is the cost of one such minimum.
func (p Perturbation) Event(adj Adjacency) (Event, error) {
	if p.Coordinates < 1 || p.Coordinates > mostPerturbed {
		return Event{}, fmt.Errorf("accountant: Perturbation: %d coordinates: must be from 1 to %d", p.Coordinates,
			mostPerturbed)
	}
	if p.Logistic {
		return stated(adj, objectivePerturbation{p.NoiseMultiplier, p.Curvature})
	}
	return stated(adj, convexPerturbation{p.NoiseMultiplier, p.Curvature})
}

func (m objectivePerturbation) check() error { return perturbationParameters(m.sigma, m.curvature) }

func (m convexPerturbation) check() error { return perturbationParameters(m.sigma, m.curvature) }

func perturbationParameters(multiplier, curvature float64) error {
	if err := noise("Perturbation", multiplier); err != nil {
		return err
	}
	return cost("Perturbation: curvature over the ridge", curvature)
}

func (m objectivePerturbation) kind() string              { return "objective_perturbation" }
func (m objectivePerturbation) memory(name string) memory { return recall(name) }
func (m objectivePerturbation) fields() []field {
	return []field{{"noise_multiplier", m.sigma}, {"curvature", m.curvature}}
}

// mostPerturbed is the largest number of coordinates that linearDeparture covers.
const mostPerturbed = 1 << 12

// lowestExcess is the least α−1 at which the curve is computed: it rises with the
// order, and nearer to 1 its logarithms lose digits.
const lowestExcess = 0.05

// linearDeparture bounds what the grid of b adds to a curve: 2 + 1/(α−1) times as much
// as the log-probabilities of b depart from those of a rounded normal law, 2⁻⁵⁷ a
// coordinate (docs/proofs/optimum.md, "The actual b").
const linearDeparture = (2 + 1/lowestExcess) * mostPerturbed * 0x1p-57

// departure is what the grid of b adds where losses are composed numerically.
func (m objectivePerturbation) departure() float64 { return 2 * mostPerturbed * 0x1p-57 }

func (m convexPerturbation) departure() float64 { return 2 * mostPerturbed * 0x1p-57 }

func (m objectivePerturbation) rdp(adj Adjacency, order float64) float64 {
	s, k := 1/m.sigma, max(order-1, lowestExcess)
	switch {
	case s == 0:
		return m.curvature/4 + linearDeparture
	case math.IsInf(s, 1) || math.IsInf(k, 1):
		return math.Inf(1)
	}
	if adj == AddRemove {
		return s*s/2 + logFolded(k, s, m.curvature)/k + linearDeparture
	}
	return s*s/2 + (logFolded(k, s, 2*m.curvature)+logFolded(k, s, 0))/(2*k) + linearDeparture
}

// foldedCells is how many chords replace the parabola of f_t, each above it by at
// most t/(4·foldedCells²).
const foldedCells = 32

// logFolded bounds log E exp(k·f_t(sN)) from above. f_t is 0 below −t, (y+t)²/4t up
// to t, and y beyond. On each cell it is at most its chord, for which the integral is
// a normal probability.
func logFolded(k, s, t float64) float64 {
	// A line slope·y + at over (lo, hi) gives e^(k·at + (k·slope·s)²/2) times the
	// probability of a normal shifted by k·slope·s².
	piece := func(at, slope, lo, hi float64) float64 {
		shift := k * slope * s
		return k*at + shift*shift/2 + logNormalBetween(lo/s-shift, hi/s-shift)
	}
	total := logAddExp(piece(0, 0, math.Inf(-1), -t), piece(0, 1, t, math.Inf(1)))
	for i := range foldedCells {
		if t == 0 {
			break
		}
		lo, hi := float64(2*i)/foldedCells-1, float64(2*i+2)/foldedCells-1 // in units of t
		slope := float64(2*i+1) / (2 * foldedCells)
		base := float64(i*i) / (foldedCells * foldedCells)
		total = logAddExp(total, piece(t*(base-slope*lo), slope, t*lo, t*hi))
	}
	// Each probability is off by at most some 1e-15 of the whole.
	return max(0, total) + 1e-12
}

// logNormalBetween is log P(lo < N < hi).
func logNormalBetween(lo, hi float64) float64 {
	if lo > 0 {
		lo, hi = -hi, -lo
	}
	if hi > 0 { // the interval contains 0, or starts there
		outside := (math.Erfc(-lo/math.Sqrt2) + math.Erfc(hi/math.Sqrt2)) / 2
		return math.Log1p(-min(1, outside))
	}
	// Φ(−y) = φ(y)·m(y).
	tail := func(y float64) float64 {
		if math.IsInf(y, 1) {
			return math.Inf(-1)
		}
		return -y*y/2 - math.Log(2*math.Pi)/2 + math.Log(normal.Mills(y))
	}
	top, bottom := tail(-hi), tail(-lo)
	return top + math.Log(-math.Expm1(bottom-top))
}
