// Package dense multiplies row-major matrices and vectors, with the same bits on every machine.
package dense

// Proof: docs/proofs/curator.md.

// Dot returns a·b, summed from the front with every product rounded: the same
// bits on machines that would fuse the two. b must be at least as long as a.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s float64
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// MulVec sets dst[i] to the product of row i of x and v; x is len(dst)×len(v),
// row-major. Four rows go side by side, but each is summed in the order of Dot,
// so a row's product does not depend on where the batch was cut.
func MulVec(dst, x, v []float64) {
	d := len(v)
	for len(dst) >= 4 {
		a, b, c, e := x[:d], x[d : 2*d][:d], x[2*d : 3*d][:d], x[3*d : 4*d][:d]
		var sa, sb, sc, se float64
		for j, t := range v {
			sa += float64(t * a[j])
			sb += float64(t * b[j])
			sc += float64(t * c[j])
			se += float64(t * e[j])
		}
		dst[0], dst[1], dst[2], dst[3] = sa, sb, sc, se
		dst, x = dst[4:], x[4*d:]
	}
	for i := range dst {
		dst[i] = Dot(v, x[i*d:(i+1)*d])
	}
}
