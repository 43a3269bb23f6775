package anchors

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// Shares of the budget, in ρ; what is left is the optimum's.
const (
	momentShare = 0.2
	bitShare    = 0.045
)

// Of spherical noise: the optimum's share of ε, and how much less noise the score must
// have than with the normal law, second moments having more.
const (
	sphericalShare = 0.75
	clearly        = 0.9
)

// LeastKept is the share of the information that must be predicted to survive the
// noise of the score for Auto to be Remainder, whose noise-awareness is of first order.
// Columns between bounds may carry a ninth of what is predicted, of which the share is then 0.9.
const LeastKept = 0.99

// mostFeatures is how many features there may be for the released curvature's noise,
// which Remainder leaves out, to be negligible beside it.
const mostFeatures = 24

// Ridges, in units of τR²/ε: where the price hardly notices them.
const (
	logisticRidge = 2
	convexRidge   = 10 // times the largest curvature
)

// ridgeReach is the least ridge over the square root of the information: with parameters
// of length 5 the anchor is half a posterior spread off. What noise hides the
// optimum's rounding falls with the ridge, and would count from 10⁷ records on.
const ridgeReach = 0.1

const (
	manyRows  = 1000 // records beyond which a step reads a part
	leastRead = 8    // expected records of a step then, at least: fewer take as long
	easeOfBit = 8    // times the clip, of a part's intensity: a record then costs 7% more
	reach     = 6    // spreads of a typical record's move that a clip allows for
)

// Afford fills in what Config marks, so that anchor and chains together cost at most
// (epsilon, delta). Shares of ρ are 0.2 for the second moments, 0.045 for bits, and the
// rest for the optimum; a clip is lower than its share affords where no typical record
// would need it. What is given stays. Errors: those of Cost; an
// *accountant.UnreachableError when no noise is enough.
func Afford(c Config, f curator.Facts, epsilon, delta float64) (Config, error) {
	m, err := c.model()
	if err != nil {
		return c, err
	}
	if f.Radius == 0 && m.first == nil {
		return c, errors.New("anchors: the records have no Radius, which bounds their gradients and curvatures; seal them " +
			"with one")
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return c, fmt.Errorf("anchors: ε = %v; it must be positive and finite", epsilon)
	}
	rho, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
		return accountant.Gaussian(f.Adjacency, 1/math.Sqrt(2*x))
	}, 1e-9, 1e6, epsilon, delta, true)
	if err != nil {
		return c, err
	}
	if m.linear != nil {
		if c.Aim = Sums; c.Fit == AnyFit {
			c.Fit = c.worthFitting(m, f, rho)
		}
		return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.MomentNoise = x }, c.MomentNoise)
	}
	if m.first != nil {
		return c.affordFirst(m, f, rho, epsilon, delta)
	}
	if c.Aim == Auto {
		c.Aim = c.betterAim(m, f, rho)
	}
	if m, err = c.model(); err != nil { // with the cut of its aim
		return c, err
	}
	if c.Fit == AnyFit {
		c.Fit = c.worthFitting(m, f, rho)
	}
	if c.Fit != Fitted && c.spherical(m, f, epsilon, rho) {
		if c.Ridge == 0 {
			c.Ridge = c.ridgeFor(m, f, epsilon)
		}
		return c.affordSpherical(m, f, epsilon, delta)
	}
	c.Law = Normal
	if c.MomentNoise == 0 {
		c.MomentNoise = c.momentNoise(m, f, rho)
	}
	if c.Ridge == 0 {
		c.Ridge = c.ridgeFor(m, c.seen(f), epsilon)
	}
	if c.Aim.Bits() {
		c.chooseBits(m, f, rho)
	}
	return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.OptimumNoise = x }, c.OptimumNoise)
}

// betterAim is what Auto is of a regression: Score or Remainder.
func (c Config) betterAim(m model, f curator.Facts, rho float64) Aim {
	if c.Law == Spherical || c.Fit == Fitted || c.Variance == 0 && m.loss.Count() > 0 {
		return Score
	}
	kept := c.kept(m, f, (1-momentShare)*rho)
	if c.Variance == 0 && (kept < LeastKept || f.Features > mostFeatures) {
		return Score
	}
	return Remainder
}

// momentNoise is the multiplier of second moments by their share of ρ.
func (c Config) momentNoise(m model, f curator.Facts, rho float64) float64 {
	return min(curator.MostNoise, multiplier(f, c.shareOfMoments(m)*rho)*adjacent(f, math.Sqrt2))
}

// multiplier is the noise that ρ buys under substitution: ρ = k²/2m².
func multiplier(f curator.Facts, rho float64) float64 {
	return float64(max(1, f.RowsPerPerson)) / math.Sqrt(2*rho)
}

// adjacent divides by what a sensitivity is smaller by under add/remove.
func adjacent(f curator.Facts, ratio float64) float64 {
	if f.Adjacency == accountant.AddRemove {
		return 1 / ratio
	}
	return 1
}

// spherical reports whether a score of spherical noise is affordable and known clearly
// better than one of normal noise.
func (c Config) spherical(m model, f curator.Facts, epsilon, rho float64) bool {
	if c.Law != AnyLaw || c.Aim != Score {
		return c.Law == Spherical
	}
	sd := float64(max(1, f.RowsPerPerson)) / (sphericalShare * epsilon) * math.Sqrt(float64(f.Features)+1)
	moments := multiplier(f, math.Pow((1-sphericalShare)*epsilon, 2)/40) // of ρ, at any δ in use
	return c.OptimumNoise == 0 && c.MomentNoise == 0 && m.loss.Tied() && moments < curator.MostNoise/2 &&
		sd < clearly*multiplier(f, (1-momentShare)*rho)
}

// leastNoise is where the search for a multiplier begins.
const leastNoise = 1e-3

// affordSpherical fills in noises and ridge: a share of ε for the optimum alone, and the
// rest for the second moments.
func (c Config) affordSpherical(m model, f curator.Facts, epsilon, delta float64) (Config, error) {
	c.Law = Spherical
	if c.OptimumNoise == 0 {
		noise, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
			c.OptimumNoise = x
			return c.determined(f).optimum(m).Event(f)
		}, leastNoise, curator.MostNoise, sphericalShare*epsilon, delta/2, false)
		if err != nil {
			return c, err
		}
		c.OptimumNoise = noise
	}
	c = c.determined(f)
	return c.solve(f, epsilon, delta, func(c *Config, x float64) { c.MomentNoise = x }, c.MomentNoise)
}

// determined raises the ridge to where the price does not notice it.
func (c Config) determined(f curator.Facts) Config {
	c.Ridge = max(c.Ridge, 2*c.temperature()*f.Radius*f.Radius*c.OptimumNoise*(1+1e-6))
	return c
}

// solve fills in one noise multiplier.
func (c Config) solve(f curator.Facts, epsilon, delta float64, set func(*Config, float64),
	given float64) (Config, error) {
	if given != 0 {
		return c, nil
	}
	m, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
		set(&c, x)
		return Cost(c, f)
	}, leastNoise, curator.MostNoise, epsilon, delta, false)
	set(&c, m)
	return c, err
}

// chooseBits fills in Clip and Rate.
func (c *Config) chooseBits(m model, f curator.Facts, rho float64) {
	if c.Clip == 0 {
		c.Clip = min(c.clipFor(f, bitShare*rho), c.typical(m, f, rho))
	}
	c.chooseRate(f)
}

// clipFor is the clip of bits that cost ρ together.
func (c *Config) clipFor(f curator.Facts, rho float64) float64 {
	// A bit whose log-odds a person moves by k·clip costs (k·clip)²/2 under
	// substitution, a quarter of that under add/remove.
	total := float64(c.Iterations) * float64(c.chains())
	clip := math.Sqrt(2*rho/total) / float64(max(1, f.RowsPerPerson)) / adjacent(f, 2)
	if c.Variance > 0 { // a penalty bit costs at most 2(k·clip)²/variance
		clip *= math.Sqrt(c.Variance) / 2
	}
	return clip
}

// chooseRate fills in Rate.
func (c *Config) chooseRate(f curator.Facts) {
	if c.Rate == 0 && c.Variance == 0 && f.Records > manyRows {
		c.Rate = min(0.5, max(-math.Expm1(-easeOfBit*c.Clip), leastRead/float64(f.Records)))
		c.Clip *= 0.95 // what exact parts of the records cost more
	}
}

// typical is the remainder of a record whose linear predictor moves by reach times the
// spread that the posterior and the noise of the score give it.
func (c Config) typical(m model, f curator.Facts, rho float64) float64 {
	information := c.information(m, f)
	sd := c.scoreSD(m, f, rho)
	spread := f.Radius * math.Sqrt((1+sd*sd/information)/information)
	return c.temperature() * m.loss.MaxCurvature() * 0.4 / 6 * math.Pow(reach*spread, 3)
}

// middling are the curvatures of a middling record: a chance of about a fifth or four
// fifths, a mean count of 1. Bounds on curvatures are far above them where losses are cut.
var middling = map[string]float64{"logistic": 0.15, "probit": 0.6, "cloglog": 0.35, "loglog": 0.35, "poisson": 1,
	"negative-binomial": 0.5}

// information is that of a typical direction: rows of typical norm, pointing everywhere,
// with middling curvatures.
func (c Config) information(m model, f curator.Facts) float64 {
	norm := c.rowNorm(f)
	return c.temperature() * middling[m.regression.Family()] * float64(f.Records) * norm * norm / float64(f.Features)
}

// rowNorm is RowNorm with its default.
func (c Config) rowNorm(f curator.Facts) float64 {
	if c.Fit == Fitted {
		return math.Sqrt(float64(f.Features))
	}
	if c.RowNorm > 0 {
		return min(c.RowNorm, f.Radius)
	}
	return f.Radius
}

// scoreSD is about the noise of a score that costs ρ.
func (c Config) scoreSD(m model, f curator.Facts, rho float64) float64 {
	return 2 * multiplier(f, rho) * adjacent(f, 2) * c.temperature() * f.Radius * m.loss.MaxSlope()
}

// kept predicts the share of the information of the data that a score of cost ρ keeps,
// in a typical direction.
func (c Config) kept(m model, f curator.Facts, rho float64) float64 {
	h, sd := c.information(m, f), c.scoreSD(m, f, rho)
	return h / (h + sd*sd)
}
