package proptest

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// fair is the two-sided p-value of k successes and l failures of fair coins,
// exact. Only far tails matter, so that counts near balance give 1.
func fair(k, l int) float64 {
	m, top := k+l, max(k, l)
	if m == 0 || float64(2*top-m) < 3*math.Sqrt(float64(m)) {
		return 1
	}
	// P(Binomial(m, ½) ≥ top) = I_½(top, m−top+1).
	return min(1, 2*mathext.RegIncBeta(float64(top), float64(m-top+1), 0.5))
}

// moment is the sum of independent numbers that lie in an interval of length
// span and are expected to have mean zero.
type moment struct {
	n            int
	sum, squares float64
	span         float64
}

func (m *moment) add(v float64) {
	m.n++
	m.sum += v
	m.squares += v * v
}

// of is the moment of n numbers, of which those that were not added are 0.
func (m moment) of(n int) *moment {
	m.n = n
	return &m
}

// mean is the average, and p bounds the probability of one as far from zero: the
// empirical Bernstein bound of Maurer and Pontil (2009, Theorem 4), solved for
// its level. It holds at every sample size.
func (m *moment) mean() float64 { return m.sum / float64(m.n) }

func (m *moment) p() float64 {
	if m.n < 2 {
		return 1
	}
	n, mean := float64(m.n), math.Abs(m.mean())
	variance := max(0, (m.squares-n*mean*mean)/(n-1))
	// mean = √(2·variance·L/n) + 7·span·L/(3(n−1)) with L = log(4/p).
	a, b := 7*m.span/(3*(n-1)), math.Sqrt(2*variance/n)
	if a == 0 {
		return 1
	}
	root := (math.Sqrt(b*b+4*a*mean) - b) / (2 * a)
	return min(1, 4*math.Exp(-root*root))
}

// likely is what p would be of many numbers, by the central limit theorem. It decides nothing.
func (m *moment) likely() float64 {
	n, mean := float64(m.n), m.mean()
	return math.Erfc(math.Abs(mean) * n / math.Sqrt(2*max(0, m.squares-n*mean*mean)))
}

// less takes what is allowed off the mean.
func (m *moment) less(allowed float64) {
	m.sum -= math.Copysign(min(math.Abs(m.sum), allowed*float64(m.n)), m.sum)
}

// atLeast is P(Binomial(n, p) ≥ k).
func atLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// atMost is P(Binomial(n, p) ≤ k), without the cancellation of 1 − atLeast.
func atMost(k, n int, p float64) float64 { return atLeast(n-k, n, 1-p) }

// unlikeShares is the p-value of k of n and l of m having one probability, from either side:
// twice fisher's on the side where k is too many.
func unlikeShares(k, n, l, m int) float64 {
	if k*m < l*n {
		k, l = n-k, m-l
	}
	p := float64(k+l) / float64(n+m)
	if by := float64(k)/float64(max(n, 1)) - float64(l)/float64(max(m, 1)); by*by < 9*p*(1-p)/float64(max(n, 1)) {
		return 1 // as fair does
	}
	return min(1, 2*fisher(k, n, l, m))
}

// fisher is the p-value of k of n being too many against l of m, of one probability: given
// k + l, k is hypergeometric. k is at least its mean, beyond which its probabilities fall.
func fisher(k, n, l, m int) float64 {
	all, term, p := k+l, 1.0, 0.0
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	for i := k; i <= min(n, all) && term > 0; i++ {
		if all-i <= m {
			term = math.Exp(choose(n, i) + choose(m, all-i) - choose(n+m, all))
			p += term
		}
	}
	return min(1, p*(1+1e-6))
}

// evidence is the smallest of many p-values, and what it is about.
type evidence struct {
	p     float64
	hint  float64 // the smallest of what p-values may be
	about string
	count int
}

// mean counts the test of a mean.
func (e *evidence) mean(m *moment, about func() string) {
	e.see(m.p(), about)
	if p := m.likely(); p < e.hint {
		e.hint = p
	}
}

// see counts one test; about is asked for only when it is the worst so far.
func (e *evidence) see(p float64, about func() string) {
	if e.count++; e.count == 1 || p < e.p {
		e.p, e.about = p, about()
		if e.count == 1 || p < e.hint {
			e.hint = p
		}
	}
}

// family is the p-value of the smallest among all tests seen.
func (e *evidence) family() float64 {
	if e.count == 0 {
		return 1
	}
	return min(1, e.p*float64(e.count))
}

// suspicion is what family may be, without margins.
func (e *evidence) suspicion() float64 { return min(1, e.hint*float64(e.count)) }
