package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/guide"
	"github.com/dpmcmc/dpmcmc/models"
)

func newStart() *cobra.Command {
	c := &cobra.Command{
		Use:   "start",
		Short: "A guided first run",
		Long: `start asks what a first run on a CSV file needs: what is public about every
column, the privacy budget and the model. It writes the schema, says what the run
will be worth, runs it if that is wanted, and ends with the commands that do the
same. Every question has a flag; what a flag answers is not asked. Answers can be
piped, a line each. No privacy parameter has a default.`,
		Example: `  dpmcmc start
  dpmcmc start --data people.csv --rows-per-person 1 --epsilon 1 --delta 1e-6 --run no`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			g := guide.Guide{Flags: c.Flags(), In: bufio.NewScanner(c.InOrStdin()), Say: c.OutOrStdout()}
			g.Run = func(ctx context.Context, name string, args []string) error {
				next := map[string]func() *cobra.Command{"plan": newPlan, "sample": newSample}[name]()
				next.SetArgs(args)
				next.SetOut(c.OutOrStdout())
				next.SetErr(c.ErrOrStderr())
				next.SilenceErrors, next.SilenceUsage = true, true
				return next.ExecuteContext(ctx)
			}
			return g.Lead(c.Context())
		},
	}
	f := c.Flags()
	f.String("data", "", "CSV file with a header line")
	f.String("schema", "", "TOML file of the schema: used if it is there, else asked for and written")
	f.String("target", "", "the column to explain; none for a file without one")
	f.StringSlice("ignore", nil, "columns to leave out")
	f.StringSlice("bounds", nil, "public bounds of numbers, as age=18:100")
	f.StringSlice("scales", nil, "public typical values and deviations of numbers, as age=45:20")
	f.StringSlice("levels", nil, "public levels or labels, as smoker=no:yes")
	flags.Whole(f, new(int64), "rows-per-person", 0, "largest number of rows that one person owns")
	f.String("confirmed", "", "yes: every line of the schema is known without a look at the records")
	f.String("model", "", strings.Join(models.Names(), ", "))
	f.Float64("epsilon", 0, "privacy budget ε")
	f.Float64("delta", 0, "privacy budget δ")
	f.String("out", "", "folder of the run")
	f.String("run", "", "yes or no: run it after the forecast")
	return c
}
