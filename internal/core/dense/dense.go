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
	if fours := len(dst) &^ 3; Wide && fours > 0 && d > 0 {
		mulVec4(&dst[0], &x[:len(dst)*d][0], &v[0], fours, d)
		dst, x = dst[fours:], x[fours*d:]
	}
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

// MulVecs is MulVec(dst, x, v) and MulVec(other, x, w) in one reading of x.
func MulVecs(dst, other, x, v, w []float64) {
	d := len(v)
	other = other[:len(dst)]
	if fours := len(dst) &^ 3; Wide && fours > 0 && d > 0 {
		mulVecs4(&dst[0], &other[0], &x[:len(dst)*d][0], &v[0], &w[:d][0], fours, d)
		dst, other, x = dst[fours:], other[fours:], x[fours*d:]
	}
	MulVec(dst, x, v)
	MulVec(other, x, w)
}

// Gather copies the rows of x that index names to dst, all of d numbers, as far as it is
// quicker than row by row, and returns how many it copied. It stops at one that is not
// in x. The numbers of y with the same indexes are brought into the cache: y may be nil.
func Gather(dst, x, y []float64, d int, index []int32) (copied int) {
	if !Wide || d < 4 || len(x) < d || len(index) == 0 {
		return 0
	}
	if len(y) == 0 {
		y = x
	}
	return gather4(&dst[:len(index)*d][0], &x[0], &y[0], d, &index[0], len(index), len(x)/d)
}
