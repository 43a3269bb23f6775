package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/internal/experiment/canaries"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/setting"
)

// auditSettings are the flags of audit.
type auditSettings struct {
	canaries.Config
	rounds int
	json   bool
	junit  string
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
	f.StringVar(&s.Chain.Kernel, "kernel", "", "attack whole runs of this kernel; by default every mechanism is attacked")
	f.Float64Var(&s.Epsilon, "epsilon", 0, "what a run claims; required with --kernel")
	f.Float64Var(&s.Delta, "delta", 0, "what a run claims; required with --kernel")
	f.Int64Var(&s.Chain.Iterations, "iterations", 5000, "steps of a run")
	f.Float64Var(&s.Chain.Step, "step", 0, "step of a run; by default the kernel's choice")
	f.Float64Var(&s.Chain.Temperature, "temperature", 1, "temperature of a run")
	f.StringVar(&s.Chain.Start, "start", "auto", "where runs start, as in sample")
	f.IntVar(&s.Records, "records", 500, "records of a run")
	f.IntVar(&s.Canaries, "canaries", 50, "records of a run that are canaries, each with a feature of its own")
	f.IntVar(&s.Runs, "runs", 10, "number of runs, of which the canaries count together")
	f.IntVar(&s.rounds, "rounds", 200_000, "releases of each mechanism")
	f.Float64Var(&s.FalseAlarm, "false-alarm", 1e-3, "probability at which a true claim may be called violated")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of the simulation")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.junit, "junit", "", "also write a JUnit file for a pipeline")
}

// run makes the attacks.
func (s *auditSettings) run(ctx context.Context, f *pflag.FlagSet) ([]audit.Finding, error) {
	if s.Chain.Kernel != "" {
		if missing := flags.Missing(f, "epsilon", "delta"); missing != "" {
			return nil, fmt.Errorf("%s with --kernel: privacy parameters have no defaults", missing)
		}
		if err := flags.CheckBudget(f, s.Epsilon, s.Delta); err != nil {
			return nil, err
		}
		findings, err := s.Attack(ctx)
		return findings, setting.Flagged(err)
	}
	attacks, err := audit.Mechanisms(s.rounds, s.FalseAlarm, s.Seed)
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
				"is wrong at most once in %.4g times.\n", 1/s.FalseAlarm)
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
