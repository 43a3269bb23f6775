package perfect

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// atomConfig describes the chain between visits to the atom.
type atomConfig struct {
	// Step is the standard deviation of the random walk's moves, in every
	// coordinate. Required, positive, from public knowledge.
	Step float64
	// Level in (0, 1] places the atom's weight κ between the least likelihood
	// weight e^(−nε/2), at 1, and the largest, 1, towards 0: κ = e^(−Level·nε/2).
	// Defaults to ½.
	Level float64
}

// atom is a sampler by regeneration (Seeman, Reimherr, Slavković 2021). It is here to be
// measured: it is never cheaper than rejection (docs/proofs/ops-perfect.md).
//
// A state a, the atom, of weight κ is added to the posterior. From a the chain
// proposes a prior draw; from θ it proposes a, accepted with probability
// h(θ) = min(1, κ/weight(θ)); a Metropolis step on θ follows. The posterior is
// then the law of θ at a time k of a tour from a, with k weighted by the
// probability that the tour is that long. Since h ≥ κ everywhere, k is proposed
// from a geometric law of rate κ and thinned by (1 − h)/(1 − κ) at every step.
type atom struct {
	posterior
	step     float64
	logKappa float64
}

// newAtom returns the sampler.
func newAtom(cfg Config, c atomConfig) (*atom, error) {
	p, err := newPosterior(cfg)
	if err != nil {
		return nil, err
	}
	if !(c.Step > 0) || math.IsInf(c.Step, 1) {
		return nil, fmt.Errorf("perfect: Step = %v: must be positive and finite", c.Step)
	}
	c.Level = cmp.Or(c.Level, 0.5)
	if !(c.Level > 0 && c.Level <= 1) {
		return nil, fmt.Errorf("perfect: Level = %v: must be in (0, 1]", c.Level)
	}
	return &atom{posterior: p, step: c.Step, logKappa: c.Level * p.least()}, nil
}

// Release draws once. It stops with the context's error when that is done, at a
// time that depends on the records.
func (s *atom) Release(ctx context.Context, src *ops.Source, rows targets.Rows) (Draw, error) {
	r, err := s.start(src, rows)
	if err != nil {
		return Draw{}, err
	}
	walk := &walk{run: r, step: s.step}
	kappa := math.Exp(s.logKappa)
	for {
		if err := ctx.Err(); err != nil {
			return Draw{}, fmt.Errorf("perfect: stopped before a tour was accepted: %w", err)
		}
		walk.at(r.prior())
		if !r.happens(walk.log - s.logKappa) {
			continue // the chain stays at the atom
		}
		walk.move()
		for {
			if r.happens(s.logKappa) {
				return Draw{walk.theta, r.passes}, nil // the geometric time is up
			}
			// (1 − h)/(1 − κ), h ≥ κ
			if h := math.Exp(min(0, s.logKappa-walk.log)); !r.happens(math.Log1p(-h) - math.Log1p(-kappa)) {
				break
			}
			walk.move()
		}
	}
}

// walk is a random-walk Metropolis chain with the posterior as its law.
type walk struct {
	*run
	step       float64
	theta      []float64
	log, prior float64 // log weight and log prior density at theta
}

func (w *walk) at(theta []float64) {
	w.theta, w.log, w.prior = theta, w.logWeight(theta), w.cfg.Prior.LogDensity(theta)
}

func (w *walk) move() {
	next := make([]float64, len(w.theta))
	for i, v := range w.theta {
		next[i] = v + w.step*w.rng.NormFloat64()
	}
	log, prior := w.logWeight(next), w.cfg.Prior.LogDensity(next)
	if w.happens(log + prior - w.log - w.prior) {
		w.theta, w.log, w.prior = next, log, prior
	}
}
