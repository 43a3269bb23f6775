package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/flags"
)

// newReserve is compare reserve.
func newReserve() *cobra.Command {
	s, shards := &compareSettings{}, 0
	c := &cobra.Command{
		Use:   "reserve",
		Short: "Charge a sweep on private data before its shards run",
		Long: `reserve charges all runs of a comparison on private data to the ledger, once, and
leaves in --out a journal for each shard that says so. Shards charge nothing
themselves: each runs its reserved cells at most once, and none without its
journal.`,
		Example: "  dpmcmc compare reserve --config exp.toml --epsilon 3 --delta 1e-5 --shards 16 --out cmp/",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if missing := flags.Missing(c.Flags(), "out", "shards"); missing != "" {
				return fmt.Errorf("%s: the shards share a folder", missing)
			}
			plan, err := s.plan()
			if err != nil {
				return err
			}
			var people accounts.Accounts
			err = plan.Reserve(experiment.RunOptions{Dir: s.out, Epsilon: s.epsilon, Delta: s.delta,
				Charge: s.charge(&people, plan, c.Flags(), c.ErrOrStderr())}, shards)
			if err != nil {
				return err
			}
			if s.json {
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"out": s.out, "shards": shards,
					"runs": len(plan.Cells)})
			}
			fmt.Fprintf(c.OutOrStdout(), "%d runs are reserved for %d shards in %s\n", len(plan.Cells), shards, s.out)
			spent, _, err := people.Spent()
			return errors.Join(err, say(c.OutOrStdout(), spent))
		},
	}
	s.bindCommon(c.Flags())
	s.bindBudget(c.Flags())
	c.Flags().IntVar(&shards, "shards", 0, "number of shards; required")
	return c
}

// newMerge is compare merge.
func newMerge() *cobra.Command {
	s := &compareSettings{}
	c := &cobra.Command{
		Use:   "merge",
		Short: "Put the shards of a sweep together",
		Long: `merge reads the journals that the shards of a comparison left in --out, and writes
there what a run in one go would have, byte for byte but for wall times. It
refuses while a shard has runs to go.`,
		Example: "  dpmcmc compare merge --config exp.toml --out cmp/",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if missing := flags.Missing(c.Flags(), "out"); missing != "" {
				return fmt.Errorf("%s: the folder that the shards share", missing)
			}
			plan, err := s.plan()
			if err != nil {
				return err
			}
			results, err := plan.Merge(s.out)
			if err != nil {
				return err
			}
			return s.write(results, c.OutOrStdout())
		},
	}
	s.bindCommon(c.Flags())
	return c
}

// shared is the shard that was asked for, if any, before anything runs.
func (s *compareSettings) shared() (experiment.Shard, error) {
	if s.shard == "" {
		return experiment.Shard{}, nil
	}
	if s.out == "" {
		return experiment.Shard{}, errors.New("--out is missing: the folder that the shards share")
	}
	return experiment.ParseShard(s.shard, os.Getenv)
}

// runShard runs one shard, and says only how it went: results are merge's.
func (s *compareSettings) runShard(c *cobra.Command, plan *experiment.Plan, o experiment.RunOptions,
	shard experiment.Shard) error {
	if err := plan.RunShard(c.Context(), o, shard); errors.Is(err, experiment.ErrNotReserved) {
		return fmt.Errorf("shard %v of private data is not reserved in %s: run dpmcmc compare reserve first, once", shard,
			s.out)
	} else if err != nil {
		return err
	}
	return shardDone(c.OutOrStdout(), shard, "compare", s.json)
}

// shardDone says only how it went: results are merge's.
func shardDone(out io.Writer, shard experiment.Shard, command string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]any{"shard": shard.Index, "shards": shard.Count})
	}
	return say(out, fmt.Sprintf("shard %v is done; dpmcmc %s merge puts the shards together\n", shard, command))
}
