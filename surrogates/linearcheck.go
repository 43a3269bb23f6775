package surrogates

import (
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/diag"
)

// LinearCheck holds draws of a regression's posterior against its prior. It follows from
// released values and the prior, so it costs nothing.
type LinearCheck struct {
	// Tail is the share of the prior that is less dense than the draws are on average:
	// below LeastTail the release puts coefficients where the prior has next to nothing,
	// and those that noise hides are drawn from a prior that is too narrow.
	Tail float64
	// Hidden are the indices of coefficients whose standard deviation is more than half
	// of the prior's: the prior, and not the release, bounds them.
	Hidden []int
}

// LeastTail is the least LinearCheck.Tail of a prior that fits. With parameters from the
// prior, and exact sums, one release in 200 has less; with noise fewer.
const LeastTail = 0.005

// CheckPrior compares draws with the prior.
func (l *Linear) CheckPrior(d Draws) LinearCheck {
	const draws = 4000
	rng := rand.New(rand.NewPCG(l.config.Seed, 0xc4ec))
	prior, theta := make([]float64, draws), make([]float64, l.dim)
	for i := range prior {
		l.config.Prior.Sample(theta, rng)
		prior[i] = l.config.Prior.LogDensity(theta)
	}
	slices.Sort(prior)
	mean, count := 0.0, 0.0
	for _, chain := range d.Chains {
		for _, theta := range chain {
			count++
			mean += (l.config.Prior.LogDensity(theta[:l.dim]) - mean) / count
		}
	}
	below, _ := slices.BinarySearch(prior, mean)
	check := LinearCheck{Tail: float64(below) / draws}
	for j, sd := range l.broad.SDs {
		if diag.Summarize(d.Column(j)).SD > sd/2 {
			check.Hidden = append(check.Hidden, j)
		}
	}
	return check
}
