package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// auditSettings are the flags of audit.
type auditSettings struct {
	chain          chains.Settings
	epsilon, delta float64
	records        int
	canaries, runs int
	rounds         int
	falseAlarm     float64
	seed           uint64
	json           bool
	junit          string
}

func newAudit() *cobra.Command {
	s := &auditSettings{}
	c := &cobra.Command{
		Use:   "audit",
		Short: "Attack mechanisms or whole runs, and compare with their claims",
		Long: `audit tries to prove claims of privacy wrong, on simulated data. It prints a lower bound
on ε beside what is claimed. A bound above its claim is a violation, and the command
then exits with 4. A bound below proves nothing: the attack may be weak. What each
attack could have shown at most is printed with it.

Without --kernel it attacks every mechanism: two tables that differ in one record are
released many times and told apart by a likelihood-ratio test. With --kernel it attacks
whole runs of a median regression (anchored ones of a logistic model): many canaries at
once, each with a response that a coin decides, are guessed from what the chain releases:
gradients, ratios, signs and bits (of anchored chains from the draws). Guesses are
tested against (ε, δ) (Steinke, Nasr and Jagielski 2023) and against the claim at all δ
together (Mahloujifar, Melis and Chaudhuri 2025). What they throw away is in an estimate from the canaries' scores
(Agrawal et al. 2026), which refutes nothing by itself.`,
		Example: `  dpmcmc audit
  dpmcmc audit --rounds 1000000 --junit audit.xml
  dpmcmc audit --kernel barker --epsilon 1 --delta 1e-6
  dpmcmc audit --kernel dpsgld --epsilon 4 --delta 1e-6 --canaries 100 --runs 20 --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			findings, err := s.run(c.Context(), c.Flags())
			if err != nil {
				return err
			}
			return s.report(findings, c.OutOrStdout())
		},
	}
	s.bind(c.Flags())
	return c
}

func (s *auditSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.chain.Kernel, "kernel", "", "attack whole runs of this kernel; by default every mechanism is attacked")
	f.Float64Var(&s.epsilon, "epsilon", 0, "what a run claims; required with --kernel")
	f.Float64Var(&s.delta, "delta", 0, "what a run claims; required with --kernel")
	f.Int64Var(&s.chain.Iterations, "iterations", 5000, "steps of a run")
	f.Float64Var(&s.chain.Step, "step", 0, "step of a run; by default the kernel's choice")
	f.Float64Var(&s.chain.Temperature, "temperature", 1, "temperature of a run")
	f.StringVar(&s.chain.Start, "start", "auto", "where runs start, as in sample")
	f.IntVar(&s.records, "records", 500, "records of a run")
	f.IntVar(&s.canaries, "canaries", 50, "records of a run that are canaries, each with a feature of its own")
	f.IntVar(&s.runs, "runs", 10, "number of runs, of which the canaries count together")
	f.IntVar(&s.rounds, "rounds", 200_000, "releases of each mechanism")
	f.Float64Var(&s.falseAlarm, "false-alarm", 1e-3, "probability at which a true claim may be called violated")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the simulation")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.junit, "junit", "", "also write a JUnit file for a pipeline")
}

// run makes the attacks.
func (s *auditSettings) run(ctx context.Context, flags *pflag.FlagSet) ([]audit.Finding, error) {
	if s.chain.Kernel != "" {
		if missing := missing(flags, "epsilon", "delta"); missing != "" {
			return nil, fmt.Errorf("%s with --kernel: privacy parameters have no defaults", missing)
		}
		return s.attackRuns(ctx)
	}
	attacks, err := audit.Mechanisms(s.rounds, s.falseAlarm, s.seed)
	if err != nil {
		return nil, err
	}
	var findings []audit.Finding
	for _, a := range attacks {
		f, err := a.Run(ctx)
		if err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// attackRuns attacks whole runs of a kernel.
func (s *auditSettings) attackRuns(ctx context.Context) ([]audit.Finding, error) {
	if s.canaries < 1 || s.records < s.canaries || s.runs < 1 {
		return nil, fmt.Errorf("--records %d, --canaries %d and --runs %d: at least one run with one canary "+
			"among its records is needed", s.records, s.canaries, s.runs)
	}
	plan, responses, err := s.plan()
	if err != nil {
		return nil, flagged(err)
	}
	claim, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	all := s.canaries * s.runs
	return audit.Canaries{
		Name: fmt.Sprintf("%d runs of %s, %d steps", s.runs, s.chain.Kernel, plan.Settings.Iterations), Claim: claim,
		Records: s.records, Each: s.canaries, Runs: s.runs, Responses: responses, FalseAlarm: s.falseAlarm,
		// A claim holds at every δ. The theorem wants one that is small beside the
		// canaries' number.
		Delta: min(s.delta, s.falseAlarm/(100*float64(all))),
		Coin:  rand.New(rand.NewPCG(s.seed, 7)),
		Run: func(ctx context.Context, table targets.Rows, run int) ([][]float64, error) {
			return s.draw(ctx, plan, table, s.seed+uint64(run))
		},
	}.Attack(ctx)
}

// plan is that of a median regression, whose canaries pull hardest, and of a logistic one
// for anchored chains, which need a model with a curvature.
func (s *auditSettings) plan() (plan *chains.Plan, responses [2]float64, err error) {
	config := targets.RegressionConfig{Features: s.canaries, Prior: targets.Gaussian{SD: 3}}
	logistic := s.chain.Kernel == "anchored"
	var target *targets.Regression
	if logistic {
		responses = [2]float64{0, 1}
		target, err = targets.NewLogistic(config)
	} else {
		responses = [2]float64{-100, 100}
		target, err = targets.NewMedian(targets.MedianConfig{RegressionConfig: config, Scale: 1})
	}
	if err != nil {
		return nil, responses, err
	}
	facts := curator.Facts{Records: int64(s.records), Features: s.canaries, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	plan, err = chains.Choose(s.chain, chains.Problem{Target: target, Logistic: logistic, Facts: facts, Epsilon: s.epsilon,
		Delta: s.delta})
	return plan, responses, err
}

// draw runs one chain on a table, at its claimed budget.
func (s *auditSettings) draw(ctx context.Context, plan *chains.Plan, table targets.Rows,
	seed uint64) ([][]float64, error) {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: s.epsilon, Delta: s.delta,
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
	evidence := make([]float64, s.canaries)
	watched, ok := all[0].Kernel.(kernels.Watched)
	if ok = ok && s.chain.Kernel != "anchored"; ok { // whose draws say all
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

// violatedError says that claims were refuted.
type violatedError struct{ violated, all int }

func (e *violatedError) Error() string {
	return fmt.Sprintf("audit: %d of %d claims are violated", e.violated, e.all)
}

// report prints the findings, and is an error if a claim is violated.
func (s *auditSettings) report(findings []audit.Finding, out io.Writer) error {
	violated := 0
	if !s.json {
		fmt.Fprintf(out,
			"Claims are unconditional, under substitution, by the theorems in docs/proofs. A bound from an attack "+
				"is wrong at most once in %.4g times.\n", 1/s.falseAlarm)
	}
	for _, f := range findings {
		if f.Violated() {
			violated++
		}
		if !s.json {
			fmt.Fprintf(out, "%v; tightness %.2f\n", f, f.Tightness())
		}
	}
	var err error
	if s.json {
		err = printJSON(out, struct {
			Findings []audit.Finding `json:"findings"`
			Violated int             `json:"violated"`
		}{findings, violated})
	}
	if s.junit != "" {
		err = errors.Join(err, writeJUnit(s.junit, findings))
	}
	if err == nil && violated > 0 {
		err = &violatedError{violated, len(findings)}
	}
	return err
}

func writeJUnit(path string, findings []audit.Finding) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return errors.Join(audit.WriteJUnit(f, findings), f.Close())
}
