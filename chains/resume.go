package chains

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Beginning is what a session released before its first step. A session that goes on
// needs it, and a release is not to be made twice.
type Beginning struct {
	// Starts are where the chains start, one a chain; nil for chains with an anchor.
	Starts [][]float64 `json:"starts,omitempty"`
	// Values are those of the anchor, from which starts and draws without a look follow.
	Values []float64 `json:"values,omitempty"`
}

// Position is where an interrupted chain is, from which it can be continued. All of it is public.
type Position struct {
	// Theta is its state, after Made steps of its path; nil for the chain's own start.
	Theta []float64
	Made  int64
	// Left counts the steps that were charged and neither made nor lost. A dphmc chain that
	// lost its first gradient pays for another with one of them.
	Left int64
	// Memory is what its kernel kept (kernels.Keeper), and Stream the state of its public
	// randomness; empty for a chain that has made no step.
	Memory []float64
	Stream []byte
}

// Opens reports whether something is released before the first step.
func (r *Plan) Opens() bool {
	return len(r.startCost.Mechanisms()) > 0 || len(r.shared.Mechanisms()) > 0
}

// Fresh are the positions of a session that has begun and made no step.
func (r *Plan) Fresh() []Position {
	return slices.Repeat([]Position{{Left: r.Settings.Iterations}}, int(r.Settings.Chains))
}

// Resume opens the chains of a plan whose beginning was released before, to go on from
// where they were. The records' budget is charged the steps that are left: to go on with
// what has been paid for, the caller makes a budget for them; to make a run longer
// (Longer), it is one that counts. seed is that of the plan's Open.
//
// Errors: positions that do not fit; a budget that does not cover the steps.
func (r *Plan) Resume(records *curator.Curator, seed uint64, b Beginning, at []Position) (*Session, error) {
	if int64(len(at)) != r.Settings.Chains || b.Values == nil && len(b.Starts) != len(at) {
		return nil, fmt.Errorf("chains: %d positions and %d starts for %d chains", len(at), len(b.Starts), r.Settings.Chains)
	}
	at = slices.Clone(at)
	for i := range at {
		if at[i].Left < 0 || at[i].Made < 0 || at[i].Made > r.Settings.Iterations-at[i].Left {
			return nil, fmt.Errorf("chains: chain %d has made %d steps and has %d left of %d", i+1, at[i].Made, at[i].Left,
				r.Settings.Iterations)
		}
		if lost := at[i].Left < r.Settings.Iterations; lost && r.paysOnce() && len(at[i].Memory) == 0 {
			at[i].Left = max(0, at[i].Left-1)
		}
		at[i].Left = min(at[i].Left, r.unbegun(at[i].Left))
	}
	again := r.again
	if again == nil {
		again = againFromSteps
	}
	o, err := again(r, records.Facts(), seed, b, at)
	if err != nil {
		return nil, err
	}
	if len(o.requests) > 0 {
		if err := records.Grant(o.requests...); err != nil {
			return nil, err
		}
	}
	return &Session{Plan: r, records: records, seed: seed, opening: o, at: at}, nil
}

// unbegun is the number of steps in epochs of which a chain with so many steps left has
// made none: the rest of an epoch is lost with the allocation of its records.
func (r *Plan) unbegun(left int64) int64 {
	s, f := r.Settings, r.Problem.Facts
	return (s.epochs(f, s.Iterations) - s.epochs(f, s.Iterations-left)) * s.epoch(f)
}

// paysOnce reports whether a chain releases something beside its steps.
func (r *Plan) paysOnce() bool { return len(r.once.Mechanisms()) > 0 }

// againFromSteps is chains whose steps are all that they need.
func againFromSteps(r *Plan, f curator.Facts, _ uint64, b Beginning, at []Position) (opening, error) {
	var o opening
	for _, p := range at {
		part, err := r.part(p)
		if err != nil {
			return o, err
		}
		k, requests, err := part.prepare(f)
		if err != nil {
			return o, err
		}
		o.kernels = append(o.kernels, k)
		if p.Left > 0 {
			o.requests = append(o.requests, requests...)
		}
	}
	o.release, o.begin = released(b), begunAtStarts
	return o, nil
}

// part is what the plan's settings build for the steps that a chain has left.
func (r *Plan) part(p Position) (*parts, error) {
	c := &choice{Settings: r.Settings, Problem: r.Problem, given: r.Settings, rest: max(1, p.Left),
		continued: len(p.Memory) > 0}
	return families[c.Kernel].build(c)
}

// granted is the number of steps that a chain is built for, in whole epochs.
func (c *choice) granted() int64 {
	steps := c.Iterations
	if c.rest > 0 {
		steps = c.rest
	}
	return c.epochs(c.Facts, steps) * c.epoch(c.Facts)
}

// Longer is the plan of chains with more steps each, and what these steps release: a
// run that was made longer has the law of the longer plan's. Errors: settings that
// another number of steps would have changed from the first step on.
func (r *Plan) Longer(more int64) (*Plan, accountant.Event, error) {
	none := accountant.Event{}
	if more < 1 || more > 1<<40-r.Settings.Iterations {
		return nil, none, fmt.Errorf("chains: %d more steps: at least 1 is needed, and a chain has at most 2⁴⁰", more)
	}
	if strings.HasPrefix(r.Settings.Schedule, "polynomial") {
		return nil, none,
			fmt.Errorf("chains: steps that shrink with the iteration would have shrunk otherwise in a longer run, " +
				"so that this one cannot become it: start another")
	}
	if each := r.Settings.epoch(r.Problem.Facts); r.Settings.Iterations%each != 0 {
		return nil, none, fmt.Errorf("chains: the run ended within an epoch of %d steps, whose allocation of records is "+
			"lost: it cannot be made longer, start another", each)
	}
	c := &choice{Settings: r.Settings, Problem: r.Problem, given: r.Settings, start: r.Start, startCost: r.startCost}
	c.Iterations += more
	longer, err := c.plan()
	if err != nil {
		return nil, none, err
	}
	longer.ChosenFrom = r.ChosenFrom
	if !longer.step.Equal(r.step) {
		return nil, none,
			fmt.Errorf("chains: a step of the longer run would release %v, and one of this run %v: start another",
				longer.step, r.step)
	}
	price, err := r.step.Times(r.Settings.epochs(r.Problem.Facts, more))
	if err == nil {
		price, err = price.Times(r.Settings.Chains)
	}
	return longer, price, err
}

// sources are the chains' public randomness, from where it was.
func (s *Session) sources() ([]*rand.ChaCha8, error) {
	out := make([]*rand.ChaCha8, len(s.kernels))
	for i := range out {
		out[i] = kernels.NewSource(s.seed, i)
		if s.at != nil && s.at[i].Stream != nil {
			if err := out[i].UnmarshalBinary(s.at[i].Stream); err != nil {
				return nil, fmt.Errorf("chains: chain %d: the state of its public randomness cannot be read: %w", i+1, err)
			}
		}
	}
	return out, nil
}
