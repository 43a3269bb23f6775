package anchors

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Anchors of order 1: for any target with gradients. A descent along noisy gradients finds
// the anchor, the score there and the second moments of gradients are released in one
// vector, and bits decide what a linear polynomial leaves of the loss.

// Shares of ρ, and of the release what its second moments have. What is left is the
// release's.
const (
	descentShare  = 0.2
	firstBitShare = 0.25
	productWeight = 0.5 // of which the square is the share
)

// looks are the releases after the descent: one that a Newton step follows, and one of
// which the chain is made.
const looks = 2

// mostSteps is how many posterior standard deviations a Newton step goes in a direction.
const mostSteps = 30

// descentSteps of a descent at most, whose gradients have the noise that their share buys.
const descentSteps = starts.DefaultSteps

// mostFirst is how many parameters a model of order 1 may have: its second moments grow
// with the square.
const mostFirst = 64

// descent is the number of steps and the noise multiplier of the descent before a release
// with a given one, where bits have a share.
func descent(release, bits float64) (steps int64, noise float64) {
	ratio := (1 - descentShare - bits) / (looks * descentShare)
	most := math.Pow(curator.MostNoise/release, 2) / ratio
	steps = int64(max(1, min(descentSteps, math.Floor(most))))
	return steps, min(curator.MostNoise, release*math.Sqrt(float64(steps)*ratio))
}

// first is what an anchor of order 1 is released by.
type first struct {
	config  Config
	classes *targets.Softmax // whose curvature the moments of features make, or nil
	side    int              // of the second moments
	slope   *targets.Tangent // of the descent
	tangent *targets.Tangent // of the release
	descent *curator.Gradients
	release *curator.Gradients
	longest float64 // cut of the descent's gradients
}

func newFirst(c Config, m model, f curator.Facts) (*first, error) {
	slope, err := targets.New(targets.TangentConfig{Target: m.first})
	if err != nil {
		return nil, err
	}
	a, radius := &first{config: c, slope: slope, classes: classesOf(m, f), side: m.first.Dim()}, 0.0
	if a.classes != nil {
		a.side, radius = f.Features, f.Radius
	}
	a.tangent, err = targets.New(targets.TangentConfig{Target: m.first, Weight: productWeight, Radius: radius})
	return a, err
}

// mechanisms are those of the descent, so many times, and of the release.
func (a *first) mechanisms() (each curator.NoisyGradient, steps int64, last curator.NoisyGradient) {
	bits := firstBitShare
	if !a.config.Aim.Bits() {
		bits = 0
	}
	steps, noise := descent(a.config.OptimumNoise, bits)
	return curator.NoisyGradient{Target: a.slope, Clip: 1, NoiseMultiplier: noise}, steps,
		curator.NoisyGradient{Target: a.tangent, Clip: 1, NoiseMultiplier: a.config.OptimumNoise}
}

func (a *first) requests() []curator.Request {
	each, steps, last := a.mechanisms()
	return []curator.Request{curator.RequestFor(&a.descent, each, steps),
		curator.RequestFor(&a.release, last, looks)}
}

// size is the number of values of a look: the anchor and the sums.
func (a *first) size() int { return a.slope.Dim() + a.tangent.Dim() }

// kept is how many looks chains are made of, the last one first.
func (a *first) kept() int {
	if a.config.Aim == Score {
		return looks
	}
	return 1
}

// look descends from theta = 0, makes a Newton step from where that ended, and the release
// there.
func (a *first) look(ctx context.Context, f curator.Facts, t targets.GradTarget,
	lengths func([]float64) targets.Lengths) ([]float64, error) {
	values := make([]float64, a.kept()*a.size())
	theta, sums := values[:t.Dim():t.Dim()], values[t.Dim():a.size()]
	if err := a.setOff(theta, lengths); err != nil {
		return nil, err
	}
	_, steps, _ := a.mechanisms()
	if err := starts.Descend(ctx, t, theta, 1, steps, &cut{first: a, lengths: lengths}); err != nil {
		return nil, err
	}
	public := make([]float64, len(sums))
	for n := range looks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.tangent.At(theta, lengths(theta)); err != nil {
			return nil, err
		}
		if err := a.release.Release(sums, public); err != nil || n == looks-1 {
			return values, err
		}
		copy(values[a.size():], values[:a.size()])
		s, err := a.statistics(values, lengths, f)
		if err != nil {
			return nil, err
		}
		w, err := directionsOf(s, a.curvature(s), t, true)
		if err != nil {
			return nil, err
		}
		w.newton(theta)
	}
	return values, nil
}

// setOff prepares the descent's first gradient.
func (a *first) setOff(theta []float64, lengths func([]float64) targets.Lengths) error {
	l := lengths(theta)
	a.longest = l.Score
	return a.slope.At(theta, l)
}

// cut are gradients that are cut at the length predicted where they are taken.
type cut struct {
	*first
	lengths func([]float64) targets.Lengths
}

func (g *cut) NoiseSD() float64 { return g.descent.NoiseSD() * g.longest }

func (g *cut) Release(dst, theta []float64) error {
	if err := g.setOff(theta, g.lengths); err != nil {
		return err
	}
	if err := g.descent.Release(dst, theta); err != nil {
		return err
	}
	for j := range dst {
		dst[j] *= g.longest
	}
	return nil
}

// statistics are what a release says.
func (a *first) statistics(values []float64, lengths func([]float64) targets.Lengths,
	f curator.Facts) (surrogates.Statistics,
	error) {
	d, tau := a.slope.Dim(), a.config.temperature()
	s := surrogates.Statistics{Anchor: values[:d:d], Score: make([]float64, d), Moment: make([]float64, a.side*a.side),
		Weighted: true, Records: f.Records, Temperature: tau, Radius: f.Radius}
	if err := a.tangent.At(s.Anchor, lengths(s.Anchor)); err != nil {
		return s, err
	}
	_, _, last := a.mechanisms()
	sd, err := last.NoiseSD(f)
	if err != nil {
		return s, err
	}
	a.tangent.Read(s.Score, s.Moment, values[d:a.size()])
	s.ScoreSD, s.MomentSD = a.tangent.Noise(sd)
	for j := range s.Score {
		s.Score[j] *= tau
	}
	s.ScoreSD *= tau
	return s, nil
}

// firstCost is the price of an anchor of order 1.
func (c Config) firstCost(m model, f curator.Facts) (accountant.Event, error) {
	a, err := newFirst(c, m, f)
	if err != nil {
		return accountant.Event{}, err
	}
	if _, err := c.lengths(m, f); err != nil {
		return accountant.Event{}, err
	}
	if c.Aim == Score && a.classes == nil {
		return accountant.Event{}, errors.New("anchors: Score needs second moments of a softmax regression's features; " +
			"give records sealed with a Radius")
	}
	if err := checkFirst(c); err != nil {
		return accountant.Event{}, err
	}
	each, steps, last := a.mechanisms()
	event, err := each.Event(f)
	if err != nil {
		return accountant.Event{}, err
	}
	if event, err = event.Times(steps); err != nil {
		return accountant.Event{}, err
	}
	release, err := last.Event(f)
	if err == nil {
		release, err = release.Times(looks)
	}
	if err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(event, release)
}

func checkFirst(c Config) error {
	if c.OptimumNoise > 0 && c.OptimumNoise <= curator.MostNoise {
		return nil
	}
	return fmt.Errorf("anchors: Config.OptimumNoise is %v; it must be positive and at most %v, as Afford chooses it",
		c.OptimumNoise, curator.MostNoise)
}

// affordFirst is Afford of order 1.
func (c Config) affordFirst(m model, f curator.Facts, rho, epsilon, delta float64) (Config, error) {
	if c.Aim == Auto {
		c.Aim = Remainder
		if c.Variance == 0 && classesOf(m, f) != nil {
			c.Aim = Score
		}
	}
	c.Law = Normal
	if !c.Aim.Bits() {
		return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.OptimumNoise = x }, c.OptimumNoise)
	}
	if c.Clip == 0 {
		// Posterior spreads have a mean leverage of d/N, and a remainder is half of a move's
		// square: no record of ten times that needs more, six spreads out.
		most := 10 * reach * reach / 2 * float64(m.first.Dim()) / float64(f.Records)
		c.Clip = min(c.clipFor(f, firstBitShare*rho), most)
	}
	c.chooseRate(f)
	return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.OptimumNoise = x }, c.OptimumNoise)
}

// nearly: a score is cut at the certificate, and so no record, where that is at most so
// many times as long as asked for.
const nearly = 1.5

// lengths is Config.Lengths within the target's certificate.
func (c Config) lengths(m model, f curator.Facts) (func([]float64) targets.Lengths, error) {
	bound := certified(m, f)
	switch {
	case c.Lengths != nil && c.Aim != Score: // whose mean is that of whole gradients
		return func(theta []float64) targets.Lengths {
			l := c.Lengths(theta)
			if bound <= nearly*l.Score {
				l.Score = bound
			}
			return targets.Lengths{Score: l.Score, Products: min(bound, l.Products)}
		}, nil
	case bound > 0 && !math.IsInf(bound, 1):
		return func([]float64) targets.Lengths { return targets.Lengths{Score: bound, Products: bound} }, nil
	}
	return nil, errors.New("anchors: nothing bounds a record's gradient; give Config.Lengths, or a target with a " +
		"certificate and records sealed with a Radius")
}

// certified is the certificate of a record's gradient, +Inf for none.
func certified(m model, f curator.Facts) float64 {
	if t, ok := m.first.(targets.GradCertificate); ok && f.Radius > 0 {
		return t.GradBound(f.Radius)
	}
	return math.Inf(1)
}

// fromFirst walks with bits on remainders of order 1.
func (s *Chains) fromFirst(seed uint64, r *Release) ([]kernels.Chain, error) {
	d, hidden, err := firstDensity(r.Statistics, s.first.curvature(r.Statistics), s.model.first,
		s.config.Aim == Remainder)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Widening, r.Hidden = d.Kept, d.Widening, hidden
	if hidden > 0 {
		r.Widening = 0 // of a curvature that is not known
	}
	r.Bound = d.bound
	cut := s.lengths(r.Statistics.Anchor).Score
	r.Shortened = cut < certified(s.model, s.facts)
	if err := errors.Join(s.remainder.Anchor(r.Statistics.Anchor, d.Kept, d.Log),
		s.remainder.CutTangents(cut)); err != nil {
		return nil, err
	}
	return s.walks(d, seed), nil
}
