package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/internal/manual"
)

func newSchema() *cobra.Command {
	var path, target, out string
	var asJSON bool
	_, plainly := manual.Topic("schema")
	c := &cobra.Command{
		Use:     "schema",
		Short:   "Draft the public schema of a CSV file",
		Long:    "schema reads a CSV file and drafts the TOML schema that sample needs.\n\n" + plainly,
		Example: "  dpmcmc schema --data people.csv --target income > people.toml",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if path == "" {
				return fmt.Errorf("--data is required: the CSV file to draft a schema for")
			}
			draft, err := data.Draft(c.Context(), path, target)
			if err != nil {
				return err
			}
			if out != "" {
				return create(out, draft)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]string{"schema": string(draft)})
			}
			_, err = c.OutOrStdout().Write(draft)
			return err
		},
	}
	c.Flags().StringVar(&path, "data", "", "CSV file with a header line")
	c.Flags().StringVar(&target, "target", "", "column that is the response; by default the one that looks like it")
	c.Flags().StringVar(&out, "out", "", "file to write the draft to, which must not exist; by default standard output")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object with the draft's text")
	return c
}

// create writes a new file for --out.
func create(path string, content []byte) error {
	if err := durable.Create(path, content); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
