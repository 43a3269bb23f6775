package diag

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// ESSBulk returns the effective sample size of the rank-normalised split
// chains: how many independent draws would locate the bulk as well.
func ESSBulk(chains [][]float64) float64 {
	chains, _ = align(chains)
	if undefined(chains) {
		return math.NaN()
	}
	return ess(normalScores(halves(chains)))
}

// ESSTail returns the smaller of the effective sample sizes of the 5% and 95%
// quantiles.
func ESSTail(chains [][]float64) float64 {
	chains, _ = align(chains)
	sorted := pooled(chains)
	return min(essQuantile(chains, sorted, 0.05), essQuantile(chains, sorted, 0.95))
}

// ESSMean returns the effective sample size for the mean of the draws.
func ESSMean(chains [][]float64) float64 {
	chains, _ = align(chains)
	return ess(halves(chains))
}

// essQuantile is the effective sample size for the p-quantile of the sorted draws,
// 0 ≤ p ≤ 1: that of the mean of the indicators x ≤ Quantile(p). It is NaN for any other p.
func essQuantile(chains [][]float64, sorted []float64, p float64) float64 {
	if undefined(chains) || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	if p == 1 { // every draw is at most the maximum; the indicator needs one that is not
		size := float64(len(sorted))
		p = (size - 0.5) / size
	}
	q := Quantile(sorted, p)
	return ess(halves(eachChain(chains, func(chain []float64) []float64 { return indicators(chain, q) })))
}

// indicators returns 1 where x ≤ q and 0 elsewhere.
func indicators(x []float64, q float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if v <= q {
			out[i] = 1
		}
	}
	return out
}

// pooled returns all draws of all chains in increasing order.
func pooled(chains [][]float64) []float64 {
	all := slices.Concat(chains...)
	slices.Sort(all)
	return all
}

// ess returns the effective sample size for the mean of equally long chains,
// by Geyer's initial monotone sequence on the multi-chain autocorrelations
// [Vehtari et al. 2021, §3.2]. It is NaN below 3 draws per chain.
func ess(chains [][]float64) float64 {
	if undefined(chains) || len(chains[0]) < 3 {
		return math.NaN()
	}
	draws := float64(len(chains) * len(chains[0]))
	tau := autocorrelationTime(autocorrelations(chains))
	return draws / max(tau, 1/math.Log10(draws)) // antithetic chains: at most draws·log₁₀(draws)
}

// autocorrelations returns the combined autocorrelation of the chains at every
// lag: 1 - (W - mean autocovariance) / var⁺, and 1 at lag 0.
func autocorrelations(chains [][]float64) []float64 {
	n := float64(len(chains[0]))
	rho := meanAutocovariance(chains)
	within := rho[0] * n / (n - 1)
	total := rho[0]
	if len(chains) > 1 {
		means, _ := meansAndVariances(chains)
		total += stat.Variance(means, nil)
	}
	for t, acov := range rho {
		rho[t] = 1 - (within-acov)/total
	}
	rho[0] = 1
	return rho
}

// meanAutocovariance returns the autocovariances with divisor n, averaged over
// the chains: one Fourier transform per chain, padded so that it does not wrap,
// and one back, since the transform is linear.
func meanAutocovariance(chains [][]float64) []float64 {
	n := len(chains[0])
	size := 1
	for size < 2*n {
		size *= 2
	}
	fft := fourier.NewFFT(size)
	padded := make([]float64, size)
	coeff := make([]complex128, size/2+1)
	power := make([]complex128, size/2+1)
	for _, chain := range chains {
		mean := stat.Mean(chain, nil)
		for i, v := range chain {
			padded[i] = v - mean
		}
		fft.Coefficients(coeff, padded)
		for k, c := range coeff {
			power[k] += complex(real(c)*real(c)+imag(c)*imag(c), 0)
		}
	}
	acov := fft.Sequence(padded, power)[:n]
	scale := 1 / (float64(size) * float64(n) * float64(len(chains)))
	for t := range acov {
		acov[t] *= scale
	}
	return acov
}

// autocorrelationTime returns the integrated autocorrelation time of rho, which
// it overwrites, by Geyer's initial positive and monotone sequences of pairs of
// lags. The first lag after the positive pairs still counts once: that lowers
// the variance for antithetic chains. With fewer than 6 lags, or a first pair
// that is not positive, no sequence exists and the answer is 2, as in posterior.
func autocorrelationTime(rho []float64) float64 {
	last := 0 // the even lag of the pair that ends the sequence
	for sum := rho[0] + rho[1]; last < len(rho)-5 && sum > 0; {
		last += 2
		sum = rho[last] + rho[last+1]
	}
	if last == 0 {
		return 2
	}
	for t := 2; t <= last-2; t += 2 {
		if before := rho[t-2] + rho[t-1]; rho[t]+rho[t+1] > before {
			rho[t], rho[t+1] = before/2, before/2
		}
	}
	tau := -1 + max(rho[last], 0)
	for _, r := range rho[:last] {
		tau += 2 * r
	}
	return tau
}

// normalScores replaces every draw by the normal quantile of its rank among the
// draws of all chains, ties sharing their mean rank (Blom's offset 3/8).
func normalScores(chains [][]float64) [][]float64 {
	type draw struct {
		value    float64
		chain, i int
	}
	var order []draw
	for c, chain := range chains {
		for i, v := range chain {
			order = append(order, draw{v, c, i})
		}
	}
	slices.SortFunc(order, func(a, b draw) int { return cmp.Compare(a.value, b.value) })
	scores := eachChain(chains, func(chain []float64) []float64 { return make([]float64, len(chain)) })
	size := float64(len(order))
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && order[end].value == order[start].value {
			end++
		}
		rank := float64(start+1+end) / 2
		z := mathext.NormalQuantile((rank - 0.375) / (size + 0.25))
		for _, d := range order[start:end] {
			scores[d.chain][d.i] = z
		}
		start = end
	}
	return scores
}
