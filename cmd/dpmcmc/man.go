package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/manual"
)

// newMan is dpmcmc man: the help of commands and topics for man(1).
func newMan() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "man [COMMAND|TOPIC]",
		Short: "Manual pages, from the same text as help",
		Long: `man prints the manual page of a command or a topic in roff, which man -l reads.
With --out it writes the pages of all of them below a folder, man1 and man7.`,
		Example: `  dpmcmc man sample | man -l -
  dpmcmc man --out ~/.local/share/man`,
		RunE: func(c *cobra.Command, args []string) error {
			found, err := manual.Lookup(c.Root(), args)
			switch {
			case err != nil:
				return err
			case out == "":
				_, err = c.OutOrStdout().Write(manual.Page(found))
				return err
			case len(args) > 0:
				return fmt.Errorf("--out writes every page; leave out %q", args)
			}
			manual.Every(c.Root(), func(c *cobra.Command) {
				section := manual.Section(c)
				dir := filepath.Join(out, fmt.Sprintf("man%d", section))
				if err = errors.Join(err, os.MkdirAll(dir, 0o755)); err == nil {
					err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%d", manual.Name(c), section)), manual.Page(c), 0o644)
				}
			})
			if err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder for the pages of all commands (man1) and topics (man7)")
	return c
}
