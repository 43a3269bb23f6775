package diag

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// RHat returns the rank-normalised split R-hat: the larger of the split R-hat of
// the rank-normalised draws and of the rank-normalised folded draws
// |x - median|, so that chains which differ in location or in spread show
// [Vehtari et al. 2021, §4]. Near 1 is good; above 1.01 is a warning. Where both
// exist but no half of a chain moves it is +Inf.
func RHat(chains [][]float64) float64 {
	chains, _ = align(chains)
	return rhat(chains, Quantile(pooled(chains), 0.5))
}

// rhat is RHat with the median at hand.
func rhat(chains [][]float64, median float64) float64 {
	if undefined(chains) {
		return math.NaN()
	}
	folded := eachChain(chains, func(chain []float64) []float64 { return absDeviations(chain, median) })
	return max(potentialScaleReduction(normalScores(halves(chains))),
		potentialScaleReduction(normalScores(halves(folded))))
}

// potentialScaleReduction returns the square root of the pooled variance
// estimate over the mean variance within the chains [Gelman and Rubin 1992].
func potentialScaleReduction(chains [][]float64) float64 {
	if undefined(chains) {
		return math.NaN()
	}
	n := float64(len(chains[0]))
	means, variances := meansAndVariances(chains)
	between, within := n*stat.Variance(means, nil), stat.Mean(variances, nil)
	return math.Sqrt((between/within + n - 1) / n)
}
