package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySeventhTargets() []Case {
	return []Case{
		survival("a censored time has an event's slope in the shape", "x₂ ≤ 0", true),
		zerosOfTwoKinds("the weight of a zero is that of the batch's first zero, in the gradient", "records", true),
		plainly("a group's scale is at least a tenth in the density, not in the draws", "1% of draws",
			func() targets.Target { return scaledEffect{least: 0.1} }),
		biweighted("Tukey's loss ends higher than it comes to", "0.05 of 1.5", 0.05),
		smoothQuantile("a smooth quantile's slope is sharp within its band", "0.1 wide", true),
		ratio("residuals are held within 12 in the ratio alone", "beyond 12", 2,
			func(theta, next, x []float64, y, _ float64) float64 {
				m := robust(2, 1.5)
				held := func(t []float64) float64 {
					return m.loss([]float64{max(-12, min(dot(x, t)-y, 12)), 0}, []float64{1, 0}, 0)
				}
				return held(theta) - held(next)
			}),
		plainly("a stationary first state's variance is not in the density", "½ log(1 − ρ²)",
			func() targets.Target { return firstState{} }),
		plainly("two local scales are drawn over one denominator", "dependent",
			func() targets.Target { return horseshoe{oneBelow: true} }),
		sumOfBut("SumLossGrad leaves out the slopes of small losses", "below 10⁻³",
			func(loss float64) bool { return loss < 1e-3 }),
		target("RatioBound is for features that are not negative", "√2 low where signs differ", huber, func(p *planted) {
			p.bound = func(theta, next []float64, radius, _ float64) float64 {
				up, down := 0.0, 0.0
				for j, t := range theta {
					d := next[j] - t
					up, down = up+max(d, 0)*max(d, 0), down+min(d, 0)*min(d, 0)
				}
				return radius * math.Sqrt(max(up, down)) * (1 + 1e-12)
			}
		}),
		target("a bounded loss's steepest slope is rounded", "0.6 for 0.6065", welsch, func(p *planted) {
			p.lip = func() float64 { return 0.6 }
			p.gradBound = func(radius, _ float64) float64 { return 0.6 * radius }
			p.bound = func(_, _ []float64, _, b float64) float64 { return b / p.lipschitz * 0.6 }
		}),
		pairsBefore("pairs with earlier records of the batch count", "0.01 each", true),
		scaleMoves("no logarithm in the ratio of scales that hardly move", "below 10⁻³", 1e-3),
		sumByGroups("SumLossGrad adds groups up in the order of a map", "last bits", true),
		unlabelled("a record without a label has its entropy for a loss, and no gradient", "NaN", false),
	}
}

func twentySeventhTargetControls() []Case {
	return []Case{
		survival("censored times", "", false),
		zerosOfTwoKinds("zeros of two kinds", "", false),
		plainly("a group's scale", "", func() targets.Target { return scaledEffect{least: 1e-150} }),
		biweighted("Tukey's loss", "", 0),
		smoothQuantile("a smooth quantile", "", false),
		plainly("a stationary first state", "", func() targets.Target { return firstState{right: true} }),
		plainly("two local scales", "", func() targets.Target { return horseshoe{} }),
		sumOfBut("SumLossGrad of all", "", func(float64) bool { return false }),
		pairsBefore("times of an exponential law", "", false),
		scaleMoves("a ratio of scales", "", 0),
		sumByGroups("SumLossGrad adds groups up in order", "", false),
		unlabelled("a record without a label has its entropy for a loss", "", true),
	}
}

// survival has log times y of a Weibull law, which are censored where x₂ ≤ 0.
func survival(name, effect string, wrong bool) Case {
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				k := math.Exp(theta[1])
				w := k * (y - theta[0]*x[0])
				return math.Exp(w) - either(x[1] > 0, theta[1]+w, 0)
			},
			grad: func(g, theta, x []float64, y float64) {
				k := math.Exp(theta[1])
				w := k * (y - theta[0]*x[0])
				h, event := math.Exp(w), either(x[1] > 0, 1, 0)
				g[0] = -k * x[0] * (h - event)
				g[1] = h*w - either(wrong, 1, event)*(1+w)
			}}
	})
}

// zeroCounts has counts of rate e^η, and zeros of their own of log odds θ₂.
type zeroCounts struct {
	*own
	batch bool
}

func (m zeroCounts) LossGrad(dst, theta []float64, rows targets.Rows) {
	first := math.NaN()
	each(rows, theta, nil, func(a at) {
		g := dst[2*a.i : 2*a.i+2]
		rate := math.Exp(theta[0] * a.x[0])
		if a.y >= 1 || math.IsNaN(a.y) {
			g[0], g[1] = a.x[0]*(rate-a.y), logistically(theta[1])
			return
		}
		own := logistically(theta[1] + rate) // that a zero is one of its own
		if math.IsNaN(first) || !m.batch {
			first = own
		}
		g[0], g[1] = a.x[0]*rate*(1-first), logistically(theta[1])-first
	})
}

func zerosOfTwoKinds(name, effect string, batch bool) Case {
	return ownTarget(name, effect, counts, func() targets.Target {
		return zeroCounts{&own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				rate := math.Exp(theta[0] * x[0])
				if y >= 1 || math.IsNaN(y) {
					return softplus(theta[1]) + rate - y*theta[0]*x[0]
				}
				return softplus(theta[1]) - max(theta[1], -rate) - math.Log1p(math.Exp(-math.Abs(theta[1]+rate)))
			}}, batch}
	})
}

// scaledEffect has a scale e^θ₁ and an effect of that scale.
type scaledEffect struct {
	scaled
	least float64
}

func (m scaledEffect) LogPrior(t []float64) float64 {
	s := max(math.Exp(t[0]), m.least)
	z := t[1] / s
	return -t[0]*t[0]/2 - z*z/2 - math.Log(s)
}

func (m scaledEffect) GradLogPrior(dst, t []float64) {
	e := math.Exp(t[0])
	s := max(e, m.least)
	z := t[1] / s
	dst[0], dst[1] = -t[0]+either(e > m.least, z*z-1, 0), -z/s
}

func (scaledEffect) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0] = rng.NormFloat64()
	theta[1] = math.Exp(theta[0]) * rng.NormFloat64()
}

// biweighted is Tukey's biweight loss with a cut at 3, and more beyond it.
func biweighted(name, effect string, more float64) Case {
	const cut = 3.0
	return plainly(name, effect, func() targets.Target {
		return along(func(eta, y float64) float64 {
			r := (eta - y) / cut
			if math.Abs(r) > 1 {
				return cut*cut/6 + more
			}
			u := 1 - r*r
			return cut * cut / 6 * (1 - u*u*u)
		}, func(eta, y float64) float64 {
			r := (eta - y) / cut
			if math.Abs(r) > 1 {
				return 0
			}
			u := 1 - r*r
			return cut * r * u * u
		})
	})
}

// smoothQuantile is the loss of the quantile 0.7, a square within a band.
func smoothQuantile(name, effect string, sharp bool) Case {
	const half = 0.05
	slope := func(r float64) float64 { return max(-0.3, min(0.2+r/(2*half), 0.7)) }
	return plainly(name, effect, func() targets.Target {
		return along(func(eta, y float64) float64 {
			r := eta - y
			if math.Abs(r) < half {
				return 0.2*r + r*r/(4*half) + half/4
			}
			return either(r > 0, 0.7*r, -0.3*r)
		}, func(eta, y float64) float64 {
			r := eta - y
			if sharp && math.Abs(r) < half {
				return either(r > 0, 0.7, -0.3)
			}
			return slope(r)
		})
	})
}

// firstState has a correlation tanh θ₁ and a first state of its stationary law.
type firstState struct {
	scaled
	right bool
}

func (m firstState) LogPrior(t []float64) float64 {
	half := math.Ln2 - math.Abs(t[0]) - math.Log1p(math.Exp(-2*math.Abs(t[0]))) // ½ log(1 − ρ²)
	return -t[0]*t[0]/2 - t[1]*t[1]/2*math.Exp(2*half) + either(m.right, half, 0)
}

func (m firstState) GradLogPrior(dst, t []float64) {
	rho := math.Tanh(t[0])
	v := 1 / (math.Cosh(t[0]) * math.Cosh(t[0]))
	dst[0], dst[1] = -t[0]+t[1]*t[1]*v*rho-either(m.right, rho, 0), -t[1]*v
}

func (firstState) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0] = rng.NormFloat64()
	theta[1] = math.Cosh(theta[0]) * rng.NormFloat64()
}

// horseshoe has the logarithms of two half-Cauchy scales.
type horseshoe struct {
	scaled
	oneBelow bool
}

func (horseshoe) LogPrior(t []float64) float64 {
	return t[0] - softplus(2*t[0]) + t[1] - softplus(2*t[1])
}

func (horseshoe) GradLogPrior(dst, t []float64) {
	for j, v := range t {
		dst[j] = 1 - 2*logistically(2*v)
	}
}

func (m horseshoe) SamplePrior(theta []float64, rng *rand.Rand) {
	below := rng.NormFloat64()
	for j := range theta {
		theta[j] = math.Log(math.Abs(rng.NormFloat64() / below))
		if !m.oneBelow {
			below = rng.NormFloat64()
		}
	}
}

// sumsBut adds losses and gradients up, but for some slopes.
type sumsBut struct {
	*planted
	but func(loss float64) bool
}

func (m sumsBut) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		eta := dot(x, theta)
		l := m.model.loss(eta, y)
		loss += l
		if m.but(l) {
			continue
		}
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

func sumOfBut(name, effect string, but func(loss float64) bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, sumsBut{&planted{model: huber}, but}, huber.options(seed, effort))
	}}
}

// pairsBefore has times of an exponential law, and counts pairs with what came before in a batch, or does not.
func pairsBefore(name, effect string, batch bool) Case {
	rate := func(theta, x []float64) float64 { return math.Exp(dot(x, theta)) }
	return spoilt(name, effect, func(u float64) float64 { return math.Abs(u) }, func() *own {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return y*rate(theta, x) - dot(x, theta) },
			grad: func(g, theta, x []float64, y float64) {
				by := y*rate(theta, x) - 1
				g[0], g[1] = by*x[0], by*x[1]
			}}
	}, func(m *own) {
		if batch {
			m.batch = func(dst []float64, rows targets.Rows) {
				for i := range dst {
					for j := range i {
						if rows.Y[j] >= rows.Y[i] && rows.X[2*j] > rows.X[2*i] {
							dst[i] += 0.01
						}
					}
				}
			}
		}
	})
}

// scaleMoves has a mean θ₁ and a scale e^θ₂, whose ratio has no logarithm for short moves of the latter.
func scaleMoves(name, effect string, below float64) Case {
	return plainly(name, effect, func() targets.Target {
		z := func(theta, x []float64) float64 { return (x[0] - theta[0]) * math.Exp(-theta[1]) }
		m := &own{dim: 2, features: 1,
			loss: func(theta, x []float64, _ float64) float64 { return z(theta, x)*z(theta, x)/2 + theta[1] },
			grad: func(g, theta, x []float64, _ float64) {
				r := z(theta, x)
				g[0], g[1] = -r*math.Exp(-theta[1]), 1-r*r
			}}
		m.ratio = func(theta, next, x []float64, _ float64) float64 {
			r := m.loss(theta, x, 0) - m.loss(next, x, 0)
			if d := theta[1] - next[1]; math.Abs(d) < below {
				r -= d
			}
			return r
		}
		return m
	})
}

// groupSums adds groups up before the whole.
type groupSums struct {
	*planted
	unordered bool
}

func (m groupSums) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	const groups = 16
	type sum struct {
		loss float64
		grad [dim]float64
	}
	all := map[int]*sum{}
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		s := all[i%groups]
		if s == nil {
			s = &sum{}
			all[i%groups] = s
		}
		eta := dot(x, theta)
		s.loss += m.model.loss(eta, y)
		for j, v := range x {
			s.grad[j] += m.model.slope(eta, y) * v
		}
	}
	clear(grad)
	add := func(s *sum) {
		loss += s.loss
		for j, v := range s.grad {
			grad[j] += v
		}
	}
	if m.unordered {
		for _, s := range all {
			add(s)
		}
		return loss
	}
	for i := range groups {
		if s := all[i]; s != nil {
			add(s)
		}
	}
	return loss
}

func sumByGroups(name, effect string, unordered bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, groupSums{&planted{model: huber}, unordered}, huber.options(seed, effort))
	}}
}

// unlabelled has labels y > ½, and the entropy of its chance for the loss where there is none.
func unlabelled(name, effect string, slopes bool) Case {
	return plainly(name, effect, func() targets.Target {
		return along(func(eta, y float64) float64 {
			if math.IsNaN(y) {
				return softplus(eta) - eta*logistically(eta)
			}
			return softplus(-sign(y) * eta)
		}, func(eta, y float64) float64 {
			if math.IsNaN(y) {
				return either(slopes, -eta*logistically(eta)*logistically(-eta), 0)
			}
			return -sign(y) / (1 + math.Exp(sign(y)*eta))
		})
	})
}
