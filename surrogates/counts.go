package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// counts is a count y of mean m = e^η and variance m + wm²: Poisson for w = 0, negative
// binomial of dispersion 1/w otherwise. A count above most counts as it. Slopes
// (e^at − y)/(1 + we^at) are cut at ±cut: the factor times e^at − l − (y − l)₊ + (y − u)₊, with
// l and u where they no longer change.
type counts struct{ cut, most, w float64 }

// mostPredictor keeps whole numbers apart from the next; a mean beyond e^25 is no model of counts.
const mostPredictor = 25

func mean(eta float64) float64 { return math.Exp(min(eta, mostPredictor)) }

// at returns the mean at a predictor, and the factor of slopes there.
func (f counts) at(eta float64) (m, factor float64) {
	m = mean(eta)
	return m, 1 / (1 + m*f.w)
}

func (f counts) Slope(at, eta float64) (mu, variance, dMean, dVariance float64) {
	return f.given(tails{of: f, m: mean(eta)}, at)
}

// about has h in the place of e^at, and counts as drawn, maybe with another dispersion.
func (f counts) about(drawn tails, h, at float64) (mu, variance, dMean, dVariance float64) {
	_, a := f.at(at)
	l := max(0, h-f.cut/a)
	u := max(l, min(h+f.cut/a, f.most))
	above := drawn.at(math.Ceil(u))
	if above.chance == 1 { // differences of what is above would leave no digits
		return a * (h - u), 0, 0, 0
	}
	low, high := drawn.excess(l, drawn.at(math.Ceil(l))), drawn.excess(u, above)
	mu, dMean = h-l-low.mean+high.mean, high.dMean-low.dMean
	variance, dVariance = low.variance-high.variance, low.dVariance-high.dVariance
	if high.mean > 0 { // (y − l)₊(y − u)₊ = (y − u)₊² + (u − l)(y − u)₊
		apart := high.mean + (u - l) - low.mean
		variance -= 2 * high.mean * apart
		dVariance -= 2 * (high.dMean*apart + high.mean*dMean)
	}
	variance = max(0, min(variance, (u-l)*(u-l)/4))
	return a * mu, a * a * variance, a * min(0, dMean), a * a * dVariance
}

// slopeAbout is that of a count with h in the place of e^at.
func (f counts) slopeAbout(h, at, y float64) float64 {
	_, a := f.at(at)
	return max(-f.cut, min(f.cut, a*(h-min(y, f.most))))
}

// highest is that of means so far above the largest count that every slope is cut.
func (f counts) highest() float64 { return f.most }

func (f counts) response() counts { return f }

// Weight is the mean of m₀(1 + wy)/(1 + wm₀)² over the counts whose slope is not cut, m₀ = e^at.
func (f counts) Weight(at, eta float64) float64 {
	m0, a := f.at(at)
	drawn := tails{of: f, m: mean(eta)}
	from, to := math.Floor(m0-f.cut/a)+1, math.Ceil(m0+f.cut/a)
	if from > f.most {
		return 0
	}
	within := drawn.above(drawn.at(from))
	if to <= f.most {
		within -= drawn.above(drawn.at(to))
	} else {
		within -= f.w * drawn.excess(f.most, drawn.at(math.Ceil(f.most))).mean
	}
	return a * a * m0 * max(0, within)
}

// excess are the mean and variance of (y − c)₊ and their derivatives in log m.
type excess struct{ mean, variance, dMean, dVariance float64 }

// excess is that above c, whose next whole number has the tail t.
//
// It uses E[y·g(y)] = m/(1 + wm)·E[(1 + wy)·g(y+1)], which derivatives of a mean E[g(y)]
// are as well, with g(y+1) − g(y).
func (d tails) excess(c float64, t countTail) excess {
	f, m, k := d.of, d.m, math.Ceil(c)
	if t.chance == 0 && t.before == 0 {
		return excess{}
	}
	wm := f.w * m
	rate, within := m/(1+wm), d.above(t)
	short := m*t.before - (m-c)*(1-t.chance) // the mean of (c − y)₊
	var e excess
	e.mean, e.dMean = m-c+short, rate*(within+(k-c)*t.before)
	e.variance = e.dMean*(1+wm) - e.mean*short
	e.dVariance = rate*(within+(k-c)*(k-c)*t.before) + 2*e.mean*(m-e.dMean) + 2*wm*e.dMean
	return e
}

// farCount is how many standard deviations off a Poisson count has no probability that counts.
const farCount = 12

// countTail is P(y ≥ k), and (1 + w(k−1))·P(y = k−1).
type countTail struct{ chance, before float64 }

// fewTerms is up to where probabilities are added up one by one, which is quicker.
const fewTerms = 40

// tail is that of a count of mean m at a whole number k.
func (f counts) tail(k, m float64) countTail {
	reach := farCount * (math.Sqrt(m) + farCount)
	switch {
	case k <= 0 || f.w == 0 && k <= m-reach:
		return countTail{chance: 1}
	case f.w == 0 && k > m+reach || math.IsInf(k, 1):
		return countTail{}
	case k <= fewTerms:
		var short [fewTerms + 1]countTail
		f.shortTails(short[:int(k)+1], m)
		return short[int(k)]
	}
	l, _ := math.Lgamma(k)
	if f.w == 0 {
		return countTail{mathext.GammaIncReg(k, m), math.Exp((k-1)*math.Log(m) - m - l)}
	}
	r, wm := 1/f.w, f.w*m
	above, _ := math.Lgamma(k + r) // (1 + w(k−1))·Γ(k−1+r)/Γ(1+r) = Γ(k+r)/Γ(1+r)
	own, _ := math.Lgamma(1 + r)
	log := above - own - l + (k-1)*math.Log(m*f.w/(1+wm)) - r*math.Log1p(wm)
	return countTail{mathext.RegIncBeta(k, r, wm/(1+wm)), math.Exp(log)}
}

// shortTails are the tails at 0, 1 and so on: they add up the probabilities of counts below.
func (f counts) shortTails(out []countTail, m float64) {
	wm, log := f.w*m, -m
	if f.w > 0 {
		log = -math.Log1p(wm) / f.w
	}
	below, mass, weighed := 0.0, math.Exp(log), 0.0
	for k := range out {
		out[k] = countTail{max(0, 1-below), weighed}
		y := float64(k)
		below += mass
		weighed = (1 + f.w*y) * mass
		mass = weighed * m / ((1 + wm) * (y + 1))
	}
}
