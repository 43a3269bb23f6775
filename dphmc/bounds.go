package dphmc

import (
	"math"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// certified collects the certificates that apply.
func (c Config) certified(f curator.Facts) kernels.Bounds {
	b := kernels.Bounds{Constant: math.Inf(1), PerLength: math.Inf(1), Tau: c.temperature(), Radius: f.Radius}
	if r, ok := c.Target.(targets.RangeCertificate); ok {
		b.Constant = b.Tau * r.LossRange()
	}
	if f.Radius == 0 {
		return b
	}
	if l, ok := c.Target.(targets.LinearTarget); ok {
		b.PerLength = b.Tau * l.PredictorLipschitz() * f.Radius
	}
	if g, ok := c.Target.(targets.GradCertificate); ok { // by the mean value theorem
		b.PerLength = min(b.PerLength, b.Tau*g.GradBound(f.Radius))
	}
	b.Ratio, _ = c.Target.(targets.RatioCertificate)
	return b
}
