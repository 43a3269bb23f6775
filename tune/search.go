package tune

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

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

// trial is a candidate with the settings that were asked for, of which the recipe
// fills the rest.
type trial struct {
	asked  chains.Settings
	recipe *chains.Plan
	Candidate
	looks float64
}

// searches lists them: every kernel, model and temperature.
func (c Config) searches(stages map[key]*stage) []*search {
	var all []*search
	for _, m := range c.Models {
		for _, tau := range c.Temperatures {
			for _, k := range c.Kernels {
				all = append(all, &search{stage: stages[key{m.Name, tau, 0}], kernel: k, temperature: tau, from: c.Fixed, beats: c.Objective.beats})
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
	recipe, err := chains.Choose(asked, chains.Problem{
		Target: s.stage.model.Target, Logistic: c.Family == Logistic, Facts: c.facts(), Epsilon: c.Epsilon, Delta: c.Delta,
	})
	if err != nil {
		return nil, err
	}
	cost, err := recipe.Cost()
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
	return &trial{asked: asked, recipe: recipe, Candidate: Candidate{Model: s.stage.model.Name, Settings: recipe.Settings, Cost: g}}, nil
}

// try chooses and measures. Settings that cannot be met are an error.
func (s *search) try(ctx context.Context, asked chains.Settings) (*trial, error) {
	c := s.stage.config
	t, err := s.choose(asked)
	if err != nil {
		return nil, err
	}
	if c.Objective == Accuracy {
		if t.looks = looks(t.recipe, c.facts()) * float64(t.recipe.Settings.Iterations); t.looks > perSearch*s.work() {
			return nil, errTooLong
		}
		t.Parameters, err = s.stage.whole(ctx, t.recipe)
		t.Whole = true
	} else {
		err = s.measure(ctx, t, s.work(), 0)
	}
	t.Score = c.Objective.score(t.Candidate)
	return t, err
}

// measure predicts a trial's sample sizes by a probe of so much work.
func (s *search) measure(ctx context.Context, t *trial, work float64, round int) error {
	each := looks(t.recipe, s.stage.config.facts())
	steps := min(t.recipe.Settings.Iterations, max(leastSteps, int64(work/each)))
	ess, err := s.stage.probe(ctx, t.recipe, steps, round)
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

var errTooLong = errors.New("tune: a whole chain looks at more simulated records than Work allows; raise it, or fix fewer iterations")

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
		for _, d := range dials {
			if !d.applies(s.kernel, about.Own, s.stage.config) || spent > perSearch*s.work() {
				continue
			}
			used, err := s.turn(ctx, d)
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
func (s *search) turn(ctx context.Context, d dial) (spent float64, err error) {
	var asked []chains.Settings
	for _, factor := range s.stage.config.Factors {
		next := s.best.asked
		if d.set(&next, s.best.recipe.Settings, factor, int64(s.stage.config.Shape.Records)) && !(d.name == "step" && s.tooLong(next)) {
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

// unadjusted are the kernels without a test, whose batches, frictions and long steps
// bias them. Where mixing is slow a probe takes that for speed.
var unadjusted = []string{"barker-dynamics", "dpsgld", "sgnht"}

// tooLong reports a step of an unadjusted kernel that is longer than package chains
// chooses against its bias, which only whole chains would show.
func (s *search) tooLong(asked chains.Settings) bool {
	if s.stage.config.Objective == Accuracy || !slices.Contains(unadjusted, s.kernel) {
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

// dial is a setting that is tried at multiples of its value.
type dial struct {
	name string
	// real or whole points to the setting, except to those with rules of their own.
	real  func(*chains.Settings) *float64
	whole func(*chains.Settings) *int64
	// hidden settings do what only whole chains show: biased ones, or a later start.
	hidden bool
}

// dials are in the order in which they are turned.
var dials = []dial{
	{name: "iterations", whole: func(s *chains.Settings) *int64 { return &s.Iterations }},
	{name: "leapfrog"},
	{name: "batch", whole: func(s *chains.Settings) *int64 { return &s.Batch }},
	{name: "rate", real: func(s *chains.Settings) *float64 { return &s.Rate }},
	{name: "variance", real: func(s *chains.Settings) *float64 { return &s.Variance }},
	{name: "max-move", real: func(s *chains.Settings) *float64 { return &s.MaxMove }},
	{name: "noise", real: func(s *chains.Settings) *float64 { return &s.Noise }},
	{name: "ratio-noise", real: func(s *chains.Settings) *float64 { return &s.RatioNoise }},
	{name: "step", real: func(s *chains.Settings) *float64 { return &s.Step }},
	{name: "friction", real: func(s *chains.Settings) *float64 { return &s.Friction }},
	{name: "clip", real: func(s *chains.Settings) *float64 { return &s.Clip }, hidden: true},
	{name: "start-share", real: func(s *chains.Settings) *float64 { return &s.StartShare }, hidden: true},
}

// applies reports whether the kernel knows the setting and it is left open.
func (d dial) applies(kernel string, own []string, c Config) bool {
	hidden := d.hidden || slices.Contains(unadjusted, kernel) && slices.Contains([]string{"batch", "rate", "friction"}, d.name)
	if hidden && c.Objective != Accuracy {
		return false
	}
	if d.name != "iterations" && d.name != "start-share" && !slices.Contains(own, d.name) {
		return false
	}
	switch f := c.Fixed; {
	case d.name == "leapfrog":
		return f.Leapfrog == 0
	case d.name == "batch":
		return f.Batch == 0 && f.Rate == 0 && !f.FullData
	case d.whole != nil:
		return *d.whole(&f) == 0
	default:
		return *d.real(&f) == 0
	}
}

// set asks for a multiple of the setting's present value, and reports whether that is
// another one.
func (d dial) set(asked *chains.Settings, now chains.Settings, factor float64, records int64) bool {
	switch {
	case d.name == "leapfrog":
		next := max(1, int(math.Round(float64(now.Leapfrog)*factor)))
		asked.Leapfrog = next
		return next != now.Leapfrog
	case d.name == "rate" && now.Batch+boolInt(now.FullData) > 0:
		return false // the dial batch is turned
	case d.name == "batch":
		return setBatch(asked, now, factor, records)
	case d.whole != nil:
		next := max(1, int64(math.Round(float64(*d.whole(&now))*factor)))
		*d.whole(asked) = next
		return next != *d.whole(&now)
	}
	v := *d.real(&now)
	*d.real(asked) = v * factor
	return v != 0
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// setBatch also knows that a batch of all records is the full data.
func setBatch(asked *chains.Settings, now chains.Settings, factor float64, records int64) bool {
	size := cmp.Or(now.Batch, int64(now.Rate*float64(records)))
	if now.FullData {
		size = records
	}
	next := int64(math.Round(float64(size) * factor))
	if next < 1 || next == size || now.FullData && factor > 1 {
		return false
	}
	asked.Batch, asked.Rate, asked.FullData = next, 0, false
	if next >= records {
		asked.Batch, asked.FullData = 0, true
	}
	return true
}
