package barker

import (
	"cmp"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a Barker chain. Every field is public and must be chosen
// without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.Target
	// Proposal is the law of the moves. Required. Isotropic and one-component
	// moves are drawn by the curator, from fresh randomness, so that a certified
	// linear target pays for the average move (theory 2.7); truncated ones are
	// drawn from the chain's public stream and pay for the longest.
	Proposal curator.Proposal
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Test is the acceptance test. Defaults to curator.Test{}.
	Test curator.Test
	// Batch is how records are chosen in each step. Defaults to the full data.
	Batch curator.Batch
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Clip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))|, one record's part of the log-odds
	// before the batch is scaled up to the full data. Zero uses the target's
	// certificate and is refused when it has none.
	Clip float64
	// Accounting selects the theorem that prices a step, as that of a
	// curator.AcceptanceBit does. Defaults to the bit's own price, the cheapest.
	Accounting string
}

// mechanism is what the curator is asked to enforce and to price.
func (c Config) mechanism() curator.AcceptanceBit {
	return curator.AcceptanceBit{
		Target: c.Target, Temperature: c.Temperature, Proposal: c.Proposal, Clip: c.Clip,
		Test: c.Test, Batch: c.Batch, Accounting: c.Accounting,
	}
}

// Cost is the price of one step on records with the given public facts. It
// charges nothing. Errors: a setting that is missing or out of range, a target
// that does not fit, a bound that neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := kernels.CheckWalk("barker", c.Target, c.Proposal); err != nil {
		return accountant.Event{}, err
	}
	return c.mechanism().Event(f)
}

// Kernel is one private Barker chain over one curator's records.
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
	if err := cmp.Or(kernels.CheckWalk("barker", c.Target, c.Proposal),
		kernels.CheckIterations("barker", c.Iterations)); err != nil {
		return nil, nil, err
	}
	k := &Kernel{kernels.NewWalk("dp_barker", "barker", c.Target, c.Proposal)}
	return k, []curator.Request{curator.RequestFor(&k.Bits, c.mechanism(), c.Iterations)}, nil
}
