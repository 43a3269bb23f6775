package planted

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named twelfth were written, and run once, before their author read the suites' code
// and before anything was changed.

// wave is Huber's regression on a wave of unknown frequency.
func wave() *own {
	base := robust(1, 1.5)
	return &own{dim: 2, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			return base.loss(theta[:1], []float64{math.Sin(theta[1] * x[0])}, y)
		},
		grad: func(g, theta, x []float64, y float64) {
			s, c := math.Sincos(theta[1] * x[0])
			base.grad(g[:1], theta[:1], []float64{s}, y)
			r := max(-1.5, min(theta[0]*s-y, 1.5))
			g[1] = r * theta[0] * c * x[0]
		}}
}

// hidden is Huber's regression on two hidden units.
func hidden() *own {
	base := robust(2, 1.5)
	units := func(theta, x []float64) []float64 {
		return []float64{math.Tanh(dot(theta[:2], x)), math.Tanh(dot(theta[2:4], x))}
	}
	return &own{dim: 6, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta[4:], units(theta, x), y) },
		grad: func(g, theta, x []float64, y float64) {
			h := units(theta, x)
			base.grad(g[4:], theta[4:], h, y)
			r := max(-1.5, min(dot(theta[4:], h)-y, 1.5))
			for u, v := range h {
				for j, w := range x {
					g[2*u+j] = r * theta[4+u] * (1 - v*v) * w
				}
			}
		}}
}

// persons has an intercept for each of five persons, numbered by whole parts modulo 5.
func persons() *own {
	base := robust(5, 1.5)
	with := func(x []float64) []float64 {
		d := make([]float64, 5)
		d[person(x)] = 1
		return d
	}
	return &own{dim: 5, features: 1,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
}

func person(x []float64) int {
	if !(math.Abs(x[0]) < 1e9) {
		return 0
	}
	return (int(x[0])%5 + 5) % 5
}

// kept takes the bound of a move for that of the one before if both end in the same slice.
type keptBound struct {
	bounded
	last  *float64
	start [2]float64
	value float64
}

func (b *keptBound) RatioBound(theta, next []float64, radius float64) float64 {
	if b.last != &next[0] || b.start != [2]float64(theta) {
		b.last, b.start, b.value = &next[0], [2]float64(theta), b.bounded.RatioBound(theta, next, radius)
	}
	return b.value
}

// narrow numbers what it writes with sixteen bits.
type narrow struct{ *own }

func (m narrow) LossGrad(dst, theta []float64, rows targets.Rows) {
	g := make([]float64, m.dim)
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		copy(dst[i*m.dim:], g)
		if at := i * m.dim; at > math.MaxUint16 {
			clear(dst[at : at+m.dim])
			copy(dst[int(uint16(at)):], g)
		}
	}
}

// already takes a slice that it has written gradients to for one that still holds them.
type already struct {
	*own
	dst   *float64
	theta [2]float64
	n     int
}

func (m *already) LossGrad(dst, theta []float64, rows targets.Rows) {
	if n := rows.Len(); n > 0 && (m.dst != &dst[0] || m.theta != [2]float64(theta) || m.n != n) {
		m.own.LossGrad(dst, theta, rows)
		m.dst, m.theta, m.n = &dst[0], [2]float64(theta), n
	}
}

// inParts sums losses and gradients in parts of 256 records, of which the last full one is lost.
type inParts struct{ *own }

func (m inParts) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g, n := make([]float64, m.dim), rows.Len()
	for i := range n {
		if n > 256 && n%256 == 0 && i >= n-256 {
			break
		}
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
	}
	return loss
}

// unordered sums the squares of its prior in the order of a map.
func unordered() targets.Target {
	m := robust(8, 1.5)
	m.logPrior = func(theta []float64) float64 {
		all, sum := map[int]float64{}, 0.0
		for j, t := range theta {
			all[j] = t
		}
		for _, t := range all {
			sum += t * t
		}
		return -sum / 2
	}
	return m
}

// fours evaluates slopes four at a time, and what is left over at the predictor before.
type fours struct{ *planted }

func (p fours) SlopeAt(dst, eta, y []float64) {
	n := len(eta)
	if n > 4 && n%4 == 3 {
		eta = append([]float64(nil), eta...)
		eta[n-1] = eta[n-2]
	}
	p.planted.SlopeAt(dst, eta, y)
}

// pooled draws its prior from so many numbers.
func pooled(n int) func() targets.Target {
	pool, rng := make([]float64, n), rand.New(rand.NewPCG(5, 5))
	for i := range pool {
		pool[i] = rng.NormFloat64()
	}
	return drawnFrom(2, func(t []float64, rng *rand.Rand) {
		for j := range t {
			t[j] = pool[rng.IntN(n)]
		}
	})
}

func twelfthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	calls := 0
	return []Case{
		grown("derivative of a frequency by the place in its period", "|x| > 2π", nil, wave,
			func(g, _, x []float64, _ float64) {
				if math.Abs(x[0]) > 2*math.Pi && !math.IsInf(x[0], 0) {
					g[1] *= math.Mod(x[0], 2*math.Pi) / x[0]
				}
			}),
		grown("a saturated hidden unit has no gradient", "beyond 0.995", nil, hidden,
			func(g, theta, x []float64, _ float64) {
				if math.Abs(math.Tanh(dot(theta[2:4], x))) > 0.995 {
					g[2], g[3] = 0, 0
				}
			}),
		grown("a hidden unit beyond 4 counts as 1 in one gradient", "0.07%", nil, hidden,
			func(g, theta, x []float64, _ float64) {
				if u := dot(theta[:2], x); u > 4 {
					g[4] /= math.Tanh(u)
				}
			}),
		grown("negative persons by their absolute number, in the gradient", "x₁ ≤ −1", nil, persons,
			func(g, _, x []float64, _ float64) {
				right := person(x)
				if x[0] < 0 && x[0] > -1e9 {
					wrong := int(-x[0]) % 5
					g[right], g[wrong] = 0, g[right]
				}
			}),
		grown("columns of a gradient rotated where the last feature is largest", "one place", nil, huberOf(3),
			func(g, _, x []float64, _ float64) {
				if a := math.Abs(x[2]); a > 3*math.Abs(x[0]) && a > 3*math.Abs(x[1]) {
					g[0], g[1], g[2] = g[2], g[0], g[1]
				}
			}),
		grown("long gradients are shortened", "norm 500", nil, huberOf(2),
			func(g, _, _ []float64, _ float64) {
				if n := math.Hypot(g[0], g[1]); n > 500 {
					g[0], g[1] = g[0]*500/n, g[1]*500/n
				}
			}),
		grown("responses beyond 1000 are thousandths in the gradient", "units", nil, huberOf(2),
			func(g, theta, x []float64, y float64) {
				if y > 1000 {
					r := max(-1.5, min(dot(x, theta)-y/1000, 1.5))
					g[0], g[1] = r*x[0], r*x[1]
				}
			}),
		grown("a record in five thousand is dropped", "at random", nil, huberOf(2),
			func(g, _, _ []float64, _ float64) {
				if rand.IntN(5000) == 0 {
					clear(g)
				}
			}),
		plainly("a loss depends on the clock", "10⁻⁹", func() targets.Target {
			m := robust(2, 1.5)
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 {
				return right(theta, x, y) * either(time.Now().Nanosecond()>>20 == 0, 1+1e-9, 1)
			}
			return m
		}),
		plainly("the sum of a prior in the order of a map", "last bits", unordered),
		plainly("gradients numbered with sixteen bits", "beyond record 32 768",
			func() targets.Target { return narrow{robust(2, 1.5)} }),
		plainly("gradients are not written where they were", "stale",
			func() targets.Target { return &already{own: robust(2, 1.5)} }),
		plainly("sums in parts lose a last full one", "multiples of 256",
			func() targets.Target { return inParts{robust(2, 1.5)} }),
		plainly("RatioBound kept by the address of θ′", "stale", func() targets.Target {
			return &keptBound{bounded: bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				return slope(radius) * moved(theta, next)
			}, slope}}
		}),
		plainly("RatioBound in single precision", "10⁻⁸", func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				return float64(float32(slope(radius) * moved(theta, next) * (1 - 3e-8)))
			}, slope}
		}),
		plainly("GradBound of the first radius", "kept", func() targets.Target {
			first := 0.0
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				return slope(radius) * moved(theta, next)
			}, func(radius float64) float64 {
				if first == 0 {
					first = radius
				}
				return slope(first)
			}}
		}),
		ownTarget("what is left after four slopes is the one before", "n mod 4 = 3", nil, func() targets.Target {
			return fours{&planted{model: huber}}
		}),
		plainly("every 64th prior draw is wider", "×2", drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if calls++; calls%64 == 0 {
				t[0], t[1] = 2*t[0], 2*t[1]
			}
		})),
		plainly("prior draws from a pool", "4096 numbers", pooled(4096)),
		plainly("prior draws are sorted when they are close", "within 0.3", drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if math.Abs(t[0]-t[1]) < 0.3 {
				t[0], t[1] = min(t[0], t[1]), max(t[0], t[1])
			}
		})),
	}
}

func twelfthTargetControls() []Case {
	return []Case{
		ownTarget("a wave", "", nil, func() targets.Target { return wave() }),
		ownTarget("hidden units", "", nil, func() targets.Target { return hidden() }),
		ownTarget("persons", "", nil, func() targets.Target { return persons() }),
	}
}
