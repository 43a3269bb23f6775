package chains

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
)

// Resumable reports, with a reason, chains that cannot go on after an interruption:
// their law depends on more than where they were, or they begin with releases of their
// own.
func (r *Plan) Resumable() error {
	s := r.Settings
	switch {
	case r.open != nil || len(r.once.Mechanisms()) > 0 || len(r.shared.Mechanisms()) > 0:
		return fmt.Errorf("chains: %s chains begin with releases that would have to be paid again", s.Kernel)
	case s.Kernel == "sgnht":
		return fmt.Errorf("chains: sgnht chains have a heat bath, which is not kept")
	case strings.HasPrefix(s.Schedule, "polynomial"):
		return fmt.Errorf("chains: steps that shrink with the iteration cannot go on from its middle")
	}
	return nil
}

// Resume opens the chains of a plan that was charged before, to go on from where they
// were for so many steps each, negative for none. The records' budget is charged those steps: it is one that the
// caller has made for them, because the whole plan has been paid for.
//
// Errors: a plan that is not Resumable; states that do not fit; settings that this
// software prices otherwise than the plan.
func (r *Plan) Resume(records *curator.Curator, p Problem, seed uint64, at [][]float64,
	steps []int64) (*Session, error) {
	if err := r.Resumable(); err != nil {
		return nil, err
	}
	if int64(len(at)) != r.Settings.Chains || len(steps) != len(at) || slices.Max(steps) < 1 ||
		slices.Max(steps) > r.Settings.Iterations {
		return nil, fmt.Errorf("chains: %d states for %d chains, and %d steps of %d to go on for", len(at), r.Settings.Chains,
			steps, r.Settings.Iterations)
	}
	settings := r.Settings
	settings.Iterations, settings.Start, settings.StartShare = slices.Max(steps), "prior-mean", 0
	rest, err := Choose(settings, p)
	if err != nil {
		return nil, err
	}
	if !rest.step.Equal(r.step) {
		return nil, fmt.Errorf("chains: a step would release %v, and %v was charged: the run cannot go on", rest.step, r.step)
	}
	s, err := rest.Open(records, seed)
	if err != nil {
		return nil, err
	}
	s.Plan, s.steps, s.starts = r, steps, make([][]float64, len(at))
	for i, theta := range at {
		s.starts[i] = slices.Clone(theta)
	}
	return s, nil
}
