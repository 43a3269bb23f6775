package posterior

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Mechanism draws from a weighted posterior. It is immutable. Constructors:
// [NewBounded], [NewBall], [NewLipschitz].
type Mechanism struct {
	target  targets.GradTarget
	weight  float64
	project float64 // radius to which rows are projected, 0 for none
	ball    float64 // radius of the prior's support, 0 for everywhere
	cost    ops.Guarantee
}

// Config describes a mechanism that rests on the range of the loss.
type Config struct {
	// Target is the model. Required; it must have a finite LossRange, which is
	// believed: unlike the curator, this mechanism cannot clip a density.
	Target targets.GradTarget
	// Epsilon is that of one draw. Required, positive.
	Epsilon float64
}

// NewBounded returns one-posterior sampling for a loss whose range over records
// is R_ℓ. The weight is min(1, Epsilon/2R_ℓ): for a log-likelihood within ±B,
// R_ℓ = 2B and the weight is the ε/4B of Wang et al. 2015. One draw is a
// 2wR_ℓ-bounded-range release (Jewson et al. 2023, Thm 1; theory §2.9).
func NewBounded(cfg Config) (*Mechanism, error) {
	if cfg.Target == nil {
		return nil, fmt.Errorf("posterior: Target is required")
	}
	certificate, ok := cfg.Target.(targets.RangeCertificate)
	if !ok || !(certificate.LossRange() > 0) || math.IsInf(certificate.LossRange(), 1) {
		return nil, fmt.Errorf("posterior: the target's loss has no bounded range: use the β loss, NewBall or NewLipschitz")
	}
	return bounded(&Mechanism{target: cfg.Target}, certificate.LossRange(), cfg.Epsilon,
		"Jewson et al. 2023, Thm 1, as bounded range")
}

// bounded finishes a mechanism whose loss has the given range.
func bounded(m *Mechanism, lossRange, epsilon float64, theorem string) (*Mechanism, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return nil, fmt.Errorf("posterior: Epsilon = %v: must be positive and finite", epsilon)
	}
	m.weight = min(1, epsilon/(2*lossRange))
	event, err := accountant.BoundedRange(accountant.Substitute, min(2*m.weight*lossRange, epsilon))
	if err != nil {
		return nil, err
	}
	m.cost = ops.Guarantee{Event: event, Kind: ops.Conditional, Theorem: theorem}
	return m, nil
}

// BallConfig describes logistic regression with a truncated prior.
type BallConfig struct {
	// Features is the number of features. Required.
	Features int
	// Radius bounds ‖x‖₂; longer rows are projected. Required, positive.
	Radius float64
	// Ball bounds ‖θ‖₂: the prior is zero outside. Required, positive.
	Ball float64
	// PriorSD is the standard deviation of the normal prior before truncation.
	// Required, positive.
	PriorSD float64
	// Epsilon is that of one draw. Required, positive.
	Epsilon float64
}

// NewBall returns one-posterior sampling of logistic regression by the log loss
// with the prior truncated to a ball (Wang, Fienberg, Smola 2015). At a fixed θ
// the log loss lies between log(1 + e^−a) and log(1 + e^a), a = Radius·Ball, so
// its range is a and the weight min(1, Epsilon/2a).
func NewBall(cfg BallConfig) (*Mechanism, error) {
	target, err := logistic(cfg.Features, cfg.PriorSD, cfg.Radius)
	if err != nil {
		return nil, err
	}
	if !(cfg.Ball > 0) || math.IsInf(cfg.Ball, 1) {
		return nil, fmt.Errorf("posterior: Ball = %v: must be positive and finite", cfg.Ball)
	}
	m := &Mechanism{target: target, project: cfg.Radius, ball: cfg.Ball}
	return bounded(m, cfg.Radius*cfg.Ball*(1+1e-12), cfg.Epsilon, "Wang, Fienberg, Smola 2015, as bounded range")
}

// logistic is the one target that NewBall and NewLipschitz are proved for.
func logistic(features int, priorSD, radius float64) (*targets.Regression, error) {
	if !(radius > 0) || math.IsInf(radius, 1) {
		return nil, fmt.Errorf("posterior: Radius = %v: must be positive and finite", radius)
	}
	return targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: priorSD}})
}

// Weight returns w, in (0, 1].
func (m *Mechanism) Weight() float64 { return m.weight }

// Cost returns the guarantee of one draw. Use its Times for several.
func (m *Mechanism) Cost() ops.Guarantee { return m.cost }

// Density returns the log density to draw from. Rows are projected where the
// mechanism needs it; rows and responses that are not finite count as zeros. The
// one error is a shape that is not the target's.
func (m *Mechanism) Density(rows targets.Rows) (*Density, error) {
	features, response := m.target.Shape()
	if err := ops.CheckShape("posterior", rows, features, response); err != nil {
		return nil, err
	}
	return newDensity(m.target, tame(rows, m.project), m.weight, m.ball), nil
}

// Sampler returns independent draws from a law, as nearly as it can.
type Sampler func(rng *rand.Rand, p LogDensity, draws int) ([][]float64, error)

// Release returns draws of the parameters, rounded to multiples of 2⁻³⁰. It
// costs Cost().Times(draws), if the sampler's draws are independent and exact.
// Errors: a shape that is not the target's; no draws; what the sampler says, which
// an exact one never does and which tells about the records.
func (m *Mechanism) Release(src *ops.Source, rows targets.Rows, draws int, sample Sampler) ([][]float64, error) {
	if draws < 1 {
		return nil, fmt.Errorf("posterior: %d draws: at least 1 is needed", draws)
	}
	density, err := m.Density(rows)
	if err != nil {
		return nil, err
	}
	out, err := sample(rand.New(src), density, draws)
	if err != nil {
		return nil, fmt.Errorf("posterior: the sampler failed: %w", err)
	}
	if len(out) != draws {
		return nil, fmt.Errorf("posterior: the sampler returned %d draws, %d were asked for", len(out), draws)
	}
	for _, theta := range out {
		density.Constrain(theta, theta)
		draw.Round(theta, 0x1p-30)
	}
	return out, nil
}
