package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
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

func (m model) options(seed uint64, effort proptest.Effort) proptest.TargetOptions {
	o := proptest.TargetOptions{Seed: seed, Effort: effort}
	if m.labels {
		o.Response = func(u float64) float64 {
			return either(u > 0.5, 1, 0)
		}
	}
	return o
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

const dim = 2

const priorSD = 2

func each(rows targets.Rows, theta, next []float64, see func(a at)) {
	n := rows.Len()
	for i := range n {
		see(at{theta, next, rows.Row(i), rows.Y[i], n, i, rows})
	}
}

// target makes a case; plant sets the hooks of a fresh model.
func target(name, effect string, m model, plant func(p *planted)) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			p := &planted{model: m}
			plant(p)
			proptest.CheckTarget(t, p, m.options(seed, effort))
		}}
}

func distance(a at) float64 { return math.Hypot(a.next[0]-a.theta[0], a.next[1]-a.theta[1]) }

func distanceTo(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// when multiplies by a factor where a condition holds.
func when(cond func(a at) bool, by float64) func(at, float64) float64 {
	return func(a at, v float64) float64 {
		return either(cond(a), v*by, v)
	}
}

// withoutResponse takes missing responses for 0.
func withoutResponse(m model) model {
	loss, slope := m.loss, m.slope
	m.loss = func(eta, y float64) float64 { return loss(eta, either(math.IsNaN(y), 0, y)) }
	m.slope = func(eta, y float64) float64 { return slope(eta, either(math.IsNaN(y), 0, y)) }
	return m
}

// scaled are normal values of mean θ₁ and standard deviation e^θ₂, a normal prior
// for the mean and a half-normal one for the standard deviation.
type scaled struct {
	jacobian float64                          // how often more than once the Jacobian of θ₂ counts
	slope    func(mu, tau, g float64) float64 // added to the gradient in θ₂
}

func (scaled) Dim() int           { return 2 }
func (scaled) Shape() (int, bool) { return 1, false }

func (s scaled) LogPrior(theta []float64) float64 {
	sigma := math.Exp(theta[1])
	return -theta[0]*theta[0]/2 - sigma*sigma/2 + (1+s.jacobian)*theta[1]
}

func (s scaled) GradLogPrior(dst, theta []float64) {
	sigma := math.Exp(theta[1])
	dst[0], dst[1] = -theta[0], 1+s.jacobian-sigma*sigma
}

func (scaled) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0], theta[1] = rng.NormFloat64(), math.Log(math.Abs(rng.NormFloat64()))
}

func (scaled) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		z := (x - theta[0]) * math.Exp(-theta[1])
		dst[i] = z*z/2 + theta[1]
	}
}

func (s scaled) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		z := (x - theta[0]) * math.Exp(-theta[1])
		dst[2*i], dst[2*i+1] = -z*math.Exp(-theta[1]), 1-z*z
		if s.slope != nil {
			dst[2*i+1] += s.slope(theta[0], theta[1], dst[2*i+1])
		}
	}
}

func scaledTarget(name, effect string, s scaled) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckTarget(t, s, proptest.TargetOptions{Seed: seed, Effort: effort})
		}}
}

func targetControls() []Case {
	none := func(*planted) {}
	return append([]Case{
		target("logistic", "", logistic, none),
		target("pseudo-Huber", "", huber, none),
		target("Welsch", "", welsch, none),
		scaledTarget("log scale", "", scaled{}),
	}, unusualTargets()...)
}

var _ targets.Target = (*planted)(nil)
