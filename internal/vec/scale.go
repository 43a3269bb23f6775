package vec

// Proof: docs/proofs/gradients.md.

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
