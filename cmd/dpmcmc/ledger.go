package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/runs"
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
		return fmt.Errorf("ledger %s needs one ledger file, such as people.csv.ledger; %d were given", c.Name(), len(args))
	}
	return nil
}

func sayStatement(l *ledger.Ledger, count int, out io.Writer) error {
	text, err := accounts.Statement(l, count)
	if err != nil {
		return err
	}
	return say(out, text)
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
			if missing := flags.Missing(c.Flags(), "delta"); missing != "" {
				return fmt.Errorf("%s: privacy parameters have no defaults", missing)
			}
			if c.Flags().Changed("epsilon") && limit.Epsilon == 0 {
				return fmt.Errorf("--epsilon is 0; it must be positive, or left out for a ledger that only counts")
			}
			if err := limit.Adjacency.UnmarshalText([]byte(adjacency)); err != nil {
				return fmt.Errorf("--adjacency: %w", err)
			}
			if limit.Epsilon > 0 && !c.Flags().Changed("failure-delta") {
				limit.Failure = limit.Delta / 1000
			}
			l, err := ledger.Create(args[0], limit, accounts.NoteOf(c.CommandPath(), c.Flags(), who),
				accounts.Waiting(args[0], c.ErrOrStderr()))
			if err != nil {
				return err
			}
			last, err := l.Last()
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", args[0], accounts.LimitText(last.Limit))
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
	flags.Who(c.Flags(), &who)
	return c
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
			l, err := accounts.Open(args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				totals, err := accounts.Now(l)
				if err != nil {
					return err
				}
				return printJSON(c.OutOrStdout(), totals)
			}
			return sayStatement(l, count, c.OutOrStdout())
		},
	}
	c.Flags().IntVar(&count, "last", 20, "number of entries to list")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func newLedgerCheck() *cobra.Command {
	var asJSON bool
	var certificates []string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check the chain of entries and add everything up again",
		Long: `check reads every entry, checks that each names the hash of the one before, and adds
up all charges again. A damaged ledger is refused with the entry's number.

With --certificate it also checks a run's certificate against the ledger, both ways:
the ledger's entries that the certificate names paid for what it states, and the
ledger has the hash of the certificate's file.`,
		Example: "  dpmcmc ledger check people.csv.ledger\n" +
			"  dpmcmc ledger check people.csv.ledger --certificate run/certificate.json",
		Args: oneLedger,
		RunE: func(c *cobra.Command, args []string) error {
			l, err := accounts.Open(args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			r, err := l.Check()
			if err != nil {
				return err
			}
			for _, path := range certificates {
				if err := runs.CheckCertificate(l, path); err != nil {
					return fmt.Errorf("--certificate: %s: %w", path, err)
				}
			}
			return reportCheck(args[0], r, certificates, asJSON, c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().StringArrayVar(&certificates, "certificate", nil, "certificate.json of a run that the ledger is to have "+
		"charged; may be repeated")
	return c
}

func reportCheck(path string, r ledger.Report, certificates []string, asJSON bool, out io.Writer) error {
	dearer := r.Repriced > r.Last.TotalCost*(1+1e-9)
	if asJSON {
		return printJSON(out, struct {
			accounts.Totals
			Dearer       bool     `json:"dearer_today"`
			Certificates []string `json:"certificates,omitempty"`
		}{accounts.TotalsOf(path, r.Last, r.Files), dearer, certificates})
	}
	fmt.Fprintf(out, "%d entries are whole and add up.\n%s\n", r.Entries, accounts.SpentText(path, r.Last))
	for _, c := range certificates {
		fmt.Fprintf(out, "%s: charged here, and unchanged since.\n", c)
	}
	if dearer {
		fmt.Fprintf(out, "Warning: at this version's prices the same releases cost %.4g times as much. An "+
			"earlier price was too low.\n", r.Repriced/r.Last.TotalCost)
	}
	return nil
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
			l, err := accounts.Open(args[0], c.ErrOrStderr())
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
			l, err := accounts.Open(args[0], c.ErrOrStderr())
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
			if err := l.SetLimit(epsilon, delta, accounts.NoteOf(c.CommandPath(), c.Flags(), who)); err != nil {
				return err
			}
			return sayStatement(l, 0, c.OutOrStdout())
		},
	}
	c.Flags().Float64Var(&epsilon, "epsilon", 0, "the most that may be spent, what was spent so far included")
	c.Flags().Float64Var(&delta, "delta", 0, "the δ of everything together; by default as it is")
	c.Flags().BoolVar(&none, "none", false, "no limit: only count")
	flags.Who(c.Flags(), &who)
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
			l, err := accounts.Open(args[0], c.ErrOrStderr())
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
