package surrogates

import "math"

// moment are the expectations of f and of its first derivatives over a normal predictor.
type moment [6]float64

// momentsOf integrates the logistic function and its derivatives over N(mean, variance).
func momentsOf(mean, variance float64) (m moment) {
	sd := math.Sqrt(max(0, variance))
	if sd > farOut {
		overBend(m[:], mean, sd)
		return m
	}
	return overPredictors(mean, sd)
}

// Integrals are by the trapezoid rule. Its error is about exp(−2π²/spacing) of a function with
// poles at ±πi, and a power of 2π/spacing more of its derivatives.
const (
	spacing = 0.75 // of the nodes, in predictors
	farOut  = 2    // standard deviations beyond which the logistic function's bend is integrated over
	bend    = 36   // where f′ is, e⁻³⁶
)

// overPredictors has its nodes where the predictors are.
func overPredictors(mean, sd float64) (m moment) {
	const nodes = 48
	const step = 2.0 * farSD / nodes // at most 0.5 in predictors
	total := 0.0
	for i := range nodes + 1 {
		u := float64(i)*step - farSD
		weight := math.Exp(-u * u / 2)
		total += weight
		p, q := shares(mean + sd*u)
		v := p * q
		d1, d2 := v*(q-p), v*(1-6*v)
		m[0] += weight * p
		m[1] += weight * v
		m[2] += weight * d1
		m[3] += weight * d2
		m[4] += weight * d1 * (1 - 12*v)
		m[5] += weight * (d2*(1-12*v) - 12*d1*d1)
	}
	for k := range m {
		m[k] /= total
	}
	return m
}

// bends are f′ at the nodes of overBend.
var bends = func() (out [2*bend/spacing + 1]float64) {
	for i := range out {
		p, q := shares(float64(i)*spacing - bend)
		out[i] = p * q
	}
	return out
}()

// overBend has its nodes where f bends: with predictors m + sd·u the probability is
// ∫f′(t)·P(m + sd·u > t), and derivatives have means E[f′·Heₖ(u)]/sdᵏ, Heₖ the Hermite
// polynomials. So the covariance that they make stays positive however large sd is.
func overBend(m []float64, mean, sd float64) {
	clear(m)
	for i, v := range bends {
		u := (float64(i)*spacing - bend - mean) / sd
		m[0] += spacing * v * math.Erfc(u/math.Sqrt2) / 2
		last, now := 0.0, spacing*v*math.Exp(-u*u/2)/(sd*math.Sqrt(2*math.Pi))
		for k := 1; k < len(m); k++ {
			m[k] += now
			last, now = now, u*now-float64(k-1)*last
		}
	}
	scale := 1.0
	for k := 2; k < len(m); k++ {
		scale /= sd
		m[k] *= scale
	}
}

// logistic sets the integrals of a logistic response, which have one variable: its slope at the
// anchor is a known number less the response. The mean slope is that of the response alone, with
// e₁ along the predictor, of standard deviation sd.
func (in *integrals) logistic(m moment, sd float64) {
	one, two, three := sd, sd*sd, sd*sd*sd // by Stein's identity
	in.slope[0][0], in.slope[1][0] = -m[0], -one*m[1]
	v, d := &in.variance, &in.dVariance
	v[0][0], v[1][0], v[2][0] = m[1], one*m[2], m[1]+two*m[3]
	d[0][0], d[1][0], d[2][0], d[3][0] = m[2], one*m[3], m[2]+two*m[4], 3*one*m[3]+three*m[5]
	for p := range 3 {
		in.dSlope[p][0] = -v[p][0]
	}
}
