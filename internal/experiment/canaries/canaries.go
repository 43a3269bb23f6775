// Package canaries attacks whole runs of a kernel: many canaries at once, each with a
// response that a coin decides, are guessed from what the chain releases.
package canaries

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config says which runs are attacked.
type Config struct {
	// Chain are the settings of a run, its kernel among them.
	Chain chains.Settings
	// Epsilon and Delta are what a run claims.
	Epsilon, Delta float64
	// Records of a run, of which Canaries have a feature of their own.
	Records, Canaries int
	// Runs is the number of runs, of which the canaries count together.
	Runs int
	// FalseAlarm is the probability at which a true claim may be called violated.
	FalseAlarm float64
	// Seed is that of the simulation.
	Seed uint64
}

// Attack attacks whole runs of a kernel.
func (s Config) Attack(ctx context.Context) ([]audit.Finding, error) {
	if s.Canaries < 1 || s.Records < s.Canaries || s.Runs < 1 {
		return nil, fmt.Errorf("--records %d, --canaries %d and --runs %d: at least one run with one canary "+
			"among its records is needed", s.Records, s.Canaries, s.Runs)
	}
	plan, responses, err := s.plan()
	if err != nil {
		return nil, err
	}
	claim, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	all := s.Canaries * s.Runs
	return audit.Canaries{
		Name: fmt.Sprintf("%d runs of %s, %d steps", s.Runs, s.Chain.Kernel, plan.Settings.Iterations), Claim: claim,
		Records: s.Records, Each: s.Canaries, Runs: s.Runs, Responses: responses, FalseAlarm: s.FalseAlarm,
		// A claim holds at every δ. The theorem wants one that is small beside the
		// canaries' number.
		Delta: min(s.Delta, s.FalseAlarm/(100*float64(all))),
		Coin:  rand.New(rand.NewPCG(s.Seed, 7)),
		Run: func(ctx context.Context, table targets.Rows, run int) ([][]float64, error) {
			return s.draw(ctx, plan, table, s.Seed+uint64(run))
		},
	}.Attack(ctx)
}

// plan is that of a median regression, whose canaries pull hardest, and of a logistic one
// for anchored chains, which need a model with a curvature.
func (s Config) plan() (plan *chains.Plan, responses [2]float64, err error) {
	about, err := chains.Describe(s.Chain.Kernel)
	if err != nil {
		return nil, responses, err
	}
	config := targets.RegressionConfig{Features: s.Canaries, Prior: priors.Gaussian{SD: 3}}
	var target *targets.Regression
	if about.Anchored {
		responses = [2]float64{0, 1}
		target, err = targets.New(config)
	} else {
		responses = [2]float64{-100, 100}
		config.Family, config.Scale = "median", 1
		target, err = targets.New(config)
	}
	if err != nil {
		return nil, responses, err
	}
	facts := curator.Facts{Records: int64(s.Records), Features: s.Canaries, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	plan, err = chains.Choose(s.Chain, chains.Problem{Target: target, Logistic: about.Anchored, Facts: facts,
		Epsilon: s.Epsilon, Delta: s.Delta})
	return plan, responses, err
}

// draw runs one chain on a table, at its claimed budget.
func (s Config) draw(ctx context.Context, plan *chains.Plan, table targets.Rows,
	seed uint64) ([][]float64, error) {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: s.Epsilon, Delta: s.Delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return nil, err
	}
	sealed, err := curator.Seal(curator.Records{X: table.X, Features: table.P, Y: table.Y, Radius: 1}, budget)
	if err != nil {
		return nil, err
	}
	session, err := plan.Open(sealed, seed)
	if err != nil {
		return nil, err
	}
	all, err := session.Chains(ctx)
	if err != nil {
		return nil, err
	}
	evidence := make([]float64, s.Canaries)
	watched, ok := all[0].Kernel.(kernels.Watched)
	if ok { // and else the draws say all
		watched.Watch(func(v []float64) {
			for i := range evidence {
				evidence[i] += v[i]
			}
		})
	}
	memory := kernels.NewMemory(len(all))
	if err := kernels.Run(ctx, all, kernels.Options{Iterations: plan.Settings.Iterations, Seed: seed,
		Sink: memory}); err != nil {
		return nil, err
	}
	if ok {
		return [][]float64{evidence}, nil
	}
	return memory.Draws(0), nil
}
