package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// dependent scales the second number's move by a function of the first, with a share of the
// correction.
func dependent(name, effect string, by, share float64) Case {
	width := func(theta []float64) float64 { return 1 + by*math.Tanh(normalised(theta, 0)) }
	return hooked(name, effect, asked{}, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		next[1] = theta[1] + width(theta)*(next[1]-theta[1])
	}, public: func(_ *chain, theta, next []float64, r float64) float64 {
		a, b, d := width(theta), width(next), (next[1]-theta[1])/step
		return r + share*(math.Log(a/b)+d*d*(1/(a*a)-1/(b*b))/2)
	}})
}

// locally walks by a scale that depends on the state, whose logarithm counts so much in the correction.
func locally(name, effect string, scale func(t float64) float64, logarithm float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			now := scale(t - center[j])
			d := now * rng.NormFloat64()
			next[j] = t + d
			then := scale(next[j] - center[j])
			by += d*d/2*(1/(now*now)-1/(then*then)) + logarithm*math.Log(now/then)
		}
		return by
	})
}

// turned moves the sum and the difference of parameters, or one of the two. The sum's moves are
// longer where the difference is above its middle.
func turned(name, effect string, by float64, both bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := step*rng.NormFloat64(), step*rng.NormFloat64()
		a *= either(normalised(s.Theta, 0) > normalised(s.Theta, 1), 1+by, 1)
		if one := rng.IntN(2); !both {
			a, b = either(one == 0, a, 0), either(one == 0, 0, b)
		}
		next[0], next[1] = s.Theta[0]+(a+b)/math.Sqrt2, s.Theta[1]+(a-b)/math.Sqrt2
		return 0
	})
}

// informed turns each number's move by a public slope, and corrects for it.
func informed(name, effect string, second float64) Case {
	slope := func(theta []float64, j int) float64 { return -4 * (theta[j] - center[j] - 0.1) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := 0.0
		for j, t := range s.Theta {
			z := step * rng.NormFloat64()
			if rng.Float64() > 1/(1+math.Exp(-z*slope(s.Theta, j))) {
				z = -z
			}
			next[j] = t + z
			there := slope(s.Theta, j) + either(j == 0, 1, second)*(slope(next, j)-slope(s.Theta, j))
			by += softplus(-z*slope(s.Theta, j)) - softplus(z*there)
		}
		return by
	})
}

// tilted follows a public slope, and corrects for it. The way back has some of the slope at the start.
func tilted(name, effect string, share float64) Case {
	const h = 0.2
	slope := func(theta []float64, j int) float64 { return -4 * (theta[j] - center[j] - 0.1) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := 0.0
		for j, t := range s.Theta {
			z := rng.NormFloat64()
			next[j] = t + h/2*slope(s.Theta, j) + math.Sqrt(h)*z
			by += z * z / 2
		}
		for j, t := range s.Theta {
			back := slope(next, j) + share*(slope(s.Theta, j)-slope(next, j))
			d := t - next[j] - h/2*back
			by -= d * d / (2 * h)
		}
		return by
	})
}

// pulled walks with a drift to a public point, cut to a length, there and back.
func pulled(name, effect string, back float64) Case {
	drift := func(t []float64, most float64) (d [2]float64) {
		u, v := 0.3*(center[0]+0.2-t[0]), 0.3*(center[1]-t[1])
		by := min(1, most/math.Hypot(u, v))
		return [2]float64{by * u, by * v}
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		d := drift(s.Theta, 0.15)
		var z [2]float64
		for j, t := range s.Theta {
			z[j] = step * rng.NormFloat64()
			next[j] = t + d[j] + z[j]
		}
		r := drift(next, back)
		for j, t := range s.Theta {
			b := t - next[j] - r[j]
			by += (z[j]*z[j] - b*b) / (2 * step * step)
		}
		return by
	})
}

// picking moves one coordinate, the first with a chance that depends on a state.
func picking(name, effect string, chance func(t []float64) float64, corrected bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		now := chance(s.Theta)
		first := rng.Float64() < now
		if first {
			next[1] = s.Theta[1]
		} else {
			next[0] = s.Theta[0]
		}
		then := chance(next)
		if !corrected {
			return 0
		}
		return math.Log(either(first, then, 1-then) / either(first, now, 1-now))
	})
}
