package vec

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

// AddScaled sets dst += a·x, and leaves dst alone when a is zero, whatever x
// holds.
func AddScaled(dst []float64, a float64, x []float64) {
	if a == 0 {
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * v
	}
}

// Scale sets dst = a·x, and zero when a is zero, whatever x holds.
func Scale(dst []float64, a float64, x []float64) {
	dst = dst[:len(x)]
	if a == 0 {
		clear(dst)
		return
	}
	for i, v := range x {
		dst[i] = a * v
	}
}

// AddRows sets dst += Σ a[i]·row i of x, which is len(a)×len(dst), row-major. Every
// product is rounded, and rows are added in fours.
func AddRows(dst, a, x []float64) {
	d := len(dst)
	for len(a) >= 4 {
		r, s, t, u := x[:d], x[d : 2*d][:d], x[2*d : 3*d][:d], x[3*d : 4*d][:d]
		b, c, e, f := a[0], a[1], a[2], a[3]
		for j, v := range dst {
			dst[j] = v + ((float64(b*r[j]) + float64(c*s[j])) + (float64(e*t[j]) + float64(f*u[j])))
		}
		a, x = a[4:], x[4*d:]
	}
	for i, v := range a {
		for j, w := range x[i*d : (i+1)*d] {
			dst[j] += float64(v * w)
		}
	}
}
