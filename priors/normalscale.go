package priors

// Proof: docs/proofs/hyperparameters.md.

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// NormalScale is the prior of coefficients whose spread is unknown: those of group g
// are independent N(µ_g, τ_g²), τ_g has the prior Scale, and µ_g is N(0, MeanSD²), or
// 0. Scale and mean are integrated out, so the prior is one of the coefficients
// alone and every kernel can use it; Hyper draws them back given coefficients, at
// no cost, since it sees nothing else (docs/proofs/hyperparameters.md).
//
// A NormalScale is immutable; make one with NewNormalScale.
type NormalScale struct {
	cfg   NormalScaleConfig
	sizes []int
	grid  []scalePoint
}

// NormalScaleConfig describes a NormalScale.
type NormalScaleConfig struct {
	// Groups numbers the group of each coefficient from 0; −1 for one that has the
	// standard deviation FixedSD, such as an intercept. Required; its length is the
	// number of coefficients.
	Groups []int
	// Scale is the prior of every group's τ, such as HalfCauchy{Scale: 1}. Required.
	Scale Scale
	// MeanSD is the standard deviation of the groups' means. Defaults to 0: the means
	// are 0.
	MeanSD float64
	// FixedSD is the standard deviation of the coefficients of group −1. Required
	// where there are any.
	FixedSD float64
}

// scalePoint is a point of the quadrature over log τ: log weight, log τ and τ⁻².
type scalePoint struct{ weight, log, inverse float64 }

// The quadrature over log τ, by the trapezoidal rule. A group of up to some 500
// coefficients has a likelihood of τ that is wider than two steps.
const (
	scaleStep  = 0.05
	scaleReach = 9.2 // log τ within ± of that of 1: 10⁻⁴ to 10⁴
)

func scaleGrid(prior Scale, step float64) []scalePoint {
	var grid []scalePoint
	top := math.Inf(-1)
	for u := -scaleReach; u <= scaleReach; u += step {
		if w := prior.LogDensity(math.Exp(u)) + u; !math.IsInf(w, -1) && !math.IsNaN(w) {
			grid = append(grid, scalePoint{w, u, math.Exp(-2 * u)})
			top = max(top, w)
		}
	}
	sum := 0.0
	for _, g := range grid {
		sum += math.Exp(g.weight - top)
	}
	for i := range grid {
		grid[i].weight -= top + math.Log(sum)
	}
	return grid
}

// NewNormalScale returns the prior. τ is restricted to 10⁻⁴ … 10⁴. Errors: no
// groups, or numbers below −1; a Scale that is missing or out of range; a MeanSD or
// FixedSD that is negative, not finite, or missing.
func NewNormalScale(c NormalScaleConfig) (*NormalScale, error) {
	n, err := checkGroups("normal-scale prior", c.Groups, c.Scale, c.FixedSD)
	if err != nil {
		return nil, err
	}
	if !(c.MeanSD >= 0) || math.IsInf(c.MeanSD, 1) {
		return nil, fmt.Errorf("priors: normal-scale prior: MeanSD = %v, but it must be at least 0 and finite", c.MeanSD)
	}
	c.Groups = slices.Clone(c.Groups)
	p := &NormalScale{cfg: c, sizes: make([]int, n), grid: scaleGrid(c.Scale, scaleStep)}
	for _, g := range c.Groups {
		if g >= 0 {
			p.sizes[g]++
		}
	}
	return p, nil
}

// checkGroups returns the number of groups.
func checkGroups(name string, groups []int, scale Scale, fixed float64) (n int, err error) {
	if len(groups) == 0 {
		return 0, fmt.Errorf("priors: %s: Groups is empty; give the group of each coefficient, −1 for one with a fixed "+
			"standard deviation", name)
	}
	for j, g := range groups {
		if g < -1 || g >= len(groups) {
			return 0, fmt.Errorf("priors: %s: Groups[%d] = %d; number groups from 0, with −1 for a fixed standard deviation",
				name, j, g)
		}
		if n = max(n, g+1); g == -1 {
			if err := positive(name+": FixedSD", fixed); err != nil {
				return 0, err
			}
		}
	}
	if scale == nil {
		return 0, fmt.Errorf("priors: %s: no Scale is given; give the prior of the spread, such as HalfCauchy{Scale: 1}",
			name)
	}
	return n, scale.Check()
}

// Check refuses a number of parameters that is not the groups'.
func (p *NormalScale) Check(dim int) error {
	if p == nil {
		return errors.New("priors: a NormalScale is made by NewNormalScale")
	}
	if dim != len(p.cfg.Groups) {
		return fmt.Errorf("priors: normal-scale prior: %d groups for %d parameters; give one for each",
			len(p.cfg.Groups), dim)
	}
	return nil
}

// group is what the density of a group's coefficients depends on.
type group struct{ n, mean, around float64 }

// of returns the size, the mean and the squares around it, or around 0 where the
// group's mean is 0, of group g.
func (p *NormalScale) of(theta []float64, g int) group {
	s := group{n: float64(p.sizes[g])}
	if p.cfg.MeanSD > 0 {
		for j, t := range theta {
			if p.cfg.Groups[j] == g {
				s.mean += t / s.n
			}
		}
	}
	for j, t := range theta {
		if p.cfg.Groups[j] == g {
			s.around += (t - s.mean) * (t - s.mean)
		}
	}
	return s
}

// log is the log density of a group given a scale, without constants.
func (p *NormalScale) log(s group, at scalePoint) float64 {
	if p.cfg.MeanSD == 0 {
		return at.weight - s.n*at.log - s.around*at.inverse/2
	}
	v := 1/at.inverse + s.n*p.cfg.MeanSD*p.cfg.MeanSD
	return at.weight - (s.n-1)*at.log - s.around*at.inverse/2 - math.Log(v)/2 - s.n*s.mean*s.mean/(2*v)
}

// average returns the log density of a group, and the means over its scale of τ⁻²
// and of 1/(τ² + n·MeanSD²).
func (p *NormalScale) average(s group) (log, inverse, whole float64) {
	top := math.Inf(-1)
	for _, at := range p.grid {
		top = max(top, p.log(s, at))
	}
	sum := 0.0
	for _, at := range p.grid {
		w := math.Exp(p.log(s, at) - top)
		sum += w
		inverse += w * at.inverse
		whole += w / (1/at.inverse + s.n*p.cfg.MeanSD*p.cfg.MeanSD)
	}
	return top + math.Log(sum), inverse / sum, whole / sum
}

// LogDensity returns the log density of the coefficients up to a constant.
func (p *NormalScale) LogDensity(theta []float64) float64 {
	log := fixedLogDensity(theta, p.cfg.Groups, p.cfg.FixedSD)
	for g, n := range p.sizes {
		if n > 0 {
			l, _, _ := p.average(p.of(theta, g))
			log += l
		}
	}
	return log
}

// Grad sets dst to the gradient of LogDensity.
func (p *NormalScale) Grad(dst, theta []float64) {
	fixedGrad(dst, theta, p.cfg.Groups, p.cfg.FixedSD)
	for g, n := range p.sizes {
		if n == 0 {
			continue
		}
		s := p.of(theta, g)
		_, inverse, whole := p.average(s)
		for j, t := range theta {
			if p.cfg.Groups[j] == g {
				dst[j] = -(t-s.mean)*inverse - s.mean*whole
			}
		}
	}
}

func fixedLogDensity(theta []float64, groups []int, sd float64) float64 {
	log := 0.0
	for j, t := range theta {
		if groups[j] < 0 {
			log -= t * t / (2 * sd * sd)
		}
	}
	return log
}

func fixedGrad(dst, theta []float64, groups []int, sd float64) {
	for j, t := range theta {
		if groups[j] < 0 {
			dst[j] = -t / (sd * sd)
		}
	}
}

// Sample sets theta to a draw.
func (p *NormalScale) Sample(theta []float64, rng *rand.Rand) {
	for j := range theta {
		theta[j] = p.cfg.FixedSD * rng.NormFloat64()
	}
	for g := range p.sizes {
		tau, mean := math.Exp(p.grid[pick(p.grid, rng, func(at scalePoint) float64 { return at.weight })].log),
			p.cfg.MeanSD*rng.NormFloat64()
		for j := range theta {
			if p.cfg.Groups[j] == g {
				theta[j] = mean + tau*rng.NormFloat64()
			}
		}
	}
}

// Hyper draws the groups' scales and means given coefficients: post-processing of a
// state that was released. Groups without coefficients have draws of the prior.
func (p *NormalScale) Hyper(theta []float64, rng *rand.Rand) (scales, means []float64) {
	for g := range p.sizes {
		s := p.of(theta, g)
		at := p.grid[pick(p.grid, rng, func(at scalePoint) float64 { return p.log(s, at) })]
		tau2 := 1 / at.inverse
		m2 := p.cfg.MeanSD * p.cfg.MeanSD
		mean := 0.0
		if m2 > 0 {
			v := tau2 + s.n*m2
			mean = m2*s.n*s.mean/v + math.Sqrt(m2*tau2/v)*rng.NormFloat64()
		}
		scales = append(scales, math.Exp(at.log+scaleStep*(rng.Float64()-0.5)))
		means = append(means, mean)
	}
	return scales, means
}

// pick draws an index with probability proportional to e^log.
func pick(grid []scalePoint, rng *rand.Rand, log func(scalePoint) float64) int {
	top := math.Inf(-1)
	for _, at := range grid {
		top = max(top, log(at))
	}
	sum := 0.0
	for _, at := range grid {
		sum += math.Exp(log(at) - top)
	}
	u := sum * rng.Float64()
	for i, at := range grid {
		if u -= math.Exp(log(at) - top); u < 0 {
			return i
		}
	}
	return len(grid) - 1
}
