package pld

import (
	"math"
	"math/cmplx"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// spectrum is one direction of a mechanism with densities, sampled for exact
// evaluation by a route that shares nothing with the package: losses on a fine
// quadrature grid of outputs and their probabilities.
type spectrum struct{ loss, p []float64 }

// exact is delta along the best of a few lines.
func (s spectrum) exact(count, eps, theta float64) float64 {
	best, at := math.Inf(1), theta
	for _, share := range []float64{1, 0.5, 0.25, 0.1} {
		_, _, _, k := s.tilted(theta * share)
		if v := count*k - theta*share*eps + logShare(theta*share); v < best {
			best, at = v, theta*share
		}
	}
	return s.delta(count, eps, at)
}

// tilted returns the tilted probabilities, their mean and variance, and the log
// moment generating function.
func (s spectrum) tilted(theta float64) (w []float64, mean, variance, k float64) {
	peak := math.Inf(-1)
	for i, l := range s.loss {
		if s.p[i] > 0 {
			peak = max(peak, math.Log(s.p[i])+theta*l)
		}
	}
	w = make([]float64, len(s.p))
	sum, square := 0.0, 0.0
	for i, l := range s.loss {
		if s.p[i] > 0 {
			w[i] = math.Exp(math.Log(s.p[i]) + theta*l - peak)
		}
		sum += w[i]
		mean += w[i] * l
		square += w[i] * l * l
	}
	for i := range w {
		w[i] /= sum
	}
	mean /= sum
	return w, mean, square/sum - mean*mean, peak + math.Log(sum)
}

// delta returns δ(ε) of the count-fold composition,
//
//	δ(ε) = (1/2πi) ∫ M(z)^count e^{−zε}/(z(z+1)) dz along Re z = θ > 0,
//
// the inverse Laplace transform of the hockey stick, by the trapezoid rule, which
// converges geometrically for analytic integrands.
func (s spectrum) delta(count, eps, theta float64) float64 {
	w, mean, variance, k := s.tilted(theta)
	step := 0.05 / math.Sqrt(count*variance+0.1*math.Pow(count*mean-eps, 2))
	total := 0.0
	for j := 0; ; j++ {
		t := float64(j) * step
		m := complex(0, 0)
		for i, l := range s.loss {
			if w[i] > 1e-18 {
				sin, cos := math.Sincos(t * (l - mean))
				m += complex(w[i]*cos, w[i]*sin)
			}
		}
		z := complex(theta, t)
		f := cmplx.Exp(complex(count, 0)*cmplx.Log(m)+complex(0, t*(count*mean-eps))) / (z * (z + 1))
		if j == 0 {
			f /= 2
		}
		total += real(f)
		if size := cmplx.Abs(m); math.Pow(size, count)/(theta*theta+t*t) < 1e-13/(theta*(theta+1)) && j > 50 {
			break
		}
	}
	return total * step / math.Pi * math.Exp(count*k-theta*eps)
}

// poissonSpectrum is the pair (1−q)N(0)+qN(1), N(0) with deviation σ: P the
// mixture if forward, else Q.
func poissonSpectrum(q, sigma float64, forward bool) spectrum {
	var s spectrum
	dx := sigma / 40
	for x := -10 * sigma; x < 1+16*sigma; x += dx {
		l := math.Log1p(q * math.Expm1((2*x-1)/(2*sigma*sigma)))
		p := normal.Density(x/sigma) / sigma * dx
		if forward {
			s.loss, s.p = append(s.loss, l), append(s.p, p*math.Exp(l))
		} else {
			s.loss, s.p = append(s.loss, -l), append(s.p, p)
		}
	}
	return s
}

// oppositeSpectrum is the pair (1−q)N(0)+qN(1), (1−q)N(0)+qN(−1), deviation σ.
func oppositeSpectrum(q, sigma float64) spectrum {
	var s spectrum
	dx := sigma / 40
	v := 2 * sigma * sigma
	for x := -1 - 16*sigma; x < 1+16*sigma; x += dx {
		up := math.Log1p(q * math.Expm1((2*x-1)/v))
		down := math.Log1p(q * math.Expm1((-2*x-1)/v))
		s.loss = append(s.loss, up-down)
		s.p = append(s.p, normal.Density(x/sigma)/sigma*dx*math.Exp(up))
	}
	return s
}
