package proptest

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// runs compares kernels.Run over three chains on one curator with the same
// chains made one after the other, and a thinned run with a slice. Runs are long enough for the
// scheduler to change from one chain to another in the middle of steps.
func (c kernelCheck) runs() {
	c.t.Helper()
	c.alternate()
	c.o.Steps = max(c.o.Steps, int64(float64(c.o.Effort.times(20_000, 60))*min(1, 2/c.perStep())))
	const chains, thin = 3, 3
	parallel, thinned := c.run(chains, 1), c.run(chains, thin)
	for id, k := range c.family(chains) {
		s, rng, n := c.start(k), kernels.Stream(c.o.Seed, id), int64(0)
		kept := thinned.Draws(id)
		if want := c.o.Steps / thin; int64(len(kept)) != want {
			c.fail("a run of %d steps thinned by %d keeps %d draws, want %d", c.o.Steps, thin, len(kept), want)
		}
		for _, err := range kernels.Steps(k, s, rng) {
			if err != nil {
				c.fail("chain %d, step %d of a serial run: %v", id, n+1, err)
			}
			if got := parallel.Draws(id)[n]; !slices.Equal(got, s.Theta) {
				c.fail("chain %d, step %d: %v in a parallel run, %v in a serial one", id, n+1, got, s.Theta)
			}
			if n++; n%thin == 0 && !slices.Equal(kept[n/thin-1], s.Theta) {
				c.fail("chain %d: draw %d of a run thinned by %d is %v, step %d of the full run is %v", id, n/thin-1, thin,
					kept[n/thin-1], n, s.Theta)
			}
			if n == c.o.Steps {
				break
			}
		}
	}
}

// family makes kernels that share one curator, in a fixed order.
func (c kernelCheck) family(chains int) []kernels.Kernel {
	c.t.Helper()
	records := c.seal(c.o.Records, c.o.Seed)
	all := make([]kernels.Kernel, chains)
	var first accountant.Event
	for i := range all {
		all[i] = c.kernel(records, c.o.Steps)
		if now := records.Budget().Events(); i == 0 {
			first = now
		} else if paid, err := first.Times(int64(i + 1)); err != nil || !near(paid.RDP(2), now.RDP(2)) {
			c.fail("the budget has paid %v for %d chains, and %v for the first (error %v): each must pay for its own", now, i+1,
				first, err)
		}
	}
	return all
}

func (c kernelCheck) run(chains int, thin int64) *kernels.Memory {
	c.t.Helper()
	var all []kernels.Chain
	for _, k := range c.family(chains) {
		all = append(all, kernels.Chain{Kernel: k, Start: c.o.Start})
	}
	sink := kernels.NewMemory(chains)
	err := kernels.Run(context.Background(), all, kernels.Options{Iterations: c.o.Steps, Thin: thin, Seed: c.o.Seed,
		Sink: sink})
	if err != nil {
		c.fail("a parallel run: %v", err)
	}
	return sink
}

// alternate makes a step of one chain, then one of another, over the same records and over others: each
// chain must be what it is alone. So chains share no memory, whatever the scheduling.
func (c kernelCheck) alternate() {
	c.t.Helper()
	const chains = 3
	steps, d := c.o.Steps, len(c.o.Start)
	alone := make([][]float64, 2*chains)
	for id, k := range c.pairs(chains) {
		s, rng := c.start(k), kernels.Stream(c.o.Seed, id)
		for n := range steps {
			if _, err := k.Step(rng, s); err != nil {
				c.fail("chain %d, step %d: %v", id, n+1, err)
			}
			alone[id] = append(alone[id], s.Theta...)
		}
	}
	all := c.pairs(chains)
	states, streams := make([]*kernels.State, len(all)), make([]*rand.Rand, len(all))
	for id, k := range all {
		states[id], streams[id] = c.start(k), kernels.Stream(c.o.Seed, id)
	}
	for n := range int(steps) {
		for id, k := range all {
			if _, err := k.Step(streams[id], states[id]); err != nil {
				c.fail("chain %d, step %d: %v", id, n+1, err)
			}
			if now, want := states[id].Theta, alone[id][n*d:(n+1)*d]; !slices.Equal(now, want) {
				c.fail("chain %d, step %d: %v where chains make their steps in turn, and %v where they are made one after the "+
					"other: they share what a chain must own, such as a package variable or a slice of the factory's", id, n+1,
					now, want)
			}
		}
	}
}

// pairs are chains on the check's records, and as many on others.
func (c kernelCheck) pairs(chains int) []kernels.Kernel {
	c.t.Helper()
	all := c.family(chains)
	c.o.Records = other(c.o.Records)
	return append(all, c.family(chains)...)
}
