package priors

// Proof: docs/proofs/hyperparameters.md.

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Horseshoe is the prior of coefficients most of which are near 0 (Carvalho, Polson,
// Scott 2010): coefficient j is N(0, λ_j²τ²), λ_j half-Cauchy of scale 1, and τ has
// the prior Scale. All scales are integrated out, so the prior is one of the
// coefficients alone and every kernel can use it; Hyper draws τ back.
//
// A Horseshoe is immutable; make one with NewHorseshoe.
type Horseshoe struct {
	cfg  HorseshoeConfig
	n    float64 // coefficients that are shrunk
	grid []scalePoint
}

// HorseshoeConfig describes a Horseshoe.
type HorseshoeConfig struct {
	// Groups is 0 for a coefficient that is shrunk, −1 for one that has the standard
	// deviation FixedSD, such as an intercept. Required.
	Groups []int
	// Scale is the prior of τ, such as HalfCauchy{Scale: 0.1}. Required.
	Scale Scale
	// FixedSD is the standard deviation of the coefficients of group −1. Required
	// where there are any.
	FixedSD float64
}

// horseshoeStep is the quadrature's in log τ: heavy tails make the integrand wider
// than a normal's.
const horseshoeStep = 0.1

// NewHorseshoe returns the prior. τ is restricted to 10⁻⁴ … 10⁴. Errors: no groups, or
// numbers other than 0 and −1; a Scale or FixedSD that is missing or out of range.
func NewHorseshoe(c HorseshoeConfig) (*Horseshoe, error) {
	groups, err := checkGroups("horseshoe prior", c.Groups, c.Scale, c.FixedSD)
	if err != nil {
		return nil, err
	}
	if groups != 1 {
		return nil, fmt.Errorf("priors: horseshoe prior: the largest of Groups is %d; use 0 for coefficients that are "+
			"shrunk and −1 for others", groups-1)
	}
	c.Groups = slices.Clone(c.Groups)
	h := &Horseshoe{cfg: c, grid: scaleGrid(c.Scale, horseshoeStep)}
	for _, g := range c.Groups {
		h.n += float64(g + 1)
	}
	return h, nil
}

// Check refuses a number of parameters that is not the groups'.
func (h *Horseshoe) Check(dim int) error {
	if h == nil {
		return errors.New("priors: a Horseshoe is made by NewHorseshoe")
	}
	if dim != len(h.cfg.Groups) {
		return fmt.Errorf("priors: horseshoe prior: %d groups for %d parameters; give one for each", len(h.cfg.Groups), dim)
	}
	return nil
}

// log is the log density given τ up to a constant: ∏ e^z·E₁(z)/τ, z = θ²/2τ².
func (h *Horseshoe) log(theta []float64, at scalePoint) float64 {
	v := at.weight - h.n*at.log
	for j, t := range theta {
		if h.cfg.Groups[j] == 0 {
			v += math.Log(scaledE1(t * t * at.inverse / 2))
		}
	}
	return v
}

// LogDensity returns the log density of the coefficients up to a constant.
func (h *Horseshoe) LogDensity(theta []float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, at := range h.grid {
		v := h.log(theta, at)
		if v > top {
			sum *= math.Exp(top - v)
			top = v
		}
		sum += math.Exp(v - top)
	}
	return fixedLogDensity(theta, h.cfg.Groups, h.cfg.FixedSD) + top + math.Log(sum)
}

// Grad sets dst to the gradient of LogDensity, 0 at a coefficient of 0, where the
// density has a pole.
func (h *Horseshoe) Grad(dst, theta []float64) {
	log := h.LogDensity(theta) - fixedLogDensity(theta, h.cfg.Groups, h.cfg.FixedSD)
	clear(dst[:len(theta)])
	for _, at := range h.grid {
		w := math.Exp(h.log(theta, at) - log)
		if w < 1e-18 {
			continue
		}
		for j, t := range theta {
			if z := t * t * at.inverse / 2; h.cfg.Groups[j] == 0 && z > 0 {
				dst[j] += w * t * at.inverse * (1 - 1/max(z*scaledE1(z), math.SmallestNonzeroFloat64))
			}
		}
	}
	fixedGrad(dst, theta, h.cfg.Groups, h.cfg.FixedSD)
}

// Sample sets theta to a draw.
func (h *Horseshoe) Sample(theta []float64, rng *rand.Rand) {
	tau := math.Exp(h.grid[pick(h.grid, rng, func(at scalePoint) float64 { return at.weight })].log)
	for j := range theta {
		if h.cfg.Groups[j] < 0 {
			theta[j] = h.cfg.FixedSD * rng.NormFloat64()
			continue
		}
		theta[j] = tau * HalfCauchy{Scale: 1}.Sample(rng) * rng.NormFloat64()
	}
}

// Hyper draws τ given coefficients: post-processing of a state that was released.
func (h *Horseshoe) Hyper(theta []float64, rng *rand.Rand) (tau float64) {
	i := pick(h.grid, rng, func(at scalePoint) float64 { return h.log(theta, at) })
	return math.Exp(h.grid[i].log + horseshoeStep*(rng.Float64()-0.5))
}

// leastSquare keeps the pole of the horseshoe's density at 0 finite.
const leastSquare = 1e-300

// scaledE1 is e^z·E₁(z), z ≥ 0: the series below 1 and the continued fraction
// (Abramowitz and Stegun 5.1.11, 5.1.22) above.
func scaledE1(z float64) float64 {
	const euler = 0.57721566490153286061
	z = max(z, leastSquare)
	if z < 1 {
		sum, term := 0.0, 1.0
		for k := 1.0; k < 30; k++ {
			term *= -z / k
			sum -= term / k
		}
		return math.Exp(z) * (sum - euler - math.Log(z))
	}
	b := z + 1 // modified Lentz
	c, d := math.Inf(1), 1/b
	f := d
	for k := 1.0; k < 200; k++ {
		a := -k * k
		b += 2
		d = 1 / (a*d + b)
		c = b + a/c
		step := c * d
		f *= step
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	return f
}
