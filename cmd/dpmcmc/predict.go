package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/models"
)

// predictSettings are the flags of predict.
type predictSettings struct {
	data        string
	level       float64
	seed        uint64
	draws, json bool
}

func newPredict() *cobra.Command {
	s := &predictSettings{}
	c := &cobra.Command{
		Use:   "predict RUN",
		Short: "Predict new rows with a finished run",
		Long: `predict reads the folder of a run and a CSV file of new rows, and prints for each
row the expected response with its interval: a probability, a count or a number in
the units of the file. For numbers and counts it adds the interval of a new response.

No record of the fit is needed and no privacy is spent: predictions come from the
released draws. The file needs the feature columns of the run's schema. A target
column is not read.`,
		Example: "  dpmcmc predict run/ --data new.csv\n  dpmcmc predict run/ --data new.csv --level 0.5 --json\n  dpmcmc " +
			"predict run/ --data new.csv --draws > draws.csv",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("predict needs the folder of one run, such as run/; %d were given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if s.data == "" {
				return errors.New("predict needs --data: a CSV file with the feature columns of the run's schema")
			}
			if s.draws && s.json {
				return errors.New("--draws and --json are two forms of output; give one")
			}
			return s.run(c.Context(), args[0], c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&s.data, "data", "", "CSV file of new rows; required")
	f.Float64Var(&s.level, "level", 0.9, "probability that intervals hold, in (0, 1)")
	f.Uint64Var(&s.seed, "seed", 1, "seed of simulated responses; nothing private rests on it")
	f.BoolVar(&s.draws, "draws", false, "print one simulated response for every row and draw, instead of intervals")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	return c
}

func (s *predictSettings) run(ctx context.Context, dir string, out io.Writer) error {
	f, err := runs.Open(dir)
	if err != nil {
		return err
	}
	rows, err := f.Rows(ctx, s.data)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(s.seed, 0))
	if s.draws {
		return f.Simulate(rows, rng, out)
	}
	predictions, err := f.Model.Predict(f.Pooled(), rows, s.level, rng)
	if err != nil {
		return err
	}
	verdict := f.Verdict()
	if s.json {
		return printJSON(out, struct {
			Verdict     any                 `json:"verdict"`
			Insecure    bool                `json:"insecure"`
			Columns     []string            `json:"columns"`
			Level       float64             `json:"level"`
			Predictions []models.Prediction `json:"predictions"`
		}{verdict, f.Certificate.Insecure, f.Outcomes(), s.level, predictions})
	}
	text := f.PredictionTable(predictions, verdict.Usable)
	if !verdict.Usable {
		text = verdict.Headline + " Predictions are means only.\n" + text
	}
	if f.Certificate.Insecure {
		text = runs.InsecureMark + text
	}
	return say(out, text)
}
