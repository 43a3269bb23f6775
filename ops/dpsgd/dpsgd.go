package dpsgd

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a training run.
type Config struct {
	// Target is the model. Required. Its loss and log prior are minimised together:
	// the mean loss minus the log prior over n.
	Target targets.GradTarget
	// Records is n, the public number of records. Required.
	Records int
	// Rate is the probability that a record is in a batch. Required, in (0, 1].
	Rate float64
	// Steps is the number of updates. Required, at least 1.
	Steps int
	// Clip bounds the L2 norm of a record's gradient. Required, positive.
	Clip float64
	// LearningRate multiplies the gradient of the mean loss. Required, positive.
	LearningRate float64
	// Epsilon and Delta are the cost of the whole run. Required, positive and in
	// (0, 1).
	Epsilon, Delta float64
	// Start is where to begin. Defaults to zero. It must not depend on the records.
	// A network needs one that breaks its symmetry, such as a draw from the prior.
	Start []float64
	// Average is the part of the last iterates whose mean is returned, in [0, 1].
	// Defaults to 0, the last iterate alone.
	Average float64
}

// Mechanism is a configured run. It is immutable.
type Mechanism struct {
	cfg   Config
	event accountant.Event
	sigma float64 // of the noise on the sum of gradients
	step  float64 // of the grid
	law   *noise.DiscreteGaussian
}

// New returns the mechanism, with the least noise that Epsilon and Delta allow.
func New(cfg Config) (*Mechanism, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	multiplier, _, err := accountant.SolveParameter(cfg.cost, leastNoise, 1000, cfg.Epsilon, cfg.Delta, false)
	if err != nil {
		return nil, fmt.Errorf("dpsgd: no noise gives ε = %v at δ = %v: %w", cfg.Epsilon, cfg.Delta, err)
	}
	return newMechanism(cfg, cfg.refine(multiplier))
}

// gridBits is how many bits of the clip the grid keeps, at least but one.
const gridBits = 28

// leastNoise is the least multiplier that New gives.
const leastNoise = 0.05

// refine lowers a multiplier that the Rényi bound allows to what numerical
// composition does, within a thousandth.
func (c Config) refine(good float64) float64 {
	fits := func(multiplier float64) bool {
		event, err := c.cost(multiplier)
		if err != nil {
			return false
		}
		g, err := event.LeastEpsilon(c.Delta)
		return err == nil && g.Epsilon <= c.Epsilon
	}
	bad := max(leastNoise, 0.9*good)
	for bad > leastNoise && fits(bad) {
		good, bad = bad, max(leastNoise, 0.9*bad)
	}
	for good-bad > 1e-3*good {
		if mid := bad + (good-bad)/2; fits(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good
}

// newMechanism has noise of the given multiple of the sensitivity, 2·Clip.
func newMechanism(cfg Config, multiplier float64) (*Mechanism, error) {
	event, err := cfg.cost(multiplier)
	if err != nil {
		return nil, err
	}
	m := &Mechanism{cfg: cfg, event: event, sigma: multiplier * 2 * cfg.Clip * (1 + 0x1p-40)}
	_, e := math.Frexp(cfg.Clip)
	m.step = math.Ldexp(1, e-gridBits)
	if m.law, err = noise.NewDiscreteGaussian(m.sigma / m.step); err != nil {
		return nil, fmt.Errorf("dpsgd: %w", err)
	}
	return m, nil
}

// cost is the event of a run whose noise is multiplier times the sensitivity
// under substitution.
func (c Config) cost(multiplier float64) (accountant.Event, error) {
	least := 2 * multiplier * (1 << (gridBits - 1)) // grid steps to σ
	gaussian, err := accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: c.Target.Dim(), Steps: least}.
		Event(accountant.Substitute)
	if err != nil {
		return accountant.Event{}, err
	}
	step, err := gaussian.PoissonSampled(c.Rate)
	if err != nil {
		return accountant.Event{}, err
	}
	return step.Times(int64(c.Steps))
}

func (c Config) check() error {
	if c.Target == nil {
		return fmt.Errorf("dpsgd: Target is required")
	}
	if c.Records < 1 || c.Records > math.MaxInt32 {
		return fmt.Errorf("dpsgd: Records = %d: the public number of records must be from 1 to 2^31−1", c.Records)
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return fmt.Errorf("dpsgd: Rate = %v: must be in (0, 1]", c.Rate)
	}
	if c.Steps < 1 {
		return fmt.Errorf("dpsgd: Steps = %d: at least 1 is needed", c.Steps)
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"Clip", c.Clip}, {"LearningRate", c.LearningRate}, {"Epsilon", c.Epsilon}} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return fmt.Errorf("dpsgd: %s = %v: must be positive and finite", f.name, f.v)
		}
	}
	if !(c.Delta > 0 && c.Delta < 1) {
		return fmt.Errorf("dpsgd: Delta = %v: must be in (0, 1)", c.Delta)
	}
	if c.Start != nil && len(c.Start) != c.Target.Dim() {
		return fmt.Errorf("dpsgd: Start has %d parameters, the model %d", len(c.Start), c.Target.Dim())
	}
	if !(c.Average >= 0 && c.Average <= 1) {
		return fmt.Errorf("dpsgd: Average = %v: must be in [0, 1]", c.Average)
	}
	return nil
}

// Noise returns the standard deviation of the noise on a sum of clipped
// gradients.
func (m *Mechanism) Noise() float64 { return m.sigma }

// Cost returns the guarantee of one run. Every iterate may be published.
func (m *Mechanism) Cost() ops.Guarantee {
	return ops.Guarantee{Event: m.event, Kind: ops.Unconditional,
		Theorem: "Poisson-subsampled Gaussian under substitution (docs/accountant.md)"}
}

// Release trains on the records and returns the parameters. It fails when they
// diverge, which depends on released values only.
func (m *Mechanism) Release(src *ops.Source, rows targets.Rows) ([]float64, error) {
	features, response := m.cfg.Target.Shape()
	if err := ops.CheckShape("dpsgd", rows, features, response); err != nil {
		return nil, err
	}
	if rows.Len() != m.cfg.Records {
		return nil, fmt.Errorf("dpsgd: the records are not as many as Records, the public number %d, says", m.cfg.Records)
	}
	batches, err := newBatcher(rows, m.cfg.Rate)
	if err != nil {
		return nil, err
	}
	dim := m.cfg.Target.Dim()
	theta, mean := make([]float64, dim), make([]float64, dim)
	copy(theta, m.cfg.Start)
	sum, prior := make([]float64, dim), make([]float64, dim)
	kept := max(1, int(m.cfg.Average*float64(m.cfg.Steps)))
	for t := range m.cfg.Steps {
		m.noisySum(src, sum, theta, batches.next(src))
		m.cfg.Target.GradLogPrior(prior, theta)
		for i := range theta {
			gradient := sum[i]/m.cfg.Rate - prior[i]
			theta[i] -= m.cfg.LearningRate / float64(m.cfg.Records) * gradient
			if math.IsNaN(theta[i]) || math.IsInf(theta[i], 0) {
				return nil, fmt.Errorf("dpsgd: the parameters diverged at step %d: lower LearningRate", t+1)
			}
			if t >= m.cfg.Steps-kept {
				mean[i] += theta[i] / float64(kept)
			}
		}
	}
	return mean, nil
}

// noisySum sets sum to the batch's clipped gradients plus noise.
func (m *Mechanism) noisySum(src *ops.Source, sum, theta []float64, batch *batcher) {
	total := batch.gradients(m.cfg.Target, theta, m.cfg.Clip, m.step)
	for i, k := range total {
		sum[i] = float64(k+m.law.Sample(src)) * m.step
	}
}
