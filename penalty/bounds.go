package penalty

import (
	"cmp"
	"math"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// bounds collects the clip, or else the certificates that apply.
func (c Config) bounds(f curator.Facts) kernels.Bounds {
	inf := math.Inf(1)
	b := kernels.Bounds{Constant: inf, PerLength: inf, Tau: c.Temperature, Radius: f.Radius}
	b.Tau = cmp.Or(b.Tau, 1)
	if c.Clip != 0 {
		if c.Noise.scaled {
			b.PerLength = c.Clip
		} else {
			b.Constant = c.Clip
		}
		return b
	}
	if r, ok := c.Target.(targets.RangeCertificate); ok {
		b.Constant = b.Tau * r.LossRange()
	}
	if l, ok := c.Target.(targets.LinearTarget); ok && f.Radius > 0 {
		b.PerLength = b.Tau * l.PredictorLipschitz() * f.Radius
	}
	if r, ok := c.Target.(targets.RatioCertificate); ok && f.Radius > 0 && math.IsInf(b.PerLength, 1) {
		b.Ratio = r
	}
	return b
}
