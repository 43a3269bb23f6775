package surrogates

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/targets"
)

// PriorCheck holds a posterior against wider priors. It follows from released values and
// the prior, so it costs nothing.
type PriorCheck struct {
	// Moved is by how many of its posterior standard deviations the coefficient that
	// moves most would move, were the prior twice as wide. Coefficient is its index.
	Moved       float64
	Coefficient int
	// Favoured is how many times as likely the release is under a prior twice or four
	// times as wide, whichever is more: a Bayes factor. It is 1 at least, and 1 where the
	// prior's width is unknown itself.
	Favoured float64
	// Bounded is by how much the log likelihood of the release falls from the posterior's
	// centre to twice or four times as large coefficients, whichever is less.
	Bounded float64
}

// Conflict reports that the prior holds back coefficients that the release puts farther
// out: intervals are then those of the prior's tail, and miss what the records say.
// docs/anchored.md has the rate of false alarms.
func (c PriorCheck) Conflict() bool { return c.Moved >= 1 && c.Favoured >= 3 }

// Unbounded reports that the release allows for coefficients of twice the size, so that
// the prior alone bounds them: noise is large, or the classes are nearly separable.
func (c PriorCheck) Unbounded() bool { return c.Bounded < 2 }

// CheckPrior compares normal approximations at the modes under the prior and under wider
// ones. Errors: a density that is nowhere finite.
func (p *Score) CheckPrior() (PriorCheck, error) {
	centre := append([]float64(nil), p.mean...)
	spread, evidence, err := p.evidence(centre, 1)
	if err != nil {
		return PriorCheck{}, err
	}
	check := PriorCheck{Favoured: 1, Bounded: p.falls(centre)}
	mode := append([]float64(nil), centre...)
	for _, scale := range []float64{2, 4} {
		_, wider, err := p.evidence(mode, scale)
		if err != nil {
			return PriorCheck{}, err
		}
		check.Favoured = max(check.Favoured, math.Exp(wider-evidence))
		for j, at := range mode {
			if moved := math.Abs(at-centre[j]) / math.Sqrt(spread.At(j, j)); scale == 2 && moved > check.Moved {
				check.Moved, check.Coefficient = moved, j
			}
		}
	}
	if _, known := p.config.Prior.(targets.Gaussian); !known {
		check.Favoured = 1
	}
	return check, nil
}

// Apart is how far a point is from the posterior's centre: the most over coefficients, in
// standard deviations of the normal approximation there.
func (p *Score) Apart(from []float64) float64 {
	most := 0.0
	for j, v := range from {
		row := p.factor[j*p.dim : j*p.dim+j+1]
		most = max(most, math.Abs(v-p.mean[j])/math.Sqrt(dot(row, row)))
	}
	return most
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
	wide.broad.SDs = make([]float64, p.dim)
	for j, sd := range p.broad.SDs {
		wide.broad.SDs[j] = scale * sd
	}
	wide.config.Prior = wide.broad
	return &wide
}

// falls is PriorCheck.Bounded.
func (p *Score) falls(centre []float64) float64 {
	smooth := p.under(1)
	density := smooth.Density()
	at, grad := make([]float64, p.dim), make([]float64, p.dim)
	likelihood := func(scale float64) float64 {
		for j, v := range centre {
			at[j] = scale * v
		}
		return density.LogDensityGrad(grad, at) - smooth.broad.LogDensity(at)
	}
	here := likelihood(1)
	return min(here-likelihood(2), here-likelihood(4))
}
