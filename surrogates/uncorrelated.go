package surrogates

import (
	"math"
	"math/rand/v2"
)

// A prior that is flat in K has, among many columns, some direction that nearly vanishes, since d rows of d columns
// have one. Where noise hides it, all coefficients are as wide as their prior. Features are mostly about uncorrelated,
// so the prior has a factor |R|^(ν/2) too, R their correlations about the constant column (Lewandowski, Kurowicka and
// Joe 2009).

// cautious is a part of the ν of correlations whose variance, 1/(d + ν), is that of the released ones. A few may be
// strong: at twenty times as much, intervals of public tables held too little.
const cautious = 0.05

// uncorrelated is ν: it follows from the variance that the release makes most likely, and a standard error more.
func (m *moments) uncorrelated() float64 {
	const draws = 30
	rng := rand.New(rand.NewPCG(0xc0, 0x22))
	own := 0.0
	for range draws {
		scale, at := m.pooled(rng), make([]float64, m.d)
		c := m.correlations(scale, rng)
		for j := range m.d {
			if m.constant >= 0 && j != m.constant {
				at[j] = c.At(j, m.constant)
			}
		}
		variance := m.spread(scale, at, false)
		own += (variance + m.spreadError(scale, variance)) / draws
	}
	return cautious * max(0, 1/own-float64(m.d))
}

// spreadError is the standard error of the variance of correlations, where it is so much.
func (m *moments) spreadError(scale []float64, variance float64) float64 {
	information := 0.0
	for j := range m.d {
		for k := range j {
			if noise := m.noise[j*m.d+k]; j != m.constant && k != m.constant && noise > 0 {
				s := scale[j] * scale[k]
				v := variance + noise/(s*s)
				information += 1 / (2 * v * v)
			}
		}
	}
	return 1 / math.Sqrt(information)
}

// apart is the logarithm of that factor without |XᵀX|^(ν/2), which is T's, and adds its derivative in XᵀX to pull.
func (e *hiddenEvaluator) apart() (log float64) {
	d, c, half := e.d, e.constant, e.nu/2
	if half == 0 {
		return 0
	}
	if c >= 0 {
		log -= half * math.Log(e.square[c*(d+1)])
		e.pull[c*(d+1)] -= half / e.square[c*(d+1)]
	}
	for j := range d {
		if j == c {
			continue
		}
		variance, mean := e.square[j*(d+1)], 0.0
		if c >= 0 {
			mean = e.square[j*d+c] / e.square[c*(d+1)]
			variance -= mean * e.square[j*d+c]
		}
		if !(variance > 0) { // but for rounding it is
			return math.Inf(-1)
		}
		by := half / variance
		log -= half * math.Log(variance)
		e.pull[j*(d+1)] -= by
		if c >= 0 {
			e.pull[j*d+c] += by * mean
			e.pull[c*d+j] += by * mean
			e.pull[c*(d+1)] -= by * mean * mean
		}
	}
	return log
}
