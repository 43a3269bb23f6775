package suffstat

import "math"

// BetaMixture is the law Σₖ wₖ·Beta(a+k, b+n−k) on [0, 1].
type BetaMixture struct {
	a, b   float64
	weight []float64 // w₀ to wₙ, summing to one
}

// component returns the parameters of part k.
func (m BetaMixture) component(k int) (a, b float64) {
	return m.a + float64(k), m.b + float64(len(m.weight)-1-k)
}

// Mean returns the mean.
func (m BetaMixture) Mean() float64 {
	mean := 0.0
	for k, w := range m.weight {
		a, b := m.component(k)
		mean += w * a / (a + b)
	}
	return mean
}

// SD returns the standard deviation.
func (m BetaMixture) SD() float64 {
	mean, v := m.Mean(), 0.0
	for k, w := range m.weight {
		a, b := m.component(k)
		centre := a / (a + b)
		v += w * (centre*(1-centre)/(a+b+1) + (centre-mean)*(centre-mean))
	}
	return math.Sqrt(v)
}
