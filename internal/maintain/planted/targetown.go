package planted

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// own is a target of functions of one record.
type own struct {
	dim, features int
	loss          func(theta, x []float64, y float64) float64
	grad          func(g, theta, x []float64, y float64)
	ratio         func(theta, next, x []float64, y float64) float64 // nil: the difference
	logPrior      func(theta []float64) float64                     // nil: standard normal
	gradPrior     func(g, theta []float64)
	batch         func(dst []float64, rows targets.Rows) // spoils the losses of a batch
}

func (m *own) Dim() int           { return m.dim }
func (m *own) Shape() (int, bool) { return m.features, true }

func (m *own) LogPrior(theta []float64) float64 {
	if m.logPrior != nil {
		return m.logPrior(theta)
	}
	return -dot(theta, theta) / 2
}

func (m *own) GradLogPrior(dst, theta []float64) {
	if m.gradPrior != nil {
		m.gradPrior(dst, theta)
		return
	}
	for j, t := range theta {
		dst[j] = -t
	}
}

func (m *own) Loss(dst, theta []float64, rows targets.Rows) {
	each(rows, theta, nil, func(a at) { dst[a.i] = m.loss(a.theta, a.x, a.y) })
	if m.batch != nil {
		m.batch(dst, rows)
	}
}

func (m *own) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	each(rows, theta, next, func(a at) {
		if m.ratio != nil {
			dst[a.i] = m.ratio(a.theta, a.next, a.x, a.y)
		} else {
			dst[a.i] = m.loss(a.theta, a.x, a.y) - m.loss(a.next, a.x, a.y)
		}
	})
	if m.batch != nil {
		m.batch(dst, rows)
	}
}

func (m *own) LossGrad(dst, theta []float64, rows targets.Rows) {
	each(rows, theta, nil, func(a at) { m.grad(dst[a.i*m.dim:(a.i+1)*m.dim], a.theta, a.x, a.y) })
}

func ownTarget(name, effect string, response func(u float64) float64, make func() targets.Target) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckTarget(t, make(), proptest.TargetOptions{Seed: seed, Effort: effort, Response: response})
		}}
}

// plainly is a case whose responses are any numbers.
func plainly(name, effect string, make func() targets.Target) Case {
	return ownTarget(name, effect, nil, make)
}

// spoilt is a case of a right target that is spoilt, grown one whose gradients are, and ratio one of
// Huber's regression whose ratios are.
func spoilt(name, effect string, response func(u float64) float64, base func() *own, spoil func(m *own)) Case {
	return ownTarget(name, effect, response, func() targets.Target {
		m := base()
		spoil(m)
		return m
	})
}

func grown(name, effect string, response func(u float64) float64, base func() *own,
	spoil func(g, theta, x []float64, y float64)) Case {
	return spoilt(name, effect, response, base, func(m *own) {
		right := m.grad
		m.grad = func(g, theta, x []float64, y float64) {
			right(g, theta, x, y)
			spoil(g, theta, x, y)
		}
	})
}

func ratio(name, effect string, features int, spoil func(theta, next, x []float64, y, r float64) float64) Case {
	return spoilt(name, effect, nil, huberOf(features), func(m *own) {
		m.ratio = func(theta, next, x []float64, y float64) float64 {
			return spoil(theta, next, x, y, m.loss(theta, x, y)-m.loss(next, x, y))
		}
	})
}

// intercepted adds a parameter before those of the features.
func intercepted(theta, x []float64) float64 { return theta[0] + dot(x, theta[1:]) }

// robust is Huber's regression on features in as many dimensions.
func robust(features int, at float64) *own {
	residual := func(theta, x []float64, y float64) float64 { return dot(x, theta) - y }
	return &own{dim: features, features: features,
		loss: func(theta, x []float64, y float64) float64 {
			if r := math.Abs(residual(theta, x, y)); r > at {
				return at * (r - at/2)
			}
			r := residual(theta, x, y)
			return r * r / 2
		},
		grad: func(g, theta, x []float64, y float64) {
			r := max(-at, min(residual(theta, x, y), at))
			for j, v := range x {
				g[j] = r * v
			}
		}}
}

// huberOf makes one, and slope bounds its gradients.
func huberOf(features int) func() *own { return func() *own { return robust(features, 1.5) } }

func slope(radius float64) float64 { return 1.5 * radius * (1 + 1e-12) }

func moved(theta, next []float64) float64 {
	sum := 0.0
	for j, t := range theta {
		sum += (next[j] - t) * (next[j] - t)
	}
	return math.Sqrt(sum)
}

func counts(u float64) float64 {
	return either(!(u > 0 && u < 1e15), 0, math.Floor(u))
}

func threeClasses(u float64) float64 { return max(0, min(counts(u), 2)) }

// along is a loss of x·θ and the response.
func along(loss, slope func(eta, y float64) float64) *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return loss(dot(x[:2], theta), y) },
		grad: func(g, theta, x []float64, y float64) {
			by := slope(dot(x[:2], theta), y)
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

func madeOf(make func() *own) func() targets.Target { return func() targets.Target { return make() } }
