package tunamh

import (
	"cmp"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a chain of exact minibatches. Every field is public and must
// be chosen without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.Target
	// Proposal is the law of the moves. Required. Isotropic and one-component
	// moves are drawn by the curator, so that a certified linear target pays for
	// the average move (theory 2.7); those longer than √d + 4 scales (one component:
	// 5), fewer than one in 2000, are refused.
	Proposal curator.Proposal
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Rate is the share of the records that a step reads. Required: at least
	// 1 − exp(−2·the largest bound), at most 0.999; see the package comment.
	Rate float64
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| of a record. Zero uses the target's
	// certificates, under which nothing is clipped and the chain is exact, and is
	// refused when none applies.
	Clip float64
	// Limit, for targets that certify single moves only, refuses moves whose
	// certified bound exceeds it, whatever the data say. Defaults to none.
	Limit float64
}

// mechanism is what the curator is asked to enforce and to price.
func (c Config) mechanism() curator.ThinnedBit {
	return curator.ThinnedBit{
		Target: c.Target, Temperature: c.Temperature, Proposal: c.Proposal, Clip: c.Clip, Limit: c.Limit, Rate: c.Rate,
	}
}

// Cost is the price of one step on records with the given public facts. It
// charges nothing. Errors: a setting that is missing or out of range, a target
// that does not fit, a bound that neither Clip nor a certificate supplies, a rate
// too small for the bound.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := kernels.CheckWalk("tunamh", c.Target, c.Proposal); err != nil {
		return accountant.Event{}, err
	}
	return c.mechanism().Event(f)
}

// Kernel is one private chain of exact minibatches over one curator's records.
type Kernel struct{ *kernels.Walk }

var _ kernels.Kernel = (*Kernel)(nil)

// New charges all of c.Iterations steps to the curator's budget and returns
// the kernel that makes them. On an error nothing was charged or read.
func New(c Config, records *curator.Curator) (*Kernel, error) {
	return kernels.Granted(Prepare, c, records)
}

// Prepare is New without the charge: the kernel, and the requests that the records'
// curator must grant before its first step. Several chains, and their start, can so be
// charged as one. f are the facts of those records.
func Prepare(c Config, _ curator.Facts) (*Kernel, []curator.Request, error) {
	if err := cmp.Or(kernels.CheckWalk("tunamh", c.Target, c.Proposal),
		kernels.CheckIterations("tunamh", c.Iterations)); err != nil {
		return nil, nil, err
	}
	k := &Kernel{kernels.NewWalk("dp_tunamh", "tunamh", c.Target, c.Proposal)}
	return k, []curator.Request{curator.RequestFor(&k.Bits, c.mechanism(), c.Iterations)}, nil
}
