package conjugate

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// KL returns the Kullback-Leibler divergence of Dirichlet(p) from Dirichlet(q).
func KL(p, q []float64) float64 {
	sum := 0.0
	for _, a := range p {
		sum += a
	}
	d := logBeta(q) - logBeta(p)
	for i := range p {
		d += (p[i] - q[i]) * (mathext.Digamma(p[i]) - mathext.Digamma(sum))
	}
	return d
}

// logBeta is the log partition function Σ log Γ(aᵢ) − log Γ(Σ aᵢ).
func logBeta(a []float64) float64 {
	v, sum := 0.0, 0.0
	for _, x := range a {
		v += lgamma(x)
		sum += x
	}
	return v - lgamma(sum)
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// moved is the Rényi divergence of order 1+t of a posterior in which categories
// i and j have concentrations from and to, from the one in which weight r has
// been moved from i to j, rounded up. The concentrations of other categories
// and the total cancel.
func moved(t, r, from, to float64) float64 {
	if !(to > t*r) || !(from > r) {
		return math.Inf(1)
	}
	upI, downI := lgamma(from+t*r), lgamma(from-r)
	upJ, downJ := lgamma(to-t*r), lgamma(to+r)
	i, j := lgamma(from), lgamma(to)
	d := ((upI-i)+(upJ-j))/t + (downI - i) + (downJ - j)
	// math.Lgamma errs by a few units in the last place of a number of at least 1
	// in size (its absolute error is bounded near its zeros too).
	// Near the pole at 0 the argument's own rounding counts too.
	pole := (to+t*r)/(to-t*r)/t + from/(from-r)
	size := pole + (math.Abs(upI)+math.Abs(upJ)+math.Abs(i)+math.Abs(j)+4)/t
	size += math.Abs(downI) + math.Abs(downJ) + math.Abs(i) + math.Abs(j) + 4
	return max(0, d) + size*0x1p-49
}

// worst returns the largest divergence of order 1+t over adjacent pairs of
// posteriors: prior/m + r·counts with n records. It is attained at a vertex of
// the set of counts (docs/proofs/ops-conjugate.md), of which (c_i, c_j) can be
// (n, 0), (1, n−1) and, when there is a third category for the rest, (1, 0).
func worst(t, r, m float64, prior []float64, n int) float64 {
	top := 0.0
	for i, a := range prior {
		for j, b := range prior {
			if i == j {
				continue
			}
			vertex := func(ci, cj float64) float64 { return moved(t, r, a/m+r*ci, b/m+r*cj) }
			top = max(top, vertex(float64(n), 0), vertex(1, float64(n-1)))
			if len(prior) > 2 {
				top = max(top, vertex(1, 0))
			}
		}
	}
	return top
}
