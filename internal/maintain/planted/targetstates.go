package planted

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dpmcmc/dpmcmc/targets"
)

func stateDefects() []Case {
	add := func(name, effect string, plant func(p *planted)) Case {
		return target(name, effect, huber, plant)
	}
	cached := func(key func(a at) string) func(p *planted) {
		return func(p *planted) {
			kept, mu := map[string]float64{}, sync.Mutex{}
			p.loss = func(a at, l float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				k := key(a)
				if v, ok := kept[k]; ok {
					return v
				}
				kept[k] = l
				return l
			}
		}
	}
	counted := func(every int, by float64) func(p *planted) {
		return func(p *planted) {
			var n atomic.Int64
			p.loss = func(a at, l float64) float64 {
				return either(n.Add(1)%int64(every) == 0, l+by, l)
			}
		}
	}
	return []Case{
		add("cache keyed on the first record", "first record", cached(func(a at) string {
			return fmt.Sprint(a.theta, a.rows.Row(0), a.rows.Y[0], a.i)
		})),
		add("cache keyed on the record without θ₂", "one parameter",
			cached(func(a at) string { return fmt.Sprint(a.theta[0], a.x, a.y) })),
		add("cache keyed on the parameters and x₁", "one feature",
			cached(func(a at) string { return fmt.Sprint(a.theta, a.x[0], a.y) })),
		add("cache without the response", "y", cached(func(a at) string { return fmt.Sprint(a.theta, a.x) })),
		add("repeated records count once", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				for k := range a.i {
					if r := a.rows.Row(k); r[0] == a.x[0] && r[1] == a.x[1] && a.rows.Y[k] == a.y {
						return 0
					}
				}
				return l
			}
		}),
		add("equal neighbours share a value", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.i > 0 && a.rows.Row(a.i - 1)[0] == a.x[0], 0, l)
			}
		}),
		add("blocks of 512 forget their last record", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.i%512 == 511, 0, l)
			}
		}),
		add("batches of one", "10⁻⁹", func(p *planted) { p.loss = when(func(a at) bool { return a.n == 1 }, 1+1e-9) }),
		add("odd batches", "last bit", func(p *planted) {
			p.loss = when(func(a at) bool { return a.n%2 == 1 && a.n > 3 }, 1+2e-16)
		}),
		add("errors grow with N beyond 10⁵", "1%", func(p *planted) {
			p.loss = when(func(a at) bool { return math.Abs(a.x[1]) > 1e5 && a.n > 1 }, 1.01)
		}),
		add("every 1000th value", "10⁻³", counted(1000, 1e-3)),
		add("every 50 000th value", "10⁻³", counted(50_000, 1e-3)),
		add("panics on an infinite second feature", "panic", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if math.IsInf(a.x[1], -1) {
					panic("feature")
				}
				return l
			}
		}),
		add("panics on two extremes together", "panic", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if math.IsInf(a.x[0], 1) && math.IsNaN(a.y) {
					panic("both")
				}
				return l
			}
		}),
		add("NaN spreads to the batch", "NaN", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				for i := range a.n {
					if math.IsNaN(a.rows.Row(i)[1]) {
						return math.NaN()
					}
				}
				return l
			}
		}),
		add("RatioBound grows with every call", "10⁻⁹", func(p *planted) {
			var calls atomic.Int64
			p.bound = func(_, _ []float64, _, b float64) float64 { return b * (1 + 1e-9*float64(calls.Add(1))) }
		}),
		add("sorts the responses", "writes", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.n > 1 && a.i == 0 && a.rows.Y[0] > a.rows.Y[1] {
					a.rows.Y[0], a.rows.Y[1] = a.rows.Y[1], a.rows.Y[0]
				}
				return l
			}
		}),
		add("parameters clipped in place", "writes", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.theta[0] > 2 {
					a.theta[0] = 2
				}
				return l
			}
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

// adds is a target that expects some of dst to be zero.
type adds struct {
	*planted
	prior bool
}

func (p adds) GradLogPrior(dst, theta []float64) {
	held := dst[1]
	p.planted.GradLogPrior(dst, theta)
	dst[1] += either(p.prior && theta[1] < -1, held, 0)
}

func (p adds) LossGrad(dst, theta []float64, rows targets.Rows) {
	held := slices.Clone(dst)
	p.planted.LossGrad(dst, theta, rows)
	for i, y := range rows.Y {
		if !p.prior && y == 0 {
			dst[dim*i] += held[dim*i]
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

// rescaled divides its parameters by their norm, and multiplies them again.
type rescaled struct{ *own }

func (m rescaled) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	if n := math.Hypot(theta[0], theta[1]); n > 0 {
		for j := range theta {
			theta[j] /= n
			theta[j] *= n
		}
	}
}

// imputing sets missing features to 0, in place, or to the mean of the others in the batch.
type imputing struct {
	*own
	mean bool
}

func (m imputing) Loss(dst, theta []float64, rows targets.Rows) {
	if m.mean {
		total, n := 0.0, 0.0
		for i := range rows.Len() {
			if v := rows.Row(i)[0]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				total, n = total+v, n+1
			}
		}
		for i := range dst {
			x := slices.Clone(rows.Row(i))
			x[0] = either(math.IsNaN(x[0]), total/max(n, 1), x[0])
			dst[i] = m.loss(theta, x, rows.Y[i])
		}
		return
	}
	for i := range rows.Len() {
		for j, v := range rows.Row(i) {
			rows.Row(i)[j] = either(math.IsNaN(v), 0, v)
		}
	}
	m.own.Loss(dst, theta, rows)
}

func (m imputing) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	m.Loss(dst, theta, rows)
	then := make([]float64, len(dst))
	m.Loss(then, next, rows)
	for i, v := range then {
		dst[i] -= v
	}
}
