package kernels

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// MostClip is the largest clip that a release of a ratio takes, and 1/MostClip the least.
const MostClip = 1e200

// Bounds are public bounds on one record's |τ·(ℓ(z;θ) − ℓ(z;θ′))|. They choose the clips
// of moves, which the curator enforces whatever they say. Each is symmetric in θ and
// θ′, as detailed balance needs of noise in proportion to them.
type Bounds struct {
	Constant  float64                  // for every move; +Inf for none
	PerLength float64                  // times ‖θ′ − θ‖; +Inf for none
	Ratio     targets.RatioCertificate // of one move; nil for none
	Tau       float64                  // what multiplies Ratio's bound
	Radius    float64                  // of the records, for Ratio
}

// Any reports whether some bound may apply to every move.
func (b Bounds) Any() bool {
	return !math.IsInf(min(b.Constant, b.PerLength), 1) || b.Ratio != nil
}

// Most bounds all moves of at most the given length, which may be +Inf.
func (b Bounds) Most(length float64) float64 {
	if math.IsInf(length, 1) {
		return b.Constant
	}
	return min(b.Constant, b.PerLength*length)
}

// Of bounds one move.
func (b Bounds) Of(theta, next []float64) float64 {
	bound := b.Constant
	if !math.IsInf(b.PerLength, 1) {
		bound = min(bound, b.PerLength*Distance(theta, next))
	}
	if b.Ratio != nil {
		bound = min(bound, b.Tau*max(b.Ratio.RatioBound(theta, next, b.Radius), b.Ratio.RatioBound(next, theta, b.Radius)))
	}
	return bound
}

// Distance is the Euclidean distance of two states.
func Distance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		d := v - b[j]
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}
