package planted

import (
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyNinthTargets() []Case {
	return []Case{
		stirling("log gamma quotients by Stirling's formula from 20 on", "10⁻³", 20),
		normPrior("a prior of the norm has no slope at the origin", "NaN", math.NaN()),
		kahanSums("a compensation is carried from one sum to the next", "last bits", true),
		target("RatioBound by the record along the move", "up to 40% low", logistic, func(p *planted) {
			p.bound = alongMove
		}),
		halfPlane("prior draws are tried twelve times and then taken as they are", "2·10⁻⁴ outside", 12),
		dealtShares("shares are drawn as uniform numbers over their sum", "exponential ones", false),
		byMillionths("a slope by differences of a millionth of the parameter", "NaN at 0"),
		keptFour("a kept loss of another batch is as long", "stale", false),
		rooted("a root is sought from the last one", "last bits", true),
		smoothUnit("a hidden unit's slope is of another approximation", "10⁻³", true),
		cutWeights("weights are cut above and not below", "below −2", math.Inf(-1)),
		student4("Lipschitz constant of Student's loss by its degrees and one", "11% low", math.Sqrt(5)/2),
		product("GradBound of a product of two features", "3% low at 1, more beyond", 16),
		dealt("prior draws are dealt out in the order of a map", "no stream", true),
	}
}

func twentyNinthTargetControls() []Case {
	return []Case{
		stirling("log gamma quotients", "", math.Inf(1)),
		normPrior("a prior of the norm", "", 0),
		kahanSums("sums are compensated", "", false),
		halfPlane("prior draws are tried until they are inside", "", math.MaxInt),
		dealtShares("shares are drawn as exponential numbers over their sum", "", true),
		keptFour("losses of the last four batches", "", true),
		rooted("a root is sought", "", false),
		smoothUnit("a hidden unit's slope", "", false),
		cutWeights("weights are cut at both ends", "", 0),
		logits("prior draws from uniform numbers of single precision"),
		student4("Student's loss", "", 1.25*(1+1e-12)),
		product("GradBound of two features and their product", "", 4),
		dealt("prior draws in order", "", false),
	}
}

// stirling has counts of a dispersion e^θ₂, whose gamma functions come from Stirling's formula for large shapes.
func stirling(name, effect string, from float64) Case {
	return spoilt(name, effect, counts, func() *own { return dispersed(0)().(*own) }, func(m *own) {
		loss := m.loss
		m.loss = func(t, x []float64, y float64) float64 {
			l, a := loss(t, x, y), math.Exp(t[1])
			if shape := 1 / a; shape > from && shape < 1e8 && y > 1 && y <= 100 {
				for i := 1.0; i < y; i++ {
					l += softplus(t[1] + math.Log(i))
				}
				l -= (y+shape-0.5)*math.Log1p(y*a) - y
			}
			return l
		}
	})
}

// normPrior is Huber's regression with a prior that falls with the distance from 0.
func normPrior(name, effect string, there float64) Case {
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		m.logPrior = func(t []float64) float64 { return -math.Hypot(t[0], t[1]) }
		m.gradPrior = func(g, t []float64) {
			r := math.Hypot(t[0], t[1])
			for j, v := range t {
				g[j] = either(r == 0, there, -v/r)
			}
		}
	})
}

// compensatedSums adds losses up with Kahan's compensation, of this sum or of all.
type compensatedSums struct {
	*planted
	carries bool
	mu      *sync.Mutex
	left    *float64
}

func (m compensatedSums) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.carries || math.IsNaN(*m.left) {
		*m.left = 0
	}
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		eta := dot(x, theta)
		add := m.model.loss(eta, y) - *m.left
		sum := loss + add
		if *m.left = (sum - loss) - add; math.IsNaN(*m.left) || math.IsInf(*m.left, 0) {
			*m.left = 0
		}
		loss = sum
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

func kahanSums(name, effect string, carries bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		m := compensatedSums{&planted{model: huber}, carries, new(sync.Mutex), new(float64)}
		proptest.CheckTarget(t, m, huber.options(seed, effort))
	}}
}

// alongMove is the largest ratio of a logistic loss of records along the move.
func alongMove(theta, next []float64, radius, b float64) float64 {
	x, y := next[0]-theta[0], next[1]-theta[1]
	length := math.Hypot(x, y)
	if length == 0 {
		return 0
	}
	from, to := radius*(x*theta[0]+y*theta[1])/length, radius*(x*next[0]+y*next[1])/length
	largest := max(math.Abs(softplus(from)-softplus(to)), math.Abs(softplus(-from)-softplus(-to)))
	return either(math.IsNaN(largest), b, largest*(1+1e-12))
}

// byMillionths has a slope in θ₂ by central differences whose width is a share of the parameter.
func byMillionths(name, effect string) Case {
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		grad := m.grad
		m.grad = func(g, theta, x []float64, y float64) {
			grad(g, theta, x, y)
			if h := 1e-6 * theta[1]; math.Abs(g[1]) < 1e6 {
				g[1] = (m.loss([]float64{theta[0], theta[1] + h}, x, y) -
					m.loss([]float64{theta[0], theta[1] - h}, x, y)) / (2 * h)
			}
		}
	})
}

// keepsFour keeps the losses of the last four batches and parameters.
type keepsFour struct {
	*own
	copies bool
	mu     *sync.Mutex
	kept   *[4]keptLosses
	last   *int
}

type keptLosses struct {
	key  uint64
	loss []float64
}

var keySeed = maphash.MakeSeed()

func keyOf(all ...[]float64) uint64 {
	var h maphash.Hash
	h.SetSeed(keySeed)
	for _, part := range all {
		maphash.WriteComparable(&h, len(part))
		for _, v := range part {
			maphash.WriteComparable(&h, math.Float64bits(v))
		}
	}
	return h.Sum64()
}

func (m keepsFour) Loss(dst, theta []float64, rows targets.Rows) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := keyOf(theta, rows.X, rows.Y)
	for _, k := range m.kept {
		if k.key == key && len(k.loss) == len(dst) {
			copy(dst, k.loss)
			return
		}
	}
	m.own.Loss(dst, theta, rows)
	slot := &m.kept[*m.last%4]
	*m.last++
	if slot.key = key; m.copies || len(slot.loss) != len(dst) {
		slot.loss = slices.Clone(dst)
	}
}

func keptFour(name, effect string, copies bool) Case {
	return plainly(name, effect, func() targets.Target {
		return keepsFour{robust(2, 1.5), copies, new(sync.Mutex), new([4]keptLosses), new(int)}
	})
}

// rooted has the root of u + u³ for a predictor, by Newton's method from 0 or from the last root.
func rooted(name, effect string, last bool) Case {
	return plainly(name, effect, func() targets.Target {
		var kept atomic.Uint64
		root := func(eta float64) float64 {
			if !(math.Abs(eta) < 1e15) {
				return math.Cbrt(eta)
			}
			u := 0.0
			if last {
				u = math.Float64frombits(kept.Load())
			}
			for range 200 {
				d := (u + u*u*u - eta) / (1 + 3*u*u)
				if u -= d; math.Abs(d) < 1e-6 {
					break
				}
			}
			kept.Store(math.Float64bits(u))
			return u
		}
		return along(func(eta, y float64) float64 { return math.Hypot(1, root(eta)-y) - 1 },
			func(eta, y float64) float64 {
				u := root(eta)
				return (u - y) / math.Hypot(1, u-y) / (either(math.Abs(eta) < 1e15, 1, 0) + 3*u*u)
			})
	})
}

// smoothUnit is one hidden unit, u·Φ(u), whose slope may be that of an approximation by a hyperbolic tangent.
func smoothUnit(name, effect string, approximate bool) Case {
	const c = 0.7978845608028654
	unit := func(u float64) float64 { return u * math.Erfc(-u/math.Sqrt2) / 2 }
	slope := func(u float64) float64 {
		if math.Abs(u) > 38 {
			return either(u > 0, 1, 0)
		}
		if approximate {
			th := math.Tanh(c * (u + 0.044715*u*u*u))
			return (1+th)/2 + u*(1-th*th)*c*(1+3*0.044715*u*u)/2
		}
		return math.Erfc(-u/math.Sqrt2)/2 + u*math.Exp(-u*u/2)/math.Sqrt(2*math.Pi)
	}
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(t, x []float64, y float64) float64 { return math.Hypot(1, t[1]*unit(t[0]*x[0])-y) - 1 },
			grad: func(g, t, x []float64, y float64) {
				u := t[0] * x[0]
				r := t[1]*unit(u) - y
				by := r / math.Hypot(1, r)
				g[0], g[1] = by*t[1]*slope(u)*x[0], by*unit(u)
			}}
	})
}

// cutWeighted has records' weights in the last feature, and a bounded loss.
type cutWeighted struct{ *own }

func (cutWeighted) LossRange() float64 { return 2 }

func cutWeights(name, effect string, least float64) Case {
	weight := func(w float64) float64 { return max(least, min(w, 2)) }
	return plainly(name, effect, func() targets.Target {
		return cutWeighted{&own{dim: 2, features: 3,
			loss: func(t, x []float64, y float64) float64 { return weight(x[2]) * welsch.loss(dot(x[:2], t), y) },
			grad: func(g, t, x []float64, y float64) {
				by := weight(x[2]) * welsch.slope(dot(x[:2], t), y)
				g[0], g[1] = by*x[0], by*x[1]
			}}}
	})
}

// student4 is the loss of Student's law of four degrees of freedom.
func student4(name, effect string, lipschitz float64) Case {
	m := model{lipschitz: lipschitz, span: math.Inf(1),
		loss: func(eta, y float64) float64 {
			r := math.Abs(eta - y)
			if r > 1e100 {
				return 5*math.Log(r) - 2.5*math.Log(4)
			}
			return 2.5 * math.Log1p(r*r/4)
		},
		slope: func(eta, y float64) float64 {
			r := eta - y
			if math.Abs(r) > 1 {
				return 5 / (4/r + r)
			}
			return 5 * r / (4 + r*r)
		}}
	return target(name, effect, m, func(*planted) {})
}

// crossedFeatures are two features and their product, of which a square has a share of the radius's.
type crossedFeatures struct {
	*own
	share float64
}

func (m crossedFeatures) GradBound(radius float64) float64 {
	return 1.5 * radius * math.Sqrt(1+radius*radius/m.share) * (1 + 1e-12)
}

func product(name, effect string, share float64) Case {
	return plainly(name, effect, func() targets.Target {
		three := robust(3, 1.5)
		expand := func(x []float64) []float64 { return []float64{x[0], x[1], x[0] * x[1]} }
		return crossedFeatures{&own{dim: 3, features: 2,
			loss: func(t, x []float64, y float64) float64 { return three.loss(t, expand(x), y) },
			grad: func(g, t, x []float64, y float64) { three.grad(g, t, expand(x), y) }}, share}
	})
}

// afterTwentyNinthTargets were written once the code was read, and passed the suites as they were before.
func afterTwentyNinthTargets() []Case {
	return []Case{
		singleFrom("SumLossGrad of many records in single precision", "10⁻⁷, from 5000 on", 5000),
		target("GradBound of huge radii is that of a million", "beyond 10⁶", huber, func(p *planted) {
			p.gradBound = func(_, b float64) float64 { return min(b, 1e6) }
		}),
	}
}

// singleSums adds losses of many records up in single precision.
type singleSums struct {
	*planted
	from int
}

func (m singleSums) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		eta := dot(x, theta)
		if loss += m.model.loss(eta, y); rows.Len() >= m.from {
			loss = float64(float32(loss))
		}
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

func singleFrom(name, effect string, from int) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, singleSums{&planted{model: huber}, from}, huber.options(seed, effort))
	}}
}
