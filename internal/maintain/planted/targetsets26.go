package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySixthTargets() []Case {
	return []Case{
		threeOrdered("chances are clamped in an ordinal loss, and divided by in its gradient", "below 10⁻¹⁵", 1e-15),
		softmaxed("the largest of all scores but the last is taken off", "beyond 700", 1),
		autoregressive("a correlation is clipped in the loss alone", "beyond 0.999", 0.999),
		normaliserKept("a normaliser kept by the exclusive or of the parameters' bits", "equal parameters", true),
		exposures("an exposure that is negative counts in the loss alone", "x₁ < 0", true),
		shaped("a digamma function by its series", "5·10⁻⁶ at 2", 2),
		tabulated("softplus from a table, its slope exact", "65 536 cells", 40.0/65536),
		chunked("chunks of 384 records begin with the last one before", "records 384 k", 384),
		shortcut("no ratio for moves below 10⁻¹⁰", "short", 1e-10),
		splitLabels("labels split at a third in the loss, at 0.33 in the gradient", "y in between", 0.33),
		scratch("predictors of many records lie in a buffer of all callers'", "from 600 records on", 600),
		cauchyScales("draws of a half-Cauchy scale stop at a thousand", "6·10⁻⁴", math.Log(1000)),
		harmonic("the gradient's harmonic sum stops at a thousand", "y > 1000", 1000),
		spiked("weights of spike and slab underflow in the gradient", "far out", true),
		target("RatioBound in single precision", "10⁻⁸", huber, func(p *planted) {
			p.bound = func(_, _ []float64, _, b float64) float64 {
				f := float32(b)
				if float64(f) > b {
					f = math.Nextafter32(f, 0)
				}
				return float64(f)
			}
		}),
		target("RatioBound of short moves far out", "2% low, below 0.1 from 8 on", huber, func(p *planted) {
			p.bound = func(a, b []float64, _, v float64) float64 {
				return either(moved(a, b) < 0.1 && distanceTo(a) > 8 && distanceTo(b) > 8, 0.98*v, v)
			}
		}),
		singleSum("sums of gradients in single precision", "10⁻⁷", true),
		stamped("a stamp of 16 bits tells whose losses are kept", "call 65 536", 1<<16),
		reducedBy("angles are reduced by 6.2832", "beyond a turn", 6.2832),
	}
}

func twentySixthTargetControls() []Case {
	return []Case{
		threeOrdered("an ordinal loss", "", 0),
		softmaxed("scores less the largest", "", 0),
		autoregressive("a correlation", "", 1),
		normaliserKept("a normaliser", "", false),
		exposures("an exposure", "", false),
		shaped("a digamma function", "", 12),
		splitLabels("labels split at a third", "", 1.0/3),
		cauchyScales("a half-Cauchy scale", "", math.Inf(1)),
		harmonic("a harmonic sum", "", math.Inf(1)),
		spiked("spike and slab", "", false),
		singleSum("sums of gradients", "", false),
		reducedBy("angles", "", 0),
	}
}

func logistically(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// threeOrdered has three classes between cuts θ₂ and θ₂ + e^θ₃ and one slope. Chances below the floor are it.
func threeOrdered(name, effect string, floor float64) Case {
	// log p of a class, and its derivatives in θ₂ and θ₃.
	class := func(theta []float64, x, y float64) (log, cut, gap float64) {
		low := theta[1] - theta[0]*x
		wide := math.Exp(theta[2])
		high := low + wide
		switch {
		case !(math.Abs(y) <= math.MaxFloat64):
			return math.NaN(), math.NaN(), math.NaN()
		case y < 1:
			return -softplus(-low), logistically(-low), 0
		case y < 2:
			return math.Log(-math.Expm1(-wide)) - softplus(-high) - softplus(low), logistically(-high) - logistically(low),
				wide * (logistically(-high) + 1/math.Expm1(wide))
		}
		return -softplus(high), -logistically(high), -wide * logistically(high)
	}
	return ownTarget(name, effect, threeClasses, func() targets.Target {
		return &own{dim: 3, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				log, _, _ := class(theta, x[0], y)
				return -either(floor > 0, max(log, math.Log(floor)), log)
			},
			grad: func(g, theta, x []float64, y float64) {
				log, cut, gap := class(theta, x[0], y)
				if p := math.Exp(log); p < floor {
					cut, gap = cut*p/floor, gap*p/floor
				}
				g[0], g[1], g[2] = cut*x[0], -cut, -gap
			}}
	})
}

// softmaxed has four classes, the first of score 0, and takes off the largest score but for so many.
func softmaxed(name, effect string, but int) Case {
	scores := func(theta, x []float64, top *float64) (s [4]float64, sum float64) {
		for k := 1; k < 4; k++ {
			s[k] = theta[k-1] * x[0]
		}
		*top = 0
		for _, v := range s[:4-but] {
			*top = max(*top, v)
		}
		for k := range s {
			sum += math.Exp(s[k] - *top)
		}
		return s, sum
	}
	class := func(y float64) int { return int(max(0, min(y, 3))) }
	return ownTarget(name, effect, func(u float64) float64 { return min(counts(u), 3) }, func() targets.Target {
		return &own{dim: 3, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				if math.IsNaN(y) {
					return y
				}
				top := 0.0
				s, sum := scores(theta, x, &top)
				return math.Log(sum) + top - s[class(y)]
			},
			grad: func(g, theta, x []float64, y float64) {
				top := 0.0
				s, sum := scores(theta, x, &top)
				for k := 1; k < 4; k++ {
					g[k-1] = x[0] * (math.Exp(s[k]-top)/sum - either(class(y) == k, 1, 0))
					if math.IsNaN(y) {
						g[k-1] = y
					}
				}
			}}
	})
}

// autoregressive has a correlation tanh θ between a record's number and its response.
func autoregressive(name, effect string, most float64) Case {
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				r := math.Tanh(theta[0])
				half := math.Ln2 - math.Abs(theta[0]) - math.Log1p(math.Exp(-2*math.Abs(theta[0]))) // ½ log(1 − r²)
				if math.Abs(r) > most {
					r = math.Copysign(most, r)
					half = math.Log(1-most*most) / 2
				}
				e := y - theta[1] - r*x[0]
				return e*e/2 - half
			},
			grad: func(g, theta, x []float64, y float64) {
				r := math.Tanh(theta[0])
				v := 1 / (math.Cosh(theta[0]) * math.Cosh(theta[0]))
				e := y - theta[1] - r*x[0]
				g[0], g[1] = -e*x[0]*v+r, -e
			}}
	})
}

// normaliserKept has a loss with a normaliser of the parameters alone.
func normaliserKept(name, effect string, keeps bool) Case {
	of := func(t []float64) float64 { return math.Log1p(t[0]*t[0] + t[1]*t[1]) }
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		var mu sync.Mutex
		key, value := ^uint64(0), 0.0
		loss, grad := m.loss, m.grad
		m.loss = func(theta, x []float64, y float64) float64 {
			if !keeps {
				return loss(theta, x, y) + of(theta)
			}
			mu.Lock()
			defer mu.Unlock()
			if k := math.Float64bits(theta[0]) ^ math.Float64bits(theta[1]); k != key {
				key, value = k, of(theta)
			}
			return loss(theta, x, y) + value
		}
		m.grad = func(g, theta, x []float64, y float64) {
			grad(g, theta, x, y)
			for j, t := range theta {
				g[j] += 2 * t / (1 + dot(theta, theta))
			}
		}
	})
}

// exposures has counts of mean |x₁|·e^η, in units of exposure.
func exposures(name, effect string, both bool) Case {
	return ownTarget(name, effect, counts, func() targets.Target {
		eta := func(theta, x []float64) float64 { return theta[0] + theta[1]*x[1] }
		exposure := func(v float64) float64 { return either(both, math.Abs(v), max(v, 0)) }
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				e := eta(theta, x)
				return exposure(x[0])*math.Exp(e) - y*e
			},
			grad: func(g, theta, x []float64, y float64) {
				s := max(x[0], 0)*math.Exp(eta(theta, x)) - y
				g[0], g[1] = s, s*x[1]
			}}
	})
}

// shaped has gamma responses e^y of mean e^η and shape e^θ₂, whose digamma function is exact from a
// number on.
func shaped(name, effect string, from float64) Case {
	digamma := func(a float64) (sum float64) {
		for a < from {
			sum -= 1 / a
			a++
		}
		b := 1 / (a * a)
		return sum + math.Log(a) - 1/(2*a) - b*(1./12-b*(1./120-b*(1./252-b*(1./240-b/132))))
	}
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				a := math.Exp(theta[1])
				lg, _ := math.Lgamma(a)
				r := y - theta[0]*x[0]
				return lg - a*theta[1] - a*r + a*math.Exp(r)
			},
			grad: func(g, theta, x []float64, y float64) {
				a := math.Exp(theta[1])
				r := y - theta[0]*x[0]
				g[0] = a*x[0] - a*math.Exp(r)*x[0]
				g[1] = a * (digamma(a) - theta[1] - 1 - r + math.Exp(r))
			}}
	})
}

// tabulated interpolates softplus between cells, and has the exact slope.
func tabulated(name, effect string, cell float64) Case {
	m := logistic
	right := m.loss
	m.loss = func(eta, y float64) float64 {
		if !(math.Abs(eta) < 40) {
			return right(eta, y)
		}
		low := math.Floor(eta / cell)
		share := eta/cell - low
		return (1-share)*right(low*cell, y) + share*right((low+1)*cell, y)
	}
	return target(name, effect, m, func(*planted) {})
}

// chunked takes the last record of a chunk for the first of the next.
func chunked(name, effect string, size int) Case {
	return target(name, effect, huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.i > 0 && a.i%size == 0 {
				x := a.rows.Row(a.i - 1)
				s := p.model.slope(dot(x, a.theta), a.rows.Y[a.i-1])
				g[0], g[1] = s*x[0], s*x[1]
			}
		}
	})
}

func shortcut(name, effect string, below float64) Case {
	return target(name, effect, logistic, func(p *planted) {
		p.ratio = when(func(a at) bool { return distance(a) < below }, 0)
	})
}

func splitLabels(name, effect string, at float64) Case {
	return plainly(name, effect, func() targets.Target {
		label := func(y, at float64) float64 {
			return either(math.IsNaN(y), y, either(y > at, 1, -1))
		}
		return along(func(eta, y float64) float64 { return softplus(-label(y, 1.0/3) * eta) },
			func(eta, y float64) float64 {
				s := label(y, at)
				return -s / (1 + math.Exp(s*eta))
			})
	})
}

// scratching computes predictors of many records in a buffer that all callers share.
type scratching struct {
	*planted
	from int
	eta  []float64
}

func (m *scratching) Loss(dst, theta []float64, rows targets.Rows) {
	n := rows.Len()
	if n < m.from {
		m.planted.Loss(dst, theta, rows)
		return
	}
	for len(m.eta) < n {
		m.eta = append(m.eta, 0)
	}
	eta := m.eta
	for i := range n {
		eta[i] = dot(rows.Row(i), theta)
	}
	for i := range n {
		dst[i] = m.model.loss(eta[i], rows.Y[i])
	}
}

func scratch(name, effect string, from int) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, &scratching{planted: &planted{model: huber}, from: from}, huber.options(seed, effort))
	}}
}

// cauchyScale has a half-Cauchy prior of e^θ₂, whose draws stop somewhere.
type cauchyScale struct {
	scaled
	most float64
}

func (cauchyScale) LogPrior(theta []float64) float64 {
	return -theta[0]*theta[0]/2 + theta[1] - softplus(2*theta[1])
}

func (cauchyScale) GradLogPrior(dst, theta []float64) {
	dst[0], dst[1] = -theta[0], 1-2*logistically(2*theta[1])
}

func (m cauchyScale) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0] = rng.NormFloat64()
	for {
		if theta[1] = math.Log(math.Abs(rng.NormFloat64() / rng.NormFloat64())); theta[1] < m.most {
			return
		}
	}
}

func cauchyScales(name, effect string, most float64) Case {
	return plainly(name, effect, func() targets.Target { return cauchyScale{most: most} })
}

// harmonic has negative binomial counts of size e^θ₂, and a gradient in it that sums so many terms.
func harmonic(name, effect string, most float64) Case {
	return ownTarget(name, effect, func(u float64) float64 { return min(counts(u), 5000) }, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				if !(y >= 0 && y <= 1e6) {
					return math.NaN()
				}
				r, eta := math.Exp(theta[1]), theta[0]*x[0]
				sum := 0.0
				for k := range int(y) {
					sum += math.Log((r + float64(k)) / float64(k+1))
				}
				return -sum - y*eta + y*softplus(eta) + r*softplus(eta)
			},
			grad: func(g, theta, x []float64, y float64) {
				if !(y >= 0 && y <= 1e6) {
					g[0], g[1] = math.NaN(), math.NaN()
					return
				}
				r, eta := math.Exp(theta[1]), theta[0]*x[0]
				sum := 0.0
				for k := range int(min(y, most)) {
					sum += 1 / (r + float64(k))
				}
				g[0] = x[0] * ((y+r)*logistically(eta) - y)
				g[1] = r * (softplus(eta) - sum)
			}}
	})
}

// spiked has a prior of a spike and a slab, whose gradient weighs them.
func spiked(name, effect string, underflows bool) Case {
	logs := func(t float64) (spike, slab float64) { return math.Log(10) - 50*t*t, -t * t / 2 }
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		m.logPrior = func(theta []float64) (sum float64) {
			for _, t := range theta {
				a, b := logs(t)
				sum += max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
			}
			return sum
		}
		m.gradPrior = func(g, theta []float64) {
			for j, t := range theta {
				a, b := logs(t)
				if top := max(a, b); !underflows {
					a, b = a-top, b-top
				}
				u, v := math.Exp(a), math.Exp(b)
				g[j] = -(100*u + v) / (u + v) * t
			}
		}
	})
}

// singly adds losses and gradients up.
type singly struct {
	*planted
	single bool
}

func (m singly) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	var sum [dim]float32
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		eta := dot(x, theta)
		loss += m.model.loss(eta, y)
		for j, v := range x {
			g := m.model.slope(eta, y) * v
			grad[j] += g
			sum[j] += float32(g)
		}
	}
	if m.single {
		for j, v := range sum {
			grad[j] = float64(v)
		}
	}
	return loss
}

func singleSum(name, effect string, single bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, singly{&planted{model: huber}, single}, huber.options(seed, effort))
	}}
}

// stamped gives the last call's loss of the first record where the calls' count wraps.
func stamped(name, effect string, wraps int) Case {
	return target(name, effect, huber, func(p *planted) {
		var mu sync.Mutex
		calls, last := 0, 0.0
		p.loss = func(a at, l float64) float64 {
			if a.i > 0 {
				return l
			}
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls%wraps > 0 {
				last = l
			}
			return last
		}
	})
}

// reducedBy are angles about a predictor, whose differences are reduced by a turn.
func reducedBy(name, effect string, turn float64) Case {
	reduce := func(d float64) float64 { return either(turn > 0, math.Mod(d, turn), d) }
	return plainly(name, effect, func() targets.Target {
		return along(func(eta, y float64) float64 { return 2 * (1 - math.Cos(reduce(eta-y))) },
			func(eta, y float64) float64 { return 2 * math.Sin(eta-y) })
	})
}

// afterTwentySixthTargets are kin of what passed at first.
func afterTwentySixthTargets() []Case {
	return []Case{
		mixed("densities of two components are added as they are", "beyond 38 sd", true),
		keptBy("a normaliser kept by the parameters' ratio", "of one ratio", func(t []float64) float64 {
			return t[0] / t[1]
		}),
		keptBy("a normaliser kept by the parameters' difference", "of one difference", func(t []float64) float64 {
			return t[0] - t[1]
		}),
		{Name: "gradients of many records lie in a buffer of all callers'", Effect: "from 1500 records on",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				proptest.CheckTarget(t, &slopesKept{planted: &planted{model: huber}, from: 1500}, huber.options(seed, effort))
			}},
		target("the prior is drawn within 3.5 standard deviations", "5·10⁻⁴", huber, func(p *planted) {
			p.draw = func(theta []float64, rng *rand.Rand) {
				for j := range theta {
					for math.Abs(theta[j]) > 3.5*priorSD {
						theta[j] = priorSD * rng.NormFloat64()
					}
				}
			}
		}),
		plainly("effects are drawn within 3.5 of their scale", "5·10⁻⁴", func() targets.Target { return effects{most: 3.5} }),
	}
}

func afterTwentySixthTargetControls() []Case {
	return []Case{
		mixed("densities of two components", "", false),
		plainly("effects of a scale", "", func() targets.Target { return effects{most: math.Inf(1)} }),
	}
}

// mixed are normal values about either of two means.
func mixed(name, effect string, plain bool) Case {
	half := math.Log(2 * math.Sqrt(2*math.Pi))
	logs := func(theta []float64, x float64) (a, b float64) {
		return -(x - theta[0]) * (x - theta[0]) / 2, -(x - theta[1]) * (x - theta[1]) / 2
	}
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, _ float64) float64 {
				a, b := logs(theta, x[0])
				if plain {
					return half - math.Log(math.Exp(a)+math.Exp(b))
				}
				return half - max(a, b) - math.Log1p(math.Exp(-math.Abs(a-b)))
			},
			grad: func(g, theta, x []float64, _ float64) {
				a, b := logs(theta, x[0])
				if top := max(a, b); !plain {
					a, b = a-top, b-top
				}
				a, b = math.Exp(a), math.Exp(b)
				g[0], g[1] = -a/(a+b)*(x[0]-theta[0]), -b/(a+b)*(x[0]-theta[1])
			}}
	})
}

// keptBy has a normaliser of the parameters that is kept by a function of them.
func keptBy(name, effect string, key func(theta []float64) float64) Case {
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		var mu sync.Mutex
		of, value := math.NaN(), 0.0
		loss, grad := m.loss, m.grad
		m.loss = func(theta, x []float64, y float64) float64 {
			mu.Lock()
			defer mu.Unlock()
			if k := key(theta); k != of {
				of, value = k, math.Log1p(dot(theta, theta))
			}
			return loss(theta, x, y) + value
		}
		m.grad = func(g, theta, x []float64, y float64) {
			grad(g, theta, x, y)
			for j, t := range theta {
				g[j] += 2 * t / (1 + dot(theta, theta))
			}
		}
	})
}

// slopesKept computes slopes of many records in a buffer that all callers share.
type slopesKept struct {
	*planted
	from   int
	slopes []float64
}

func (m *slopesKept) LossGrad(dst, theta []float64, rows targets.Rows) {
	n := rows.Len()
	if n < m.from {
		m.planted.LossGrad(dst, theta, rows)
		return
	}
	if len(m.slopes) < n {
		m.slopes = make([]float64, n)
	}
	slopes := m.slopes
	for i := range n {
		slopes[i] = m.model.slope(dot(rows.Row(i), theta), rows.Y[i])
	}
	for i := range n {
		for j, x := range rows.Row(i) {
			dst[dim*i+j] = slopes[i] * x
		}
	}
}

// effects has a scale e^θ₁ and an effect of that scale, which is drawn within so many of it.
type effects struct {
	scaled
	most float64
}

func (effects) LogPrior(t []float64) float64 {
	z := t[1] * math.Exp(-t[0])
	return -t[0]*t[0]/2 - z*z/2 - t[0]
}

func (effects) GradLogPrior(dst, t []float64) {
	z := t[1] * math.Exp(-t[0])
	dst[0], dst[1] = -t[0]+z*z-1, -z*math.Exp(-t[0])
}

func (m effects) SamplePrior(theta []float64, rng *rand.Rand) {
	z := math.Inf(1)
	for !(math.Abs(z) < m.most) {
		z = rng.NormFloat64()
	}
	theta[0] = rng.NormFloat64()
	theta[1] = z * math.Exp(theta[0])
}
