// Package draw holds the continuous noises of the published mechanisms, drawn
// from a secret source: gamma, Dirichlet, and the law with density ∝ exp(−‖z‖₂/b),
// and the public grid on which their results are released.
//
// The draws are exact in real arithmetic and computed in float64. Rounding what
// is released to a grid far coarser than the computation's errors and far finer
// than the noise makes the released law that of the exact mechanism, rounded, up
// to a total-variation distance of about (error/grid) per coordinate; docs/ops.md
// gives the numbers.
package draw

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// Uniform returns a draw from the open interval (0, 1), a multiple of 2⁻⁶⁴ away
// from either end before it is rounded to a float64 (which keeps it above 0).
func Uniform(src *noise.Source) float64 {
	u := (float64(src.Uint64()>>1) + 0.5) * 0x1p-63
	return min(u, 1-0x1p-53)
}

// Exponential returns a draw with mean 1.
func Exponential(src *noise.Source) float64 { return -math.Log(Uniform(src)) }

// LogGamma returns the logarithm of a Gamma(shape, 1) draw, shape > 0, by the
// rejection method of Marsaglia and Tsang (2000) and its boost for shape < 1.
// The logarithm keeps draws of small shapes, which underflow.
func LogGamma(src *noise.Source, shape float64) float64 {
	if !(shape > 0) || math.IsInf(shape, 1) {
		panic(fmt.Sprintf("draw: LogGamma: shape %v: must be positive and finite", shape))
	}
	if shape < 1 {
		return LogGamma(src, shape+1) - Exponential(src)/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := noise.StandardNormal(src)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		logv := 3 * math.Log(v)
		if math.Log(Uniform(src)) < x*x/2+d-d*math.Exp(logv)+d*logv {
			return math.Log(d) + logv
		}
	}
}

// Dirichlet sets dst to a Dirichlet draw with the given positive concentrations.
func Dirichlet(src *noise.Source, dst, concentration []float64) {
	top := math.Inf(-1)
	for i, a := range concentration {
		dst[i] = LogGamma(src, a)
		top = max(top, dst[i])
	}
	sum := 0.0
	for i, l := range dst {
		dst[i] = math.Exp(l - top)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// AddLaplace makes x exactly epsilon-DP, given its L1 sensitivity: it rounds x to
// a public grid, a power of two of at most 2⁻²⁰ of the scale, and adds discrete
// Laplace noise there. Rounding may move both of two neighbours by half a step a
// coordinate, which is added to the sensitivity.
func AddLaplace(src *noise.Source, x []float64, sensitivity, epsilon float64) error {
	scale := sensitivity / epsilon
	if !(scale > 0x1p-900 && scale < 0x1p900) {
		return fmt.Errorf("draw: Laplace noise of scale %v: it must be from 2^-900 to 2^900; rescale the records", scale)
	}
	_, e := math.Frexp(scale)
	step := math.Ldexp(1, e-21)
	steps := math.Ceil((scale/step + float64(len(x))/epsilon) * (1 + 0x1p-50))
	if !(steps < 0x1p40) {
		return fmt.Errorf("draw: Laplace noise for %d statistics at ε = %v: ε must be larger", len(x), epsilon)
	}
	for i, v := range x {
		x[i] = math.RoundToEven(v/step)*step + float64(discreteLaplace(src, uint64(steps)))*step
	}
	return nil
}

// discreteLaplace returns k with probability ∝ e^−|k|/scale, from integers alone
// (Canonne, Kamath, Steinke 2020, Algorithm 2). scale is from 1 to 2⁴⁰.
func discreteLaplace(src *noise.Source, scale uint64) int64 {
	for {
		low := noise.Uint64n(src, scale)
		if !bernoulliExp(src, low, scale) {
			continue
		}
		whole := uint64(0)
		for bernoulliExp(src, 1, 1) {
			whole++
		}
		k := int64(low + whole*scale)
		if src.Uint64()>>63 == 0 {
			return k
		}
		if k > 0 {
			return -k
		}
	}
}

// bernoulliExp returns true with probability e^(−a/b), for 0 ≤ a ≤ b: the number
// of successes in a row of chances a/b, a/2b, a/3b, … is even that often.
func bernoulliExp(src *noise.Source, a, b uint64) bool {
	for k := uint64(1); ; k++ {
		if noise.Uint64n(src, b*k) >= a {
			return k%2 == 1
		}
	}
}

// Grid returns the public grid for releases whose noise has the given scale:
// the largest power of two not above scale/4096.
func Grid(scale float64) float64 {
	_, e := math.Frexp(scale)
	return math.Ldexp(0.5, e-12)
}

// Round replaces each element of x by the nearest multiple of step, a power of
// two.
func Round(x []float64, step float64) {
	for i, v := range x {
		x[i] = math.RoundToEven(v/step) * step
	}
}
