package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// Loss is the choice between the log loss, −log f, and the β-divergence loss. The zero
// value is the log loss.
//
// The β loss of a density f (Jewson et al. 2023, §2; theory §1) is here
//
//	ℓ(z; θ) = −(f(z; θ)^(β−1) − 1)/(β−1) + (∫f(u; θ)^β du − 1)/β,
//
// which is the textbook form plus 1/(β(β−1)), a constant free of z and θ that no
// posterior notices. With it ℓ → −log f as β → 1, and ℓ = 0 for a probability
// mass of one, as for the log loss. Both differences are computed through expm1,
// so β may be as close to 1 as float64 can tell.
type Loss struct {
	// Beta is β, above 1 and at most 10⁶, or 100 for models whose integral term is summed
	// or tabulated: counts and mixtures. Defaults to 0, the log loss.
	Beta float64
}

// maxBeta is far above any use: one posterior sample at ε needs 1 + 2/ε.
// maxTableBeta is that of models whose integral term is summed or tabulated,
// which takes the longer the larger β is.
const maxBeta, maxTableBeta = 1e6, 100

// String returns "log" or "beta" followed by β in parentheses.
func (l Loss) String() string {
	if l.Beta == 0 {
		return "log"
	}
	return fmt.Sprintf("beta(%g)", l.Beta)
}

// checked is the loss as models compute it.
func (l Loss) checked() (loss, error) {
	if l.Beta == 0 {
		return loss{}, nil
	}
	if !(l.Beta > 1 && l.Beta <= maxBeta) {
		return loss{}, fmt.Errorf("targets: beta = %v, but the β loss needs a beta above 1 and at most %g; use the log "+
			"loss for beta = 1", l.Beta, maxBeta)
	}
	return loss{b: l.Beta - 1}, nil
}

// loss is a Loss that was checked.
type loss struct {
	b float64 // β − 1, zero for the log loss
}

// beta returns β, 1 for the log loss.
func (l loss) beta() float64 { return 1 + l.b }

// isLog reports whether l is the log loss.
func (l loss) isLog() bool { return l.b == 0 }

// checkTable refuses a β that is too large to sum or tabulate.
func (l loss) checkTable(model string) error {
	if l.beta() > maxTableBeta {
		return fmt.Errorf("targets: %s: beta = %v; this model allows a beta of at most %d", model, l.beta(), maxTableBeta)
	}
	return nil
}

// massRange returns R_ℓ for a probability mass function: with the constant of
// Loss, 0 ≤ ℓ ≤ 1/(β−1) for every record and parameter, because Σf^β ≥ f^β makes
// ℓ fall monotonically in the mass f (theory §1.1).
func (l loss) massRange() float64 {
	if l.isLog() {
		return math.Inf(1)
	}
	return up(1 / l.b)
}

// ofMasses returns the loss of the first of several outcomes, given the
// logarithms of the probabilities of all of them; two outcomes here.
func (l loss) ofMasses(logp, logq float64) float64 {
	if l.isLog() {
		return -logp
	}
	u, v := vec.Expm1(l.b*logp), vec.Expm1(l.b*logq)
	return (vec.Exp(logp)*u+vec.Exp(logq)*v)/l.beta() - u/l.b
}

// score returns the part of the loss that sees the record: −log f, or
// −(f^b − 1)/b.
func (l loss) score(logf float64) float64 {
	if l.isLog() {
		return -logf
	}
	return -vec.Expm1(l.b*logf) / l.b
}

// scores replaces log densities by losses, integral being (∫f^β − 1)/β.
func (l loss) scores(logf []float64, integral float64) {
	if l.isLog() {
		for i, v := range logf {
			logf[i] = -v
		}
		return
	}
	for i, v := range logf {
		logf[i] = l.b * v
	}
	vec.Expm1All(logf, logf)
	inv := 1 / l.b
	for i, v := range logf {
		logf[i] = integral - v*inv
	}
}
