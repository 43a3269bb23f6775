package pld

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// Every truncation and rounding is measured in total variation after the
// exponential tilt e^{θ·loss}. For y > 0, 1 − e^{−y} ≤ c(θ)e^{θy} with
// c(θ) = θ^θ/(1+θ)^{1+θ}; so a tilted mass t, wherever it lies, is worth at most
// t·exp(log c(θ) + K(θ) − θε) of δ(ε), K being the log moment generating
// function. That factor is the Rényi bound of order θ+1 on δ(ε) itself, hence
// the error is relative to a good bound on the answer when θ suits the target.

// logShare is log c(θ).
func logShare(theta float64) float64 {
	if theta == 0 {
		return 0
	}
	return -math.Log1p(theta) - theta*math.Log1p(1/theta)
}

// shareNorm bounds the Euclidean norm of (1 − e^{−y})e^{−θy} over the points y > 0
// of a shifted grid: the sum of squares is at most their integral over the step
// plus their largest value.
func shareNorm(theta, step float64) float64 {
	integral := 2 / (2 * theta * (2*theta + 1) * (2*theta + 2))
	return math.Sqrt(integral/step + math.Exp(2*logShare(theta)))
}

// sketch is a rough discrete pair of one part, for choosing tilts and grids.
type sketch struct {
	dots
	logP, room []float64 // logarithms of p, and as many numbers of any value
	count      float64
}

// sketchNodes is the number of losses on either side of 0, in a geometric
// progression down to 1e-8 of the largest.
const sketchNodes = 240

func newSketch(pr pair, count int64, level float64) sketch {
	ratio := math.Pow(1e-8, 1.0/(sketchNodes-1))
	right, left := pr.forward.reach(level), pr.backward.reach(level)
	x := make([]float64, 2*sketchNodes+1)
	for j := range sketchNodes {
		x[j], x[2*sketchNodes-j] = -left, right
		left, right = left*ratio, right*ratio
	}
	s := sketch{dots: connect(pr, x, half.upper), count: float64(count)}
	s.logP, s.room = make([]float64, len(s.p)), make([]float64, len(s.p))
	for i, p := range s.p {
		s.logP[i] = math.Log(p)
	}
	return s
}

// logMGF is K(θ) of one step.
func (s sketch) logMGF(theta float64) float64 {
	if theta*max(-s.x[0], s.x[len(s.x)-1]) < 1 { // without cancellation
		for i, x := range s.x {
			s.room[i] = theta * x
		}
		vec.Expm1All(s.room, s.room)
		sum := -s.escape
		for i, p := range s.p {
			sum += p * s.room[i]
		}
		return math.Log1p(sum)
	}
	peak := math.Inf(-1)
	for i, x := range s.x {
		peak = max(peak, theta*x+s.logP[i])
	}
	s.tilt(theta, peak)
	return peak + math.Log(total(s.room))
}

// tilt leaves the atoms' p·e^{θx − k} in room; k is at least the logarithm of the
// largest.
func (s sketch) tilt(theta, k float64) {
	for i, x := range s.x {
		s.room[i] = min(0, theta*x+s.logP[i]-k)
	}
	vec.ExpNegAbs(s.room, s.room)
}

// moments returns the mean and variance of the loss of one step under the tilt.
func (s sketch) moments(theta float64) (mean, variance float64) {
	s.tilt(theta, s.logMGF(theta))
	square := 0.0
	for i, x := range s.x {
		mean += s.room[i] * x
		square += s.room[i] * x * x
	}
	return mean, max(0, square-mean*mean)
}

// totalMGF is K(θ) of the whole composition.
func totalMGF(parts []sketch, theta float64) float64 {
	sum := 0.0
	for _, s := range parts {
		sum += s.count * s.logMGF(theta)
	}
	return sum
}

// aim returns the tilt that suits the target, and the ε and log δ that the
// Rényi bound reaches with it.
func aim(parts []sketch, t Target) (theta, eps, logDelta float64) {
	value := func(theta float64) float64 {
		k := totalMGF(parts, theta) + logShare(theta)
		if t.byEpsilon {
			return k - theta*t.epsilon
		}
		return (k - t.logDelta) / theta
	}
	scale := 0.0
	for _, s := range parts {
		mean, variance := s.moments(0)
		scale += s.count * (variance + mean*mean)
	}
	scale = 1 / math.Sqrt(max(scale, 1e-300))
	best, at := math.Inf(1), 0.0
	const perDecade = 4
	for j := -4 * perDecade; j <= 5*perDecade; j++ {
		x := float64(j) / perDecade
		v := value(scale * math.Pow(10, x))
		if v < best {
			best, at = v, x
		} else if x > at+1.5 {
			break
		}
	}
	at, _ = leastOn(at-1.0/perDecade, at+1.0/perDecade, 16,
		func(x float64) float64 { return value(scale * math.Pow(10, x)) })
	theta = scale * math.Pow(10, at)
	if t.byEpsilon {
		return theta, t.epsilon, min(0, value(theta))
	}
	return theta, max(0, value(theta)), t.logDelta
}

// leastOn minimises a function that first falls and then rises on an interval, by sections
// of the golden ratio: it returns the middle of the last interval, and the least value seen there.
func leastOn(low, high float64, sections int, f func(x float64) float64) (at, least float64) {
	const golden = 0.6180339887498949
	x, y := high-golden*(high-low), low+golden*(high-low)
	fx, fy := f(x), f(y)
	for range sections {
		if fx < fy {
			high, y, fy = y, x, fx
			x = high - golden*(high-low)
			fx = f(x)
		} else {
			low, x, fx = x, y, fy
			y = low + golden*(high-low)
			fy = f(y)
		}
	}
	return (low + high) / 2, min(fx, fy)
}
