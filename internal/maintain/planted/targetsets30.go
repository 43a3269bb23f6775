package planted

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"sync"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func thirtiethTargets() []Case {
	return []Case{
		complexly("a gradient's constant has eight digits", "2·10⁻⁸", 1.8137994),
		target("LossAt leaves out what depends on the response alone", "log(1 + y²)", withResponses, func(p *planted) {
			p.lossAt = func(_, y, v float64) float64 { return v - log1pSquare(y) }
		}),
		bartlett("a factor's second row is drawn with as many degrees as the first", "4 for 3", 4),
		resampled("prior draws are chosen from twenty of a wider law", "by their weights"),
		lessCenter("GradBound of centred features forgets the center", "R for R + 0.5", 0),
		productBound("RatioBound of a product of parameters by their smaller ends", "long moves", math.Min),
		skippingEmpty("SumLossGrad leaves out records without features", "log 2 each", true),
		halfAngles("an angle's difference is wrapped in the ratio, the sum is not", "sign", true),
		jittered("draws of a process have a jitter that its density lacks", "9% of the contrast's sd", 0.004),
		steepPrior("a steep prior's slope is held within ten thousand", "beyond θ = 13", 1e4),
		hashKept("kept losses are told apart by sixteen bits", "1 in 1000", 0xffff),
		bySimpson("a ratio by Simpson's rule", "10⁻⁵", true),
		movingAverage("a moving average's slope goes back two terms", "θ² of it", 2),
		typical("prior draws beyond 999 of 1000 are drawn again", "radius of five", 20.515),
	}
}

func thirtiethTargetControls() []Case {
	return []Case{
		complexly("a gradient's constant", "", math.Pi/math.Sqrt(3)),
		target("LossAt has what depends on the response alone", "", withResponses, func(*planted) {}),
		bartlett("a factor's rows", "", 3),
		lessCenter("GradBound of centred features", "", 0.5),
		productBound("RatioBound of a product of parameters", "", func(a, b float64) float64 { return (a + b) / 2 }),
		halfAngles("an angle's difference in the ratio", "", false),
		jittered("draws of a process", "", 0),
		steepPrior("a steep prior", "", math.Inf(1)),
		hashKept("kept losses are told apart", "", math.MaxUint64),
		movingAverage("a moving average's slope", "", 100),
	}
}

// analytic is a logistic loss on the scale of a normal one, at complex parameters too.
type analytic struct{ *own }

const logitScale = 1.8137993642342178 // π/√3

func (m analytic) ComplexLoss(dst, theta []complex128, rows targets.Rows) {
	log1p := func(e complex128) complex128 {
		if cmplx.Abs(e) < 1e-5 {
			return e - e*e/2
		}
		return cmplx.Log(1 + e)
	}
	for i := range dst {
		x := rows.Row(i)
		u := complex(-sign(rows.Y[i])*logitScale, 0) * (complex(x[0], 0)*theta[0] + complex(x[1], 0)*theta[1])
		if real(u) > 0 {
			dst[i] = u + log1p(cmplx.Exp(-u))
		} else {
			dst[i] = log1p(cmplx.Exp(u))
		}
	}
}

func complexly(name, effect string, scale float64) Case {
	return ownTarget(name, effect, logistic.options(1, 1).Response, func() targets.Target {
		return analytic{along(func(eta, y float64) float64 { return softplus(-sign(y) * logitScale * eta) },
			func(eta, y float64) float64 {
				return -sign(y) * scale / (1 + math.Exp(sign(y)*logitScale*eta))
			})}
	})
}

func log1pSquare(y float64) float64 {
	if y = math.Abs(y); y > 1e100 {
		return 2 * math.Log(y)
	}
	return math.Log1p(y * y)
}

// withResponses is the pseudo-Huber loss, and a number of the response alone.
var withResponses = model{lipschitz: 1, span: math.Inf(1), slope: huber.slope,
	loss: func(eta, y float64) float64 { return math.Hypot(1, eta-y) - 1 + log1pSquare(y) }}

// bartlett has the diagonal of a random factor for a prior, on the scale of its logarithm.
func bartlett(name, effect string, second int) Case {
	return plainly(name, effect, func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 {
			return 4*t[0] - math.Exp(2*t[0])/2 + 3*t[1] - math.Exp(2*t[1])/2
		}
		m.gradPrior = func(g, t []float64) { g[0], g[1] = 4-math.Exp(2*t[0]), 3-math.Exp(2*t[1]) }
		chi := func(rng *rand.Rand, degrees int) (sum float64) {
			for range degrees {
				z := rng.NormFloat64()
				sum += z * z
			}
			return math.Log(sum) / 2
		}
		return drawn{m, func(t []float64, rng *rand.Rand) { t[0], t[1] = chi(rng, 4), chi(rng, second) }}
	})
}

// resampled draws from a logistic prior by weights among twenty normal numbers, in each parameter.
func resampled(name, effect string) Case {
	return plainly(name, effect, func() targets.Target {
		m := robust(2, 1.5)
		log := func(v float64) float64 { return -math.Abs(v) - 2*math.Log1p(math.Exp(-math.Abs(v))) }
		m.logPrior = func(t []float64) float64 { return log(t[0]) + log(t[1]) }
		m.gradPrior = func(g, t []float64) { g[0], g[1] = -math.Tanh(t[0]/2), -math.Tanh(t[1]/2) }
		const wide = 3
		return drawn{m, func(t []float64, rng *rand.Rand) {
			for j := range t {
				total := 0.0
				for range 20 {
					v := wide * rng.NormFloat64()
					w := math.Exp(log(v) + v*v/(2*wide*wide))
					if total += w; rng.Float64()*total < w {
						t[j] = v
					}
				}
			}
		}}
	})
}

// centredFeatures has one feature less a public number.
type centredFeatures struct {
	*own
	more float64
}

func (m centredFeatures) GradBound(radius float64) float64 {
	return 1.5 * (radius + m.more) * (1 + 1e-12)
}

func lessCenter(name, effect string, more float64) Case {
	return plainly(name, effect, func() targets.Target {
		one := robust(1, 1.5)
		return centredFeatures{&own{dim: 1, features: 1,
			loss: func(t, x []float64, y float64) float64 { return one.loss(t, []float64{x[0] - 0.5}, y) },
			grad: func(g, t, x []float64, y float64) { one.grad(g, t, []float64{x[0] - 0.5}, y) }}, more}
	})
}

// parameterProduct is a slope that is a product of two parameters.
type parameterProduct struct {
	*own
	of func(a, b float64) float64
}

func (m parameterProduct) RatioBound(theta, next []float64, radius float64) float64 {
	first := math.Abs(next[0]-theta[0]) * m.of(math.Abs(theta[1]), math.Abs(next[1]))
	second := math.Abs(next[1]-theta[1]) * m.of(math.Abs(theta[0]), math.Abs(next[0]))
	return radius * (first + second) * (1 + 1e-12)
}

func productBound(name, effect string, of func(a, b float64) float64) Case {
	return plainly(name, effect, func() targets.Target {
		return parameterProduct{&own{dim: 2, features: 1,
			loss: func(t, x []float64, y float64) float64 { return huber.loss(t[0]*t[1]*x[0], y) },
			grad: func(g, t, x []float64, y float64) {
				by := huber.slope(t[0]*t[1]*x[0], y) * x[0]
				g[0], g[1] = by*t[1], by*t[0]
			}}, of}
	})
}

// skips sums losses and gradients of records whose features are not all 0, or of all.
type skips struct {
	*planted
	skips bool
}

func (m skips) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		if m.skips && x[0] == 0 && x[1] == 0 {
			continue
		}
		eta := dot(x, theta)
		loss += m.model.loss(eta, y)
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

// halfAngles is a loss of the cosine of an angle, whose ratio is a product of two sines.
func halfAngles(name, effect string, wraps bool) Case {
	angle := func(t, x []float64, y float64) float64 { return t[0]*x[0] + t[1] - y }
	return spoilt(name, effect, nil, func() *own {
		return &own{dim: 2, features: 1,
			loss: func(t, x []float64, y float64) float64 { return -math.Cos(angle(t, x, y)) },
			grad: func(g, t, x []float64, y float64) {
				by := math.Sin(angle(t, x, y))
				g[0], g[1] = by*x[0], by
			}}
	}, func(m *own) {
		m.ratio = func(t, next, x []float64, y float64) float64 {
			from, to := angle(t, x, y), angle(next, x, y)
			by := to - from
			if wraps {
				by = math.Remainder(by, 2*math.Pi)
			}
			if math.Abs(from) > 1e3 || math.Abs(to) > 1e3 || math.IsNaN(by) {
				return math.Cos(to) - math.Cos(from)
			}
			return -2 * math.Sin((from+to)/2) * math.Sin(by/2)
		}
	})
}

// jittered has two effects that nearly agree, drawn with some more variance each.
func jittered(name, effect string, jitter float64) Case {
	const r = 0.98
	return plainly(name, effect, func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 {
			sum, contrast := t[0]+t[1], t[0]-t[1]
			return -sum*sum/(4*(1+r)) - contrast*contrast/(4*(1-r))
		}
		m.gradPrior = func(g, t []float64) {
			sum, contrast := (t[0]+t[1])/(2*(1+r)), (t[0]-t[1])/(2*(1-r))
			g[0], g[1] = -sum-contrast, -sum+contrast
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			both, one := math.Sqrt(r), math.Sqrt(1-r+jitter)
			z := both * rng.NormFloat64()
			t[0], t[1] = z+one*rng.NormFloat64(), z+one*rng.NormFloat64()
		}}
	})
}

// steepPrior falls with the fourth power of the parameters.
func steepPrior(name, effect string, most float64) Case {
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		m.logPrior = func(t []float64) float64 { return -t[0]*t[0]*t[0]*t[0] - t[1]*t[1]*t[1]*t[1] }
		m.gradPrior = func(g, t []float64) {
			for j, v := range t {
				g[j] = max(-most, min(-4*v*v*v, most))
			}
		}
	})
}

// hashes keeps the losses of 64 batches, by some bits of a hash.
type hashes struct {
	*own
	mask uint64
	mu   *sync.Mutex
	kept *[64]keptLosses
}

func (m hashes) Loss(dst, theta []float64, rows targets.Rows) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := keyOf(theta, rows.X, rows.Y)
	slot := &m.kept[key%64]
	if key &= m.mask; slot.key == key && len(slot.loss) == len(dst) {
		copy(dst, slot.loss)
		return
	}
	m.own.Loss(dst, theta, rows)
	slot.key, slot.loss = key, append([]float64(nil), dst...)
}

func hashKept(name, effect string, mask uint64) Case {
	return plainly(name, effect, func() targets.Target {
		return hashes{robust(2, 1.5), mask, new(sync.Mutex), new([64]keptLosses)}
	})
}

// bySimpson has ratios by the slopes at both ends and half way, where the predictor moves by less than a half.
func bySimpson(name, effect string, by bool) Case {
	return target(name, effect, huber, func(p *planted) {
		p.ratio = func(a at, r float64) float64 {
			from, to := a.eta(), dot(a.x, a.next)
			if by && math.Abs(to-from) < 0.5 && math.Abs(from) < 1e6 && math.Abs(a.y) < 1e6 {
				return (from - to) / 6 * (p.slope(from, a.y) + 4*p.slope((from+to)/2, a.y) + p.slope(to, a.y))
			}
			return r
		}
	})
}

// movingAverage has errors that follow each other within a record of four numbers, for a slope of so many terms.
func movingAverage(name, effect string, terms int) Case {
	errors := func(t, x []float64) (e, slope float64) {
		before := [4]float64{}
		share := t[0] / math.Hypot(1, t[0])
		inner := 1 / (math.Hypot(1, t[0]) * math.Hypot(1, t[0]) * math.Hypot(1, t[0]))
		for i, v := range x {
			before[i] = e
			e = v - share*e
		}
		by := 1.0
		for i := len(x) - 1; i > 0 && len(x)-1-i < terms; i-- {
			slope -= by * before[i] * inner
			by *= -share
		}
		return e, slope
	}
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 1, features: 4,
			loss: func(t, x []float64, y float64) float64 {
				e, _ := errors(t, x)
				return huber.loss(e, y)
			},
			grad: func(g, t, x []float64, y float64) {
				e, slope := errors(t, x)
				g[0] = huber.slope(e, y) * slope
			}}
	})
}

// typical draws five standard normal effects again where the square of their norm is large.
func typical(name, effect string, most float64) Case {
	return plainly(name, effect, drawnFrom(5, func(t []float64, rng *rand.Rand) {
		for dot(t, t) > most {
			for j := range t {
				t[j] = rng.NormFloat64()
			}
		}
	}))
}

func skippingEmpty(name, effect string, leaves bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, skips{&planted{model: logistic}, leaves}, logistic.options(seed, effort))
	}}
}
