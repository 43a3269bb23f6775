package targets

// Proof: docs/proofs/targets-certificates.md.

import "math"

// countSlack is by how much, in proportion, the certified slope of a count may
// exceed the least upper bound: a search of two dimensions is coarser.
const countSlack = 5e-3

// slopeCeiling returns an upper bound of |∂ℓ/∂η| = |f^b·u − E|, E = Σf^β·u, over
// η in eta and the counts up to most. The search is over η and log(1+y), so that
// boxes may hold a few small counts or very many large ones.
//
// On an interval of η the greatest mass falls as η rises, because the likeliest
// count has a score of at most 0. E changes by at most (β+1)·M^b·I per unit of
// η, with M that mass and I the Fisher information: E′ = Σf^β(βu² + u′), and both
// Σf·u² and Σf·|u′| are I.
func (f *counts) slopeCeiling(eta [2]float64, most float64) float64 {
	b := f.loss.b
	over := func(e, y [2]float64) float64 {
		if y[0] > y[1] {
			return 0
		}
		mass := math.Exp(b * min(0, f.law.massOver(e, y)))
		low, high := f.law.scoreOver(e, y)
		common, drift := f.common(e)
		return max(mass*max(0, high)-common, mass*max(0, -low)+common, -common) + drift
	}
	return ceiling2(countSlack, eta, [2]float64{0, math.Log1p(most)}, func(e, w [2]float64) float64 {
		low, high := math.Expm1(w[0]), math.Expm1(w[1])
		if w[0] == w[1] { // a point stands for the counts on either side
			return max(over(e, point(math.Floor(low))), over(e, point(math.Ceil(low))))
		}
		return over(e, [2]float64{math.Ceil(low * (1 - 1e-14)), math.Floor(high * (1 + 1e-14))})
	})
}

// common returns the middle of E on an interval of η and half of what it may
// change there.
func (f *counts) common(eta [2]float64) (value, drift float64) {
	b := f.loss.b
	power, slope := f.logPower(middle(eta))
	value = math.Exp(power) * slope / (1 + b)
	most := math.Exp(b * f.law.logMass(eta[0], f.law.mode(eta[0])))
	return value, (2 + b) * most * f.law.information(eta[1]) * (eta[1] - eta[0]) / 2
}

// farPoisson is the least log mean of the closed bound below.
const farPoisson = 4.5

// slopeCeiling bounds the slope for b ≥ 1 over all η: a search up to the mean
// e^farPoisson, of counts up to some 100 standard deviations, and beyond it
// M^(b−1)·g + b·M^b·g with g = sup f·|u| ≤ e^(0.544/√λ)/√(2πe)
// (docs/proofs/targets-certificates.md §2).
func (p poisson) slopeCeiling(f *counts) float64 {
	b, lambda := f.loss.b, math.Exp(farPoisson)
	most := math.Exp(p.logMass(farPoisson, p.mode(farPoisson)))
	g := math.Exp(0.544/math.Sqrt(lambda)) / math.Sqrt(2*math.Pi*math.E)
	far := g*math.Pow(most, b-1) + b*g*math.Pow(most, b)
	return max(far, f.slopeCeiling([2]float64{minLogMean, farPoisson}, 10*lambda))
}

// massOver takes a single count's exact mass, and for several Stirling's lower
// bound on y! with the deviance of the nearest corner.
func (p poisson) massOver(eta, y [2]float64) float64 {
	if y[0] == y[1] {
		return p.logMass(max(eta[0], min(eta[1], math.Log(y[0]))), y[0])
	}
	none := math.Inf(-1)
	if y[0] == 0 {
		none, y[0] = -math.Exp(eta[0]), 1
	}
	low, high := math.Exp(eta[0]), math.Exp(eta[1])
	var d float64
	switch {
	case y[0] > high:
		d = deviance(y[0], high, eta[1])
	case y[1] < low:
		d = deviance(y[1], low, eta[0])
	}
	return max(none, -d-math.Log(2*math.Pi*y[0])/2)
}

func (poisson) scoreOver(eta, y [2]float64) (low, high float64) {
	return y[0] - math.Exp(eta[1]), y[1] - math.Exp(eta[0])
}

func (poisson) mode(eta float64) float64        { return math.Floor(math.Exp(eta)) }
func (poisson) information(eta float64) float64 { return math.Exp(eta) }

// slopeCeiling bounds the slope over all η. With s = μ/(r+μ) and x = y(1−s), a
// mass is at most (1−s)^ρ·e^shift·e^(−x·pull): so the search ends where (1−s)^(ρb) is
// e⁻¹², and takes counts until x·f^b has died out. Where b·ρ is below 0.02 it
// would have to go too far, and the bound is (r + 1/b)(1 + 1/(rb))^(rb)·e^(rb−1)
// + √r instead, or 1/(eb) + √r when r ≤ 1: docs/proofs/targets-certificates.md §2.
func (n negBinomial) slopeCeiling(f *counts) float64 {
	b, r := f.loss.b, n.r
	rho, shift, pull := r, 0.0, 1.0
	if r > 1 {
		peak := max(r, 2*(r-1)) // of z^(r−1)·e^(−(z−r)/2) on z ≥ r
		rho, shift, pull = 1, (r-1)*math.Log(peak)-(peak-r)/2-lgamma(r), 0.5
	}
	if b*rho < 0.02 {
		if r <= 1 {
			return 1/(math.E*b) + math.Sqrt(r)
		}
		return (r+1/b)*math.Pow(1+1/(r*b), r*b)*math.Exp(r*b-1) + math.Sqrt(r)
	}
	far := (12/b + shift) / rho
	most := math.Exp(b * (shift - rho*far)) // of f^b where 1−s ≤ e^−far
	right := most * (1/(math.E*b*pull) + r + math.Sqrt(r))
	long := 40/(b*pull) + 4*r
	beyond := math.Exp(b*(shift-pull*long))*long + 2*math.Sqrt(r)*math.Exp(b*shift-b*pull*long)
	eta := [2]float64{n.logR - 40/b - math.Log(max(1, r)) - 1, n.logR + far}
	return max(right, beyond, f.slopeCeiling(eta, long*(1+math.Exp(far))))
}

// massOver takes a single count's mass where it is greatest, and for several
// every factor at its greater end.
func (n negBinomial) massOver(eta, y [2]float64) float64 {
	if y[0] == y[1] {
		return n.logMass(max(eta[0], min(eta[1], math.Log(y[0]))), y[0])
	}
	v := max(n.logChoose(y[0]), n.logChoose(y[1])) - n.r*softplus(eta[0]-n.logR)
	if y[0] > 0 {
		v -= y[0] * softplus(n.logR-eta[1])
	}
	return v
}

func (n negBinomial) scoreOver(eta, y [2]float64) (low, high float64) {
	return n.score(eta[1], y[0]), n.score(eta[0], y[1])
}

func (n negBinomial) mode(eta float64) float64 {
	return math.Floor(max(0, math.Exp(eta-n.logR)*(n.r-1)))
}

func (n negBinomial) information(eta float64) float64 { return n.r / (1 + math.Exp(n.logR-eta)) }
