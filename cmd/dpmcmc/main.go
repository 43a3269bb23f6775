// Command dpmcmc draws from posteriors with an unconditional differential
// privacy guarantee, and plans and accounts for privacy budgets.
//
//	dpmcmc start      a guided first run
//	dpmcmc sample     a private chain on a table
//	dpmcmc pack       pack a table that is larger than memory
//	dpmcmc schema     draft the public schema of a table
//	dpmcmc account    what a list of releases costs
//	dpmcmc plan       what a budget buys
//	dpmcmc tune       choose settings on simulated data
//	dpmcmc compare    compare methods at equal privacy
//	dpmcmc summary    summarise draws files
//	dpmcmc predict    predict new rows with a finished run
//	dpmcmc report     write a run's page again
//	dpmcmc audit      attack mechanisms and runs, and compare with their claims
//	dpmcmc ledger     what has been spent on the people in a data set
//	dpmcmc completion a script that completes commands and flags in a shell
//	dpmcmc man        manual pages, from the same text as help
//	dpmcmc help       help on a command or a topic: privacy, schema, budget, results, …
//
// Every command has --help with a working example and --json for one
// machine-readable object on standard output.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/manual"
)

// Exit codes, part of the command's contract.
const (
	exitOK          = 0
	exitUsage       = 2
	exitRefused     = 3
	exitViolated    = 4 // audit refuted a claim
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	manual.Arrange(root, widthOf(out))
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	is := func(target any) bool { return errors.As(err, target) }
	switch {
	case err == nil:
		return exitOK
	case is(new(*unspentError)):
		fmt.Fprintln(errw, "dpmcmc: interrupted; nothing was released, and nothing spent")
		return exitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errw, "dpmcmc: interrupted; what was finished is on disk, and what was released is charged")
		return exitInterrupted
	case is(new(*accountant.ExceededError)), is(new(*flags.RefusedError)), is(new(*experiment.NoBudgetError)),
		is(new(*forecasts.UnexploredError)):
		fmt.Fprintln(errw, "dpmcmc: refused:", err)
		return exitRefused
	case is(new(*violatedError)):
		fmt.Fprintln(errw, "dpmcmc:", err)
		return exitViolated
	}
	fmt.Fprintln(errw, "dpmcmc:", err)
	return exitUsage
}

// unspentError is an interruption before anything was charged.
type unspentError struct{ error }

// newRoot builds the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "dpmcmc",
		Short: "Markov chain Monte Carlo with unconditional differential privacy",
		Long: `dpmcmc draws from posteriors with an (ε, δ) that holds for every step of the
chain, whether or not it has converged: every look at the records is a private
release that was charged to a budget first.`,
		Version:       chains.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if text, _, found := strings.Cut(err.Error(), ": strconv.ParseFloat"); found {
			err = errors.New(text + ": it must be a number, such as 0.5 or 1e-6")
		} else if text, _, found := strings.Cut(err.Error(), ": strconv.ParseUint"); found {
			err = errors.New(text + ": it must be a whole number from 0 on, such as 1")
		} else if text, _, found := strings.Cut(err.Error(), ": strconv.ParseInt"); found {
			err = errors.New(text + ": it must be a whole number in digits, such as 10")
		}
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			return fmt.Errorf("%w%s (%s --help lists the flags)", err, meantFlag(c, unknown), c.CommandPath())
		}
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(newStart(), newSample(), newSchema(), newPack(), newSummary(), newPredict(), newReport(),
		newAccount(), newPlan(),
		newCompare(), newTune(), newLedger(), newAudit(), newMan())
	for _, c := range root.Commands() {
		flags.Complete(c)
		flags.Named(c)
	}
	return root
}

// meantFlag is a hint at what an unknown flag may stand for: one with a name that is near, or, after a
// single dash, of that name.
func meantFlag(c *cobra.Command, unknown *pflag.NotExistError) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	name := unknown.GetSpecifiedShortnames()
	if name == "" {
		name = unknown.GetSpecifiedName()
	}
	return manual.Meant("--"+name, names)
}

// noArgs refuses words that are no flags, and says what may have been meant.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if !c.HasSubCommands() {
		if c.Flags().Lookup("data") != nil {
			hint = "; did you mean --data " + args[0] + "?"
		}
		return fmt.Errorf("%s takes flags only, which %q is not%s (%s --help lists them)", c.Name(), args[0], hint,
			c.CommandPath())
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.Runnable() { // topics of help are not
			names = append(names, sub.Name())
		}
	}
	if hint = manual.Meant(args[0], names); hint == "" && c.HasParent() {
		hint = "; it must be one of " + strings.Join(names, ", ")
	}
	return fmt.Errorf("there is no command %q%s (%s --help lists them)", args[0], hint, c.CommandPath())
}
