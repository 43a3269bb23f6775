package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named ninth were written before the suites' code was read, from the issue, the
// document and the public interfaces, as a stranger's mistakes. They were run once before
// anything was changed.

func sigmoid(u float64) float64 { return 1 / (1 + math.Exp(-u)) }

// ordinal has three ordered classes: θ is a slope, the first cut and the log gap to the second.
func ordinal() *own {
	return &own{dim: 3, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			gap := math.Exp(theta[2])
			v := theta[1] - theta[0]*x[0]
			switch y {
			case 0:
				return softplus(-v)
			case 1:
				return softplus(-v-gap) + softplus(v) - math.Log(-math.Expm1(-gap))
			case 2:
				return softplus(v + gap)
			}
			return math.NaN()
		},
		grad: func(g, theta, x []float64, y float64) {
			gap := math.Exp(theta[2])
			v := theta[1] - theta[0]*x[0]
			switch y {
			case 0:
				g[1], g[2] = -sigmoid(-v), 0
			case 1:
				g[1], g[2] = sigmoid(v)-sigmoid(-v-gap), -gap*(sigmoid(-v-gap)+1/math.Expm1(gap))
			case 2:
				g[1], g[2] = sigmoid(v+gap), gap*sigmoid(v+gap)
			default:
				g[1], g[2] = math.NaN(), math.NaN()
			}
			g[0] = -x[0] * g[1]
		}}
}

// overdispersed is a negative binomial regression of size 2.
func overdispersed() *own {
	eta := func(theta, x []float64) float64 { return intercepted(theta, x) }
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			e := eta(theta, x)
			return (y+2)*softplus(e-math.Ln2) - y*e
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = (y+2)*sigmoid(eta(theta, x)-math.Ln2) - y
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
}

// weighted is Huber's regression on two features, where a third is the record's weight, at most 4.
func weighted() *own {
	weight := func(x []float64) float64 { return max(0, min(x[2], 4)) }
	base := robust(2, 1.5)
	return &own{dim: 2, features: 3,
		loss: func(theta, x []float64, y float64) float64 {
			if w := weight(x); w > 0 {
				return w * base.loss(theta, x[:2], y)
			}
			return 0
		},
		grad: func(g, theta, x []float64, y float64) {
			clear(g)
			if w := weight(x); w > 0 {
				base.grad(g, theta, x[:2], y)
				g[0], g[1] = w*g[0], w*g[1]
			}
		}}
}

// quantile is a regression of the 0.52 quantile.
func quantile() *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			r := y - dot(x, theta)
			return max(0.52*r, -0.48*r)
		},
		grad: func(g, theta, x []float64, y float64) {
			by := either(y > dot(x, theta), -0.52, 0.48)
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

func boundedQuantile(gradients float64) targets.Target {
	return bounded{quantile(), func(theta, next []float64, radius float64) float64 {
		return 0.52 * radius * moved(theta, next) * (1 + 1e-12)
	}, func(radius float64) float64 { return gradients * radius * (1 + 1e-12) }}
}

// interacting is Huber's regression on two features and their product.
func interacting() *own {
	base := robust(3, 1.5)
	with := func(x []float64) []float64 { return []float64{x[0], x[1], x[0] * x[1]} }
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
}

// funnel is hierarchical with an exponent for half the log scale.
func funnel(exponent float64) targets.Target {
	m := located()
	m.logPrior = func(t []float64) float64 {
		z := t[1] * math.Exp(-exponent*t[0])
		return -z*z/2 - exponent*t[0] - t[0]*t[0]/2
	}
	m.gradPrior = func(g, t []float64) {
		z := t[1] * math.Exp(-exponent*t[0])
		g[0], g[1] = exponent*(z*z-1)-t[0], -z*math.Exp(-exponent*t[0])
	}
	return drawn{m, func(t []float64, rng *rand.Rand) {
		t[0] = rng.NormFloat64()
		t[1] = math.Exp(t[0]/2) * rng.NormFloat64()
	}}
}

// unrolled has a loop by four, whose tail forgets the last feature.
type unrolled struct{ *own }

func (m unrolled) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	n := rows.Len()
	for i := n - n%4; i < n; i++ {
		x := append([]float64{}, rows.Row(i)...)
		x[len(x)-1] = 0
		dst[i] = m.loss(theta, x, rows.Y[i])
	}
}

// transposed takes a square block of gradients for one by columns.
type transposed struct{ *own }

func (m transposed) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	if n := rows.Len(); n == m.dim {
		for i := range n {
			for j := range i {
				dst[i*n+j], dst[j*n+i] = dst[j*n+i], dst[i*n+j]
			}
		}
	}
}

// keyed keeps losses by a key that some records have, for all goroutines.
func keyed[K comparable](key func(theta, x []float64, y float64) (k K, has bool)) targets.Target {
	m := robust(2, 1.5)
	right, kept, lock := m.loss, map[K]float64{}, &sync.Mutex{}
	m.loss = func(theta, x []float64, y float64) float64 {
		k, has := key(theta, x, y)
		if !has {
			return right(theta, x, y)
		}
		lock.Lock()
		defer lock.Unlock()
		if len(kept) > 1e5 {
			clear(kept)
		}
		v, ok := kept[k]
		if !ok {
			v = right(theta, x, y)
			kept[k] = v
		}
		return v
	}
	return m
}

// hashed keeps losses at one θ by the exclusive or of a record's numbers.
func hashed() targets.Target {
	type key struct {
		theta [2]float64
		hash  uint64
	}
	return keyed(func(theta, x []float64, y float64) (key, bool) {
		return key{[2]float64(theta), math.Float64bits(x[0]) ^ math.Float64bits(x[1]) ^ math.Float64bits(y)}, true
	})
}

// deduplicated gives a record the loss of an earlier one of the same features.
type deduplicated struct{ *own }

func (m deduplicated) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	first := map[[2]float64]int{}
	for i := range dst {
		x := [2]float64(rows.Row(i))
		if j, ok := first[x]; ok {
			dst[i] = dst[j]
		} else {
			first[x] = i
		}
	}
}

// scaledByLast is a model of classes, whose sums of exponentials are scaled by the record's before.
type scaledByLast struct{ *own }

func (m scaledByLast) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	most := 0.0
	for i := range dst {
		a, b := dot(rows.Row(i), theta[:2]), dot(rows.Row(i), theta[2:])
		if y := rows.Y[i]; y == 0 || y == 1 || y == 2 {
			if sum := math.Exp(-most) + math.Exp(a-most) + math.Exp(b-most); sum > 0 && !math.IsInf(sum, 0) {
				dst[i] = most + math.Log(sum) - []float64{0, a, b}[int(y)]
			}
		}
		most = max(0, a, b)
	}
}

func ninthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	panics := poisson()
	right := panics.loss
	panics.loss = func(theta, x []float64, y float64) float64 {
		var table [64]float64
		if y >= 0 && y <= 64 && y == math.Floor(y) {
			return right(theta, x, y) + table[int(y)]
		}
		return right(theta, x, y)
	}
	return []Case{
		grown("derivative of the log gap for the last class", "e^θ", threeClasses, ordinal,
			func(g, theta, _ []float64, y float64) { g[2] *= either(y == 2, math.Exp(-theta[2]), 1) }),
		ownTarget("counts beyond 2³¹ wrap in the ratio", "32 bits", counts, func() targets.Target {
			m := overdispersed()
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				if y < 1e18 {
					y = float64(int32(int64(y)))
				}
				return m.loss(theta, x, y) - m.loss(next, x, y)
			}
			return m
		}),
		plainly("a variance for a standard deviation in one prior of four", "1.1", func() targets.Target {
			d := drawnFrom(4, func(t []float64, _ *rand.Rand) { t[2] *= 1.1 })().(drawn)
			d.logPrior = func(t []float64) float64 {
				return -(t[0]*t[0] + t[1]*t[1] + t[2]*t[2]/1.1 + t[3]*t[3]) / 2
			}
			d.gradPrior = func(g, t []float64) { g[0], g[1], g[2], g[3] = -t[0], -t[1], -t[2]/1.1, -t[3] }
			return d
		}),
		plainly("the tail of a loop by four forgets the last feature", "n mod 4",
			func() targets.Target { return unrolled{robust(3, 1.5)} }),
		plainly("losses kept by the exclusive or of a record's numbers", "collisions", hashed),
		grown("weights beyond 3 are cut in the gradient", "3 for 4", nil, weighted, func(g, _, x []float64, _ float64) {
			by := 3 / max(3, min(x[2], 4))
			g[0], g[1] = g[0]*by, g[1]*by
		}),
		plainly("records of equal features share a loss", "the first response",
			func() targets.Target { return deduplicated{robust(2, 1.5)} }),
		ownTarget("exponentials scaled by the record before", "last bits, underflow", threeClasses,
			func() targets.Target { return scaledByLast{classes()} }),
		plainly("ratios near 0 are 0", "below 10⁻⁴", func() targets.Target {
			m := robust(2, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				v := m.loss(theta, x, y) - m.loss(next, x, y)
				return either(math.Abs(v) < 1e-4, 0, v)
			}
			return m
		}),
		grown("no gradient for small residuals", "below 0.01", nil, huberOf(2), func(g, theta, x []float64, y float64) {
			if math.Abs(dot(x, theta)-y) < 0.01 {
				clear(g)
			}
		}),
		plainly("RatioBound of moves of one to two, begun near 0", "2% low", func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				d := moved(theta, next)
				return slope(radius) * d * either(d > 1 && d < 2 && math.Hypot(theta[0], theta[1]) < 0.5, 0.98, 1)
			}, slope}
		}),
		plainly("bound of gradients of a median for another quantile", "½ for 0.52",
			func() targets.Target { return boundedQuantile(0.5) }),
		grown("sign of an interaction's derivative", "x₁ < 0", nil, interacting, func(g, _, x []float64, _ float64) {
			g[2] *= either(x[0] < 0, -1, 1)
		}),
		target("SlopeAt in a band for label 0", "3%, 6 to 8", logistic, func(p *planted) {
			p.slopeAt = func(eta, y, v float64) float64 { return v * either(y == 0 && eta > 6 && eta < 8, 1.03, 1) }
		}),
		ownTarget("a table of factorials is one short", "panic at y = 64", counts, func() targets.Target { return panics }),
		plainly("prior draws from uniforms of ten bits", "1024 values", drawnFrom(2, func(t []float64, rng *rand.Rand) {
			for j := range t {
				t[j] = math.Sqrt2 * math.Erfinv((float64(rng.IntN(1024))+0.5)/512-1)
			}
		})),
		plainly("exponent of a funnel", "0.45 for 0.5", func() targets.Target { return funnel(0.45) }),
		plainly("a square block of gradients is transposed", "n = 6",
			func() targets.Target { return transposed{robust(6, 1.5)} }),
	}
}

func ninthTargetControls() []Case {
	return []Case{
		ownTarget("ordered classes", "", threeClasses, func() targets.Target { return ordinal() }),
		ownTarget("negative binomial", "", counts, func() targets.Target { return overdispersed() }),
		ownTarget("weights", "", nil, func() targets.Target { return weighted() }),
		ownTarget("a quantile", "", nil, func() targets.Target { return boundedQuantile(0.52) }),
		ownTarget("an interaction", "", nil, func() targets.Target { return interacting() }),
		ownTarget("a funnel", "", nil, func() targets.Target { return funnel(0.5) }),
	}
}
