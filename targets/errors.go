package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// errorLaw is the standard form g of a symmetric error distribution, scale 1,
// with the constants of one loss: normal, or Student-t with nu degrees of
// freedom.
type errorLaw struct {
	nu       float64 // 0 for normal
	logPeak  float64 // log g(0)
	logPower float64 // log ∫g^β
	maxSlope float64 // sup_z g^b·|score|, so |∂ℓ/∂η| ≤ maxSlope·σ^−β
	maxPull  float64 // sup_z of |∂ℓ/∂log σ|·σ^b
	spread   float64 // the residuals of interest are of this order
}

func newErrorLaw(nu, b float64) errorLaw {
	e := errorLaw{nu: nu}
	if nu == 0 {
		e.logPeak = -math.Log(2*math.Pi) / 2
		e.logPower = b*e.logPeak - math.Log1p(b)/2
		e.spread = math.Sqrt(1 + 2/b)
	} else {
		e.logPeak = lgamma((nu+1)/2) - lgamma(nu/2) - math.Log(math.Pi*nu)/2
		a := (b*(nu+1) + nu) / 2
		e.logPower = b*e.logPeak + (lgamma(a) - lgamma(nu/2)) - (lgamma(a+0.5) - lgamma((nu+1)/2))
		e.spread = math.Sqrt(min(nu, 1+2/b))
	}
	e.maxSlope = e.slopeSup(b)
	e.maxPull = e.pullSup(b)
	return e
}

// logDensity returns log g(z).
func (e *errorLaw) logDensity(z float64) float64 {
	if e.nu == 0 {
		return e.logPeak - z*z/2
	}
	return e.logPeak + vec.StudentLog(e.nu, z)
}

// score returns −g′(z)/g(z).
func (e *errorLaw) score(z float64) float64 {
	if e.nu == 0 {
		return z
	}
	return vec.StudentScore(e.nu, z)
}

// slopeSup returns sup_z g(z)^b·|score(z)|.
func (e *errorLaw) slopeSup(b float64) float64 {
	if e.nu == 0 && b == 0 {
		return math.Inf(1)
	}
	return e.slopeOver(b, 0, 0, math.Inf(1))
}

// slopeOver returns the maximum of e^shift·g^b·score over residuals from ≤ z ≤ to, at
// least 0. For normal errors it rises up to z = 1/√b and falls thereafter. For
// Student-t ones it is proportional to √w·(1+w)^−k with w = z²/ν and
// k = 1 + b(ν+1)/2, which is greatest at w = 1/(2k−1).
func (e *errorLaw) slopeOver(b, shift, from, to float64) float64 {
	top := 1 / math.Sqrt(b)
	if e.nu > 0 {
		top = math.Sqrt(e.nu / (1 + b*(e.nu+1)))
	}
	z := max(from, min(to, top))
	return damp(e.score(z), b*e.logDensity(z)+shift)
}

// pullSup returns sup_z |g^b·(1 − z·score) − b/(1+b)·∫g^β|.
func (e *errorLaw) pullSup(b float64) float64 { return e.pullOver(b, 0, 0, math.Inf(1)) }

// pullOver is e^shift times pullSup, over residuals from ≤ z ≤ to. The first term falls from
// z = 0 to where its derivative vanishes again, at z² = 1 + 2/b for normal and
// Student-t errors alike, and rises from there towards 0; for the log loss it
// falls for ever.
func (e *errorLaw) pullOver(b, shift, from, to float64) float64 {
	integral := b / (1 + b) * math.Exp(e.logPower+shift)
	at := func(z float64) float64 {
		switch {
		case b == 0 && z > 1e8*max(1, e.nu):
			return -e.farPull()
		case b*e.logDensity(z)+shift < -700:
			return -integral
		}
		return math.Exp(b*e.logDensity(z)+shift)*(1-z*e.score(z)) - integral
	}
	low := math.Sqrt(1 + 2/b)
	return max(math.Abs(at(from)), math.Abs(at(to)), math.Abs(at(max(from, min(to, low)))))
}

// farPull returns the limit of z·score − 1 far out.
func (e *errorLaw) farPull() float64 {
	if e.nu == 0 {
		return math.Inf(1)
	}
	return e.nu
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
