package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"errors"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// laplaceErrors is the family of y = η + sε with Laplace errors ε.
//
// Certificates: with M = 1/2s the largest density, L = M^(β−1)/s, which is 1/s for the
// log loss, and R_ℓ = M^(β−1)/(β−1). It is the regression of a number whose log loss is
// certified as it stands.
type laplaceErrors struct {
	loss           loss
	scale, logPeak float64
	integral       float64 // (∫f^β − 1)/β
}

func newMedian(cfg RegressionConfig, l loss) (family, error) {
	if err := positive("median regression: Scale", cfg.Scale); err != nil {
		return nil, err
	}
	f := laplaceErrors{loss: l, scale: cfg.Scale, logPeak: -math.Log(2 * cfg.Scale)}
	f.integral = math.Expm1(l.b*f.logPeak-math.Log1p(l.b)) / l.beta()
	return f, nil
}

func (f laplaceErrors) lossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = f.logPeak - math.Abs(y[i]-e)/f.scale
	}
	f.loss.scores(dst, f.integral)
}

// ratioAt is for the log loss. Both errors of one sign differ by the predictors alone,
// whose digits a far response would take.
func (f laplaceErrors) ratioAt(dst, eta, next, y []float64) {
	for i, e := range eta {
		now, then := y[i]-e, y[i]-next[i]
		switch {
		case now > 0 && then > 0 && !math.IsInf(y[i], 1):
			dst[i] = (next[i] - e) / f.scale
		case now < 0 && then < 0 && !math.IsInf(y[i], -1):
			dst[i] = (e - next[i]) / f.scale
		default:
			dst[i] = (math.Abs(now) - math.Abs(then)) / f.scale
		}
	}
}

func (f laplaceErrors) slopeAt(dst, eta, y []float64) {
	for i, e := range eta {
		r := y[i] - e
		slope := 1 / f.scale
		if b := f.loss.b; b > 0 {
			slope *= vec.Exp(b * (f.logPeak - math.Abs(r)/f.scale))
		}
		switch {
		case r > 0:
			dst[i] = -slope
		case r < 0:
			dst[i] = slope
		default:
			dst[i] = 0 * r
		}
	}
}

// peak is M^(β−1).
func (f laplaceErrors) peak() float64 { return math.Exp(f.loss.b * f.logPeak) }

func (f laplaceErrors) lossRange() float64 {
	if f.loss.isLog() {
		return math.Inf(1)
	}
	return up(f.peak() / f.loss.b)
}

func (f laplaceErrors) lipschitz(float64) float64 { return up(f.peak() / f.scale) }

func (laplaceErrors) convex(Cap) (convex.Loss, error) {
	return convex.Loss{}, errors.New("an absolute error has no curvature; use remainders of order 1")
}
