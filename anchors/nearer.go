package anchors

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Nearer anchors, for Score of counts: thrice the score is released at the posterior's mode given the
// last release, of slopes with the mean 0 (surrogates.Centred). The optimum is that of a loss whose
// slopes have another mean, and of counts its ridge leaves it far off. What it says then depends
// on the law of the features, which no release says. Each score is some four times as near as the one
// before, and of one near the posterior the law hardly matters. What is sampled is the posterior given
// all three, of which far ones count for less (surrogates.Config.Earlier).
const (
	nearLooks       = 3
	nearMomentShare = 0.15 // of ρ
	nearNoise       = 0.6  // noise multiplier of the last score over the optimum's
	nearRidge       = 2.5  // times the ridge that the whole budget would ask for, beside a sixth of it
)

// near reports whether there are nearer anchors.
func (c Config) near(m model) bool {
	return c.Aim == Score && c.Law != Spherical && m.centred != nil
}

// slopes is a target with the gradient slope·x, of x as a view shows it if there is one, and neither a
// loss nor a prior, which nobody asks for.
type slopes struct {
	features int
	of       surrogates.Centred
	view     *curator.View
}

var _ targets.GradTarget = slopes{}

func (s slopes) Dim() int { return s.features }

func (s slopes) Shape() (features int, response bool) { return s.features, true }

func (s slopes) LogPrior([]float64) float64 { return 0 }

func (s slopes) GradLogPrior(dst, _ []float64) { clear(dst) }

func (s slopes) Loss(dst, _ []float64, _ targets.Rows) { clear(dst) }

func (s slopes) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x := dst[i*s.features : (i+1)*s.features]
		s.see(x, rows.Row(i))
		floats.Scale(s.of.Of(floats.Dot(x, theta), rows.Y[i]), x)
	}
}

// see sets dst to a row in the view, as curator.View has it.
func (s slopes) see(dst, x []float64) {
	if s.view == nil {
		copy(dst, x)
		return
	}
	for j := range dst {
		dst[j] = floats.Dot(s.view.Matrix[j*s.features:(j+1)*s.features], x)
	}
	if !(floats.Norm(dst, 2) <= s.view.Radius) {
		clear(dst)
	}
}

// look is the mechanism of a score at a nearer anchor. Each has twice the share of the one before. Its
// clip is enforced, and binds for no record but for rounding.
func (c Config) look(m model, f curator.Facts, which int) curator.NoisyGradient {
	f = c.seen(f)
	noise := nearNoise * c.OptimumNoise * math.Exp2(float64(nearLooks-1-which)/2)
	return curator.NoisyGradient{Target: slopes{f.Features, m.centred, c.view}, Temperature: c.Temperature,
		Clip: c.temperature() * f.Radius * m.centred.Most(), NoiseMultiplier: min(curator.MostNoise, noise)}
}

// approach releases scores at anchors that come nearer, each at the mode given those before, and
// leaves anchor and score of all of them.
func (s *Chains) approach(ctx context.Context, first surrogates.Statistics, looks []float64) error {
	d := s.facts.Features
	for i := range s.scores {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, link := first, s.model.link
		var earlier []surrogates.Look
		if i > 0 {
			var err error
			if before, earlier, err = s.nearer(first, looks[:2*d*i]); err != nil {
				return err
			}
			link = s.model.centred
		}
		anchor, score := looks[2*d*i:2*d*i+d], looks[2*d*i+d:2*d*i+2*d]
		copy(anchor, before.Anchor) // where the releases have no posterior
		if p, err := s.score(before, earlier, link, 0); err == nil {
			copy(anchor, p.Mode())
		}
		if err := s.scores[i].Release(score, anchor); err != nil {
			return err
		}
	}
	return nil
}

// nearer are the statistics of the last of some scores at nearer anchors, beside the second moments of
// the first, and the scores before.
func (s *Chains) nearer(first surrogates.Statistics, values []float64) (surrogates.Statistics, []surrogates.Look,
	error) {
	var looks []surrogates.Look
	d := s.facts.Features
	for i := 0; i < len(values); i += 2 * d {
		sd, err := s.config.look(s.model, s.facts, len(looks)).NoiseSD(s.facts)
		if err != nil {
			return first, nil, err
		}
		looks = append(looks, surrogates.Look{Anchor: values[i : i+d], Score: values[i+d : i+2*d], ScoreSD: sd})
	}
	n := len(looks) - 1
	first.Anchor, first.Score, first.ScoreSD, first.Ridge = looks[n].Anchor, looks[n].Score, looks[n].ScoreSD, 0
	return first, looks[:n], nil
}

// shareOfMoments is the second moments' of ρ.
func (c Config) shareOfMoments(m model) float64 {
	switch {
	case c.Fit == Fitted:
		return fitMomentShare
	case c.near(m):
		return nearMomentShare
	}
	return momentShare
}

// ridgeFor is the ridge that the price hardly notices.
func (c Config) ridgeFor(m model, f curator.Facts, epsilon float64) float64 {
	ridge := convexRidge * m.loss.MaxCurvature()
	if m.loss.Tied() {
		ridge = logisticRidge
	}
	if c.near(m) {
		ridge *= nearRidge
	}
	ridge *= float64(max(1, f.RowsPerPerson)) * c.temperature() * f.Radius * f.Radius / epsilon
	return max(ridge, ridgeReach*math.Sqrt(c.information(m, f)))
}
