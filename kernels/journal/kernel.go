package journal

import (
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// Reserved is a kernel whose steps are announced in blocks before they are made.
type Reserved struct {
	kernels.Kernel
	chain   int
	journal *Journal
	block   int64
	limit   int64
	sync    func() (bytes int64, err error)

	step, used, reserved int64
	state                *kernels.State
}

// Reserve wraps chain's kernel, which has made so many steps of its path and used so
// many of the limit that was charged. sync makes the draws so far durable and returns the length of
// their file.
func (j *Journal) Reserve(k kernels.Kernel, chain int, step, used, limit, block int64,
	sync func() (int64, error)) *Reserved {
	return &Reserved{Kernel: k, chain: chain, journal: j, block: block, limit: limit, sync: sync, step: step, used: used,
		reserved: used}
}

// Step makes a step, and announces the next block first when it is the first of one.
func (r *Reserved) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if r.used == r.reserved {
		next := min(r.used+r.block, r.limit)
		if next == r.used {
			return kernels.Info{}, fmt.Errorf("journal: all %d steps that chain %d was charged have been made or forfeited",
				r.limit, r.chain+1)
		}
		if err := r.mark(s, next, r.sync); err != nil {
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
func (r *Reserved) mark(s *kernels.State, reserved int64, sync func() (int64, error)) error {
	bytes, err := sync()
	if err != nil {
		return err
	}
	return r.journal.Mark(Mark{Chain: r.chain, Step: r.step, Theta: s.Theta, Used: r.used, Reserved: reserved,
		Bytes: bytes})
}

// Begun reports whether a step was made.
func (r *Reserved) Begun() bool { return r.state != nil }

// Stop announces, after the last step of a chain that has Begun, that what was reserved and not made was not made.
// sync is as for Reserve, of a file that may be closed.
func (r *Reserved) Stop(sync func() (bytes int64, err error)) error {
	return r.mark(r.state, r.used, sync)
}
