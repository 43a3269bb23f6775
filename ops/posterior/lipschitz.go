package posterior

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ops"
)

// Rule says how NewLipschitz turns the privacy parameters into a weight or a
// prior. The zero value is invalid.
type Rule int8

const (
	// Minami is the published weight for (Epsilon, Delta):
	// w = ε/(2L)·√(m/(1 + 2·log(1/δ))) (Minami et al. 2016, Thm 7). Above an ε of
	// about 9, where that spends more than ε, it is Gaussian's.
	Minami Rule = iota + 1
	// Gaussian is the largest weight for (Epsilon, Delta) by the trade-off of
	// Gopi, Lee and Liu 2022.
	Gaussian
	// Diffuse is the weight √(εm/(2L²λ)) for a Rényi divergence of order λ =
	// Order of at most Epsilon (Geumlek et al. 2017, Algorithm 5).
	Diffuse
	// Concentrated leaves the weight 1 and raises the prior's precision to
	// 2L²λ/ε (Geumlek et al. 2017, Algorithm 4).
	Concentrated
)

// LipschitzConfig describes logistic regression with a normal prior.
type LipschitzConfig struct {
	// Features is the number of features. Required.
	Features int
	// Radius bounds ‖x‖₂; longer rows are projected. Required, positive. It is
	// the Lipschitz constant L of the log loss in θ: features in [0, 1] have
	// Radius √Features, an intercept included, not 1 or 2.
	Radius float64
	// PriorSD is the prior's standard deviation, 1/√m. Required, positive.
	PriorSD float64
	// Rule chooses the algorithm. Required.
	Rule Rule
	// Epsilon is the target of one draw. Required, positive.
	Epsilon float64
	// Delta is required by Minami and Gaussian, in (0, 1).
	Delta float64
	// Order is required by Diffuse and Concentrated, above 1.
	Order float64
}

// NewLipschitz returns one-posterior sampling of logistic regression by the log
// loss. Replacing a record changes the potential by a function with Lipschitz
// constant 2wL, and the potential is m-strongly convex, so one draw is µ-GDP
// with µ = 2wL/√m (Gopi, Lee, Liu 2022, Thm 4.1), hence of Rényi divergence
// 2w²L²λ/m (Geumlek et al. 2017, Thm 16, for w = 1).
//
// The loss must be convex with a bounded slope: the β loss is not convex, and the
// log losses of probit and complementary log-log regression are not Lipschitz,
// although Geumlek et al. list them.
func NewLipschitz(cfg LipschitzConfig) (*Mechanism, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	w, precision := cfg.weight()
	target, err := logistic(cfg.Features, 1/math.Sqrt(precision), cfg.Radius)
	if err != nil {
		return nil, err
	}
	event, err := accountant.GaussianDP(accountant.Substitute, cfg.mu(w, precision))
	if err != nil {
		return nil, err
	}
	return &Mechanism{
		target: target, weight: w, project: cfg.Radius,
		cost: ops.Guarantee{Event: event, Kind: ops.Conditional,
			Theorem: "Gopi, Lee, Liu 2022, Thm 4.1 (Minami et al. 2016, Thm 7; Geumlek et al. 2017, Thms 16, 17)"},
	}, nil
}

func (c LipschitzConfig) check() error {
	for _, f := range []struct {
		name string
		v    float64
	}{{"Radius", c.Radius}, {"PriorSD", c.PriorSD}, {"Epsilon", c.Epsilon}} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return fmt.Errorf("posterior: %s = %v: must be positive and finite", f.name, f.v)
		}
	}
	switch c.Rule {
	case Minami, Gaussian:
		if !(c.Delta > 0 && c.Delta < 1) {
			return fmt.Errorf("posterior: Delta = %v: must be in (0, 1)", c.Delta)
		}
	case Diffuse, Concentrated:
		if !(c.Order > 1) || math.IsInf(c.Order, 1) {
			return fmt.Errorf("posterior: Order = %v: must be finite and above 1", c.Order)
		}
	default:
		return fmt.Errorf("posterior: Rule is required: Minami, Gaussian, Diffuse or Concentrated")
	}
	return nil
}

// mu is the sensitivity of the potential's slope over √m, rounded up.
func (c LipschitzConfig) mu(weight, precision float64) float64 {
	return 2 * weight * c.Radius / math.Sqrt(precision) * (1 + 0x1p-48)
}

// weight returns the weight and the prior's precision that the rule chooses.
func (c LipschitzConfig) weight() (w, precision float64) {
	m := 1 / (c.PriorSD * c.PriorSD)
	l := c.Radius
	switch c.Rule {
	case Minami:
		published := min(1, c.Epsilon/(2*l)*math.Sqrt(m/(1-2*math.Log(c.Delta))))
		if c.fits(published, m) {
			return published, m
		}
		return c.gaussianWeight(m), m
	case Gaussian:
		return c.gaussianWeight(m), m
	case Diffuse:
		return min(1, math.Sqrt(c.Epsilon*m/(2*l*l*c.Order))*(1-1e-12)), m
	default:
		return 1, max(m, 2*l*l*c.Order/c.Epsilon*(1+1e-12))
	}
}

// fits reports whether a weight costs at most (Epsilon, Delta).
func (c LipschitzConfig) fits(w, m float64) bool {
	event, err := accountant.GaussianDP(accountant.Substitute, c.mu(w, m))
	if err != nil {
		return false
	}
	g, err := event.Epsilon(c.Delta)
	return err == nil && g.Epsilon <= c.Epsilon
}

// gaussianWeight bisects for the largest weight whose cost fits.
func (c LipschitzConfig) gaussianWeight(m float64) float64 {
	if c.fits(1, m) {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; c.fits(mid, m) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
