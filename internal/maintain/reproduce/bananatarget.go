package main

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The banana of Räisä et al. (2021), §5: x₁ ~ N(θ₁, 1/τ₁), x₂ ~ N(θ₂ + a·θ₁², 1/τ₂),
// with priors N(0, 1/τ₀) on both means.
const (
	bananaBend = 20.0
	bananaTau0 = 1e-3
	bananaTau1 = 5e-4
	bananaTau2 = 4e-4
)

// banana is that model in public coordinates φ: θ = scale·φ, coordinate by
// coordinate; or, straight, (θ₁, θ₂ + a·θ₁²) = scale·φ, a change of variables
// whose Jacobian is constant, so that the posterior stays the same law. A chain
// on φ and a map of its draws is what a preconditioned chain is, for every
// kernel alike.
type banana struct {
	scale    [2]float64
	straight bool
}

var _ targets.GradTarget = banana{}

func (b banana) Dim() int           { return 2 }
func (b banana) Shape() (int, bool) { return 2, false }

// theta maps φ to θ.
func (b banana) theta(phi []float64) []float64 {
	t := []float64{b.scale[0] * phi[0], b.scale[1] * phi[1]}
	if b.straight {
		t[1] -= bananaBend * t[0] * t[0]
	}
	return t
}

// phi maps θ to φ.
func (b banana) phi(theta []float64) []float64 {
	p := []float64{theta[0] / b.scale[0], theta[1] / b.scale[1]}
	if b.straight {
		p[1] = (theta[1] + bananaBend*theta[0]*theta[0]) / b.scale[1]
	}
	return p
}

// means returns the model's two means and the derivative of the second by φ₁.
func (b banana) means(phi []float64) (m1, m2, slope float64) {
	m1, m2 = b.scale[0]*phi[0], b.scale[1]*phi[1]
	if !b.straight {
		m2 += bananaBend * m1 * m1
		slope = 2 * bananaBend * m1 * b.scale[0]
	}
	return m1, m2, slope
}

func (b banana) LogPrior(phi []float64) float64 {
	m1, m2, _ := b.means(phi)
	return -bananaTau0 / 2 * (m1*m1 + m2*m2)
}

func (b banana) GradLogPrior(dst, phi []float64) {
	m1, m2, slope := b.means(phi)
	dst[0] = -bananaTau0 * (m1*b.scale[0] + m2*slope)
	dst[1] = -bananaTau0 * m2 * b.scale[1]
}

func (b banana) Loss(dst, phi []float64, rows targets.Rows) {
	m1, m2, _ := b.means(phi)
	for i := range dst {
		d1, d2 := rows.X[2*i]-m1, rows.X[2*i+1]-m2
		dst[i] = (bananaTau1*d1*d1 + bananaTau2*d2*d2) / 2
	}
}

func (b banana) LossGrad(dst, phi []float64, rows targets.Rows) {
	m1, m2, slope := b.means(phi)
	for i := range rows.Len() {
		g1, g2 := -bananaTau1*(rows.X[2*i]-m1), -bananaTau2*(rows.X[2*i+1]-m2)
		dst[2*i] = g1*b.scale[0] + g2*slope
		dst[2*i+1] = g2 * b.scale[1]
	}
}

// bananaPosterior is the exact posterior of the two means: independent normals.
type bananaPosterior struct{ mean, sd [2]float64 }

func newBananaPosterior(x []float64) bananaPosterior {
	n := float64(len(x) / 2)
	var sum [2]float64
	for i, v := range x {
		sum[i%2] += v
	}
	var p bananaPosterior
	for j, tau := range []float64{bananaTau1, bananaTau2} {
		precision := n*tau + bananaTau0
		p.mean[j], p.sd[j] = tau*sum[j]/precision, 1/math.Sqrt(precision)
	}
	return p
}
