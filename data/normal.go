package data

import "math"

// The standard library's logarithm and normal generator differ in the last bit
// between machines. Simulated tables must not, so these use only operations that
// IEEE 754 rounds correctly, with explicit conversions against fused ones.

// normalQuantile returns Φ⁻¹(u) for u in (0, 1), to about 1e-16 relative: algorithm
// AS 241, PPND16 (Wichura 1988, Applied Statistics 37).
func normalQuantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * (horner(&centralTop, r) / horner(&centralBottom, r))
	}
	tail := min(u, 1-u)
	r := math.Sqrt(-logarithm(tail))
	top, bottom, shift := &middleTop, &middleBottom, 1.6
	if r > 5 {
		top, bottom, shift = &farTop, &farBottom, 5
	}
	r -= shift
	return math.Copysign(horner(top, r)/horner(bottom, r), q)
}

// Coefficients of AS 241, constant term first.
var (
	centralTop = [8]float64{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
		1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	centralBottom = [8]float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	middleTop = [8]float64{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	middleBottom = [8]float64{1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	farTop = [8]float64{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	farBottom = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)

// horner evaluates a polynomial, constant term first.
func horner(c *[8]float64, x float64) float64 {
	sum := c[7]
	for i := 6; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// logarithm returns log x for normal x > 0, to about 1e-16 relative away from 1:
// x = m·2ᵉ with m in [√½, √2), and log m = 2·atanh((m−1)/(m+1)) by its series, whose
// terms fall below 0.0295 of the one before.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	s2 := float64(s * s)
	sum := 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*s2) + 1/float64(k)
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}
