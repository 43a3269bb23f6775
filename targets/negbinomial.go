package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// newNegativeBinomial is the family of a count with mean e^η and variance e^η + e^2η/r.
//
// Certificates: R_ℓ = 1/(β−1). Unlike those of Poisson counts, slopes are bounded
// for every β > 1, because counts spread in proportion to their mean; the log
// loss has none. The β loss takes a table of Σf^β, built once in about a tenth
// of a second.
func newNegativeBinomial(cfg RegressionConfig, l loss) (family, error) {
	if err := positive("negative-binomial regression: Dispersion", cfg.Dispersion); err != nil {
		return nil, err
	}
	if cfg.Dispersion > maxDispersion {
		return nil, fmt.Errorf("targets: negative-binomial regression: Dispersion = %v; above %g the counts are Poisson, "+
			"so take that", cfg.Dispersion, float64(maxDispersion))
	}
	law := negBinomial{cfg.Dispersion, math.Log(cfg.Dispersion)}
	f, err := newCounts("negative-binomial", l, law)
	if err == nil && !l.isLog() {
		f.lip = up(law.slopeCeiling(f))
	}
	return f, err
}

// negBinomial is the law of a count with mean e^η and dispersion r.
type negBinomial struct{ r, logR float64 }

// score is (y − μ)·r/(r + μ).
func (n negBinomial) score(eta, y float64) float64 {
	share := 1 / (1 + math.Exp(eta-n.logR)) // r/(r+μ)
	return y*share - n.r*(1-share)
}

// logMass is log Γ(y+r)/(Γ(r)·y!) + r·log(r/(r+μ)) + y·log(μ/(r+μ)).
func (n negBinomial) logMass(eta, y float64) float64 {
	t := eta - n.logR
	v := n.logChoose(y) - n.r*softplus(t)
	if y > 0 {
		v -= y * softplus(-t)
	}
	return v
}

// logChoose returns log Γ(y+r)/(Γ(r)·y!), for large y by the difference of
// Stirling's formulas.
func (n negBinomial) logChoose(y float64) float64 {
	if y < 32 {
		return lgamma(y+n.r) - lgamma(n.r) - lgamma(y+1)
	}
	e := n.r - 1
	step := math.Log1p(e / y)
	return (y+0.5)*step + e*(math.Log(y+e)-1) + stirlingError(y+e) - stirlingError(y) - lgamma(n.r)
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// logPower sums the first counts one by one, and the rest by the Euler–Maclaurin
// formula with the integral over log y, in which the summand is smooth.
func (n negBinomial) logPower(eta, beta float64) (value, slope float64) {
	const first = 128
	term := func(y float64) (fb, moment float64) {
		fb = math.Exp(beta * n.logMass(eta, y))
		return fb, damp(1, beta*n.logMass(eta, y)) * n.score(eta, y)
	}
	var sum, moment float64
	for y := range first {
		fb, m := term(float64(y))
		sum, moment = sum+fb, moment+m
	}
	rest, restMoment := n.tail(first, math.Exp(eta), term)
	return math.Log(sum + rest), beta * (moment + restMoment) / (sum + rest)
}

// tail returns the sums of both parts of term over y ≥ first, by
// ∫g + g/2 − g′/12 + g‴/720 with the derivatives at first from differences.
func (n negBinomial) tail(first, mean float64, term func(y float64) (fb, moment float64)) (sum, moment float64) {
	const width = 0.5
	part := func(k int) func(u float64) float64 {
		return func(u float64) float64 {
			y := math.Exp(u)
			a, b := term(y)
			if k == 0 {
				return a * y
			}
			return b * y
		}
	}
	for u := math.Log(first); ; u += width {
		da := quad.Fixed(part(0), u, u+width, 8, nil, 0)
		db := quad.Fixed(part(1), u, u+width, 8, nil, 0)
		sum, moment = sum+da, moment+db
		if math.Exp(u) > 2*mean && math.Abs(da)+math.Abs(db) <= 1e-18 {
			break
		}
	}
	// Weights of g at first−2, …, first+2: g/2 − D₁/12 + 11·D₃/720.
	const w1, w3 = 1.0 / 24, 11.0 / 1440
	for k, w := range []float64{-w3, w1 + 2*w3, 0.5, -w1 - 2*w3, w3} {
		a, b := term(first + float64(k-2))
		sum, moment = sum+w*a, moment+w*b
	}
	return sum, moment
}
