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

// LeastTail is the least Tail of a prior that fits. With parameters from the prior, and
// exact sums, one release in 200 has less; with noise fewer.
const LeastTail = 0.005

// CheckPrior compares draws with the prior.
func (l *Linear) CheckPrior(d Draws) LinearCheck {
	prior, sds := l.config.Prior, l.broad.SDs
	if seen := l.config.seen; seen != nil {
		prior, d = seen.Prior, l.asTheyAre(d)
		sds = broaden(prior, l.dim, rand.New(rand.NewPCG(l.config.Seed, 0xb40a))).SDs
	}
	check := LinearCheck{Tail: tail(prior, d, l.dim, l.config.Seed)}
	for j, sd := range sds {
		if diag.Summarize(d.Column(j)).SD > sd/2 {
			check.Hidden = append(check.Hidden, j)
		}
	}
	return check
}

// drawn is a law that can be drawn from.
type drawn interface {
	LogDensity(theta []float64) float64
	Sample(theta []float64, rng *rand.Rand)
}

// tail is the share of a prior of d coefficients that is less dense than draws are on
// average.
func tail(prior drawn, of Draws, d int, seed uint64) float64 {
	const draws = 4000
	rng := rand.New(rand.NewPCG(seed, 0xc4ec))
	logs, theta := make([]float64, draws), make([]float64, d)
	for i := range logs {
		prior.Sample(theta, rng)
		logs[i] = prior.LogDensity(theta)
	}
	slices.Sort(logs)
	mean, count := 0.0, 0.0
	for _, chain := range of.Chains {
		for _, theta := range chain {
			count++
			mean += (prior.LogDensity(theta[:d]) - mean) / count
		}
	}
	below, _ := slices.BinarySearch(logs, mean)
	return float64(below) / draws
}
