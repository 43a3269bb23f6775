package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named fourth are models, samplers and mechanisms as people write them,
// each with a bug that people make. They were written before the suites' code was read,
// and the suites were run once on them before anything was changed.

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

// drawn is an own target with draws of its prior, bounded one with a bound of moves.
type drawn struct {
	*own
	draw func(theta []float64, rng *rand.Rand)
}

func (d drawn) SamplePrior(theta []float64, rng *rand.Rand) { d.draw(theta, rng) }

// drawnFrom is Huber's regression whose draws of its prior are spoilt.
func drawnFrom(dim int, spoil func(t []float64, rng *rand.Rand)) func() targets.Target {
	return func() targets.Target {
		return drawn{robust(dim, 1.5), func(t []float64, rng *rand.Rand) {
			for j := range t {
				t[j] = rng.NormFloat64()
			}
			spoil(t, rng)
		}}
	}
}

// grown is a target whose gradients are spoilt.
func grown(name, effect string, response func(u float64) float64, base func() *own,
	spoil func(g, theta, x []float64, y float64)) Case {
	return ownTarget(name, effect, response, func() targets.Target {
		m := base()
		right := m.grad
		m.grad = func(g, theta, x []float64, y float64) {
			right(g, theta, x, y)
			spoil(g, theta, x, y)
		}
		return m
	})
}

type bounded struct {
	*own
	move func(theta, next []float64, radius float64) float64
	grad func(radius float64) float64
}

func (b bounded) RatioBound(theta, next []float64, radius float64) float64 {
	return b.move(theta, next, radius)
}
func (b bounded) GradBound(radius float64) float64 { return b.grad(radius) }

// The right models.

// intercepted adds a parameter before those of the features.
func intercepted(theta, x []float64) float64 { return theta[0] + dot(x, theta[1:]) }

func poisson() *own {
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			eta := intercepted(theta, x)
			return math.Exp(eta) - y*eta
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = math.Exp(intercepted(theta, x)) - y
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
}

// located is a normal model of the response, of a mean and a log scale.
func located() *own {
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			z := (y - theta[0]) * math.Exp(-theta[1])
			return z*z/2 + theta[1]
		},
		grad: func(g, theta, _ []float64, y float64) {
			z := (y - theta[0]) * math.Exp(-theta[1])
			g[0], g[1] = -z*math.Exp(-theta[1]), 1-z*z
		}}
}

// cauchy has heavier tails than located.
func cauchy() *own {
	m := located()
	m.loss = func(theta, _ []float64, y float64) float64 {
		z := (y - theta[0]) * math.Exp(-theta[1])
		return math.Log1p(z*z) + theta[1]
	}
	m.grad = func(g, theta, _ []float64, y float64) {
		z := (y - theta[0]) * math.Exp(-theta[1])
		g[0], g[1] = -2*z/(1+z*z)*math.Exp(-theta[1]), 1-2*z*z/(1+z*z)
	}
	return m
}

// classes is a model of three classes, of two features, class 0 being the base.
func classes() *own {
	known := func(y float64) bool { return y == 0 || y == 1 || y == 2 }
	logits := func(theta, x []float64) (a, b, logsum float64) {
		a, b = dot(x, theta[:2]), dot(x, theta[2:])
		most := max(0, a, b)
		return a, b, most + math.Log(math.Exp(-most)+math.Exp(a-most)+math.Exp(b-most))
	}
	return &own{dim: 4, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			if !known(y) {
				return math.NaN()
			}
			a, b, sum := logits(theta, x)
			return sum - []float64{0, a, b}[int(y)]
		},
		grad: func(g, theta, x []float64, y float64) {
			a, b, sum := logits(theta, x)
			for j, v := range x {
				g[j], g[2+j] = math.Exp(a-sum)*v, math.Exp(b-sum)*v
				switch {
				case !known(y):
					g[j], g[2+j] = math.NaN(), math.NaN()
				case y > 0:
					g[2*int(y-1)+j] -= v
				}
			}
		}}
}

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

// inflated is a Poisson model whose zeros have a probability of their own.
func inflated() *own {
	share := func(theta []float64) float64 { return 1 / (1 + math.Exp(-theta[1])) }
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			w, rate := share(theta), math.Exp(theta[0])
			return either(y == 0, -math.Log(w+(1-w)*math.Exp(-rate)), rate-y*theta[0]+softplus(theta[1]))
		},
		grad: func(g, theta, _ []float64, y float64) {
			w, rate := share(theta), math.Exp(theta[0])
			if y == 0 {
				p := w + (1-w)*math.Exp(-rate)
				g[0] = (1 - w) * math.Exp(-rate) * rate / p
				g[1] = -w * (1 - w) * (1 - math.Exp(-rate)) / p
				return
			}
			g[0], g[1] = rate-y, w
		}}
}

// hierarchical has a prior whose second parameter is the log scale of the first.
func hierarchical() *own {
	m := located()
	m.logPrior = func(t []float64) float64 {
		z := t[0] * math.Exp(-t[1])
		return -z*z/2 - t[1] - t[1]*t[1]/2
	}
	m.gradPrior = func(g, t []float64) {
		z := t[0] * math.Exp(-t[1])
		g[0], g[1] = -z*math.Exp(-t[1]), z*z-1-t[1]
	}
	return m
}

func drawHierarchical(t []float64, rng *rand.Rand) {
	t[1] = rng.NormFloat64()
	t[0] = math.Exp(t[1]) * rng.NormFloat64()
}

// related has a prior with covariance L·Lᵀ, L being ((1, 0), (0.9, 0.5)).
func related() *own {
	m := located()
	whiten := func(t []float64) (u, v float64) { return t[0], (t[1] - 0.9*t[0]) / 0.5 }
	m.logPrior = func(t []float64) float64 {
		u, v := whiten(t)
		return -(u*u + v*v) / 2
	}
	m.gradPrior = func(g, t []float64) {
		u, v := whiten(t)
		g[0], g[1] = -u+1.8*v, -2*v
	}
	return m
}

func drawRelated(t []float64, rng *rand.Rand) {
	u, v := rng.NormFloat64(), rng.NormFloat64()
	t[0], t[1] = u, 0.9*u+0.5*v
}

func counts(u float64) float64 {
	return either(!(u > 0 && u < 1e15), 0, math.Floor(u))
}

func threeClasses(u float64) float64 { return max(0, min(counts(u), 2)) }

func ownTarget(name, effect string, response func(u float64) float64, make func() targets.Target) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckTarget(t, make(), proptest.TargetOptions{Seed: seed, Effort: effort, Response: response})
		}}
}

func fourthTargets() []Case {
	of := func(name, effect string, response func(u float64) float64, base func() *own, spoil func(m *own)) Case {
		return ownTarget(name, effect, response, func() targets.Target {
			m := base()
			spoil(m)
			return m
		})
	}
	return []Case{
		of("ratio takes both residuals at one scale", "σ′ for σ", nil, located, func(m *own) {
			m.ratio = func(theta, next, _ []float64, y float64) float64 {
				a, b := (y-theta[0])*math.Exp(-theta[1]), (y-next[0])*math.Exp(-theta[1])
				return (a*a-b*b)/2 + theta[1] - next[1]
			}
		}),
		of("rate capped in the gradient only", "e⁶", counts, poisson, func(m *own) {
			m.grad = func(g, theta, x []float64, y float64) {
				g[0] = math.Exp(min(intercepted(theta, x), 6)) - y
				g[1], g[2] = g[0]*x[0], g[0]*x[1]
			}
		}),
		of("the last class's indicator in the first one's column", "class 2", threeClasses, classes, func(m *own) {
			right := m.grad
			m.grad = func(g, theta, x []float64, y float64) {
				right(g, theta, x, y)
				if y == 2 {
					for j, v := range x {
						g[j], g[2+j] = g[j]-v, g[2+j]+v
					}
				}
			}
		}),
		ownTarget("prior of a scale without its normaliser", "−log σ", nil, func() targets.Target {
			m := hierarchical()
			m.logPrior = func(t []float64) float64 {
				z := t[0] * math.Exp(-t[1])
				return -z*z/2 - t[1]*t[1]/2
			}
			m.gradPrior = func(g, t []float64) {
				z := t[0] * math.Exp(-t[1])
				g[0], g[1] = -z*math.Exp(-t[1]), z*z-t[1]
			}
			return drawn{m, drawHierarchical}
		}),
		ownTarget("half-normal scale without the Jacobian of its logarithm", "θ", nil, func() targets.Target {
			m := located()
			m.logPrior = func(t []float64) float64 { return -t[0]*t[0]/2 - math.Exp(2*t[1])/2 }
			m.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], -math.Exp(2*t[1]) }
			return drawn{m, func(t []float64, rng *rand.Rand) {
				t[0], t[1] = rng.NormFloat64(), math.Log(math.Abs(rng.NormFloat64()))
			}}
		}),
		of("gradient clipped at another threshold than the loss", "1.345 for 1.5", nil, huberOf(3), func(m *own) {
			m.grad = robust(3, 1.345).grad
		}),
		ownTarget("bound of moves forgets the intercept", "a feature of 1", counts, func() targets.Target {
			m := poisson()
			m.loss = func(theta, x []float64, y float64) float64 { return math.Hypot(1, intercepted(theta, x)-y) }
			m.grad = func(g, theta, x []float64, y float64) {
				r := intercepted(theta, x) - y
				g[0] = r / math.Hypot(1, r)
				g[1], g[2] = g[0]*x[0], g[0]*x[1]
			}
			return bounded{m, func(theta, next []float64, radius float64) float64 {
				return radius * math.Hypot(math.Hypot(next[0]-theta[0], next[1]-theta[1]), next[2]-theta[2]) * (1 + 1e-12)
			}, func(radius float64) float64 { return math.Hypot(1, radius) * (1 + 1e-12) }}
		}),
		of("four workers forget what is left over", "n > 1000, n mod 4", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, rows targets.Rows) {
				if n := rows.Len(); n > 1000 {
					clear(dst[n-n%4 : n])
				}
			}
		}),
		ownTarget("predictors in a buffer of the target", "shared", nil, func() targets.Target {
			return &buffered{own: robust(2, 1.5)}
		}),
		of("zeros of the count, not of the share", "gradient at y = 0", counts, inflated, func(m *own) {
			right := m.grad
			m.grad = func(g, theta, x []float64, y float64) {
				right(g, theta, x, y)
				if y == 0 {
					g[1] = 1 / (1 + math.Exp(-theta[1]))
				}
			}
		}),
		of("counts beyond 255 wrap in the ratio", "a byte", counts, poisson, func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				a, b := intercepted(theta, x), intercepted(next, x)
				return math.Exp(a) - math.Exp(b) - float64(int64(y)%256)*(a-b)
			}
		}),
		of("last of eight gradients for a negative parameter", "2%", nil, huberOf(8), func(m *own) {
			right := m.grad
			m.grad = func(g, theta, x []float64, y float64) {
				right(g, theta, x, y)
				g[7] *= either(theta[7] < 0, 1.02, 1)
			}
		}),
		ownTarget("bound of gradients forgets the log scale", "1 − z²", nil, func() targets.Target {
			return bounded{cauchy(), func(theta, next []float64, _ float64) float64 { return math.Inf(1) },
				func(float64) float64 { return 1 + 1e-12 }}
		}),
		of("prior's gradient by half of the precision matrix", "triangle", nil, related, func(m *own) {
			m.gradPrior = func(g, t []float64) {
				v := (t[1] - 0.9*t[0]) / 0.5
				g[0], g[1] = -t[0]*(1+1.8*1.8), -2*v
			}
		}),
		ownTarget("prior drawn with the transposed root", "Lᵀ·z", nil, func() targets.Target {
			return drawn{related(), func(t []float64, rng *rand.Rand) {
				u, v := rng.NormFloat64(), rng.NormFloat64()
				t[0], t[1] = u+0.9*v, 0.5*v
			}}
		}),
	}
}

// buffered computes its losses in two passes over a buffer of its own.
type buffered struct {
	*own
	kept []float64
}

func (b *buffered) Loss(dst, theta []float64, rows targets.Rows) {
	b.kept = slices.Grow(b.kept[:0], rows.Len())[:rows.Len()]
	b.own.Loss(b.kept, theta, rows)
	copy(dst, b.kept)
}

func fourthTargetControls() []Case {
	return []Case{
		ownTarget("Poisson regression", "", counts, func() targets.Target { return poisson() }),
		ownTarget("Huber's regression", "", nil, func() targets.Target { return robust(8, 1.5) }),
		ownTarget("zeros inflated", "", counts, func() targets.Target { return inflated() }),
		ownTarget("three classes", "", threeClasses, func() targets.Target { return classes() }),
		ownTarget("a prior of a scale", "", nil, func() targets.Target { return drawn{hierarchical(), drawHierarchical} }),
		ownTarget("a related prior", "", nil, func() targets.Target { return drawn{related(), drawRelated} })}
}
