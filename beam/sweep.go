package beam

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
)

func init() { register.DoFn2x1[context.Context, int, error](&runShard{}) }

// SweepConfig says what a sweep compares.
type SweepConfig struct {
	// Name and Text are of the experiment's configuration (docs/compare.md). Required.
	Name, Text string
	// ConfigDir and DataDir are where its schema and its data are, as for dpmcmc compare.
	ConfigDir, DataDir string
	// Public says that the records of a file are public. Private ones must be reserved
	// (docs/sweeps.md).
	Public bool
	// Out is the folder that all workers write their journals to. Required.
	Out string
	// Shards is their number. Required.
	Shards int
}

// Sweep adds to a pipeline the cells of a sweep, a shard at a time. A shard that a runner
// tries again goes on from its journal.
func Sweep(s beam.Scope, c SweepConfig) error {
	if c.Text == "" || c.Out == "" || c.Shards < 1 {
		return errors.New("beam: SweepConfig needs a Text, an Out and a number of Shards")
	}
	if _, err := c.plan(); err != nil {
		return err
	}
	var shards []int
	for i := range c.Shards {
		shards = append(shards, i+1)
	}
	s = s.Scope("sweep")
	beam.ParDo0(s, &runShard{Config: c}, beam.Reshuffle(s, beam.CreateList(s, shards)))
	return nil
}

func (c SweepConfig) plan() (*experiment.Plan, error) {
	parsed, err := experiment.Parse(c.Name, []byte(c.Text))
	if err != nil {
		return nil, err
	}
	return experiment.NewPlan(parsed, experiment.Options{ConfigDir: c.ConfigDir, DataDir: c.DataDir, Public: c.Public})
}

// runShard runs a shard.
type runShard struct{ Config SweepConfig }

// ProcessElement runs the shard of that index.
func (d *runShard) ProcessElement(ctx context.Context, index int) error {
	plan, err := d.Config.plan()
	if err != nil {
		return err
	}
	shard := experiment.Shard{Index: index, Count: d.Config.Shards}
	if err := plan.RunShard(ctx, experiment.RunOptions{Dir: d.Config.Out, Workers: 1}, shard); err != nil {
		return fmt.Errorf("beam: shard %v: %w", shard, err)
	}
	return nil
}
