package penalty

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Noise is the noise in the log-likelihood ratio of a move. It has no zero
// value.
type Noise struct {
	scaled bool
	value  float64
}

// Fixed is Gaussian noise of the given variance σ² for every move: 0.25 to 9
// when only the decision is released.
func Fixed(variance float64) Noise { return Noise{value: variance} }

// Scaled is Gaussian noise whose standard deviation is multiplier times twice
// the bound on one record's part of the move's log-likelihood ratio, and so in
// proportion to the move (Räisä et al. 2021 write the multiplier τ√n). It is for
// Accounting "published".
func Scaled(multiplier float64) Noise { return Noise{scaled: true, value: multiplier} }

// String describes the noise.
func (n Noise) String() string {
	switch {
	case n.scaled:
		return fmt.Sprintf("scaled(%v)", n.value)
	case n.value != 0:
		return fmt.Sprintf("fixed(%v)", n.value)
	}
	return "no noise"
}

// Config describes a penalty chain. Every field is public and must be chosen
// without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.Target
	// Proposal is the law of the moves. Required. When decisions are released,
	// isotropic and one-component moves are drawn by the curator, so that a
	// certified linear target pays for the average move (theory 2.7).
	Proposal curator.Proposal
	// Guided makes a one-component walk keep a coordinate's direction until one of
	// its moves is rejected. Defaults to false.
	Guided bool
	// Noise is the noise of the test. Required.
	Noise Noise
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Batch is how records are chosen in each step, when decisions are released.
	// Defaults to the full data.
	Batch curator.Batch
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| of a record: with Fixed noise, for every
	// move; with Scaled noise, for a move of length 1, and otherwise in proportion.
	// Zero uses the target's certificates, under which nothing is clipped, and is
	// refused when none applies.
	Clip float64
	// Accounting is "published" where noisy ratios are released, at the papers' price.
	// Defaults to the release of decisions, at that of the bit.
	Accounting string
}

// published is the accounting under which noisy ratios are released.
const published = "published"

// check reports settings that do not go together, beyond what the curator
// checks.
func (c Config) check() error {
	if err := kernels.CheckWalk("penalty", c.Target, c.Proposal); err != nil {
		return err
	}
	switch {
	case c.Guided && !c.Proposal.OneComponent:
		return fmt.Errorf("penalty: Config.Guided needs one-component moves, not %v", c.Proposal)
	case !(c.Noise.value > 0) || math.IsInf(c.Noise.value, 0):
		return fmt.Errorf("penalty: Config.Noise is %v; give Fixed or Scaled with a positive, finite value", c.Noise)
	case !(c.Clip >= 0) || math.IsInf(c.Clip, 0):
		return fmt.Errorf("penalty: Config.Clip is %v; it must be positive and finite, or 0 to use the target's certificate",
			c.Clip)
	case c.Accounting != "" && c.Accounting != published:
		return fmt.Errorf("penalty: Config.Accounting is %q; use published, or leave it out", c.Accounting)
	case c.Accounting == "" && c.Noise.scaled:
		return errors.New("penalty: Scaled noise has a price under published accounting only; use Fixed to release decisions")
	case c.Accounting == published && !c.Batch.IsFull():
		return errors.New("penalty: published accounting is for the full data: a released ratio of a batch would need its " +
			"variance released too")
	}
	return nil
}

// bit is what the curator is asked to enforce and to price when decisions are
// released.
func (c Config) bit() curator.AcceptanceBit {
	return curator.AcceptanceBit{
		Target: c.Target, Temperature: c.Temperature, Proposal: c.Proposal, Clip: c.Clip,
		Test: curator.Test{Penalty: c.Noise.value}, Batch: c.Batch,
	}
}

// ratio is the same when noisy ratios are released. The clip is given with each
// move; the one here is that of a move of length 1, or the constant one.
func (c Config) ratio(b kernels.Bounds) (curator.NoisyRatio, error) {
	m := curator.NoisyRatio{Target: c.Target, Temperature: c.Temperature, Clip: 1, NoiseMultiplier: c.Noise.value}
	if c.Noise.scaled {
		if !b.Any() {
			return m, errors.New("penalty: nothing bounds a record's part of a move: give Config.Clip, or a target with a " +
				"certificate that applies (a linear or a ratio certificate needs records sealed with a Radius)")
		}
		return m, nil
	}
	constant := b.Most(c.Proposal.LongestMove())
	if math.IsInf(constant, 1) {
		return m, errors.New("penalty: Fixed noise under published accounting needs one bound for all moves: give " +
			"Config.Clip, a target of finite loss range, or truncated moves of a certified linear target; or use Scaled noise")
	}
	m.Clip, m.NoiseMultiplier = constant, math.Sqrt(c.Noise.value)/(2*constant)
	return m, nil
}

// Cost is the price of one step on records with the given public facts. It
// charges nothing. Errors: a setting that is missing or out of range, a target
// that does not fit, a bound that neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.check(); err != nil {
		return accountant.Event{}, err
	}
	if c.Accounting == "" {
		return c.bit().Event(f)
	}
	m, err := c.ratio(c.bounds(f))
	if err != nil {
		return accountant.Event{}, err
	}
	return m.Event(f)
}
