package dphmc

import (
	"math"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// bounds are what the target certifies of one record's |τ·(ℓ(z;θ) − ℓ(z;θ′))|.
// They choose clips, which the curator enforces. Each is symmetric in θ and θ′,
// as detailed balance needs of the penalty's noise.
type bounds struct {
	constant  float64                  // for every move; +Inf for none
	perLength float64                  // times ‖θ′ − θ‖; +Inf for none
	ratio     targets.RatioCertificate // of one move; nil for none
	tau       float64
	radius    float64
}

// certified collects the certificates that apply.
func (c Config) certified(f curator.Facts) bounds {
	b := bounds{constant: math.Inf(1), perLength: math.Inf(1), tau: c.temperature(), radius: f.Radius}
	if r, ok := c.Target.(targets.RangeCertificate); ok {
		b.constant = b.tau * r.LossRange()
	}
	if f.Radius == 0 {
		return b
	}
	if l, ok := c.Target.(targets.LinearTarget); ok {
		b.perLength = b.tau * l.PredictorLipschitz() * f.Radius
	}
	if g, ok := c.Target.(targets.GradCertificate); ok { // by the mean value theorem
		b.perLength = min(b.perLength, b.tau*g.GradBound(f.Radius))
	}
	b.ratio, _ = c.Target.(targets.RatioCertificate)
	return b
}

// any reports whether some bound may apply to every move.
func (b bounds) any() bool {
	return !math.IsInf(min(b.constant, b.perLength), 1) || b.ratio != nil
}

// of bounds one move of the given length.
func (b bounds) of(next, theta []float64, length float64) float64 {
	bound := b.constant
	if !math.IsInf(b.perLength, 1) {
		bound = min(bound, b.perLength*length)
	}
	if b.ratio != nil {
		bound = min(bound, b.tau*max(b.ratio.RatioBound(theta, next, b.radius), b.ratio.RatioBound(next, theta, b.radius)))
	}
	return bound
}
