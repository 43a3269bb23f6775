package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

func seventeenthTargets() []Case {
	return []Case{
		plainly("a floor under probabilities, in the loss alone", "10⁻¹²", probit(1e-12, 0)),
		plainly("exposures below one are one in the slope", "the offset",
			exposed(func(e float64) float64 { return max(0, e) })),
		ownTarget("the digamma function by three terms", "0.01 at shape 1", positiveResponse, gammaShape(threeTerms)),
		spoilt("ratio's branch for one large residual has no degrees of freedom", "log 4", nil, studentErrors, func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				a, b := dot(x, theta)-y, dot(x, next)-y
				if math.Abs(a) > 1000 && math.Abs(b) < 1000 {
					return 5*math.Log(math.Abs(a)) - 2.5*math.Log1p(b*b/4)
				}
				return m.loss(theta, x, y) - m.loss(next, x, y)
			}
		}),
		plainly("responses are cut off in the loss and rounded in the slope", "½", whole(math.Trunc, math.Round)),
		spoilt("ratio takes the first of two changed coordinates of three", "one is left", nil, huberOf(3), func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				to, changed := append([]float64{}, theta...), 0
				for j := range theta {
					if next[j] != theta[j] {
						changed++
					}
				}
				for j := range theta {
					if to[j] = next[j]; changed == 2 && next[j] != theta[j] {
						break
					}
				}
				return m.loss(theta, x, y) - m.loss(to, x, y)
			}
		}),
		plainly("range from zero to the cut, of a density above one", "5 for 6.5", cutAt(5, 5)),
		plainly("a bound of gradients without the intercept", "√2 low", intercept(0)),
		bound("RatioBound by the largest of three coordinates", "√2 for √3", 3,
			func(theta, next []float64, radius float64) float64 {
				most := 0.0
				for j, t := range theta {
					most = max(most, math.Abs(next[j]-t))
				}
				return slope(radius) * min(math.Sqrt2*most, moved(theta, next)*(1+1e-12))
			}),
		plainly("a log prior's slope divides infinities", "beyond 355", halfCauchy(func(t float64) float64 {
			return math.Exp(t) / (1 + math.Exp(t))
		})),
		plainly("prior draws have the variance for the standard deviation", "1.05²", drawnOf(1.05, 1.05*1.05)),
		plainly("losses are kept by the address of parameters and records", "stale", func() targets.Target {
			return addressed{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, new(*float64), new(*float64)}
		}),
		plainly("gradients are added to what dst held", "not cleared", func() targets.Target {
			m, right := robust(2, 1.5), robust(2, 1.5).grad
			m.grad = func(g, theta, x []float64, y float64) {
				var its [2]float64
				right(its[:], theta, x, y)
				g[0], g[1] = g[0]+its[0], g[1]+its[1]
			}
			return m
		}),
		plainly("predictors in single precision, not in the ratio", "10⁻⁷", singlePredictors(false)),
		plainly("missing features are zero in the loss alone", "NaN", imputed(false)),
		plainly("prior draws use the global generator now and then", "1 in 100", drawnFrom(2,
			func(t []float64, rng *rand.Rand) {
				if rng.IntN(100) == 0 {
					t[1] = rand.NormFloat64()
				}
			})),
		plainly("an angle's other remainder in the slope", "Mod", wrapped(math.Mod)),
	}
}

func seventeenthTargetControls() []Case {
	return []Case{
		plainly("a floor under probabilities", "", probit(1e-12, 1e-12)),
		plainly("counts with an exposure", "", exposed(func(e float64) float64 { return e })),
		ownTarget("gamma regression", "", positiveResponse, gammaShape(psi)),
		plainly("responses are rounded", "", whole(math.Round, math.Round)),
		plainly("a cut loss of a density above one", "", cutAt(5, 6.5*(1+1e-12))),
		plainly("a bound of gradients with an intercept", "", intercept(1)),
		plainly("a half-Cauchy scale", "", halfCauchy(func(t float64) float64 { return 1 / (1 + math.Exp(-t)) })),
		plainly("missing features are zero", "", imputed(true)),
		plainly("an angle", "", wrapped(math.Remainder)),
	}
}

func afterSeventeenthTargets() []Case {
	return []Case{
		target("a missing response is 0, but not in SlopeAt", "NaN", withoutResponse(huber), func(p *planted) {
			p.slopeAt = func(eta, y, _ float64) float64 { return huber.slope(eta, y) }
		}),
	}
}

func afterSeventeenthTargetControls() []Case {
	return []Case{
		target("a missing response is 0", "", withoutResponse(huber), func(*planted) {}),
	}
}

func eighteenthTargets() []Case {
	return []Case{
		plainly("gradients by forward differences", "10⁻³", differenced(1e-3)),
		plainly("predictors are updated by what moved", "10⁻¹⁶", func() targets.Target {
			return &updating{own: robust(2, 1.5)}
		}),
	}
}

func eighteenthTargetControls() []Case {
	return []Case{
		ownTarget("labels of minus one", "", plusMinus, coded(plusMinus)),
		// They are read in two ways, which agree at what Response gives.
		ownTarget("labels of minus one, by size in the slope", "", plusMinus, coded(func(y float64) float64 {
			return either(math.IsNaN(y), -1, max(-1, min(y, 1)))
		})),
		plainly("pseudo-Huber by its slope", "", differenced(0)),
	}
}

func nineteenthTargets() []Case {
	return []Case{
		ownTarget("a softmax is shifted by its first score", "beyond 709", threeClasses,
			func() targets.Target { return softmaxOf(false) }),
		plainly("a cauchit's tail by subtraction", "10⁻¹⁶", func() targets.Target { return cauchit(false) }),
		ownTarget("the log of a product of three chances", "below 10⁻³⁰⁸", eightCodes,
			func() targets.Target { return codes(true) }),
		plainly("sums end at the first infinite loss", "what follows", exceeding(math.MaxFloat64)),
		plainly("a slope by the root of a square that underflows", "10⁻¹⁶²", func() targets.Target { return absolute(true) }),
	}
}

func nineteenthTargetControls() []Case {
	return []Case{
		ownTarget("a softmax is shifted by its largest score", "", threeClasses,
			func() targets.Target { return softmaxOf(true) }),
		plainly("a cauchit", "", func() targets.Target { return cauchit(true) }),
		ownTarget("three labels in a code", "", eightCodes, func() targets.Target { return codes(false) }),
		plainly("sums of infinite losses", "", exceeding(math.Inf(1))),
		plainly("a slope by the sign", "", func() targets.Target { return absolute(false) }),
	}
}

func twentiethTargets() []Case {
	return []Case{
		plainly("a last chunk of one record is left out", "n = 1001", inThousands(true)),
		plainly("the second of two missing features has no gradient", "NaN twice", filledIn(true)),
	}
}

func twentiethTargetControls() []Case {
	return []Case{
		plainly("chunks of a thousand", "", inThousands(false)),
		plainly("missing features are parameters", "", filledIn(false)),
	}
}

func afterTwentiethTargets() []Case {
	return []Case{
		groupCase("an unknown group is the first in the gradient", "x = 3", true),
		ownTarget("an infinite ratio is 0", "beyond a border", afar, bordered(true)),
		plainly("a step is not in the gradient where it begins", "x = 0.3", broken(true)),
	}
}

func afterTwentiethTargetControls() []Case {
	return []Case{
		groupCase("an unknown group is none", "", false),
		ownTarget("a border", "", afar, bordered(false)),
		plainly("a step", "", broken(false)),
	}
}

func twentyFirstTargets() []Case {
	return []Case{
		plainly("append to the parameters writes beyond them", "memory", func() targets.Target {
			return appending{robust(2, 1.5), false}
		}),
		plainly("gradients of long batches are still written on return", "beyond 512", func() targets.Target {
			return waiting{robust(2, 1.5), false}
		}),
		plainly("losses are differences of a running total", "last bits", inTotal),
		plainly("a profile is found by three steps of Newton's", "its slope", profiled(3)),
	}
}

func twentyFirstTargetControls() []Case {
	return []Case{
		plainly("parameters are appended to a copy", "", func() targets.Target {
			return appending{robust(2, 1.5), true}
		}),
		plainly("gradients of long batches by goroutines", "", func() targets.Target {
			return waiting{robust(2, 1.5), true}
		}),
		plainly("a profile is found", "", profiled(30)),
	}
}

func twentySecondTargets() []Case {
	label := func(u float64) float64 { return either(u > 0.5, 1, 0) }
	return []Case{
		plainly("a compensated sum of losses makes NaN of infinity", "+Inf", compensated(false)),
		ownTarget("losses are summed as the log of a product of 64 chances", "underflow", label, byProducts(64)),
		plainly("prior draws are the fifteenth state of a chain from the mode", "an atom", fromChain(15)),
		plainly("effects are drawn with the scale of the draw before", "0.2", effectsOf(false)),
		plainly("a huge response passes a guard of whole numbers", "panic", guarded(false)),
		plainly("RatioBound of a hidden unit by a geometric mean", "1 to 2 low", unitBound(false)),
	}
}

func twentySecondTargetControls() []Case {
	label := func(u float64) float64 { return either(u > 0.5, 1, 0) }
	return []Case{
		plainly("a sum of losses that may be infinite", "", compensated(true)),
		ownTarget("losses are summed", "", label, byProducts(1)),
		plainly("prior draws are the 200th state of a chain from the mode", "", fromChain(200)),
		plainly("effects are drawn with their scale", "", effectsOf(true)),
		plainly("a guard of whole numbers", "", guarded(true)),
		plainly("RatioBound of a hidden unit", "", unitBound(true)),
	}
}
