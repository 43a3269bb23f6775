package prices

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/planning"
)

// explore tabulates what lies around the plan.
func (a *Answer) explore() error {
	if err := a.compareWorst(); err != nil {
		return err
	}
	asked := a.iterations()
	if asked < 1 {
		return nil
	}
	for factor := 1.0 / 16; factor <= 16; factor *= 2 {
		if n := int64(factor * float64(asked)); n >= 1 && n <= MostSteps/a.plan.Settings.Chains {
			a.counts = append(a.counts, n)
		}
	}
	own := a.batchSize(a.plan.Settings)
	choices, err := a.affordable([]int64{own / 100, own / 10, own, own * 10, own * 100, a.asked.Records})
	if err != nil {
		return err
	}
	for _, alternative := range choices {
		c, err := planning.EpsilonCurve(a.batchName(alternative.Settings), alternative.CostAt, a.counts, a.guarantee.Delta)
		if err != nil {
			return err
		}
		a.lengths = append(a.lengths, c)
	}
	if !a.asked.Batches {
		return nil
	}
	return a.exploreBatches()
}

// farDearer is how many times a plan's ε another batch size may cost before it,
// and sizes farther off, are of no interest. Their costs are slow to compute.
const farDearer = 20

// affordable are the plans with batches of the given sizes, the answer's own among
// them, from the smallest: out to the first that a theorem does not cover or that is
// far dearer.
func (a *Answer) affordable(sizes []int64) ([]*chains.Plan, error) {
	out := []*chains.Plan{a.plan}
	if !a.hasBatches() {
		return out, nil
	}
	own := a.batchSize(a.plan.Settings)
	sizes = slices.DeleteFunc(sizes, func(b int64) bool { return b < 1 || b > a.asked.Records || b == own })
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	larger, _ := slices.BinarySearch(sizes, own)
	walk := func(i, by int) error {
		for ; i >= 0 && i < len(sizes); i += by {
			alternative, e, err := a.withBatch(sizes[i])
			if err != nil {
				return nil
			}
			g, err := e.Epsilon(a.guarantee.Delta)
			if err != nil || g.Epsilon > farDearer*max(a.guarantee.Epsilon, 0.01) {
				return err
			}
			out = append(out, alternative)
		}
		return nil
	}
	err := walk(larger-1, -1)
	slices.Reverse(out)
	return out, errors.Join(err, walk(larger, 1))
}

// hasBatches reports whether the kernel can work on batches.
func (a *Answer) hasBatches() bool {
	k, err := chains.Describe(a.asked.Kernel)
	return err == nil && slices.Contains(k.Own, "batch")
}

// batchSize is the expected number of records in a step.
func (a *Answer) batchSize(s chains.Settings) int64 {
	switch {
	case s.FullData || s.Batch == 0 && s.Rate == 0:
		return a.asked.Records
	case s.Rate != 0:
		return max(1, int64(math.Round(s.Rate*float64(a.asked.Records))))
	}
	return s.Batch
}

// withBatch is the plan with batches of another size, drawn in the same way, and what
// it costs; the number of records means all of them.
func (a *Answer) withBatch(size int64) (*chains.Plan, accountant.Event, error) {
	s := a.asked
	s.Settings = a.plan.Settings
	s.FullData, s.Rate, s.Batch = size == s.Records, 0, size
	if s.FullData {
		s.Batch, s.FixedBatch, s.Allocated = 0, false, false
	}
	p, err := s.priced()
	if err != nil {
		return nil, accountant.Event{}, err
	}
	e, err := p.CostAt(a.iterations())
	return p, e, err
}

func (a *Answer) batchName(s chains.Settings) string {
	if size := a.batchSize(s); size != a.asked.Records || !s.FullData && a.hasBatches() {
		return fmt.Sprintf("batch %d", size)
	}
	return "full data"
}

// exploreBatches tabulates ε against the batch size, for charts.
func (a *Answer) exploreBatches() error {
	choices, err := a.affordable(planning.Ladder(max(1, a.asked.Records/100_000), a.asked.Records, 24))
	if err != nil {
		return err
	}
	for _, alternative := range choices {
		e, err := alternative.CostAt(a.iterations())
		if err != nil {
			return err
		}
		g, err := e.Epsilon(a.guarantee.Delta)
		if err != nil {
			return err
		}
		a.batches.X = append(a.batches.X, float64(a.batchSize(alternative.Settings)))
		a.batches.Y = append(a.batches.Y, g.Epsilon)
	}
	return nil
}
