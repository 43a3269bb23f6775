package pld

import (
	"math"
	"sync"
)

// transform is the discrete Fourier transform of n real numbers, a power of two: that of
// n/2 complex ones, by Stockham's radix-4 passes, with the halves of its waves
// separated afterwards. Real and imaginary parts are kept apart, so that the inner
// loops run over contiguous numbers.
type transform struct {
	n      int       // reals
	passes []pass    // of the complex transform of length n/2
	cos    []float64 // cos and sin of −2πk/n for k ≤ n/4
	sin    []float64
}

// pass is one radix-4 pass: over m groups of stride numbers, w holds the cosine
// and sine of −2πp/4m, of twice and of three times that for each p < m.
type pass struct {
	m, stride int
	w         [][6]float64
}

// waves is n/2 + 1 complex numbers in two halves.
type waves struct{ re, im []float64 }

// wavesPool recycles them: they are long, and a composition takes dozens.
var wavesPool sync.Pool

// newWaves returns n numbers of any value.
func newWaves(n int) waves {
	if w, ok := wavesPool.Get().(*waves); ok && cap(w.re) >= n && cap(w.im) >= n {
		return waves{w.re[:n], w.im[:n]}
	}
	return waves{make([]float64, n), make([]float64, n)}
}

// free gives back what newWaves returned.
func (w waves) free() {
	w = waves{w.re[:0], w.im[:0]}
	wavesPool.Put(&w)
}

func (w waves) slice(from, to int) waves { return waves{w.re[from:to], w.im[from:to]} }

// transforms keeps those that were made: their tables cost more than using them.
var transforms sync.Map

func newTransform(n int) *transform {
	if t, ok := transforms.Load(n); ok {
		return t.(*transform)
	}
	t := &transform{n: n}
	stride := 1
	for left := n / 2; left%4 == 0; left /= 4 {
		p := pass{m: left / 4, stride: stride, w: make([][6]float64, left/4)}
		for k := range p.w {
			for j := range 3 {
				p.w[k][2*j+1], p.w[k][2*j] = turn((j+1)*k, left)
			}
		}
		t.passes = append(t.passes, p)
		stride *= 4
	}
	t.cos, t.sin = make([]float64, n/4+1), make([]float64, n/4+1)
	for k := range t.cos {
		t.sin[k], t.cos[k] = turn(k, n)
	}
	kept, _ := transforms.LoadOrStore(n, t)
	return kept.(*transform)
}

// turn returns the sine and cosine of −2πk/n, reduced to the first eighth of a
// turn so that the angle is exact to rounding.
func turn(k, n int) (sin, cos float64) {
	k %= n
	quarter := 4 * k / n // of a turn
	rest := 4*k - quarter*n
	var s, c float64
	if 2*rest > n {
		c, s = math.Sincos(math.Pi / 2 * float64(n-rest) / float64(n))
	} else {
		s, c = math.Sincos(math.Pi / 2 * float64(rest) / float64(n))
	}
	switch quarter {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return -s, c
}

// complexForward transforms x of length n/2, with y as room, and returns which of
// the two holds the result.
func (t *transform) complexForward(x, y waves) waves {
	stride := 1
	for i := range t.passes {
		t.passes[i].run(x, y)
		x, y = y, x
		stride *= 4
	}
	if stride < t.n/2 {
		halve(x, y, stride)
		return y
	}
	return x
}

// run is one pass: four numbers a quarter apart become four neighbours. The
// products are rounded one by one, so that the bits are the same on every machine.
func (p *pass) run(x, y waves) {
	s, m := p.stride, p.m
	if wide && s%4 == 0 {
		pass4(&x.re[0], &x.im[0], &y.re[0], &y.im[0], 8*s*m, 8*s, m, &p.w[0])
		return
	}
	for k := range m {
		w := &p.w[k]
		for q := k * s; q < (k+1)*s; q++ {
			ar, ai, br, bi := x.re[q], x.im[q], x.re[q+s*m], x.im[q+s*m]
			cr, ci, dr, di := x.re[q+2*s*m], x.im[q+2*s*m], x.re[q+3*s*m], x.im[q+3*s*m]
			sr, si, tr, ti := ar+cr, ai+ci, ar-cr, ai-ci
			ur, ui, vr, vi := br+dr, bi+di, bi-di, dr-br
			at := q + 3*k*s
			y.re[at], y.im[at] = sr+ur, si+ui
			y.re[at+s], y.im[at+s] = times(tr+vr, ti+vi, w[0], w[1])
			y.re[at+2*s], y.im[at+2*s] = times(sr-ur, si-ui, w[2], w[3])
			y.re[at+3*s], y.im[at+3*s] = times(tr-vr, ti-vi, w[4], w[5])
		}
	}
}

// times is a complex product.
func times(ar, ai, br, bi float64) (re, im float64) {
	return float64(ar*br) - float64(ai*bi), float64(ar*bi) + float64(ai*br)
}

// halve is a pass of radix 2 over pairs that are s apart, the last.
func halve(x, y waves, s int) {
	for q := range s {
		ar, ai, br, bi := x.re[q], x.im[q], x.re[q+s], x.im[q+s]
		y.re[q], y.im[q] = ar+br, ai+bi
		y.re[q+s], y.im[q+s] = ar-br, ai-bi
	}
}

// fold returns mass, wrapped around to length n: even-numbered reals in one half, odd
// ones in the other.
func (t *transform) fold(mass []float64) waves {
	h := t.n / 2
	z := newWaves(h + 1)
	clear(z.re)
	clear(z.im)
	for ; len(mass) > 0; mass = mass[min(t.n, len(mass)):] {
		round := mass[:min(t.n, len(mass))]
		re, im := z.re[:(len(round)+1)/2], z.im[:len(round)/2]
		for i := range im {
			re[i] += round[2*i]
			im[i] += round[2*i+1]
		}
		if len(re) > len(im) {
			re[len(im)] += round[2*len(im)]
		}
	}
	return z
}

// unfold sets dst to scale times what backward returned, from the one numbered at on and
// round again. What is negative becomes 0.
func (w waves) unfold(dst []float64, at int, scale float64) {
	halves, h := [2][]float64{w.re, w.im}, len(w.re)
	for parity := range min(2, len(dst)) {
		from, k := halves[(at+parity)%2], (at+parity)/2%h
		for i := parity; i < len(dst); i += 2 {
			v := from[k] * scale
			if v < 0 {
				v = 0
			}
			dst[i] = v
			if k++; k == h {
				k = 0
			}
		}
	}
}

// norm is the Euclidean norm of the numbers in both halves.
func (w waves) norm() float64 {
	var a, b, c, d float64
	re, im := w.re, w.im[:len(w.re)]
	for ; len(re) >= 2; re, im = re[2:], im[2:len(re)] {
		a, b, c, d = a+re[0]*re[0], b+re[1]*re[1], c+im[0]*im[0], d+im[1]*im[1]
	}
	for i, v := range re {
		a += v*v + im[i]*im[i]
	}
	return math.Sqrt(a + b + (c + d))
}

// forward returns the n/2 + 1 coefficients of the folded reals z, which it takes.
func (t *transform) forward(z waves) waves {
	h := t.n / 2
	room := newWaves(h + 1)
	got := t.complexForward(z.slice(0, h), room.slice(0, h))
	out := waves{got.re[:h+1], got.im[:h+1]}
	if &got.re[0] == &z.re[0] {
		room.free()
	} else {
		z.free()
	}
	out.re[h], out.im[h] = out.re[0]-out.im[0], 0
	out.re[0], out.im[0] = out.re[0]+out.im[0], 0
	for k := 1; k <= h/2; k++ {
		ar, ai, br, bi := out.re[k], out.im[k], out.re[h-k], out.im[h-k]
		er, ei := (ar+br)/2, (ai-bi)/2 // of the even-numbered reals
		or, oi := (ai+bi)/2, (br-ar)/2
		wr, wi := t.cos[k], t.sin[k]
		pr, pi := times(or, oi, wr, wi)
		out.re[k], out.im[k] = er+pr, ei+pi
		out.re[h-k], out.im[h-k] = er-pr, pi-ei
	}
	return out
}

// backward returns n times the reals, folded, whose coefficients are c, which it takes.
func (t *transform) backward(c waves) waves {
	h := t.n / 2
	first, last := c.re[0], c.re[h]
	c.re[0], c.im[0] = first+last, first-last
	for k := 1; k <= h/2; k++ {
		ar, ai, br, bi := c.re[k], c.im[k], c.re[h-k], -c.im[h-k]
		er, ei := ar+br, ai+bi
		pr, pi := ar-br, ai-bi
		wr, wi := t.cos[k], -t.sin[k]
		or, oi := times(pr, pi, wr, wi)
		c.re[k], c.im[k] = er-oi, ei+or
		c.re[h-k], c.im[h-k] = er+oi, or-ei
	}
	// The inverse is the transform with real and imaginary parts exchanged.
	room := newWaves(h)
	got := t.complexForward(waves{c.im[:h], c.re[:h]}, room)
	if &got.re[0] == &room.re[0] {
		c.free()
	} else {
		room.free()
	}
	return waves{got.im, got.re}
}
