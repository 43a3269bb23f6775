package proptest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// divergence is a lower confidence bound on a Rényi divergence.
type divergence struct {
	lower, claimed, order float64
	from                  string
	promise               float64 // the share of the claim that was expected of the bound
	near                  float64 // how many standard errors any set came nearest to an excess of δ
}

// weighing is a function of cells that bounds a Rényi divergence from below: for every g,
//
//	D_α(P‖Q) ≥ α/(α−1)·log E_P[e^{(α−1)g}] − log E_Q[e^{αg}],
//
// with equality where g is the log-likelihood ratio (Birrell et al. 2021, Theorem 2).
type weighing struct {
	feature int
	onB     bool // P is B's law
	order   float64
	g       []float64
	claimed float64
	promise float64
}

// weighings are those of a feature that n releases make exceed a claim, if the ones that were
// counted go on, and the best that does not.
func (f feature) weighings(index int, a, b []int, n int, claim accountant.Event) (all []weighing) {
	if mayFail(claim) {
		return nil
	}
	best := weighing{feature: -1}
	for _, onB := range []bool{false, true} {
		g := logRatios(a, b)
		if onB {
			times(g, -1)
		}
		for _, order := range auditOrders[:8] {
			w := weighing{feature: index, onB: onB, order: order, g: g, claimed: claim.RDP(order)}
			if !(w.claimed > 0) || math.IsInf(w.claimed, 1) {
				continue
			}
			w.promise = w.lower(a, b, n, 1e-9) / w.claimed
			if w.promise > 1 {
				all = append(all, w)
			} else if best.feature < 0 || w.promise > best.promise {
				best = w
			}
		}
	}
	if len(all) == 0 && best.feature >= 0 {
		return []weighing{best}
	}
	return all
}

// logRatios estimates the log-likelihood ratio of each cell.
func logRatios(a, b []int) []float64 {
	g := make([]float64, len(a))
	for i := range g {
		g[i] = math.Log((float64(a[i]) + 0.5) / (float64(b[i]) + 0.5))
	}
	return g
}

// lower is the bound from counts, as if n releases had been counted, by empirical Bernstein
// bounds on both means.
func (w weighing) lower(a, b []int, n int, alarm float64) float64 {
	if w.onB {
		a, b = b, a
	}
	up, widthUp := w.mean(a, w.order-1, n, alarm/2)
	down, widthDown := w.mean(b, w.order, n, alarm/2)
	if up <= widthUp {
		return math.Inf(-1)
	}
	return w.order/(w.order-1)*math.Log(up-widthUp) - math.Log(down+widthDown)
}

// mean is that of e^{power·g}, and how far the true one may be on one side (Maurer and Pontil
// 2009, Theorem 4).
func (w weighing) mean(counts []int, power float64, n int, alarm float64) (mean, width float64) {
	total, sum, squares, span := 0.0, 0.0, 0.0, 0.0
	for i, k := range counts {
		v := math.Exp(power * w.g[i])
		total, sum, squares, span = total+float64(k), sum+float64(k)*v, squares+float64(k)*v*v, max(span, v)
	}
	mean = sum / total
	l := math.Log(2 / alarm)
	variance := max(0, squares/total-mean*mean) * total / (total - 1)
	return mean, math.Sqrt(2*variance*l/float64(n)) + 7*span*l/(3*float64(n-1))
}

// bounded is the largest bound, for its claim, of up to 12 weighings on fresh releases.
func bounded(all []weighing, fs []feature, rest tested, alarm float64) divergence {
	slices.SortStableFunc(all, func(a, b weighing) int { return cmp.Compare(b.promise, a.promise) })
	all = all[:min(len(all), 12)]
	best := divergence{claimed: 1}
	for i, w := range all {
		f := fs[w.feature]
		lower := w.lower(f.counts(rest.onA), f.counts(rest.onB), len(rest.onA), alarm/float64(len(all)))
		if i == 0 || lower*best.claimed > best.lower*w.claimed {
			best = divergence{lower: lower, claimed: w.claimed, order: w.order,
				from: fmt.Sprintf("the likelihood ratio of {%s}, fixed on other releases, in %d "+
					"releases each", f.name, len(rest.onA)), promise: all[0].promise}
		}
	}
	return best
}
