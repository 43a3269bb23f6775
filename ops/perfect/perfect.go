package perfect

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes the posterior π(θ) ∝ p₀(θ)·exp(−w·Σ ℓ(zᵢ; θ)).
type Config struct {
	// Target gives the loss. Required. Its own prior is not used.
	Target targets.Target
	// Prior is p₀. Required; both samplers start from its draws.
	Prior priors.Prior
	// MinLoss and MaxLoss are the bounds to which every loss is clamped: 0 and
	// 1/(β−1) for the β loss of a mass function. Required, MinLoss < MaxLoss. A NaN
	// counts as MinLoss.
	MinLoss, MaxLoss float64
	// Records is n, the public number of records. Required.
	Records int
	// Epsilon is that of one exact draw. Required, positive: the weight is
	// w = min(1, ε/(2(MaxLoss − MinLoss))), a hair less for rounding.
	Epsilon float64
}

// posterior is the law, in terms of the likelihood's weight in (0, 1]:
// log weight = −w·Σ(ℓ − MinLoss).
type posterior struct {
	cfg    Config
	weight float64
	event  accountant.Event
}

func newPosterior(c Config) (posterior, error) {
	if c.Target == nil || c.Prior == nil {
		return posterior{}, fmt.Errorf("perfect: Target and Prior are required")
	}
	if err := c.Prior.Check(c.Target.Dim()); err != nil {
		return posterior{}, fmt.Errorf("perfect: %w", err)
	}
	if !(c.MinLoss < c.MaxLoss) || math.IsInf(c.MaxLoss-c.MinLoss, 1) {
		return posterior{}, fmt.Errorf("perfect: losses within [%v, %v]: both ends must be finite and in order",
			c.MinLoss, c.MaxLoss)
	}
	if c.Records < 1 {
		return posterior{}, fmt.Errorf("perfect: Records = %d: at least 1 is needed", c.Records)
	}
	if !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 1) {
		return posterior{}, fmt.Errorf("perfect: Epsilon = %v: must be positive and finite", c.Epsilon)
	}
	rounding := c.rounding()
	if !(rounding < c.Epsilon) {
		return posterior{}, fmt.Errorf("perfect: Epsilon = %v is below what rounding costs for %d records, %.3g", c.Epsilon,
			c.Records, rounding)
	}
	p := posterior{cfg: c, weight: min(1, (c.Epsilon-rounding)/(2*(c.MaxLoss-c.MinLoss)))}
	var err error
	p.event, err = accountant.BoundedRange(accountant.Substitute,
		min(c.Epsilon, 2*p.weight*(c.MaxLoss-c.MinLoss)+rounding))
	return p, err
}

// rounding bounds what rounding adds to the range of log π(θ)/π′(θ): the error of four log
// weights, each a product with a sum of n terms and at most n·Epsilon/2, and of their
// exponentials (docs/proofs/ops-perfect.md, "Arithmetic").
func (c Config) rounding() float64 {
	n := float64(c.Records)
	return 4 * ((n+4)*0x1p-53*n*c.Epsilon/2 + 0x1p-51)
}

// least is the smallest log weight that any data set can have.
func (p *posterior) least() float64 {
	return -p.weight * float64(p.cfg.Records) * (p.cfg.MaxLoss - p.cfg.MinLoss)
}

// run is one draw in progress.
type run struct {
	*posterior
	src    *ops.Source
	rng    *rand.Rand
	rows   targets.Rows
	losses []float64
	passes int64
}

func (p *posterior) start(src *ops.Source, rows targets.Rows) (*run, error) {
	features, response := p.cfg.Target.Shape()
	if err := ops.CheckShape("perfect", rows, features, response); err != nil {
		return nil, err
	}
	if rows.Len() != p.cfg.Records {
		return nil, fmt.Errorf("perfect: the records are not as many as Records, the public number %d, says", p.cfg.Records)
	}
	return &run{posterior: p, src: src, rng: rand.New(src), rows: rows, losses: make([]float64, rows.Len())}, nil
}

// leastLog is where log weights end, so that no exponential underflows. That brings those
// of two data sets no further apart.
const leastLog = -700

// logWeight takes one pass over the records.
func (r *run) logWeight(theta []float64) float64 {
	r.passes++
	r.cfg.Target.Loss(r.losses, theta, r.rows)
	sum := 0.0
	for _, l := range r.losses {
		if l > r.cfg.MinLoss { // false for NaN
			sum += min(l, r.cfg.MaxLoss) - r.cfg.MinLoss
		}
	}
	return max(leastLog, -r.weight*sum)
}

// prior returns a draw from the prior.
func (r *run) prior() []float64 {
	theta := make([]float64, r.cfg.Target.Dim())
	r.cfg.Prior.Sample(theta, r.rng)
	return theta
}

// happens is true with probability min(1, e^logp).
func (r *run) happens(logp float64) bool {
	return noise.Bernoulli(r.src, math.Exp(min(0, logp)))
}

// Draw is an exact draw and what it took.
type Draw struct {
	// Theta is the release.
	Theta []float64
	// Passes is the number of passes over the records. Unless the sampler fixes it
	// beforehand it depends on the records: it is for measuring the sampler on
	// public data, and must not be published with Theta.
	Passes int64
}
