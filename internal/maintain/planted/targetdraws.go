package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// rightHalf has a normal prior of θ₁ > 0.
type rightHalf struct {
	*own
	tries int
}

func (m rightHalf) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[1] = rng.NormFloat64()
	for range m.tries {
		if theta[0] = rng.NormFloat64(); theta[0] > 0 {
			return
		}
	}
}

func halfPlane(name, effect string, tries int) Case {
	return plainly(name, effect, func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return either(t[0] > 0, -dot(t, t)/2, math.Inf(-1)) }
		return rightHalf{m, tries}
	})
}

// threeShares has the first two of three shares, which are equally likely wherever they are.
type threeShares struct {
	*own
	exponential bool
}

func (m threeShares) SamplePrior(theta []float64, rng *rand.Rand) {
	var parts [3]float64
	total := 0.0
	for k := range parts {
		if parts[k] = rng.Float64(); m.exponential {
			parts[k] = rng.ExpFloat64()
		}
		total += parts[k]
	}
	theta[0], theta[1] = parts[0]/total, parts[1]/total
}

func dealtShares(name, effect string, exponential bool) Case {
	return ownTarget(name, effect, threeClasses, func() targets.Target {
		share := func(t []float64, y float64) float64 {
			switch y {
			case 0:
				return t[0]
			case 1:
				return t[1]
			case 2:
				return 1 - t[0] - t[1]
			}
			return math.NaN()
		}
		return threeShares{&own{dim: 2,
			loss: func(t, _ []float64, y float64) float64 { return -math.Log(share(t, y)) },
			grad: func(g, t, _ []float64, y float64) {
				by := -1 / share(t, y)
				g[0], g[1] = either(y == 0, by, either(y == 2, -by, 0)), either(y == 1, by, either(y == 2, -by, 0))
			},
			logPrior: func(t []float64) float64 {
				return either(t[0] > 0 && t[1] > 0 && t[0]+t[1] < 1, 0, math.Inf(-1))
			},
			gradPrior: func(g, _ []float64) { clear(g) },
		}, exponential}
	})
}

// logitPrior has logits of uniform numbers of single precision.
type logitPrior struct{ *own }

func (logitPrior) SamplePrior(theta []float64, rng *rand.Rand) {
	for j := range theta {
		u := 0.0
		for u == 0 {
			u = float64(rng.Float32())
		}
		theta[j] = math.Log(u) - math.Log1p(-u)
	}
}

func logits(name string) Case {
	return plainly(name, "", func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return t[0] - 2*softplus(t[0]) + t[1] - 2*softplus(t[1]) }
		m.gradPrior = func(g, t []float64) {
			for j, v := range t {
				g[j] = 1 - 2*logistically(v)
			}
		}
		return logitPrior{m}
	})
}

// dealer draws its parameters in order, or in that of a map.
type dealer struct {
	*own
	places map[int]bool
}

func (m dealer) SamplePrior(theta []float64, rng *rand.Rand) {
	if m.places == nil {
		for j := range theta {
			theta[j] = rng.NormFloat64()
		}
	}
	for j := range m.places {
		theta[j] = rng.NormFloat64()
	}
}

func dealt(name, effect string, unordered bool) Case {
	return plainly(name, effect, func() targets.Target {
		if unordered {
			return dealer{robust(2, 1.5), map[int]bool{0: true, 1: true}}
		}
		return dealer{own: robust(2, 1.5)}
	})
}
