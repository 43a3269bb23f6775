package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// model is a linear target with every ability and tight certificates, whose loss
// is a function of the predictor and the response.
type model struct {
	loss, slope func(eta, y float64) float64
	lipschitz   float64
	span        float64 // the range of the loss; +Inf for none
	labels      bool
}

func softplus(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }

// The models: labels y > ½ with the logistic loss, any response with the
// pseudo-Huber loss, and any response with Welsch's bounded loss.
var (
	logistic = model{labels: true, lipschitz: 1, span: math.Inf(1),
		loss:  func(eta, y float64) float64 { return softplus(-sign(y) * eta) },
		slope: func(eta, y float64) float64 { return -sign(y) / (1 + math.Exp(sign(y)*eta)) }}
	huber = model{lipschitz: 1, span: math.Inf(1),
		loss:  func(eta, y float64) float64 { return math.Hypot(1, eta-y) - 1 },
		slope: func(eta, y float64) float64 { return (eta - y) / math.Hypot(1, eta-y) }}
	welsch = model{lipschitz: math.Exp(-0.5), span: 1,
		loss:  func(eta, y float64) float64 { return -math.Expm1(-(eta - y) * (eta - y) / 2) },
		slope: func(eta, y float64) float64 { return (eta - y) * math.Exp(-(eta-y)*(eta-y)/2) }}
)

func sign(y float64) float64 {
	switch {
	case y > 0.5:
		return 1
	case y <= 0.5:
		return -1
	}
	return math.NaN()
}

// at is what a hook sees: one record, and where it is evaluated.
type at struct {
	theta, next, x []float64
	y              float64
	n, i           int // the size of the batch and the record's place in it
	rows           targets.Rows
}

func (a at) eta() float64 { return dot(a.x, a.theta) }

func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += v * y[j]
	}
	return sum
}

// planted is a model with hooks that spoil what it gives.
type planted struct {
	model
	loss, ratio     func(at, float64) float64
	grad            func(a at, g []float64)
	lossAt, slopeAt func(eta, y, v float64) float64
	prior           func(theta []float64, lp float64) float64
	gradPrior       func(theta, g []float64)
	draw            func(theta []float64, rng *rand.Rand)
	lip             func() float64
	bound           func(theta, next []float64, radius, b float64) float64
	gradBound       func(radius, b float64) float64
	spans           func() float64
}

// weigh multiplies losses and gradients by a function of the response.
func (p *planted) weigh(by func(y float64) float64) {
	p.loss = func(a at, l float64) float64 { return l * by(a.y) }
	p.grad = func(a at, g []float64) { g[0] *= by(a.y); g[1] *= by(a.y) }
	p.lossAt = func(_, y, v float64) float64 { return v * by(y) }
	p.slopeAt = func(_, y, v float64) float64 { return v * by(y) }
}

const dim = 2

const priorSD = 2

func (p *planted) Dim() int           { return dim }
func (p *planted) Shape() (int, bool) { return dim, true }

func (p *planted) LogPrior(theta []float64) float64 {
	lp := -dot(theta, theta) / (2 * priorSD * priorSD)
	if p.prior != nil {
		return p.prior(theta, lp)
	}
	return lp
}

func (p *planted) GradLogPrior(dst, theta []float64) {
	for j, t := range theta {
		dst[j] = -t / (priorSD * priorSD)
	}
	if p.gradPrior != nil {
		p.gradPrior(theta, dst)
	}
}

func (p *planted) SamplePrior(theta []float64, rng *rand.Rand) {
	for j := range theta {
		theta[j] = priorSD * rng.NormFloat64()
	}
	if p.draw != nil {
		p.draw(theta, rng)
	}
}

func each(rows targets.Rows, theta, next []float64, see func(a at)) {
	n := rows.Len()
	for i := range n {
		see(at{theta, next, rows.Row(i), rows.Y[i], n, i, rows})
	}
}

func (p *planted) Loss(dst, theta []float64, rows targets.Rows) {
	each(rows, theta, nil, func(a at) {
		dst[a.i] = p.model.loss(a.eta(), a.y)
		if p.loss != nil {
			dst[a.i] = p.loss(a, dst[a.i])
		}
	})
}

func (p *planted) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	each(rows, theta, next, func(a at) {
		now, then := p.model.loss(a.eta(), a.y), p.model.loss(dot(a.x, next), a.y)
		if p.loss != nil {
			b := a
			b.theta = next
			now, then = p.loss(a, now), p.loss(b, then)
		}
		dst[a.i] = now - then
		if p.ratio != nil {
			dst[a.i] = p.ratio(a, dst[a.i])
		}
	})
}

func (p *planted) LossGrad(dst, theta []float64, rows targets.Rows) {
	each(rows, theta, nil, func(a at) {
		g := dst[a.i*dim : (a.i+1)*dim]
		slope := p.model.slope(a.eta(), a.y)
		for j, x := range a.x {
			g[j] = slope * x
		}
		if p.grad != nil {
			p.grad(a, g)
		}
	})
}

func (p *planted) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = p.model.loss(e, y[i])
		if p.lossAt != nil {
			dst[i] = p.lossAt(e, y[i], dst[i])
		}
	}
}

func (p *planted) SlopeAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = p.model.slope(e, y[i])
		if p.slopeAt != nil {
			dst[i] = p.slopeAt(e, y[i], dst[i])
		}
	}
}

func (p *planted) PredictorLipschitz() float64 {
	if p.lip != nil {
		return p.lip()
	}
	return p.lipschitz
}

func (p *planted) LossRange() float64 {
	if p.spans != nil {
		return p.spans()
	}
	return p.span
}

func (p *planted) RatioBound(theta, next []float64, radius float64) float64 {
	sum := 0.0
	for j, t := range theta {
		sum += (next[j] - t) * (next[j] - t)
	}
	b := p.lipschitz * radius * math.Sqrt(sum) * (1 + 1e-12)
	if p.bound != nil {
		return p.bound(theta, next, radius, b)
	}
	return b
}

func (p *planted) GradBound(radius float64) float64 {
	b := p.lipschitz * radius * (1 + 1e-12)
	if p.gradBound != nil {
		return p.gradBound(radius, b)
	}
	return b
}
