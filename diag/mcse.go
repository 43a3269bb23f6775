package diag

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// MCSEMean returns the Monte Carlo standard error of the mean: SD/√[ESSMean].
func MCSEMean(chains [][]float64) float64 {
	chains, _ = align(chains)
	return mcseMean(chains, pooled(chains))
}

// MCSESD returns the Monte Carlo standard error of the standard deviation by
// posterior's definition (versions 1.4 and later): with c = x - mean, the
// variance of the estimate mean(c²) is (mean(c⁴) - mean(c²)²)/ESS(c²), carried to
// the standard deviation by the delta method. It does not assume normal draws;
// ArviZ (before 1.0) and stansummary do, and print other values.
func MCSESD(chains [][]float64) float64 {
	chains, _ = align(chains)
	return mcseSD(chains, pooled(chains))
}

// mcseMean is MCSEMean with the sorted draws at hand.
func mcseMean(chains [][]float64, sorted []float64) float64 {
	return stat.StdDev(sorted, nil) / math.Sqrt(ess(halves(chains)))
}

// mcseSD is MCSESD with the sorted draws at hand.
func mcseSD(chains [][]float64, sorted []float64) float64 {
	if undefined(chains) {
		return math.NaN()
	}
	mean := stat.Mean(sorted, nil)
	squares := eachChain(chains, func(chain []float64) []float64 {
		out := absDeviations(chain, mean)
		for i, v := range out {
			out[i] = v * v
		}
		return out
	})
	var second, fourth float64
	for _, chain := range squares {
		for _, square := range chain {
			second += square
			fourth += square * square
		}
	}
	size := float64(len(sorted))
	second, fourth = second/size, fourth/size
	return math.Sqrt((fourth - second*second) / ess(halves(squares)) / second / 4)
}

// mcseQuantile is the Monte Carlo standard error of the p-quantile of the sorted draws,
// 0 ≤ p ≤ 1, of which size is the ESS: half the width of the interval of order statistics
// between the 16% and 84% quantiles of Beta(p·ESS+1, (1-p)·ESS+1) [Vehtari et al. 2021,
// §4.4]. It is NaN where size is.
func mcseQuantile(sorted []float64, p, size float64) float64 {
	if math.IsNaN(size) {
		return math.NaN()
	}
	// Φ(±1), with the digits posterior uses.
	lower := mathext.InvRegIncBeta(size*p+1, size*(1-p)+1, 0.1586553)
	upper := mathext.InvRegIncBeta(size*p+1, size*(1-p)+1, 0.8413447)
	draws := float64(len(sorted))
	first := max(int(math.Floor(lower*draws)), 1)
	last := min(int(math.Ceil(upper*draws)), len(sorted))
	return (sorted[last-1] - sorted[first-1]) / 2
}
