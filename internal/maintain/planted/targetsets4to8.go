package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

func fourthTargets() []Case {
	return []Case{
		spoilt("ratio takes both residuals at one scale", "σ′ for σ", nil, located, func(m *own) {
			m.ratio = func(theta, next, _ []float64, y float64) float64 {
				a, b := (y-theta[0])*math.Exp(-theta[1]), (y-next[0])*math.Exp(-theta[1])
				return (a*a-b*b)/2 + theta[1] - next[1]
			}
		}),
		spoilt("rate capped in the gradient only", "e⁶", counts, poisson, func(m *own) {
			m.grad = func(g, theta, x []float64, y float64) {
				g[0] = math.Exp(min(intercepted(theta, x), 6)) - y
				g[1], g[2] = g[0]*x[0], g[0]*x[1]
			}
		}),
		spoilt("the last class's indicator in the first one's column", "class 2", threeClasses, classes, func(m *own) {
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
		plainly("prior of a scale without its normaliser", "−log σ", func() targets.Target {
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
		plainly("half-normal scale without the Jacobian of its logarithm", "θ", func() targets.Target {
			m := located()
			m.logPrior = func(t []float64) float64 { return -t[0]*t[0]/2 - math.Exp(2*t[1])/2 }
			m.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], -math.Exp(2*t[1]) }
			return drawn{m, func(t []float64, rng *rand.Rand) {
				t[0], t[1] = rng.NormFloat64(), math.Log(math.Abs(rng.NormFloat64()))
			}}
		}),
		spoilt("gradient clipped at another threshold than the loss", "1.345 for 1.5", nil, huberOf(3), func(m *own) {
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
		spoilt("four workers forget what is left over", "n > 1000, n mod 4", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, rows targets.Rows) {
				if n := rows.Len(); n > 1000 {
					clear(dst[n-n%4 : n])
				}
			}
		}),
		plainly("predictors in a buffer of the target", "shared", func() targets.Target {
			return &buffered{own: robust(2, 1.5)}
		}),
		spoilt("zeros of the count, not of the share", "gradient at y = 0", counts, inflated, func(m *own) {
			right := m.grad
			m.grad = func(g, theta, x []float64, y float64) {
				right(g, theta, x, y)
				if y == 0 {
					g[1] = 1 / (1 + math.Exp(-theta[1]))
				}
			}
		}),
		spoilt("counts beyond 255 wrap in the ratio", "a byte", counts, poisson, func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				a, b := intercepted(theta, x), intercepted(next, x)
				return math.Exp(a) - math.Exp(b) - float64(int64(y)%256)*(a-b)
			}
		}),
		spoilt("last of eight gradients for a negative parameter", "2%", nil, huberOf(8), func(m *own) {
			right := m.grad
			m.grad = func(g, theta, x []float64, y float64) {
				right(g, theta, x, y)
				g[7] *= either(theta[7] < 0, 1.02, 1)
			}
		}),
		plainly("bound of gradients forgets the log scale", "1 − z²", func() targets.Target {
			return bounded{cauchy(), func(theta, next []float64, _ float64) float64 { return math.Inf(1) },
				func(float64) float64 { return 1 + 1e-12 }}
		}),
		spoilt("prior's gradient by half of the precision matrix", "triangle", nil, related, func(m *own) {
			m.gradPrior = func(g, t []float64) {
				v := (t[1] - 0.9*t[0]) / 0.5
				g[0], g[1] = -t[0]*(1+1.8*1.8), -2*v
			}
		}),
		plainly("prior drawn with the transposed root", "Lᵀ·z", func() targets.Target {
			return drawn{related(), func(t []float64, rng *rand.Rand) {
				u, v := rng.NormFloat64(), rng.NormFloat64()
				t[0], t[1] = u+0.9*v, 0.5*v
			}}
		}),
	}
}

func fourthTargetControls() []Case {
	return []Case{
		ownTarget("Poisson regression", "", counts, madeOf(poisson)),
		plainly("Huber's regression", "", madeOf(huberOf(8))),
		ownTarget("zeros inflated", "", counts, madeOf(inflated)),
		ownTarget("three classes", "", threeClasses, madeOf(classes)),
		plainly("a prior of a scale", "", func() targets.Target { return drawn{hierarchical(), drawHierarchical} }),
		plainly("a related prior", "", func() targets.Target { return drawn{related(), drawRelated} })}
}

func fifthTargets() []Case {
	tilted := func(radius float64) float64 { return slope(math.Hypot(1, radius)) }
	return []Case{
		spoilt("an empty batch", "panic", nil, huberOf(2), func(m *own) {
			m.batch = func(_ []float64, rows targets.Rows) { _ = rows.X[0] }
		}),
		plainly("RatioBound larger upwards", "10%", func() targets.Target {
			return bounded{robust(1, 1.5), func(theta, next []float64, radius float64) float64 {
				b := 1.5 * radius * math.Abs(next[0]-theta[0]) * (1 + 1e-12)
				b *= either(next[0] > theta[0], 1.1, 1)
				return b
			}, tilted}
		}),
		grown("last of twenty gradients for large features", "3% beyond 2", nil, huberOf(20),
			func(g, _, x []float64, _ float64) {
				g[19] *= either(math.Abs(x[19]) > 2, 1.03, 1)
			}),
		grown("gradient where two features are large", "5% beyond 1.5", nil, huberOf(5), func(g, _, x []float64, _ float64) {
			g[2] *= either(x[1] > 1.5 && x[4] > 1.5, 1.05, 1)
		}),
		spoilt("losses relative to the batch's largest", "underflow", counts, poisson, func(m *own) {
			m.batch = func(dst []float64, _ targets.Rows) {
				most := slices.Max(dst)
				for i, v := range dst {
					dst[i] = (v + most) - most
				}
			}
		}),
		spoilt("single precision beyond 32 records", "6·10⁻⁸", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, _ targets.Rows) {
				for i, v := range dst {
					if len(dst) > 32 {
						dst[i] = float64(float32(v))
					}
				}
			}
		}),
		plainly("two of six prior draws correlated", "0.1", drawnFrom(6, func(t []float64, _ *rand.Rand) {
			t[5] = 0.1*t[2] + math.Sqrt(0.99)*t[5]
		})),
		grown("gradient of a log scale clipped", "at 30", nil, located,
			func(g, _, _ []float64, _ float64) { g[1] = max(g[1], -30) }),
		plainly("bound of gradients without the intercept beyond radius 1", "√2", func() targets.Target {
			m := robust(2, 1.5)
			m.features = 1
			m.loss = func(theta, x []float64, y float64) float64 {
				return robust(2, 1.5).loss(theta, []float64{1, x[0]}, y)
			}
			m.grad = func(g, theta, x []float64, y float64) { robust(2, 1.5).grad(g, theta, []float64{1, x[0]}, y) }
			return bounded{m, func(theta, next []float64, radius float64) float64 {
				return tilted(radius) * math.Hypot(next[0]-theta[0], next[1]-theta[1])
			}, func(radius float64) float64 {
				return either(radius > 1, 1.5*radius, tilted(radius))
			}}
		}),
		grown("gradients in the order of the parameters", "θ₁ > θ₂", nil, huberOf(3), func(g, theta, _ []float64, _ float64) {
			if theta[0] > theta[1] {
				g[0], g[1] = g[1], g[0]
			}
		}),
	}
}

func sixthTargets() []Case {
	return []Case{
		bound("bound of moves of the first 32 of 40 parameters", "a fifth of a move", 40,
			func(theta, next []float64, radius float64) float64 { return rightBound(theta[:32], next[:32], radius) }),
		grown("the 17th of 30 gradients for two signs", "2%", nil, huberOf(30), func(g, _, x []float64, y float64) {
			g[16] *= either(x[3] < 0 && y > 0, 1.02, 1)
		}),
		spoilt("directions by the root of squares", "under- and overflow", nil, huberOf(2), func(m *own) {
			right := m.loss
			along := func(x []float64, norm float64) []float64 {
				by := either(norm == 0, 0, 1/norm)
				return []float64{x[0] * by, x[1] * by}
			}
			m.loss = func(theta, x []float64, y float64) float64 {
				return right(theta, along(x, math.Hypot(x[0], x[1])), y)
			}
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				u := along(x, math.Sqrt(x[0]*x[0]+x[1]*x[1]))
				return right(theta, u, y) - right(next, u, y)
			}
			m.grad = func(g, theta, x []float64, y float64) {
				robust(2, 1.5).grad(g, theta, along(x, math.Hypot(x[0], x[1])), y)
			}
		}),
		spoilt("clears what follows its losses", "beyond len(dst)", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, _ targets.Rows) { clear(dst[len(dst):cap(dst)]) }
		}),
		plainly("what is left of gradients in eights", "the seventh", func() targets.Target {
			return inEights{robust(2, 1.5)}
		}),
		plainly("the 37th of 50 prior draws", "sd 5% small",
			drawnFrom(50, func(t []float64, _ *rand.Rand) { t[36] *= 0.95 })),
		plainly("prior draws more often positive", "51%", drawnFrom(2, func(t []float64, rng *rand.Rand) {
			if t[1] < 0 && rng.IntN(50) == 0 {
				t[1] = -t[1]
			}
		})),
		plainly("bound of a location by the larger scale", "17% low on long moves", func() targets.Target {
			return bounded{cauchy(), func(theta, next []float64, _ float64) float64 {
				return math.Hypot((next[0]-theta[0])*math.Exp(-max(theta[1], next[1])), next[1]-theta[1]) * (1 + 1e-12)
			}, func(float64) float64 { return math.Inf(1) }}
		}),
		plainly("losses kept by θ in single precision", "stale below 6·10⁻⁸", func() targets.Target {
			return remembering(func(a, b [2]float64) bool {
				return float32(a[0]) == float32(b[0]) && float32(a[1]) == float32(b[1])
			})
		}),
		ratio("ratio of moves out of a ball", "2%, radius 3", 2, func(theta, next, _ []float64, _, r float64) float64 {
			return r * either(dot(theta, theta) < 9 && dot(next, next) > 9, 1.02, 1)
		}),
		grown("gradient where class 2 is the likeliest", "2%", threeClasses, classes, func(g, theta, x []float64, _ float64) {
			if b := dot(x, theta[2:]); b > 0 && b > dot(x, theta[:2]) {
				g[3] *= 1.02
			}
		}),
		grown("gradient of residuals just beyond the threshold", "3%, 1.5 to 1.55", nil, huberOf(3),
			func(g, theta, x []float64, y float64) {
				if r := math.Abs(dot(x, theta) - y); r > 1.5 && r < 1.55 {
					g[0] *= 1.03
				}
			}),
	}
}

func seventhTargets() []Case {
	return []Case{
		ratio("ratio of moves of two parameters in five", "2%", 5, func(theta, next, _ []float64, _, r float64) float64 {
			n := 0
			for j, t := range theta {
				if next[j] != t {
					n++
				}
			}
			return r * either(n == 2, 1.02, 1)
		}),
		ratio("ratio of moves along the parameters", "2%", 2, func(theta, next, _ []float64, _, r float64) float64 {
			along := math.Abs(theta[0]*next[1]-theta[1]*next[0]) < 1e-9*math.Abs(theta[0]*next[1])
			return r * either(along, 1.02, 1)
		}),
		grown("gradient where features are opposite", "5%, x₁ = −x₂", nil, huberOf(2), func(g, _, x []float64, _ float64) {
			g[0] *= either(x[0] == -x[1], 1.05, 1)
		}),
		grown("the 150th of 200 gradients for small features", "2% below −1.5", nil, huberOf(200),
			func(g, _, x []float64, _ float64) { g[149] *= either(x[149] < -1.5, 1.02, 1) }),
		plainly("losses kept by the sum of parameters", "stale", func() targets.Target {
			return remembering(func(a, b [2]float64) bool { return a[0]+a[1] == b[0]+b[1] })
		}),
		spoilt("losses kept by the norm of features", "stale", nil, huberOf(2), func(m *own) {
			right, kept, lock := m.loss, [2]float64{}, &sync.Mutex{}
			m.loss = func(theta, x []float64, y float64) float64 {
				lock.Lock()
				if math.Hypot(x[0], x[1]) != math.Hypot(kept[0], kept[1]) {
					kept = [2]float64(x)
				}
				at := kept
				lock.Unlock()
				return right(theta, at[:], y)
			}
		}),
		spoilt("a batch of 100 repeats its first record", "one length", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, _ targets.Rows) {
				if len(dst) == 100 {
					dst[99] = dst[0]
				}
			}
		}),
		low("RatioBound of moves through θ₂ = 1.7", "3% low", 2, func(theta, next []float64) float64 {
			return either((theta[1] < 1.7) != (next[1] < 1.7), 0.97, 1)
		}),
		plainly("GradBound for some radii", "2% low, 2 to 3", func() targets.Target {
			return bounded{robust(2, 1.5), rightBound, func(radius float64) float64 {
				return slope(radius) * either(radius > 2 && radius < 3, 0.98, 1)
			}}
		}),
		plainly("small responsibilities are dropped", "below 1%", func() targets.Target {
			share := func(theta []float64, y float64) float64 { // of the first component
				return 1 / (1 + math.Exp((y-theta[0])*(y-theta[0])/2-(y-theta[1])*(y-theta[1])/2))
			}
			return &own{dim: 2, loss: func(theta, _ []float64, y float64) float64 {
				a, b := (y-theta[0])*(y-theta[0])/2, (y-theta[1])*(y-theta[1])/2
				return min(a, b) - math.Log1p(math.Exp(-math.Abs(a-b)))
			}, grad: func(g, theta, _ []float64, y float64) {
				w := share(theta, y)
				g[0], g[1] = either(w < 0.01, 0, w)*(theta[0]-y), either(w > 0.99, 0, 1-w)*(theta[1]-y)
			}}
		}),
		target("the prior is higher above a value", "0.02 beyond θ₁ = 1.23", huber, func(p *planted) {
			p.prior = func(theta []float64, lp float64) float64 { return lp + either(theta[0] > 1.23, 0.02, 0) }
		}),
		target("probabilities cut off in the loss only", "10⁻⁹", logistic, func(p *planted) {
			p.loss = func(_ at, l float64) float64 { return min(l, 20.7) }
			p.lossAt = func(_, _, l float64) float64 { return min(l, 20.7) }
		}),
		plainly("prior draws reflected far out", "at 2.5 sd", drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if math.Abs(t[0]) > 2.5 {
				t[0] = math.Copysign(5, t[0]) - t[0]
			}
		})),
		plainly("the third prior draw signed by the others' product", "three together",
			drawnFrom(3, func(t []float64, _ *rand.Rand) { t[2] = math.Copysign(t[2], t[0]*t[1]) })),
	}
}

func eighthTargets() []Case {
	return []Case{
		grown("gradient where both parameters are large in order", "1%", nil, huberOf(2), func(g, theta, _ []float64,
			_ float64) {
			g[0] *= either(theta[0] > 1.5 && theta[1] > theta[0], 1.01, 1)
		}),
		ratio("ratio of moves of the last of twelve alone", "1%", 12, func(theta, next, _ []float64, _, r float64) float64 {
			return r * either(moved(theta[:11], next[:11]) == 0, 1.01, 1)
		}),
		plainly("the second of four draws has heavier tails", "Student, 12 degrees",
			drawnFrom(4, func(t []float64, rng *rand.Rand) { t[1] *= heavier(rng, 12) })),
		spoilt("losses kept by θ and the rows' address", "stale", nil, huberOf(2), func(m *own) {
			var lock sync.Mutex
			var at *float64
			var theta, kept [2]float64
			right := m.loss
			m.loss = func(t, x []float64, y float64) float64 {
				lock.Lock()
				defer lock.Unlock()
				if at != &x[0] || theta != [2]float64(t) {
					at, theta, kept = &x[0], [2]float64(t), [2]float64(x)
				}
				return right(t, kept[:], y)
			}
		}),
		low("RatioBound of moves that end far and change a sign", "1.5% low", 2, func(theta, next []float64) float64 {
			crossing := theta[0]*next[0] < 0 && max(math.Abs(next[0]), math.Abs(theta[0])) > 2
			return either(crossing, 0.985, 1)
		}),
	}
}
