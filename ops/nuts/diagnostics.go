package nuts

import (
	"fmt"
	"math"
)

// MinEBFMI is the smallest energy Bayesian fraction of missing information that
// raises no warning, as in CmdStan's diagnose.
const MinEBFMI = 0.3

// Report counts what went wrong in the draws of all chains.
type Report struct {
	// Draws is the number of draws of all chains.
	Draws int
	// Divergent counts divergent transitions, AtMaxDepth those whose trajectory
	// was cut off by MaxTreeDepth.
	Divergent, AtMaxDepth int
	// EBFMI is each chain's energy Bayesian fraction of missing information.
	EBFMI []float64
}

// Diagnose returns the sampler's own diagnostics. R-hat and ESS are package
// diag's.
func Diagnose(chains []Chain) Report {
	var r Report
	for _, chain := range chains {
		r.Draws += len(chain.Draws)
		r.EBFMI = append(r.EBFMI, EBFMI(chain.Stats))
		for _, s := range chain.Stats {
			if s.Divergent {
				r.Divergent++
			}
			if s.TreeDepth >= chain.MaxTreeDepth {
				r.AtMaxDepth++
			}
		}
	}
	return r
}

// EBFMI returns the energy Bayesian fraction of missing information: the mean
// squared change of the energy from draw to draw over its variance [Betancourt
// 2016, "Diagnosing suboptimal cotangent disintegrations"]. It is NaN for fewer
// than 2 draws or constant energies.
func EBFMI(stats []Stats) float64 {
	var mean, changes, variance float64
	for _, s := range stats {
		mean += s.Energy / float64(len(stats))
	}
	for i, s := range stats {
		variance += (s.Energy - mean) * (s.Energy - mean)
		if i > 0 {
			change := s.Energy - stats[i-1].Energy
			changes += change * change
		}
	}
	if len(stats) < 2 {
		return math.NaN()
	}
	return changes / variance
}

// Warnings returns one sentence for each thing that is wrong, or nil.
func (r Report) Warnings() []string {
	var out []string
	if r.Divergent > 0 {
		out = append(out, fmt.Sprintf("%d of %d transitions diverged: the draws miss a part of the target; raise "+
			"TargetAccept or reparameterise", r.Divergent, r.Draws))
	}
	if r.AtMaxDepth > 0 {
		out = append(out, fmt.Sprintf("%d of %d transitions reached the largest tree depth: the chain moves slowly; raise "+
			"MaxTreeDepth, use Dense, or rescale", r.AtMaxDepth, r.Draws))
	}
	for c, fraction := range r.EBFMI {
		if fraction < MinEBFMI {
			out = append(out, fmt.Sprintf("chain %d has E-BFMI %.2f, below %.1f: its energies hardly mix; reparameterise or "+
				"warm up longer", c, fraction, MinEBFMI))
		}
	}
	return out
}
