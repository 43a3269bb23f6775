package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyThirdTargets() []Case {
	return []Case{
		plainly("ratio leaves out the intercept where it stays", "not linear", staying(true)),
		plainly("Mills' ratio by two terms of its series", "beyond 5", mills(true)),
		plainly("ends of an interval are exchanged in the loss alone", "low above high", interval(true)),
		plainly("RatioBound by the slope half way", "long moves", quartic(true)),
		ownTarget("GradBound of two classes for three", "√2 low", threeClasses, ofClasses(1)),
		plainly("range of a density with a floor, without the floor", "5% low", floored(false)),
		plainly("RatioBound divides by a move of one parameter", "NaN where it stays", secant(true)),
		plainly("SamplePrior adds to what theta held", "not cleared", cleared(false)),
		plainly("a spare normal number of the prior is kept in the target", "one", spareDraw(true)),
		plainly("a record on a knot is in the bin below in the ratio", "x = 0.25", binnedMeans(true)),
		plainly("a prior's chances are clamped in its density", "at 0.01", clampedPrior(0.01)),
		plainly("a part of a mixture is drawn for all parameters", "two scales", mixturePrior(true)),
		plainly("an effect is integrated by half as many nodes in the gradient", "10⁻³", integrated(8)),
		plainly("sums end where they are beyond ten thousand", "early exit", exceeding(1e4)),
		plainly("RatioBound is kept by the move, not by the radius", "stale", keptByMove(false)),
		plainly("draws of ordered cuts, a density without the gap's Jacobian", "e^θ", cuts(0)),
	}
}

func twentyThirdTargetControls() []Case {
	return []Case{
		plainly("a ratio with an intercept", "", staying(false)),
		plainly("Mills' ratio", "", mills(false)),
		plainly("ends of an interval are exchanged", "", interval(false)),
		plainly("RatioBound by the slope at both ends", "", quartic(false)),
		ownTarget("GradBound of three classes", "", threeClasses, ofClasses(math.Sqrt2)),
		plainly("range of a density with a floor", "", floored(true)),
		plainly("RatioBound where one parameter stays", "", secant(false)),
		plainly("SamplePrior clears theta", "", cleared(true)),
		plainly("a spare normal number is thrown away", "", spareDraw(false)),
		plainly("means of bins", "", binnedMeans(false)),
		plainly("a uniform prior of a chance", "", clampedPrior(0)),
		plainly("a part of a mixture is drawn for each parameter", "", mixturePrior(false)),
		plainly("an effect is integrated", "", integrated(16)),
		plainly("RatioBound is kept by the move and the radius", "", keptByMove(true)),
		plainly("draws of ordered cuts", "", cuts(1)),
	}
}

func afterTwentyThirdTargets() []Case {
	return []Case{
		ratio("ratio of moves to the origin", "3%", 2, func(_, next, _ []float64, _, r float64) float64 {
			return r * either(next[0] == 0 && next[1] == 0, 1.03, 1)
		}),
		ratio("ratio of moves that exchange the parameters", "3%", 2, func(theta, next, _ []float64, _, r float64) float64 {
			return r * either(next[0] == theta[1] && next[1] == theta[0], 1.03, 1)
		}),
		grown("gradient of two years", "5%, 2010 and 2011", nil, huberOf(2), func(g, _, x []float64, _ float64) {
			g[0] *= either(x[0] >= 2010 && x[0] < 2012, 1.05, 1)
		}),
		ownTarget("a factorial overflows", "from 171 on", counts, factorials(func(y float64) float64 {
			return math.Log(math.Gamma(y + 1))
		})),
	}
}

func afterTwentyThirdTargetControls() []Case {
	return []Case{
		ownTarget("factorials", "", counts, factorials(func(y float64) float64 {
			log, _ := math.Lgamma(y + 1)
			return log
		})),
	}
}

// factorials is a regression of counts, with the logarithm of a factorial in each loss.
func factorials(log func(y float64) float64) func() targets.Target {
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 { return math.Exp(eta) - y*eta + log(y) },
			func(eta, y float64) float64 { return math.Exp(eta) - y })
	})
}

// staying is an exponential curve whose ratio may take an intercept that stays for none.
func staying(forgets bool) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 1, loss: func(t, x []float64, y float64) float64 {
			return huber.loss(t[0]+t[1]*x[0], y)
		}, grad: func(g, t, x []float64, y float64) {
			g[0] = huber.slope(t[0]+t[1]*x[0], y)
			g[1] = g[0] * x[0]
		}}
		if forgets {
			m.ratio = func(t, next, x []float64, y float64) float64 {
				a := either(t[0] == next[0], 0, 1)
				return huber.loss(a*t[0]+t[1]*x[0], y) - huber.loss(a*next[0]+next[1]*x[0], y)
			}
		}
		return m
	}
}

// mills is probit regression, whose slope may have two terms of a series from 5 on, where there are five of them
// from 30 on.
func mills(short bool) func() targets.Target {
	series := func(z float64) float64 {
		w := 1 / (z * z)
		return 1 + w*(-1+w*(3+w*(-15+w*105)))
	}
	return func() targets.Target {
		return along(func(eta, y float64) float64 {
			z := sign(y) * eta
			if z < -30 {
				return z*z/2 + math.Log(-z*math.Sqrt(2*math.Pi)) - math.Log(series(z))
			}
			return -math.Log(normalBelow(z))
		}, func(eta, y float64) float64 {
			z := sign(y) * eta
			switch {
			case z < -5 && short:
				return sign(y) * (z + 1/z)
			case z < -30:
				return sign(y) * z / series(z)
			}
			return -sign(y) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / normalBelow(z)
		})
	}
}

// interval has a location, of which a record tells an interval.
func interval(lossAlone bool) func() targets.Target {
	chance := func(t float64, x []float64) float64 {
		return sigmoid(x[1]-t) - sigmoid(x[0]-t)
	}
	return func() targets.Target {
		return &own{dim: 1, features: 2, loss: func(t, x []float64, _ float64) float64 {
			return -math.Log(1e-3 + math.Abs(chance(t[0], x)))
		}, grad: func(g, t, x []float64, _ float64) {
			a, b := sigmoid(x[0]-t[0]), sigmoid(x[1]-t[0])
			p := 1e-3 + either(lossAlone, max(0, b-a), math.Abs(b-a))
			g[0] = (b*(1-b) - a*(1-a)) / p * either(b < a && !lossAlone, -1, 1)
			if b < a && lossAlone {
				g[0] = 0
			}
		}}
	}
}

// quartic is a loss of the fourth power of clipped responses, whose bound has the slope at one place or two.
func quartic(halfWay bool) func() targets.Target {
	of := func(y float64) float64 { return max(-1, min(y, 1)) }
	steep := func(t float64) float64 { return math.Pow(math.Abs(t)+1, 3) }
	return func() targets.Target {
		m := &own{dim: 1, loss: func(t, _ []float64, y float64) float64 { return math.Pow(t[0]-of(y), 4) / 4 },
			grad: func(g, t, _ []float64, y float64) { g[0] = math.Pow(t[0]-of(y), 3) }}
		return bounded{m, func(t, next []float64, _ float64) float64 {
			at := steep((t[0] + next[0]) / 2)
			if !halfWay {
				at = max(steep(t[0]), steep(next[0]))
			}
			return at * math.Abs(next[0]-t[0]) * (1 + 1e-9)
		}, func(float64) float64 { return math.Inf(1) }}
	}
}

// ofClasses is a softmax of three classes and one feature, whose gradients are said to be so many times it.
func ofClasses(times float64) func() targets.Target {
	return func() targets.Target {
		shares := func(t []float64, x float64) (p [3]float64, log float64) {
			most := max(t[0]*x, t[1]*x, t[2]*x)
			for k := range p {
				p[k] = math.Exp(t[k]*x - most)
			}
			total := p[0] + p[1] + p[2]
			for k := range p {
				p[k] /= total
			}
			return p, most + math.Log(total)
		}
		m := &own{dim: 3, features: 1, loss: func(t, x []float64, y float64) float64 {
			_, log := shares(t, x[0])
			return log - t[int(threeClasses(y))]*x[0]
		}, grad: func(g, t, x []float64, y float64) {
			p, _ := shares(t, x[0])
			for k := range p {
				g[k] = (p[k] - either(k == int(threeClasses(y)), 1, 0)) * x[0]
			}
		}}
		return bounded{m, func(t, next []float64, radius float64) float64 {
			return math.Sqrt2 * radius * moved(t, next) * (1 + 1e-9)
		}, func(radius float64) float64 { return times * radius * (1 + 1e-9) }}
	}
}

// floored is a normal density with a floor under it, whose range may be without it.
func floored(counts bool) func() targets.Target {
	const top, floor = 0.4, 0.05
	return func() targets.Target {
		return spread{&own{dim: 1, loss: func(t, _ []float64, y float64) float64 {
			return -math.Log(floor + top*math.Exp(-(y-t[0])*(y-t[0])/2))
		}, grad: func(g, t, _ []float64, y float64) {
			f := top * math.Exp(-(y-t[0])*(y-t[0])/2)
			g[0] = -f * (y - t[0]) / (floor + f)
		}}, math.Log((top+either(counts, floor, 0))/floor) + 1e-12}
	}
}

// secant bounds a sum of two convex losses by the mean slope of each, which is 0/0 where a parameter stays.
func secant(divides bool) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 2, loss: func(t, x []float64, _ float64) float64 {
			return huber.loss(t[0], x[0]) + huber.loss(t[1], x[1])
		}, grad: func(g, t, x []float64, _ float64) { g[0], g[1] = huber.slope(t[0], x[0]), huber.slope(t[1], x[1]) }}
		return bounded{m, func(t, next []float64, _ float64) (sum float64) {
			for j := range t {
				d := math.Abs(next[j] - t[j])
				if divides {
					sum += d / d * d
				} else {
					sum += d
				}
			}
			return sum * (1 + 1e-9)
		}, func(float64) float64 { return math.Sqrt2 + 1e-9 }}
	}
}

// cleared draws its prior, and may add it to what is there.
func cleared(first bool) func() targets.Target {
	return func() targets.Target {
		return drawn{robust(2, 1.5), func(t []float64, rng *rand.Rand) {
			if first {
				clear(t)
			}
			for j := range t {
				t[j] += rng.NormFloat64()
			}
		}}
	}
}

// spareDraw draws three normal numbers of pairs, and may keep the fourth for the next draw.
func spareDraw(keeps bool) func() targets.Target {
	return func() targets.Target {
		var lock sync.Mutex
		spare := []float64{}
		return drawn{robust(3, 1.5), func(t []float64, rng *rand.Rand) {
			lock.Lock()
			defer lock.Unlock()
			for j := range t {
				if len(spare) == 0 {
					sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
					r := math.Sqrt(2 * rng.ExpFloat64())
					t[j], spare = r*cos, append(spare, r*sin)
					continue
				}
				t[j], spare = spare[0], spare[:0]
			}
			if !keeps {
				spare = spare[:0]
			}
		}}
	}
}

// binnedMeans has a mean for each of three bins of its feature.
func binnedMeans(below bool) func() targets.Target {
	knots := []float64{-0.25, 0.25}
	return func() targets.Target {
		bin := func(x float64) int {
			i, found := slices.BinarySearch(knots, x)
			if found {
				i++
			}
			return i
		}
		m := &own{dim: 3, features: 1}
		m.loss = func(t, x []float64, y float64) float64 { return huber.loss(t[bin(x[0])], y) }
		m.grad = func(g, t, x []float64, y float64) {
			clear(g)
			g[bin(x[0])] = huber.slope(t[bin(x[0])], y)
		}
		m.ratio = func(t, next, x []float64, y float64) float64 {
			i := bin(x[0])
			if below && x[0] == 0.25 {
				i--
			}
			return huber.loss(t[i], y) - huber.loss(next[i], y)
		}
		return m
	}
}

// clampedPrior is a uniform prior of a chance, of which the parameter is the logit.
func clampedPrior(at float64) func() targets.Target {
	chance := func(t float64) float64 { return max(at, min(sigmoid(t), 1-at)) }
	return priorOf(func(t float64) float64 {
		if at == 0 {
			return -math.Abs(t) - 2*math.Log1p(math.Exp(-math.Abs(t)))
		}
		return math.Log(chance(t)) + math.Log(1-chance(t))
	}, func(t float64) float64 {
		p := sigmoid(t)
		return either(at > 0 && (p < at || p > 1-at), 0, 1-2*p)
	}, func(rng *rand.Rand) float64 {
		u := rng.Float64()
		return math.Log(u / (1 - u))
	})
}

// mixturePrior is a normal law of the deviation 0.5 or 1.5 for each of two parameters.
func mixturePrior(together bool) func() targets.Target {
	log := func(t float64) float64 { return math.Log(2*math.Exp(-2*t*t)+math.Exp(-t*t/4.5)/1.5) - math.Log(2.7) }
	return func() targets.Target {
		m := priorOf(func(t float64) float64 {
			return either(math.Abs(t) > 20, -t*t/4.5-math.Log(1.5*2.7), log(t))
		}, func(t float64) float64 {
			w := 1 / (1 + math.Exp(-t*t/4.5+2*t*t)/3)
			return -4*t*w - t/2.25*(1-w)
		}, nil)().(drawn)
		m.draw = func(t []float64, rng *rand.Rand) {
			first := rng.IntN(2)
			for j := range t {
				k := rng.IntN(2)
				if together {
					k = first
				}
				t[j] = either(k == 0, 0.5, 1.5) * rng.NormFloat64()
			}
		}
		return m
	}
}

// integrated is a Bernoulli response with a normal effect of its own, integrated over so many nodes in the gradient
// and sixteen in the loss.
func integrated(inSlope int) func() targets.Target {
	nodes := func(n int, see func(u, w float64)) {
		for i := range n + 1 {
			u := -6 + 12*float64(i)/float64(n)
			see(u, math.Exp(-u*u/2)*12/float64(n)/math.Sqrt(2*math.Pi))
		}
	}
	return func() targets.Target {
		chance := func(eta, y float64, n int) (p, slope float64) {
			s := sign(y)
			nodes(n, func(u, w float64) {
				q := sigmoid(s * (eta + 2*u))
				p, slope = p+w*q, slope+w*s*q*(1-q)
			})
			return p, slope
		}
		return along(func(eta, y float64) float64 {
			p, _ := chance(eta, y, 16)
			return -math.Log(p + 1e-9)
		}, func(eta, y float64) float64 {
			p, slope := chance(eta, y, inSlope)
			return -slope / (p + 1e-9)
		})
	}
}

// keptByMove keeps the bound of the last move, at its radius or at any.
func keptByMove(radiusToo bool) func() targets.Target {
	return func() targets.Target {
		var lock sync.Mutex
		var key []float64
		kept := 0.0
		return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
			lock.Lock()
			defer lock.Unlock()
			now := slices.Concat(theta, next)
			if radiusToo {
				now = append(now, radius)
			}
			if !slices.Equal(now, key) {
				key, kept = now, rightBound(theta, next, radius)
			}
			return kept
		}, slope}
	}
}

// cuts are two ordered normal numbers as the first and the logarithm of their gap, with so much of its Jacobian.
func cuts(jacobian float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 {
			b := t[0] + math.Exp(t[1])
			return -t[0]*t[0]/2 - b*b/2 + jacobian*t[1]
		}
		m.gradPrior = func(g, t []float64) {
			b := t[0] + math.Exp(t[1])
			g[0], g[1] = -t[0]-b, -b*math.Exp(t[1])+jacobian
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			t[0], t[1] = min(a, b), math.Log(math.Abs(a-b))
		}}
	}
}
