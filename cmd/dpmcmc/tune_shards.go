package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/tune"
)

// newTuneMerge is tune merge.
func newTuneMerge() *cobra.Command {
	s := &tuneSettings{merging: true}
	c := &cobra.Command{
		Use:   "merge",
		Short: "Put the shards of a search for settings together",
		Long: `merge reads the journals that the shards of tune left in --journals, runs the
finalists, and prints and writes what tune would have in one go, byte for byte. It
takes the flags that the shards were given, and refuses while a shard has searches
to go.`,
		Example: `  dpmcmc tune merge --records 30000 --features 6 --model logistic --epsilon 1 --delta 1e-6 \
    --journals searches/ --out tuned.toml`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if missing := flags.Missing(c.Flags(), "journals"); missing != "" {
				return fmt.Errorf("%s: the folder that the shards share", missing)
			}
			return s.Explained(s.execute(c.Context(), c.Flags(), c.OutOrStdout()))
		},
	}
	s.bindTune(c.Flags())
	return c
}

// find is the result of a search in one go, or of the shards that --journals holds.
func (s *tuneSettings) find(ctx context.Context, config tune.Config) (*tune.Result, error) {
	if !s.merging {
		return tune.Run(ctx, config)
	}
	return experiment.MergeTune(ctx, config, s.journals)
}

// runShard makes the searches of one shard, and says only how it went: results are merge's.
func (s *tuneSettings) runShard(ctx context.Context, config tune.Config, out io.Writer) error {
	shard, err := experiment.ParseShard(s.shard, os.Getenv)
	if err != nil {
		return err
	}
	if s.journals == "" {
		return errors.New("--journals is missing: the folder that the shards share")
	}
	if s.out != "" {
		return errors.New("--out is for tune merge: a shard finds no winner")
	}
	if err := experiment.TuneShard(ctx, config, s.journals, shard); err != nil {
		return err
	}
	return shardDone(out, shard, "tune", s.json)
}
