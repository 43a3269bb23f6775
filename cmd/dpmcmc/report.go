package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/runs"
)

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "Write a run's page again",
		Long: `report writes report.html into the folder of a run: the verdict, the privacy label,
the parameters in the units of the file, plots, settings. sample --out writes it by
itself. The page needs nothing else and costs no privacy.`,
		Example: "  dpmcmc report run/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("report needs the folder of one run, such as run/; %d were given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f, err := runs.Open(args[0])
			if err != nil {
				return err
			}
			if err := f.WritePage(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\nThe page is %s.\n", f.Verdict().Headline,
				filepath.Join(args[0], runs.ReportFile))
			return err
		},
	}
}
