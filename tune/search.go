package tune

import (
	"context"
	"errors"
	"math"

	"github.com/dpmcmc/dpmcmc/chains"
)

// Shares of the work, and how it is spent.
const (
	searchShare = 0.5  // of the work, for searches
	perSearch   = 32   // candidates that a search's work is split among
	passes      = 2    // over the settings of a kernel
	better      = 1.25 // times the score, or nothing is changed: probes are noisy
	leastSteps  = 128  // of a probe
	confirmed   = 4    // times as long are the probes that decide between the best and the defaults
	finalists   = 3    // kernels that run whole chains
)

// search looks for the best settings of one kernel, by one setting after another.
type search struct {
	at          key
	stage       *stage
	kernel      string
	temperature float64
	from        chains.Settings // where the search begins; Fixed
	beats       func(score, than float64) bool

	defaults, best *trial
	tried          int
	looks          float64
	skipped        error
}

// trial is a candidate with the settings that were asked for, of which the plan
// fills the rest.
type trial struct {
	asked chains.Settings
	plan  *chains.Plan
	Candidate
	looks float64
}

// searches lists them: every kernel, model and temperature.
func (c Config) searches(stages map[key]*stage) []*search {
	var all []*search
	for _, m := range c.Models {
		for _, tau := range c.Temperatures {
			for _, k := range c.Kernels {
				at := key{m.Options.LossName(), tau, 0}
				all = append(all, &search{at: at, stage: stages[at], kernel: k, temperature: tau, from: c.Fixed,
					beats: c.Objective.beats})
			}
		}
	}
	return all
}

// work is what one trial may look at.
func (s *search) work() float64 {
	c := s.stage.config
	return float64(c.Work) * searchShare / perSearch / float64(len(c.Models)*len(c.Temperatures)*len(c.Kernels))
}

// choose makes a trial that is not measured yet.
func (s *search) choose(asked chains.Settings) (*trial, error) {
	c := s.stage.config
	plan, err := chains.Choose(asked, chains.ProblemOf(s.stage.model, c.facts(), c.Epsilon, c.Delta))
	if err != nil {
		return nil, err
	}
	cost, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	g, err := cost.Epsilon(c.Delta)
	if err != nil {
		return nil, err
	}
	if g.Epsilon > c.Epsilon {
		return nil, errors.New("tune: the settings cost more than the budget")
	}
	return &trial{asked: asked, plan: plan, Candidate: Candidate{Model: s.stage.model, Settings: plan.Settings,
		Cost: g}}, nil
}

// try chooses and measures. Settings that cannot be met are an error.
func (s *search) try(ctx context.Context, asked chains.Settings) (*trial, error) {
	c := s.stage.config
	t, err := s.choose(asked)
	if err != nil {
		return nil, err
	}
	if c.Objective == Accuracy {
		if t.looks = looks(t.plan, c.facts()) * float64(t.plan.Settings.Iterations); t.looks > perSearch*s.work() {
			return nil, errTooLong
		}
		t.Parameters, err = s.stage.whole(ctx, t.plan)
		t.Whole = true
	} else {
		err = s.measure(ctx, t, s.work(), 0)
	}
	t.Score = c.Objective.score(t.Candidate)
	return t, err
}

// measure predicts a trial's sample sizes by a probe of so much work.
func (s *search) measure(ctx context.Context, t *trial, work float64, round int) error {
	each := looks(t.plan, s.stage.config.facts())
	steps := min(t.plan.Settings.Iterations, max(leastSteps, int64(work/each)))
	ess, err := s.stage.probe(ctx, t.plan, steps, round)
	t.looks, t.Parameters = each*float64(steps), nil
	for _, e := range ess {
		t.Parameters = append(t.Parameters, Parameter{ESS: e, MeanError: math.NaN(), SDRatio: math.NaN()})
	}
	t.Score = s.stage.config.Objective.score(t.Candidate)
	return err
}

// confirm measures the best and the defaults again, longer and from elsewhere: the
// best of many noisy probes is partly lucky.
func (s *search) confirm(ctx context.Context) error {
	if s.best == s.defaults || s.stage.config.Objective == Accuracy {
		return nil
	}
	both := []*trial{s.best, s.defaults}
	err := parallel(ctx, s.stage.config.Workers, len(both), func(i int) error {
		return s.measure(ctx, both[i], confirmed*s.work(), 1)
	})
	s.looks += s.best.looks + s.defaults.looks
	if s.best.Score <= s.defaults.Score {
		s.best = s.defaults
	}
	return err
}

var errTooLong = errors.New("tune: a whole chain looks at more simulated records than Work allows; raise it, or fix " +
	"fewer iterations")

// run searches. Only errors that concern all settings are returned.
func (s *search) run(ctx context.Context) error {
	asked := s.from
	asked.Kernel, asked.Temperature = s.kernel, s.temperature
	first, err := s.try(ctx, asked)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.skipped = err
		return nil
	}
	s.note(first)
	s.defaults, s.best = first, first
	first.Default = true
	about, err := chains.Describe(s.kernel)
	if err != nil {
		return err
	}
	spent := first.looks
	for range passes {
		before := s.best
		for _, v := range chains.Table() {
			if !s.turns(v, about) || spent > perSearch*s.work() {
				continue
			}
			used, err := s.turn(ctx, v)
			if err != nil {
				return err
			}
			spent += used
		}
		if s.best == before {
			break
		}
	}
	return s.confirm(ctx)
}

// turn tries other values of one setting and keeps the best.
func (s *search) turn(ctx context.Context, v chains.Setting) (spent float64, err error) {
	var asked []chains.Settings
	for _, factor := range s.stage.config.Factors {
		next := s.best.asked
		if v.Turn(&next, s.best.plan.Settings, factor,
			int64(s.stage.model.Shape.Records)) && !(v.Name == "step" && s.tooLong(next)) {
			asked = append(asked, next)
		}
	}
	trials := make([]*trial, len(asked))
	err = parallel(ctx, s.stage.config.Workers, len(asked), func(i int) error {
		t, err := s.try(ctx, asked[i])
		if err == nil {
			trials[i] = t
		}
		return ctx.Err() // settings that cannot be met are no candidates
	})
	for _, t := range trials {
		if t == nil {
			continue
		}
		s.note(t)
		spent += t.looks
		if s.beats(t.Score, s.best.Score) {
			s.best = t
		}
	}
	return spent, err
}

// tooLong reports a step of an unadjusted kernel that is longer than package chains
// chooses against its bias, which only whole chains would show.
func (s *search) tooLong(asked chains.Settings) bool {
	if about, err := chains.Describe(s.kernel); err != nil || !about.Biased || s.stage.config.Objective == Accuracy {
		return false
	}
	open := asked
	open.Step = 0
	usual, err := s.choose(open)
	return err != nil || asked.Step > usual.Settings.Step
}

// beats reports whether a score is better by more than noise.
func (o Objective) beats(score, than float64) bool {
	if o == Accuracy {
		return score > than/better // both are negative
	}
	return score > than*better
}

func (s *search) note(t *trial) {
	s.tried++
	s.looks += t.looks
}

// turns reports whether the kernel knows a setting that is left open, and a search may
// turn it.
func (s *search) turns(v chains.Setting, k chains.Description) bool {
	c := s.stage.config
	return v.Searched(k, c.Fixed, c.Objective == Accuracy)
}
