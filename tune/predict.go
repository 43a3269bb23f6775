package tune

import (
	"context"
	"errors"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
)

// Predict says what chains of the settings are worth at each of several ε, before any
// is spent: effective sample sizes measured on one table that is simulated from the
// first model, from a stationary start. Of c it reads the first model, the adjacency, δ,
// the warm-up, how data are simulated, Work and Seed. A budget that no value of an open
// setting meets has a Candidate without Parameters.
//
// It promises too much where the start is far away, and for settings that bias a chain:
// Run, which simulates whole chains, does not.
func Predict(ctx context.Context, c Config, s chains.Settings, epsilons ...float64) ([]Candidate, error) {
	if len(epsilons) == 0 {
		return nil, errors.New("tune: Predict was given no ε")
	}
	if len(c.Models) > 1 {
		c.Models = c.Models[:1]
	}
	c.Kernels, c.Temperatures, c.Fixed = nil, nil, chains.Settings{}
	if s.Kernel != "" {
		c.Kernels = []string{s.Kernel}
	}
	if s.Temperature != 0 {
		c.Temperatures = []float64{s.Temperature}
	}
	c.Epsilon, c.Objective, c.SearchOnly, c.Repeats = epsilons[0], ESS, true, 1
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	stages, err := c.stages(ctx)
	if err != nil {
		return nil, err
	}
	var out []Candidate
	for _, epsilon := range epsilons {
		at := *stages[key{c.Models[0].Options.LossName(), c.Temperatures[0], 0}]
		at.config.Epsilon = epsilon
		search := &search{stage: &at}
		t, err := search.choose(s)
		var unreachable *accountant.UnreachableError
		if errors.As(err, &unreachable) {
			out = append(out, Candidate{})
			continue
		}
		if err == nil {
			err = search.measure(ctx, t, float64(c.Work)/float64(len(epsilons)), 0)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t.Candidate)
	}
	return out, nil
}
