package sites

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// WalkConfig says how chains walk with the sites' answers.
type WalkConfig struct {
	// FitConfig is that of Fit. Of its Sample only the Seed counts, and what the first look
	// needs.
	FitConfig
	// Clip bounds a record's part of a step. Defaults to what gives the sum of all sites
	// noise of variance 1, or less: what a record needs that moves by six times the spread of
	// the posterior.
	Clip float64
	// Warmup is the number of steps of each chain that are left out. Defaults to a tenth.
	Warmup int64
}

// WalkResult is what Walk found. All of it may be published.
type WalkResult struct {
	// Draws are the states after the warm-up, Explored where they are worth 100 and R-hat is
	// at most 1.04. Use them where Kept is near 1, too.
	Draws surrogates.Draws
	// Kept is the share of the information that the noise of the score left, and Widening by
	// how much that noise widens intervals, a median over coefficients.
	Kept, Widening float64
	// Variance is that of the noise of a step's sum, Clip the bound on a record's part, and
	// Accepted the share of the steps that moved.
	Variance, Clip, Accepted float64
	// Statistics are the sums of the sites' second answers.
	Statistics surrogates.Statistics
}

const (
	mostVariance = 1 // of the noise of a step: from there on most moves are refused
	reach        = 6 // spreads of a record's move that a clip allows for
)

// Walk runs anchored chains on the records of all sites (docs/anchored.md). Sites are
// asked as Fit asks them, and then for the remainders of every step: the sum of their noisy
// answers decides by the penalty test, whose stationary law does not depend on the noise.
// Chains step together, so that a step is one question to each site. Every site must answer
// the same chains and steps. It sees released values alone, so it costs what the sites
// charged and no more. Errors are those of Fit; sites that answer no steps.
func Walk(ctx context.Context, c WalkConfig, sites ...Site) (*WalkResult, error) {
	f, err := c.begin(ctx, sites)
	if err != nil {
		return nil, err
	}
	steps := f.terms.Steps
	if c.Warmup == 0 {
		c.Warmup = steps / 10
	}
	if steps == 0 || c.Warmup < 0 || c.Warmup > steps-4 || !(c.Clip >= 0) {
		return nil,
			fmt.Errorf("sites: a walk of %d steps, %d of them warm-up, with a clip of %v; give Config.Chains and Steps "+
				"at every site, 4 more than the warm-up at least, and a positive clip or 0", steps, c.Warmup, c.Clip)
	}
	r := &WalkResult{Clip: c.Clip}
	if r.Statistics, err = f.statistics(ctx, true); err != nil {
		return nil, err
	}
	d, err := anchors.NewDensity(r.Statistics, c.Target, true)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Widening = d.Kept, d.Widening
	if r.Clip == 0 {
		move := reach * f.terms.Radius * d.Spread()
		r.Clip = min(math.Sqrt(mostVariance)/f.terms.StepSD, f.loss.MaxCurvature()*0.4/6*math.Pow(move, 3))
	}
	r.Variance = math.Pow(f.terms.StepSD*r.Clip, 2)
	w := newWalk(f, d, r, c.Sample.Seed)
	r.Draws.Chains = make([][][]float64, f.terms.Chains)
	for n := range steps {
		if err := w.step(ctx); err != nil {
			return nil, err
		}
		for i, theta := range w.moves.From {
			if n >= c.Warmup {
				r.Draws.Chains[i] = append(r.Draws.Chains[i], append([]float64(nil), theta...))
			}
		}
	}
	r.Accepted = float64(w.accepted) / float64(steps*int64(f.terms.Chains))
	r.Draws.LeastESS = math.Inf(1)
	for j := range f.terms.Features {
		column := r.Draws.Column(j)
		r.Draws.LeastESS = min(r.Draws.LeastESS, diag.ESSBulk(column))
		r.Draws.MostRHat = max(r.Draws.MostRHat, diag.RHat(column))
	}
	r.Draws.Explored = r.Draws.LeastESS >= leastESS && r.Draws.MostRHat <= 1+4/leastESS
	return r, nil
}

// leastESS is what draws of a walk must be worth to be used.
const leastESS = 100.

// walk is what chains keep between steps. From of moves is where they are.
type walk struct {
	*fit
	density  *anchors.Density
	proposal curator.Proposal
	moves    Moves
	variance float64
	streams  []*rand.Rand
	public   []float64 // log-odds of the moves but for the remainders
	room     []float64
	accepted int64
}

func newWalk(f *fit, d *anchors.Density, r *WalkResult, seed uint64) *walk {
	n := f.terms.Chains
	w := &walk{fit: f, density: d, proposal: d.Proposal(), variance: r.Variance, streams: make([]*rand.Rand, n),
		public: make([]float64, n), room: make([]float64, f.terms.Features),
		moves: Moves{Anchor: r.Statistics.Anchor, Share: d.Kept, Clip: r.Clip, From: make([][]float64, n),
			To: make([][]float64, n)}}
	for i := range n {
		w.streams[i] = kernels.Stream(seed, i)
		w.moves.From[i], w.moves.To[i] = d.Start(w.streams[i]), make([]float64, f.terms.Features)
	}
	return w
}

var errShort = errors.New("it answered with another number of chains than were asked about")

// step moves every chain, or leaves it where it is.
func (w *walk) step(ctx context.Context) error {
	m := w.moves
	for i, rng := range w.streams {
		w.proposal.Propose(rng, m.To[i], m.From[i])
		w.public[i] = w.density.Log(m.To[i]) - w.density.Log(m.From[i]) + w.proposal.LogRatio(m.To[i], m.From[i], w.room)
		if !(w.public[i] > math.Inf(-1)) { // outside the prior: the step is paid for all the same
			copy(m.To[i], m.From[i])
		}
	}
	answers := make([][]float64, len(w.sites))
	if err := each(w.sites, func(i int, s Site) (err error) {
		if answers[i], err = s.Step(ctx, m); err == nil && len(answers[i]) != len(m.From) {
			err = errShort
		}
		return err
	}); err != nil {
		return err
	}
	for i, rng := range w.streams {
		odds := w.public[i] - w.variance/2
		for _, a := range answers {
			odds += a[i]
		}
		if odds+rng.ExpFloat64() > 0 {
			m.From[i], m.To[i] = m.To[i], m.From[i]
			w.accepted++
		}
	}
	return nil
}
