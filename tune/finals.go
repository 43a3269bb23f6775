package tune

import (
	"context"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/chains"
)

// ranking is the searches that found settings, the highest score first.
func ranking(searches []*search) []*search {
	found := slices.DeleteFunc(slices.Clone(searches), func(s *search) bool { return s.skipped != nil })
	slices.SortStableFunc(found, func(a, b *search) int {
		switch {
		case a.best.Score > b.best.Score:
			return -1
		case a.best.Score < b.best.Score:
			return 1
		}
		return 0
	})
	return found
}

// entrants are the best and the default settings of every search, and behind them other
// starts of the first groups' best. rank is the place of a trial's search.
func entrants(found []*search, groups int) (trials []*trial, rank map[*trial]int) {
	rank = map[*trial]int{}
	var variants []*trial
	for i, s := range found {
		trials = append(trials, s.best)
		if s.best != s.defaults {
			trials = append(trials, s.defaults)
		}
		rank[s.best], rank[s.defaults] = i, i
		if i < groups {
			for _, t := range s.starts() {
				variants, rank[t] = append(variants, t), i
			}
		}
	}
	return append(trials, variants...), rank
}

// finals runs the whole chains of the best kernels, and ranks everything.
func (c Config) finals(ctx context.Context, searches []*search, stages map[key]*stage, result *Result) ([]Candidate,
	error) {
	found := ranking(searches)
	// The best are run first, as long as the work lasts.
	groups, left := min(len(found), finalists*len(c.Models)*len(c.Temperatures)), float64(c.Work)*(1-searchShare)
	if c.SearchOnly {
		groups, left = 0, 0
	}
	trials, rank := entrants(found, groups)
	var whole []final
	for _, t := range trials {
		s := found[rank[t]]
		cost := looks(t.plan, c.facts()) * float64(t.plan.Settings.Iterations) * float64(c.Repeats)
		if rank[t] >= groups || cost > left {
			continue
		}
		left -= cost
		result.Looks += cost
		for r := range c.Repeats {
			whole = append(whole, final{trial: t, stage: stages[key{s.stage.model.Options.LossName(), s.temperature, r}]})
		}
	}
	err := parallel(ctx, c.Workers, len(whole), func(i int) (err error) {
		whole[i].parameters, err = whole[i].stage.whole(ctx, whole[i].trial.plan)
		return err
	})
	if err != nil {
		return nil, err
	}
	merge(whole, c)
	var all []Candidate
	for _, t := range trials {
		if t.Parameters != nil { // those of a variant that was too long
			all = append(all, t.Candidate)
		}
	}
	return ranked(all), nil
}

// starts are the best settings with other starts, which only whole chains can tell the
// worth of: where a charged start's share is open, half and twice of it; and where the
// kind of start is, the prior mean, which is free.
func (s *search) starts() []*trial {
	share := s.best.Settings.StartShare
	if share == 0 {
		return nil
	}
	var others []chains.Settings
	if s.stage.config.Fixed.StartShare == 0 {
		for _, factor := range []float64{0.5, 2} {
			other := s.best.asked
			other.Start, other.StartShare = s.best.Settings.Start, share*factor
			others = append(others, other)
		}
	}
	if slices.Contains([]string{"", "auto"}, s.stage.config.Fixed.Start) {
		other := s.best.asked
		other.Start, other.StartShare = "prior-mean", 0
		others = append(others, other)
	}
	var all []*trial
	for _, other := range others {
		if t, err := s.choose(other); err == nil { // no candidate if it cannot be met
			all = append(all, t)
			s.tried++
		}
	}
	return all
}

// final is one whole chain of a finalist.
type final struct {
	trial      *trial
	stage      *stage
	parameters []Parameter
}

// merge puts the repeats of every finalist together.
func merge(all []final, c Config) {
	byTrial := map[*trial][][]Parameter{}
	for _, f := range all {
		byTrial[f.trial] = append(byTrial[f.trial], f.parameters)
	}
	for t, repeats := range byTrial {
		t.Parameters, t.Whole = make([]Parameter, len(repeats[0])), true
		for j := range t.Parameters {
			t.Parameters[j] = together(repeats, j)
		}
		t.Score = c.Objective.score(t.Candidate)
	}
}

// together is one parameter over the repeats: harmonic means of sample sizes, the
// root mean square of errors, the geometric mean of ratios.
func together(repeats [][]Parameter, j int) Parameter {
	if len(repeats) == 1 {
		return repeats[0][j]
	}
	var p Parameter
	n := float64(len(repeats))
	for _, r := range repeats {
		p.ESS += 1 / r[j].ESS
		p.Diagnosed += 1 / r[j].Diagnosed
		p.MeanError += r[j].MeanError * r[j].MeanError
		p.SDRatio += math.Log(r[j].SDRatio)
	}
	return Parameter{ESS: n / p.ESS, Diagnosed: n / p.Diagnosed, MeanError: math.Sqrt(p.MeanError / n),
		SDRatio: math.Exp(p.SDRatio / n)}
}
