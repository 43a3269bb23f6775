package posterior

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// NUTS returns a sampler that runs one NUTS chain and keeps every thin-th state
// after warmup ones; both must be at least 1. It is seeded with 64 bits of the
// mechanism's source. Draws are as exact and as independent as the chain is good:
// the guarantee stays conditional. To look at its diagnostics, or to refuse a
// release because of them, looks at the records.
func NUTS(warmup, thin int) Sampler {
	return func(rng *rand.Rand, p LogDensity, draws int) ([][]float64, error) {
		if warmup < 1 || thin < 1 {
			return nil, fmt.Errorf("posterior: NUTS with %d warm-up states and thinning %d: at least 1 of each is needed",
				warmup, thin)
		}
		chains, err := nuts.Sample(context.Background(), func() nuts.LogDensity { return p }, nuts.Config{
			Chains: 1, Workers: 1, Warmup: warmup, Draws: draws * thin, Seed: rng.Uint64(),
		})
		if err != nil {
			return nil, err
		}
		out := make([][]float64, draws)
		for i := range out {
			out[i] = chains[0].Draws[(i+1)*thin-1]
		}
		return out, nil
	}
}
