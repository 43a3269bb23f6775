package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// locationScale is y = η + σε with σ ≥ s under one loss, the part that linear
// regression has in common with its heteroscedastic form.
type locationScale struct {
	loss     loss
	minScale float64 // s
	errors   errorLaw
}

func newLocationScale(l loss, minScale, nu float64) locationScale {
	return locationScale{loss: l, minScale: minScale, errors: newErrorLaw(nu, l.b)}
}

// excess returns σ − s = e^ω. From e^700 on σ stays: where it overflows there
// would be no loss and no gradient, and a bound on both holds for what stays.
func excess(omega float64) float64 { return vec.Exp(min(omega, mostOmega)) }

// growth is the derivative of excess.
func growth(omega float64) float64 {
	if omega > mostOmega {
		return 0
	}
	return excess(omega)
}

const mostOmega = 700

// maxFreedom and maxDispersion are where Student's law is the normal, and the
// negative binomial the Poisson, to seven digits. Beyond, differences of
// log Γ would lose theirs.
const maxFreedom, maxDispersion = 1e6, 1e6

// checkErrors refuses a least scale or degrees of freedom out of range.
func checkErrors(model string, minScale, nu float64) error {
	if err := positive(model+": MinScale", minScale); err != nil {
		return err
	}
	if nu == 0 {
		return nil
	}
	if nu > maxFreedom {
		return fmt.Errorf("targets: %s: DegreesOfFreedom = %v; above %g the errors are normal, so give 0", model, nu,
			float64(maxFreedom))
	}
	return positive(model+": DegreesOfFreedom", nu)
}

// integral returns (∫f^β − 1)/β, at scale σ.
func (m *locationScale) integral(logSigma float64) float64 {
	b := m.loss.b
	return vec.Expm1(m.errors.logPower-b*logSigma) / (1 + b)
}

// slopes returns ∂ℓ/∂η and ∂ℓ/∂log σ at the standardised residual z.
func (m *locationScale) slopes(z, logSigma float64) (slope, pull float64) {
	b, score := m.loss.b, m.errors.score(z)
	if b == 0 {
		return -score * math.Exp(-logSigma), 1 - z*score
	}
	density := vec.Exp(b * (m.errors.logDensity(z) - logSigma)) // f^b
	if density == 0 {
		score, z = 0, 0
	}
	power := vec.Exp(m.errors.logPower - b*logSigma) // ∫f^β
	return -density * score * math.Exp(-logSigma), density*(1-z*score) - power*b/(1+b)
}

// peak returns M^b, M being the largest density at scale sigma.
func (m *locationScale) peak(sigma float64) float64 {
	return math.Exp(m.loss.b * (m.errors.logDensity(0) - math.Log(sigma)))
}

// lossRange returns M^b/b. It covers records of different σ too: as ∫f^β is
// c·M_σ^b with c ≤ 1, the loss lies between (c/β − 1/b)·M_σ^b and c·M_σ^b/β, and
// both are extreme at σ = s.
func (m *locationScale) lossRange() float64 {
	if m.loss.isLog() {
		return math.Inf(1)
	}
	return up(m.peak(m.minScale) / m.loss.b)
}

// gradSlack is by how much, in proportion, a certified gradient bound may exceed
// the least upper bound.
const gradSlack = 1e-4

// gradSup returns an upper bound, over the residual and σ ≥ s, of the norm of
// (∂ℓ/∂η·a, ∂ℓ/∂ω·c) with σ = s + e^ω. On a box of residuals and scales, each
// part is bounded by its factors: powers of σ are greatest at the least scale, and
// the parts that see the residual have known extremes.
func (m *locationScale) gradSup(a, c float64) float64 {
	if math.IsInf(m.errors.maxSlope, 1) || math.IsInf(m.errors.maxPull, 1) {
		return math.Inf(1)
	}
	if a > 1 {
		return up(a * m.gradSup(1, c/a)) // a may be so large that products with it overflow
	}
	b := m.loss.b
	return ceiling2(gradSlack, [2]float64{0, 1}, [2]float64{0, 1}, func(u, t [2]float64) float64 {
		// u = s/σ, and t in [0, 1] for the residual z.
		from, to := m.errors.spread*t[0]/(1-t[0]), m.errors.spread*t[1]/(1-t[1])
		shift := b * math.Log(u[1]/m.minScale)
		slope := times(m.errors.slopeOver(b, shift, from, to)*u[1]/m.minScale, a)
		return math.Hypot(slope, m.errors.pullOver(b, shift, from, to)*(1-u[0])*c)
	})
}
