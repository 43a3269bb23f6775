package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// PriorCheck holds a posterior against wider priors. It follows from released values and
// the prior, so it costs nothing.
type PriorCheck struct {
	// Moved is by how many of its posterior standard deviations the coefficient that
	// moves most would move, were the prior twice as wide. Coefficient is its index. It is
	// 0 of many features, where the score's variance does not follow them.
	Moved       float64
	Coefficient int
	// Favoured is how many times as likely the release is under a prior twice or four
	// times as wide, whichever is more: a Bayes factor. It is 1 at least, and 1 where the
	// prior's width is unknown itself or features are as many.
	Favoured float64
	// Rise is by how much the log likelihood of the release rises from an intercept alone to the
	// posterior's centre: how plainly it shows that there are coefficients. A rare label alone
	// makes none. Of classes, and without an intercept, it is from coefficients of 0. It is 0
	// of many features.
	Rise float64
	// Bounded is by how much the log likelihood of the release falls from the posterior's
	// centre to twice or four times as large coefficients, whichever is less.
	Bounded float64
	// Tail is the share of the prior that is less dense than the posterior is on average.
	Tail float64
	// Hidden are the coefficients whose posterior standard deviation is more than a third of the prior's,
	// with scales of effects as the release makes them likely. The prior pulls one of twice its standard
	// deviation by two thirds of the posterior's or more, and the release does not show it.
	Hidden []int
	// Narrow are those of them that the prior keeps from an ordinary effect: its standard deviation, with
	// the largest effects, moves the linear predictor by less than LeastEffect for a record one standard
	// deviation off the column's mean, or with the level.
	Narrow []int
	// Faint are the numbers, under a prior on standardized features and of counts, where noise hides how
	// far they spread and bounds look far too wide: those of Statistics.faint.
	Faint []int
	// Unseen are the numbers, where Faint would be, whose spread noise hides. What is assumed of it by their bounds
	// then decides how wide the prior is, and what a coefficient does.
	Unseen []int
	// Signs are 1 or −1 for coefficients whose sign does not depend on the prior's width, and else 0.
	// Nineteen in twenty draws have it, under this prior and normal ones two and four times as wide. nil
	// of many features. Of classes they are those of a coefficient less the mean of all.
	Signs []float64
	// Order is the least correlation, over records, of draws' linear predictors with that at their mean,
	// but for one in twenty. Draws under the wider priors have no less. It is 0 for classes and beyond
	// mostImputed features.
	Order float64
}

// LeastEffect is the effect that a prior must allow for where the release says little.
const LeastEffect = 0.6

// shown is the part of the prior's standard deviation above which that of a posterior is
// Hidden.
const shown = 1.0 / 3

// Conflict reports that the prior holds back coefficients that the release puts farther
// out: a wider one explains it better, or less than LeastTail of the prior is as far out.
// Intervals are then those of the prior's tail, and miss what the records say.
// docs/verdicts.md has the rate of false alarms.
func (c PriorCheck) Conflict() bool {
	return c.Moved >= 1 && c.Favoured >= 3 || c.Tail < LeastTail
}

// Separable reports that the release shows coefficients plainly and does not bound their
// size: ones of twice the size explain it about as well. Classes that a line nearly
// separates are so, and then their size, intervals included, is the prior's.
func (c PriorCheck) Separable() bool { return c.Rise >= leastRise && c.Bounded < 2 }

// leastRise is above what was seen of tables whose intervals held (docs/public-tables.md,
// "Default runs against their verdicts"): 54, against 93 and more of one that is separable.
const leastRise = 60

// Unbounded reports that the prior alone bounds coefficients: the release allows for ones of
// twice the size, or one would move by its standard deviation under a prior twice as wide.
// Noise is large then, or the classes are nearly separable.
func (c PriorCheck) Unbounded() bool { return c.Bounded < 2 || c.Moved >= 1 }

// CheckPrior compares normal approximations at the modes under the prior and under wider
// ones, and draws with the prior: draws of the approximation where none are given. Errors:
// a density that is nowhere finite.
func (p *Score) CheckPrior(draws Draws) (PriorCheck, error) {
	if len(draws.Chains) == 0 {
		draws = p.approximate()
	}
	check := PriorCheck{Favoured: 1, Tail: tail(p.priors().drawn(p.scale, p.averaged), draws, p.dim, p.config.Seed)}
	check.Rise, check.Bounded = p.changes()
	all, widest := p.config.allWritten(draws), p.priors().widest()
	column := make([]float64, len(all))
	for j := range p.dim {
		for i, theta := range all {
			column[i] = theta[j]
		}
		along := p.combination(j).RawVector().Data
		sd := p.priors().sd(along)
		if stat.StdDev(column, nil) <= shown*sd {
			continue
		}
		check.Hidden = append(check.Hidden, j)
		if widest.sd(along)*p.reach(j) < LeastEffect {
			check.Narrow = append(check.Narrow, j)
		}
	}
	if _, count := countOf(p.config.Link); count || p.config.Effect > 0 {
		check.Faint, check.Unseen = p.config.Statistics.faint(), p.config.Statistics.unseen()
	}
	if p.imputations[0].frozen != nil {
		check.Rise = 0
		return check, nil
	}
	check.Signs = signsOf(all, p.dim)
	return check, p.widen(&check, slices.Concat(draws.Chains...))
}

// widen sets what a check says of wider priors.
func (p *Score) widen(check *PriorCheck, draws [][]float64) error {
	law, mean := p.law(), meanDraw(draws)
	check.Order = orderAmong(draws, mean, law)
	centre := slices.Clone(p.mean)
	spread, evidence, err := p.evidence(centre, 1)
	if err != nil {
		return err
	}
	mode := slices.Clone(centre)
	for _, scale := range []float64{2, 4} {
		about, wider, err := p.evidence(mode, scale)
		if err != nil {
			return err
		}
		if err := check.confirm(mode, about, law, mean, p.config.Seed); err != nil {
			return err
		}
		moved := mat.NewVecDense(p.dim, nil)
		moved.SubVec(mat.NewVecDense(p.dim, mode), mat.NewVecDense(p.dim, centre))
		for j := range p.dim {
			v := p.combination(j)
			check.keepSign(j, mat.Dot(v, mat.NewVecDense(p.dim, mode)), sdAlong(v, about))
			if by := math.Abs(mat.Dot(v, moved)) / sdAlong(v, spread); scale == 2 && by > check.Moved {
				check.Moved, check.Coefficient = by, j
			}
		}
		if _, known := p.config.Prior.(priors.Gaussian); known {
			check.Favoured = max(check.Favoured, math.Exp(wider-evidence))
		}
	}
	return nil
}

// approximate draws from the normal approximation at the centre.
func (p *Score) approximate() Draws {
	return Draws{Chains: [][][]float64{around(p.mean, p.factor, 1000, rand.New(rand.NewPCG(p.config.Seed, 0xa993)))}}
}

// Apart is how far a point is from the posterior's centre: the most over coefficients, in
// standard deviations of the normal approximation there.
func (p *Score) Apart(from []float64) float64 {
	most := 0.0
	for j, v := range from {
		most = max(most, math.Abs(v-p.mean[j])/p.sd(j))
	}
	return most
}

// sd is coefficient j's standard deviation in the normal approximation.
func (p *Score) sd(j int) float64 {
	row := p.factor[j*p.dim : j*p.dim+j+1]
	return math.Sqrt(dot(row, row))
}

// evidence moves from to the mode under the prior widened by scale, and returns the
// covariance there with Laplace's approximation of the log probability of the release,
// up to a constant.
func (p *Score) evidence(from []float64, scale float64) (*mat.SymDense, float64, error) {
	wide := p.under(scale)
	density := wide.Density()
	spread, err := climb(density, from, wide.covariance)
	if err != nil {
		return nil, 0, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(spread) {
		return nil, 0, fmt.Errorf("surrogates: the posterior's covariance at %v is not positive definite", from)
	}
	value := density.LogDensityGrad(make([]float64, p.dim), from)
	return spread, value + chol.LogDet()/2 - float64(p.dim)*math.Log(scale), nil
}

// under is the posterior with a normal prior of scale times the prior's spread.
func (p *Score) under(scale float64) *Score {
	wide := *p
	wide.imputations = slices.Clone(p.imputations)
	for k := range wide.imputations {
		im := &wide.imputations[k]
		im.ownPrior = im.ownPrior.widened(scale)
	}
	return &wide
}

// changes are Rise and Bounded of a PriorCheck.
func (p *Score) changes() (rise, bounded float64) {
	e, at := p.evaluator(), make([]float64, p.dim)
	likelihood := func(scale float64) float64 {
		for j, v := range p.mean {
			at[j] = scale * v
		}
		return e.averageLikelihood(at)
	}
	here := likelihood(1)
	bounded = min(here-likelihood(2), here-likelihood(4))
	none := likelihood(0)
	if j := ConstantOf(p.config.Statistics.Columns); j >= 0 {
		of, level := p.column(j), p.config.Statistics.Columns[j].Upper
		none = hill(func(predictor float64) float64 {
			for i := range at {
				at[i] = predictor / level * of.AtVec(i)
			}
			return e.averageLikelihood(at)
		})
	}
	return here - none, bounded
}

// hill is the value of f that is highest from −10 to 10, where f has one hill.
func hill(f func(float64) float64) float64 {
	best, at := math.Inf(-1), 0.0
	for step := 1.0; step > 0.01; step /= 4 {
		for middle, k := at, -10.0; k <= 10; k++ {
			if v := f(middle + k*step); v > best {
				best, at = v, middle+k*step
			}
		}
	}
	return best
}

// reach is by how much a column typically moves a record, at most: between the values of
// an indicator, by the intercept itself, or by the standard deviation of a number.
func (p *Score) reach(j int) float64 {
	s := p.config.Statistics
	of := p.column(j)
	if s.Columns != nil && s.Columns[j].Kind != Number {
		return (s.Columns[j].Upper - s.Columns[j].Lower) * math.Abs(of.AtVec(j))
	}
	variance := 0.0
	for _, im := range p.imputations {
		n := im.features.normal
		own := mat.Inner(of, mat.NewSymDense(p.dim, n.spread), of)
		if s.Columns == nil { // it may be the intercept
			mean := mat.Dot(of, mat.NewVecDense(p.dim, n.mean))
			own += mean * mean
		}
		variance += own / float64(len(p.imputations))
	}
	return math.Sqrt(variance)
}
