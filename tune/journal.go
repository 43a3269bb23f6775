package tune

import (
	"context"
	"fmt"
)

// Journal keeps what settings measured on simulated data. A run that was interrupted goes
// on with it, and one that finds everything there measures nothing. It must be safe for
// concurrent use, and belong to one Config, but for the Workers.
type Journal interface {
	// Find returns the figures kept under a name, nil for none.
	Find(name string) []float64
	// Keep keeps figures, of which some may be infinite or NaN.
	Keep(name string, figures []float64) error
}

// kept is what the journal has of a measurement, or else what measure gives, kept. Errors
// are not: they come again.
func (s *stage) kept(name string, measure func() ([]float64, error)) ([]float64, error) {
	journal := s.config.Journal
	if journal == nil {
		return measure()
	}
	name = fmt.Sprintf("%s, %s loss, seed %d", name, s.model.Options.LossName(), s.seed)
	if figures := journal.Find(name); figures != nil {
		return figures, nil
	}
	figures, err := measure()
	if err != nil {
		return nil, err
	}
	return figures, journal.Keep(name, figures)
}

// RunShard makes the searches of one of count processes, index from 1: every count-th of
// the kernels, losses and temperatures that Run compares. What they measure is in
// c.Journal, which is required; Run with the journals of all shards together gives the
// result of a run in one go, and makes the finals. Errors are those of Run, but that a
// shard need not find settings.
func RunShard(ctx context.Context, c Config, index, count int) error {
	if c.Journal == nil || count < 1 || index < 1 || index > count {
		return fmt.Errorf("tune: shard %d of %d (journal: %t); shards are counted from 1 and need a Journal", index, count,
			c.Journal != nil)
	}
	c, err := c.filled()
	if err != nil {
		return err
	}
	c.Repeats = 1 // more are for the finals
	ours := func(i int) bool { return i%count == index-1 }
	needed := map[key]bool{}
	for i, s := range c.searches(nil) {
		needed[s.at] = needed[s.at] || ours(i)
	}
	stages, err := c.stages(ctx, func(k key) bool { return needed[k] })
	if err != nil {
		return err
	}
	for i, s := range c.searches(stages) {
		if !ours(i) {
			continue
		}
		if err := s.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// all is every stage.
func all(key) bool { return true }
