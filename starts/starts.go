package starts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Kind is a way to find a start.
type Kind uint8

const (
	// Given is Config.Value: free.
	Given Kind = iota
	// PriorDraw is a draw from the target's prior: free.
	PriorDraw
	// Gradient is a descent along released gradients.
	Gradient
	// Optimum is a private optimum of the logistic log loss.
	Optimum
)

// String is the kind's name, as the setting start of package chains has it.
func (k Kind) String() string {
	switch k {
	case Given:
		return "given"
	case PriorDraw:
		return "prior-draw"
	case Gradient:
		return "gradient"
	case Optimum:
		return "optimum"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Charged reports whether the start costs anything.
func (k Kind) Charged() bool { return k == Gradient || k == Optimum }

// DefaultShare is the part of ε that a charged start takes alone, at the budget's
// δ, when nothing else is said.
const DefaultShare = 0.25

// DefaultSteps is the number of a descent's gradients.
const DefaultSteps = 64

// Config describes a start. All of it is public and chosen without looking at the
// records.
type Config struct {
	// Kind is how the start is found. Defaults to Given.
	Kind Kind
	// Target is the model whose chain is to start. Required. A start must have a
	// positive prior density under it.
	Target targets.Target
	// Value is the start of kind Given, and where a Gradient's descent begins.
	// Defaults to 0 in every coordinate.
	Value []float64
	// Seed is the public seed of a PriorDraw.
	Seed uint64
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// NoiseMultiplier is that of curator.Optimum, or of each gradient.
	// Required for charged kinds; Afford fills it in.
	NoiseMultiplier float64
	// Ridge is that of curator.Optimum. Required for an Optimum; Afford
	// fills it in.
	Ridge float64
	// Clip bounds a record's gradient in a descent. Defaults to the target's
	// certificate; required where it has none.
	Clip float64
	// Steps is the number of gradients of a descent. Defaults to DefaultSteps.
	Steps int64
	// Reach is the length of the first step of a descent in every coordinate, in
	// units of θ. Defaults to 1.
	Reach float64
}

// Start is where a chain starts, and what that cost.
type Start struct {
	// Theta is the start. It is public.
	Theta []float64
	// Kind is how it was found.
	Kind Kind
	// Event is what was charged; it costs nothing for kinds that are free.
	Event accountant.Event
}

func (c Config) steps() int64 {
	if c.Steps == 0 {
		return DefaultSteps
	}
	return c.Steps
}

// optimum is the curator's mechanism of an Optimum.
func (c Config) optimum() curator.Optimum {
	return curator.Optimum{Temperature: c.Temperature, Ridge: c.Ridge, NoiseMultiplier: c.NoiseMultiplier}
}

// gradient is the curator's mechanism of a Gradient.
func (c Config) gradient() (curator.NoisyGradient, error) {
	t, ok := c.Target.(targets.GradTarget)
	if !ok {
		return curator.NoisyGradient{}, errors.New("starts: the target has no gradients, which a Gradient needs; give a " +
			"targets.GradTarget, or use PriorDraw or Given")
	}
	return curator.NoisyGradient{Target: t, Temperature: c.Temperature, Clip: c.Clip,
		NoiseMultiplier: c.NoiseMultiplier}, nil
}

func (c Config) check(f curator.Facts) error {
	switch {
	case c.Target == nil:
		return errors.New("starts: Config.Target is not set; give the chain's target")
	case c.Value != nil && len(c.Value) != c.Target.Dim():
		return fmt.Errorf("starts: Config.Value has %d values, the target %d parameters", len(c.Value), c.Target.Dim())
	case c.Kind > Optimum:
		return fmt.Errorf("starts: Config.Kind is %v; use Given, PriorDraw, Gradient or Optimum", c.Kind)
	case c.Steps < 0:
		return fmt.Errorf("starts: Config.Steps is %d; at least 1 is needed, or 0 for %d", c.Steps, int64(DefaultSteps))
	case !(c.Reach >= 0) || math.IsInf(c.Reach, 1):
		return fmt.Errorf("starts: Config.Reach is %v; it must be positive and finite, or 0 for 1", c.Reach)
	case c.Kind == Optimum && c.Target.Dim() != f.Features:
		return fmt.Errorf("starts: an Optimum has %d coefficients, one for each feature, the target %d parameters; use "+
			"Gradient", f.Features, c.Target.Dim())
	}
	if _, ok := c.Target.(targets.PriorSampler); c.Kind == PriorDraw && !ok {
		return errors.New("starts: the target's prior cannot be drawn from; give a targets.PriorSampler, or use Given")
	}
	if c.Kind == Given || c.Kind == Gradient {
		if _, err := kernels.NewState(c.Target, c.value()); err != nil {
			return fmt.Errorf("starts: Config.Value: %w", err)
		}
	}
	return nil
}

// value is where a Given start is and a descent begins.
func (c Config) value() []float64 {
	if c.Value == nil {
		return make([]float64, c.Target.Dim())
	}
	return slices.Clone(c.Value)
}

// Cost is the price of a start on records with the given facts. It charges nothing.
// Errors: settings that are missing or out of range; a target or facts that the
// kind cannot do with.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.check(f); err != nil {
		return accountant.Event{}, err
	}
	switch c.Kind {
	case Optimum:
		return c.optimum().Event(f)
	case Gradient:
		m, err := c.gradient()
		if err != nil {
			return accountant.Event{}, err
		}
		each, err := m.Event(f)
		if err != nil {
			return accountant.Event{}, err
		}
		return each.Times(c.steps())
	}
	free, err := accountant.Pure(f.Adjacency, 0)
	if err != nil {
		return accountant.Event{}, err
	}
	return free.Times(0)
}

// Find charges the start to the records' budget and makes it. A descent stops at
// its next gradient when ctx is cancelled, with ctx's error; all of it has been
// charged then. Errors: those of Cost; a budget that does not cover it (an
// *accountant.ExceededError, before anything is read).
func Find(ctx context.Context, c Config, records *curator.Curator) (Start, error) {
	search, requests, err := Prepare(c, records.Facts())
	if err == nil && len(requests) > 0 {
		err = records.Grant(requests...)
	}
	if err != nil {
		return Start{}, err
	}
	return search.Find(ctx)
}

// Search is a start that has been described, and is made by Find.
type Search struct {
	config    Config
	start     Start
	gradients *curator.Gradients
	optima    *curator.Optima
}

// Prepare checks a start and returns it with the requests that the records' curator
// must grant before it is made, none for kinds that are free. f are the facts of those
// records.
func Prepare(c Config, f curator.Facts) (*Search, []curator.Request, error) {
	event, err := Cost(c, f)
	if err != nil {
		return nil, nil, err
	}
	s := &Search{config: c, start: Start{Kind: c.Kind, Event: event}}
	switch c.Kind {
	case Gradient:
		m, err := c.gradient()
		return s, []curator.Request{curator.RequestFor(&s.gradients, m, c.steps())}, err
	case Optimum:
		return s, []curator.Request{curator.RequestFor(&s.optima, c.optimum(), 1)}, nil
	}
	return s, nil, nil
}

// Find makes the start, once its requests have been granted. What it releases lapses
// when ctx is cancelled.
func (s *Search) Find(ctx context.Context) (Start, error) {
	found := s.start
	found.Theta = s.config.value()
	var err error
	switch s.config.Kind {
	case PriorDraw:
		s.config.Target.(targets.PriorSampler).SamplePrior(found.Theta, kernels.Stream(s.config.Seed, drawStream))
	case Gradient:
		c := s.config
		err = Descend(ctx, c.Target.(targets.GradTarget), found.Theta, cmp.Or(c.Reach, 1), c.steps(), s.gradients)
	case Optimum:
		err = s.optima.ReleaseContext(ctx, found.Theta)
	}
	return found, err
}

// drawStream is the public stream of a PriorDraw, which no chain uses.
const drawStream = math.MaxInt32
