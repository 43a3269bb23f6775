package targets

// Proof: docs/proofs/targets-certificates.md.

import "math"

// curve is a smooth function tabulated with two derivatives; between the nodes
// lie polynomials of degree five.
type curve struct {
	low, high float64
	perUnit   float64      // nodes
	nodes     [][3]float64 // value, derivative and second derivative times the spacing, and its square
}

// nodesPerUnit makes the error of the polynomials, h⁶/46080 times the sixth
// derivative, less than the rounding of the values for curves that bend within a
// unit, and that of their derivatives about 10⁻¹².
const nodesPerUnit = 64

// newCurve tabulates f on [low, high], with perUnit nodes a unit. Second derivatives are differences of
// order h⁶ of the first, for which f must be smooth three nodes beyond the ends.
func newCurve(low, high, perUnit float64, f func(x float64) (value, slope float64)) *curve {
	const beyond = 3
	count := int((high-low)*perUnit) + 2
	slopes := make([]float64, count+2*beyond)
	c := &curve{low: low, high: high, perUnit: perUnit, nodes: make([][3]float64, count)}
	for k := range slopes {
		v, s := f(low + float64(k-beyond)/perUnit)
		slopes[k] = s / perUnit
		if i := k - beyond; i >= 0 && i < count {
			c.nodes[i] = [3]float64{v, slopes[k]}
		}
	}
	for i := range c.nodes {
		s := slopes[i:]
		c.nodes[i][2] = (45*(s[4]-s[2]) - 9*(s[5]-s[1]) + (s[6] - s[0])) / 60
	}
	return c
}

// at returns the value and the derivative at x in [low, high], NaN for NaN.
func (c *curve) at(x float64) (value, slope float64) {
	if math.IsNaN(x) {
		return x, x
	}
	pos := (x - c.low) * c.perUnit
	k := int(pos)
	t := pos - float64(k)
	p, q := &c.nodes[k], &c.nodes[k+1]
	half := p[2] / 2
	// What the parabola at p misses at q, in value and derivatives.
	d, e, f := q[0]-p[0]-p[1]-half, q[1]-p[1]-p[2], q[2]-p[2]
	c3, c4, c5 := 10*d-4*e+f/2, 7*e-15*d-f, 6*d-3*e+f/2
	value = p[0] + t*(p[1]+t*(half+t*(c3+t*(c4+t*c5))))
	slope = p[1] + t*(p[2]+t*(3*c3+t*(4*c4+t*5*c5)))
	return value, slope * c.perUnit
}
