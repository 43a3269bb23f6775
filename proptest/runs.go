package proptest

import (
	"context"
	"slices"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// runs compares kernels.Run over three chains on one curator with the same
// chains made one after the other, and a thinned run with a slice.
func (c kernelCheck) runs() {
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
	for i := range all {
		all[i] = c.kernel(records, c.o.Steps)
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
