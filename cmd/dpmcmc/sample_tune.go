package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tune"
)

// tuned are settings that tune finds at what the schema states of the table.
func (s *sampleSettings) tuned(ctx context.Context, flags *pflag.FlagSet, shape *data.Shape, m *model, facts curator.Facts) (chains.Settings, error) {
	target, ok := m.target.(targets.GradTarget)
	family := tune.Family(m.name)
	if !ok || family != tune.Logistic && family != tune.Linear {
		return chains.Settings{}, fmt.Errorf("--tune simulates logistic and linear models, and --model is %s; leave it out", m.name)
	}
	config := tune.Config{
		Shape: shape, Adjacency: facts.Adjacency,
		Family: family, Models: []tune.Model{{Name: m.name, Target: target}}, Temperatures: []float64{s.temperature},
		Fixed: s.recipe(), Epsilon: s.epsilon, Delta: s.delta, Warmup: s.warmup, Seed: s.seed,
	}
	config.Fixed.Kernel, config.Fixed.Temperature = "", 0
	if flags.Changed("kernel") {
		config.Kernels = []string{s.kernel}
	}
	result, err := tune.Run(ctx, config)
	if err != nil {
		return chains.Settings{}, flagged(err)
	}
	return result.Candidates[0].Settings, nil
}
