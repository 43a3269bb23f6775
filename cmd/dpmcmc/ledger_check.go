package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/ledger"
)

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
