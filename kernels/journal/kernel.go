package journal

import (
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// Reserved is a kernel whose steps are announced in blocks before they are made.
type Reserved struct {
	kernels.Kernel
	id      int
	source  *rand.ChaCha8
	journal *Journal
	block   int64
	limit   int64
	sync    func() error

	step, used, reserved int64
	state                *kernels.State
}

var _ kernels.Keeper = (*Reserved)(nil)

// Reserve wraps the kernel of chain id, which has used so many of the steps that were
// charged, limit. sync makes the draws so far durable.
func (j *Journal) Reserve(id int, c kernels.Chain, used, limit, block int64, sync func() error) *Reserved {
	return &Reserved{Kernel: c.Kernel, id: id, source: c.Source, journal: j, block: block, limit: limit, sync: sync,
		step: c.Made, used: used, reserved: used}
}

// Keep and Recall are the inner kernel's.
func (r *Reserved) Keep(dst []float64) []float64 { return append(dst, kernels.Keep(r.Kernel)...) }

// Recall has the inner kernel go on with what it kept.
func (r *Reserved) Recall(memory []float64) error { return kernels.Recall(r.Kernel, memory) }

// Step makes a step, and announces the next block first when it is the first of one.
func (r *Reserved) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if r.used == r.reserved {
		next := min(r.used+r.block, r.limit)
		if next == r.used {
			return kernels.Info{}, fmt.Errorf("journal: all %d steps that chain %d was charged have been made or forfeited",
				r.limit, r.id+1)
		}
		if err := r.mark(s, next); err != nil {
			return kernels.Info{}, err
		}
		r.reserved = next
	}
	info, err := r.Kernel.Step(rng, s)
	r.used, r.state = r.used+1, s // a step that failed may have made some of its releases
	if err == nil {
		r.step++
	}
	return info, err
}

// mark makes the draws durable, and then announces.
func (r *Reserved) mark(s *kernels.State, reserved int64) error {
	if err := r.sync(); err != nil {
		return err
	}
	m := Mark{Chain: r.id, Step: r.step, Theta: s.Theta, Used: r.used, Reserved: reserved, Memory: kernels.Keep(r.Kernel)}
	if r.source != nil {
		var err error
		if m.Stream, err = r.source.MarshalBinary(); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	return r.journal.Mark(m)
}

// Stop announces, after the last step of a chain and once its draws are durable, that
// what was reserved and not made was not made. A chain that made no step says nothing.
func (r *Reserved) Stop() error {
	if r.state == nil {
		return nil
	}
	r.sync = func() error { return nil }
	return r.mark(r.state, r.used)
}
