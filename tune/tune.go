package tune

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Parameter is what is predicted of one parameter's draws after warm-up.
type Parameter struct {
	// ESS is the bulk effective sample size of all chains together that one chain's
	// displacements predict, measured against the reference's standard deviation.
	ESS float64
	// Diagnosed is what package diag will estimate from one chain's draws, which is
	// too high where a chain is too slow to know its own spread. Zero unless Whole.
	Diagnosed float64
	// MeanError is the mean's difference from the reference's, in the reference's
	// standard deviations, with its sign; the root mean square over repeats if there
	// are several. SDRatio is the standard deviation over the reference's; the
	// geometric mean over repeats. Both are NaN unless Whole.
	MeanError, SDRatio float64
}

// Candidate is a setting that was tried.
type Candidate struct {
	// Model is one of the Config's.
	Model *models.Model
	// Settings are complete: chains.Choose adds nothing to them.
	Settings chains.Settings
	// Default reports that they are the kernel's defaults.
	Default bool
	// Cost is what the chains cost.
	Cost accountant.Guarantee
	// Parameters are predictions, one a parameter.
	Parameters []Parameter
	// Whole reports that the whole chain was simulated, from its real start. Otherwise
	// ESS alone is known, from a stationary start.
	Whole bool
	// Score is the objective: the larger the better.
	Score float64
}

// ESS is the harmonic mean over parameters of the predicted bulk ESS, in which a mean
// that is e standard deviations off counts for at most 9/e² draws.
func (c Candidate) ESS() float64 {
	sum := 0.0
	for _, p := range c.Parameters {
		worth := p.ESS
		if c.Whole && p.MeanError != 0 {
			worth = min(worth, 9/(p.MeanError*p.MeanError))
		}
		sum += 1 / worth
	}
	return float64(len(c.Parameters)) / sum
}

// MeanError is the root mean square of the parameters' errors of the mean.
func (c Candidate) MeanError() float64 {
	sum := 0.0
	for _, p := range c.Parameters {
		sum += p.MeanError * p.MeanError
	}
	return math.Sqrt(sum / float64(len(c.Parameters)))
}

// SDRatio is the geometric mean of the parameters' ratios of standard deviations.
func (c Candidate) SDRatio() float64 {
	sum := 0.0
	for _, p := range c.Parameters {
		sum += math.Log(p.SDRatio)
	}
	return math.Exp(sum / float64(len(c.Parameters)))
}

// score is the objective of a candidate.
func (o Objective) score(c Candidate) float64 {
	if o == ESS {
		return c.ESS()
	}
	sum := 0.0
	for _, p := range c.Parameters {
		l := math.Log(p.SDRatio)
		sum += p.MeanError*p.MeanError + l*l
	}
	if !c.Whole || math.IsNaN(sum) {
		return math.Inf(-1)
	}
	return -math.Sqrt(sum / float64(2*len(c.Parameters)))
}

// Skipped is a kernel that has no candidate.
type Skipped struct {
	Model       *models.Model
	Kernel      string
	Temperature float64
	// Reason is why: an *chains.SettingError for one that needs a setting which
	// nothing can choose, or whose settings the budget cannot meet.
	Reason error
}

// Result is what Run found.
type Result struct {
	// Candidates are ranked, the best first: for every kernel, model and temperature
	// its defaults, and the best settings found if they are others.
	Candidates []Candidate
	// Skipped are kernels that have none.
	Skipped []Skipped
	// Tried counts the settings that were simulated, Looks the looks at simulated
	// records.
	Tried int
	Looks float64
}

// Run compares kernels and settings on simulated data. Errors: a config that makes
// no sense; a simulated posterior that is too hard for the reference; ctx's; that no
// kernel has any settings within the budget, with the reasons.
func Run(ctx context.Context, c Config) (*Result, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	stages, err := c.stages(ctx, all)
	if err != nil {
		return nil, err
	}
	searches := c.searches(stages)
	for _, s := range searches {
		// One after the other, each in parallel inside: what a search tries depends on
		// its own results alone.
		if err := s.run(ctx); err != nil {
			return nil, err
		}
	}
	result := &Result{}
	if result.Candidates, err = c.finals(ctx, searches, stages, result); err != nil {
		return nil, err
	}
	var reasons []error
	for _, s := range searches {
		result.Tried += s.tried
		result.Looks += s.looks
		if s.skipped != nil {
			result.Skipped = append(result.Skipped, Skipped{s.stage.model, s.kernel, s.temperature, s.skipped})
			reasons = append(reasons, s.skipped)
		}
	}
	if len(result.Candidates) == 0 {
		return nil, errors.Join(reasons...)
	}
	return result, nil
}

// key is what a simulated posterior depends on.
type key struct {
	model       string
	temperature float64
	repeat      int
}

// stages simulates the tables and their references: one of each for the search and
// the first repeat of the finals, and more for the others. Only those that are needed.
func (c Config) stages(ctx context.Context, needed func(key) bool) (map[key]*stage, error) {
	stages := map[key]*stage{}
	var all []*stage
	var temperatures []float64
	for repeat := range c.Repeats {
		t, values := c.simulate(rand.New(rand.NewPCG(c.Seed, uint64(repeat))))
		for _, m := range c.Models {
			for _, tau := range c.Temperatures {
				at := key{m.Options.LossName(), tau, repeat}
				if !needed(at) {
					continue
				}
				s := &stage{config: c, model: m, table: t, values: values, seed: c.Seed + uint64(repeat)}
				stages[at] = s
				all, temperatures = append(all, s), append(temperatures, tau)
			}
		}
	}
	err := parallel(ctx, c.Workers, len(all), func(i int) (err error) {
		s := all[i]
		if _, slow := s.model.Target.(*targets.Network); slow && c.foreseen {
			s.reference, err = near(s.model, s.table, s.values, temperatures[i], c.Seed)
			return err
		}
		most := referenceDraws
		if c.foreseen {
			most = mostReference
		}
		s.reference, err = c.refer(ctx, s.model, s.table, temperatures[i], most)
		return err
	})
	return stages, err
}

// parallel calls f for 0 to n−1, at most workers at once, and joins the errors.
func parallel(ctx context.Context, workers, n int, f func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, workers)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = f(i)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// ranked sorts candidates, the best first. Ties keep their order.
func ranked(all []Candidate) []Candidate {
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return all
}
