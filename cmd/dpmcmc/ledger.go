package main

import (
	"fmt"
	"io"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ledger"
)

func newLedger() *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "What has been spent on the people in a data set",
		Long: `ledger keeps what was spent on one group of people in one file, across runs. Every
charge is on disk before the records are looked at, and nothing is ever refunded.
sample and compare charge DATA.ledger by themselves; init sets a limit first.

A ledger with a limit refuses what the limit does not cover, whatever earlier
results a run was chosen by. One without a limit counts, and says at any time
what has been spent.`,
		Example: `  dpmcmc ledger init people.csv.ledger --epsilon 4 --delta 1e-5
  dpmcmc ledger show people.csv.ledger
  dpmcmc ledger check people.csv.ledger
  dpmcmc ledger export people.csv.ledger --format csv > spent.csv`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerInit(), newLedgerShow(), newLedgerCheck(), newLedgerExport(), newLedgerLimit(),
		newLedgerCompact())
	return c
}

// oneLedger is the argument of every ledger command.
func oneLedger(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs one ledger file, such as people.csv.ledger; %d were given", c.CommandPath(), len(args))
	}
	return nil
}

// waiting says on w that a ledger is held by another process.
func waiting(path string, w io.Writer) ledger.Options {
	return ledger.Options{Waiting: func(d time.Duration) {
		fmt.Fprintf(w, "dpmcmc: waiting for %s, which another process is using (%v so far)\n", path, d.Round(time.Second))
	}}
}

// note says who runs a command.
func note(command string, flags *pflag.FlagSet, who string) ledger.Note {
	if who == "" {
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
	}
	words := []string{command}
	flags.Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name+" "+f.Value.String()) })
	return ledger.Note{Who: who, Command: strings.Join(words, " ")}
}

func bindWho(f *pflag.FlagSet, who *string) {
	f.StringVar(who, "who", "", "who asks, for the ledger; by default the user's name")
}

func newLedgerInit() *cobra.Command {
	var limit ledger.Limit
	var adjacency, who string
	c := &cobra.Command{
		Use:     "init FILE",
		Short:   "Make a ledger, with a limit or without",
		Long:    "init makes a ledger. With --epsilon nothing beyond that is ever charged to it. Without, it only counts.",
		Example: "  dpmcmc ledger init people.csv.ledger --epsilon 4 --delta 1e-5",
		Args:    oneLedger,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if missing := missing(c.Flags(), "delta"); missing != "" {
				return fmt.Errorf("%s: privacy parameters have no defaults", missing)
			}
			if c.Flags().Changed("epsilon") && limit.Epsilon == 0 {
				return fmt.Errorf("--epsilon is 0; it must be positive, or left out for a ledger that only counts")
			}
			if limit.Adjacency, err = accountant.ParseAdjacency(adjacency); err != nil {
				return fmt.Errorf("--adjacency: %w", err)
			}
			if limit.Epsilon > 0 && !c.Flags().Changed("failure-delta") {
				limit.Failure = limit.Delta / 1000
			}
			l, err := ledger.Create(args[0], limit, note(c.CommandPath(), c.Flags(), who), waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			last, err := l.Last()
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", args[0], limitText(last.Limit))
			}
			return err
		},
	}
	c.Flags().Float64Var(&limit.Epsilon, "epsilon", 0, "the most that may be spent; by default there is no limit")
	c.Flags().Float64Var(&limit.Delta, "delta", 0, "the δ of everything together; required")
	c.Flags().Float64Var(&limit.Failure, "failure-delta", 0,
		"the part of --delta for mechanisms that may fail outright; by default a thousandth under a limit")
	c.Flags().Float64Var(&limit.Order, "order", 0,
		"Rényi order at which charges add up; by default the first charge sets it, to leave most to later ones")
	c.Flags().StringVar(&adjacency, "adjacency", "substitute", "neighbouring data sets: substitute or add_remove")
	bindWho(c.Flags(), &who)
	return c
}

func limitText(l ledger.Limit) string {
	if l.Epsilon == 0 {
		return fmt.Sprintf("no limit; counts ε at δ = %.3g (%v)", l.Delta, l.Adjacency)
	}
	return fmt.Sprintf("at most ε = %.4g at δ = %.3g (%v)", l.Epsilon, l.Delta, l.Adjacency)
}

// spentText is what has been spent on these people so far, in one line.
func spentText(path string, e ledger.Entry) string {
	charges := fmt.Sprintf("%d charges", e.Charges)
	if e.Charges == 1 {
		charges = "1 charge"
	}
	const line = "Spent on these people so far: "
	switch {
	case e.Charges == 0:
		return line + "nothing; " + limitText(e.Limit) + " (" + path + ")."
	case e.Limit.Epsilon > 0:
		return fmt.Sprintf("%s%.1f%% of the limit ε = %.4g at δ = %.3g (%v), ε = %.4g, in %s (%s; %s).",
			line, 100*e.Share(), e.Limit.Epsilon, e.Limit.Delta, e.Limit.Adjacency, e.TotalEpsilon, charges, e.Theorem(), path)
	}
	return fmt.Sprintf("%sε = %.4g at δ = %.3g (%v) in %s by basic composition; if results chose later runs, "+
		"ε = %.4g at δ = %.3g (%s); no limit (%s).",
		line, e.PlainEpsilon, e.PlainDelta, e.Limit.Adjacency, charges, e.TotalEpsilon, e.TotalDelta(), e.Theorem(), path)
}

func newLedgerShow() *cobra.Command {
	var asJSON bool
	var count int
	c := &cobra.Command{
		Use:     "show FILE",
		Short:   "What has been spent, and by whom",
		Example: "  dpmcmc ledger show people.csv.ledger\n  dpmcmc ledger show people.csv.ledger --json",
		Args:    oneLedger,
		RunE: func(c *cobra.Command, args []string) error {
			if count < 0 {
				return fmt.Errorf("--last is %d; it is a number of entries, 0 or more", count)
			}
			l, err := ledger.Open(args[0], waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			if asJSON {
				return showLedgerJSON(l, c.OutOrStdout())
			}
			return showLedger(l, count, c.OutOrStdout())
		},
	}
	c.Flags().IntVar(&count, "last", 20, "number of entries to list")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// ledgerTotals is a ledger for programs.
type ledgerTotals struct {
	Ledger    string     `json:"ledger"`
	Files     []string   `json:"files"`
	Entries   int64      `json:"entries"`
	Charges   int64      `json:"charges"`
	Epsilon   float64    `json:"epsilon"`
	Delta     float64    `json:"delta"`
	Plain     [2]float64 `json:"plain_epsilon_delta"`
	Share     float64    `json:"share_of_limit"`
	Adjacency string     `json:"adjacency"`
	Limit     *float64   `json:"limit"`
	Order     float64    `json:"order,omitempty"`
}

func totalsOf(path string, e ledger.Entry, files []string) ledgerTotals {
	t := ledgerTotals{
		Ledger: path, Files: files, Entries: e.Number + 1, Charges: e.Charges, Epsilon: e.TotalEpsilon,
		Delta: e.TotalDelta(), Plain: [2]float64{e.PlainEpsilon, e.PlainDelta}, Share: e.Share(),
		Adjacency: e.Limit.Adjacency.String(), Order: e.Limit.Order,
	}
	if e.Limit.Epsilon > 0 {
		t.Limit = &e.Limit.Epsilon
	}
	return t
}

func showLedgerJSON(l *ledger.Ledger, out io.Writer) error {
	last, files, _, err := readLedger(l, 0)
	if err != nil {
		return err
	}
	return printJSON(out, totalsOf(l.Path(), last, files))
}

// readLedger returns the newest entry, the files' labels, and the last count entries.
func readLedger(l *ledger.Ledger, count int) (last ledger.Entry, files []string, entries []ledger.Entry, err error) {
	err = l.Entries(func(e ledger.Entry) error {
		last = e
		if e.Kind == ledger.File {
			files = append(files, e.Label)
		}
		if entries = append(entries, e); len(entries) > count {
			entries = entries[1:]
		}
		return nil
	})
	return last, files, entries, err
}

func showLedger(l *ledger.Ledger, count int, out io.Writer) error {
	last, files, entries, err := readLedger(l, count)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintln(&b, spentText(l.Path(), last))
	if len(files) > 0 {
		fmt.Fprintf(&b, "Files about them: %s.\n", strings.Join(files, ", "))
	}
	if len(entries) == 0 {
		return say(out, b.String())
	}
	fmt.Fprintln(&b)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "entry\ttime\twho\tε alone\tε so far\twhat")
	for _, e := range entries {
		alone, what := "", string(e.Kind)
		switch e.Kind {
		case ledger.Charged:
			alone, what = fmt.Sprintf("%.4g", e.Epsilon), releasesText(e)
		case ledger.File:
			what = "file " + e.Label
		case ledger.Opened, ledger.Limited:
			what += ": " + limitText(e.Limit)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%.4g\t%s\n", e.Number, e.Time.Format("2006-01-02 15:04:05"), e.Who, alone,
			e.TotalEpsilon, what)
	}
	w.Flush()
	return say(out, b.String())
}

func releasesText(e ledger.Entry) string {
	if e.Count == 1 {
		return e.Event.String()
	}
	return fmt.Sprintf("%d × (%v)", e.Count, e.Event)
}

func newLedgerExport() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "export FILE",
		Short: "Write all entries as JSON or CSV",
		Long: `export writes all entries to standard output. Fingerprints of data files are left out:
with the ledger's key they would let a reader test guesses of the data.`,
		Example: "  dpmcmc ledger export people.csv.ledger --format csv > spent.csv",
		Args:    oneLedger,
		RunE: func(c *cobra.Command, args []string) error {
			l, err := ledger.Open(args[0], waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			switch format {
			case "json":
				return l.ExportJSON(c.OutOrStdout())
			case "csv":
				return l.ExportCSV(c.OutOrStdout())
			}
			return fmt.Errorf("--format is %q; it is json or csv", format)
		},
	}
	c.Flags().StringVar(&format, "format", "json", "json or csv")
	return c
}

func newLedgerLimit() *cobra.Command {
	var epsilon, delta float64
	var none bool
	var who string
	c := &cobra.Command{
		Use:   "limit FILE",
		Short: "Change what may be spent",
		Long: `limit changes what a ledger allows, and records who did. A limit below what was spent is
refused. The guarantee is that of the largest limit, as if it had been chosen in
advance: choosing it by looking at results is not covered. A ledger without a limit
has no such condition.`,
		Example: "  dpmcmc ledger limit people.csv.ledger --epsilon 6\n  dpmcmc ledger limit people.csv.ledger --none",
		Args:    oneLedger,
		RunE: func(c *cobra.Command, args []string) error {
			if none == c.Flags().Changed("epsilon") || (!none && !(epsilon > 0)) {
				return fmt.Errorf("give --epsilon with a positive limit, or --none")
			}
			l, err := ledger.Open(args[0], waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			if !c.Flags().Changed("delta") {
				last, err := l.Last()
				if err != nil {
					return err
				}
				delta = last.Limit.Delta
			}
			if err := l.SetLimit(epsilon, delta, note(c.CommandPath(), c.Flags(), who)); err != nil {
				return err
			}
			return showLedger(l, 0, c.OutOrStdout())
		},
	}
	c.Flags().Float64Var(&epsilon, "epsilon", 0, "the most that may be spent, what was spent so far included")
	c.Flags().Float64Var(&delta, "delta", 0, "the δ of everything together; by default as it is")
	c.Flags().BoolVar(&none, "none", false, "no limit: only count")
	bindWho(c.Flags(), &who)
	return c
}

func newLedgerCompact() *cobra.Command {
	return &cobra.Command{
		Use:     "compact FILE",
		Short:   "Rewrite the file without its free space",
		Long:    "compact rewrites the file without its free space. Every entry stays.",
		Example: "  dpmcmc ledger compact people.csv.ledger",
		Args:    oneLedger,
		RunE: func(c *cobra.Command, args []string) error {
			l, err := ledger.Open(args[0], waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			before, after, err := l.Compact()
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s: %d bytes, now %d\n", args[0], before, after)
			}
			return err
		},
	}
}
