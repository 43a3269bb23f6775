package pld

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// lattice is a tilted measure on the multiples of a step: loss (first+i)·step
// has weight mass[i]·e^{log − θ·loss}. mass sums to 1. It differs from the tilt of
// a measure that bounds the true one by at most slip in the sum of absolute
// values, plus noise in the Euclidean norm.
type lattice struct {
	step        float64
	first       int
	mass        []float64
	log         float64
	slip, noise float64
}

// term is a lattice composed k ≥ 1 times.
type term struct {
	d *lattice
	k int64
}

// normalise rescales mass to total 1.
func (d *lattice) normalise() {
	sum := 0.0
	for _, m := range d.mass {
		sum += m
	}
	for i := range d.mass {
		d.mass[i] /= sum
	}
	d.log += math.Log(sum)
	d.slip /= sum
	d.noise /= sum
}

// trim drops the lowest points, up to a mass of share in all.
func (d *lattice) trim(share float64) {
	i, sum := 0, 0.0
	for i < len(d.mass)-1 && sum+d.mass[i] <= share {
		sum += d.mass[i]
		i++
	}
	d.first, d.mass = d.first+i, d.mass[i:]
	d.slip += sum
}

// coarsen multiplies the step by factor. Each weight is shared between the two
// neighbouring points of the coarser grid so that both distributions keep their
// totals, which raises the privacy profile; theta is the tilt.
func (d *lattice) coarsen(factor int, theta float64) *lattice {
	low := floorDiv(d.first, factor)
	high := floorDiv(d.first+len(d.mass)-1, factor) + 1
	out := &lattice{step: d.step * float64(factor), first: low, log: d.log,
		mass: make([]float64, high-low+1)}
	up, down := make([]float64, factor), make([]float64, factor)
	most := 1.0
	for r := range factor {
		below, above := float64(r)*d.step, float64(factor-r)*d.step
		whole := -math.Expm1(-out.step)
		up[r] = -math.Expm1(-below) / whole * math.Exp(theta*above)
		down[r] = math.Exp(-below) * -math.Expm1(-above) / whole * math.Exp(-theta*below)
		most = max(most, up[r]+down[r])
	}
	for i, m := range d.mass {
		j := floorDiv(d.first+i, factor)
		r := d.first + i - j*factor
		out.mass[j-low] += m * down[r]
		out.mass[j-low+1] += m * up[r]
	}
	out.slip = d.slip * most
	// Schur's test: columns of the map sum to at most most, rows to 2·factor·most.
	out.noise = d.noise * most * math.Sqrt(float64(2*factor))
	return out
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// convolve composes all terms, which share a step, keeping all but tau of the
// mass at each end. What it loses and every rounding error are added to slip and
// noise. The composition of less, whose terms differ from the others by having
// less mass at the same first points, is subtracted; it may be nil.
func convolve(terms, less []term, tau float64) *lattice {
	low, high, lost := window(terms, tau)
	n := transformLength(high - low + 1)
	c := convolver{transform: newTransform(n), buf: make([]float64, n)}
	out := &lattice{step: terms[0].d.step, first: low, mass: make([]float64, high-low+1)}
	product := c.product(terms)
	if less != nil {
		minus := c.product(less)
		for i, re := range minus.re {
			product.re[i] -= re
			product.im[i] -= minus.im[i]
		}
		minus.free()
	}
	base, grown, noise := 0, 1.0, 0.0
	for _, t := range terms {
		base += int(t.k) * t.d.first
		out.log += float64(t.k) * t.d.log
		grown *= math.Exp(float64(t.k) * t.d.slip)
		noise += float64(t.k) * t.d.noise
	}
	seq := c.transform.backward(product)
	scale := 1 / float64(n)
	at := mod(low-base, n)
	for i := range out.mass {
		out.mass[i] = max(0, seq[at]*scale)
		if at++; at == n {
			at = 0
		}
	}
	outward := scale * norm2(seq)
	if less != nil {
		outward = 2 // both products have norm at most 1
	}
	noise += transformError(n)*(c.inward+outward) + powerError(terms)*outward
	out.slip, out.noise = (grown-1)+lost, noise*grown
	out.normalise()
	return out
}

// convolver holds a transform and what goes into it.
type convolver struct {
	transform *transform
	buf       []float64
	inward    float64 // sum of the Euclidean norms of all factors
}

// product returns the transform of the composition of terms.
func (c *convolver) product(terms []term) waves {
	var product waves
	for i, t := range terms {
		factor := c.transform.forward(fold(c.buf, t.d.mass))
		c.inward += float64(t.k) * norm2(c.buf)
		factor.power(t.k)
		if i == 0 {
			product = factor
			continue
		}
		for j, re := range factor.re {
			product.re[j], product.im[j] = times(product.re[j], product.im[j], re, factor.im[j])
		}
		factor.free()
	}
	return product
}

func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// fold writes mass into dst, wrapping around.
func fold(dst, mass []float64) []float64 {
	clear(dst)
	for len(mass) > 0 {
		k := min(len(dst), len(mass))
		for i, m := range mass[:k] {
			dst[i] += m
		}
		mass = mass[k:]
	}
	return dst
}

func norm2(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// power raises every coefficient to the k-th power by repeated squaring.
func (w waves) power(k int64) {
	re, im := w.re, w.im[:len(w.re)]
	for i, a := range re {
		b := im[i]
		e := k
		for ; e&1 == 0; e >>= 1 {
			a, b = float64(a*a)-float64(b*b), 2*float64(a*b)
		}
		wr, wi := a, b
		for e >>= 1; e > 0; e >>= 1 {
			a, b = float64(a*a)-float64(b*b), 2*float64(a*b)
			if e&1 == 1 {
				wr, wi = times(wr, wi, a, b)
			}
		}
		re[i], im[i] = wr, wi
	}
}

// transformError bounds the relative error, in the Euclidean norm, of one
// transform of length n: log₂n levels (Higham 2002, Theorem 24.2), with the
// twiddle factors accurate to 5e-16.
func transformError(n int) float64 { return 4e-15 * math.Log2(float64(n)) }

// powerError bounds the relative error of the product of powers.
func powerError(terms []term) float64 {
	k := 0.0
	for _, t := range terms {
		k += float64(t.k)
	}
	return 5e-16 * k
}

// transformLength returns the least length 2^a·{4, 5, 6} that is at least n.
func transformLength(n int) int {
	p := 1
	for 6*p < n {
		p *= 2
	}
	for _, m := range []int{4, 5, 6} {
		if m*p >= n {
			return m * p
		}
	}
	return 6 * p
}

// window returns the first and last grid point of the composition outside which
// it has at most tau of mass on either side, and how much mass may be missing
// inside, or too much because it wrapped around.
func window(terms []term, tau float64) (low, high int, lost float64) {
	var above, below []block
	for _, t := range terms {
		low += int(t.k) * t.d.first
		high += int(t.k) * (t.d.first + len(t.d.mass) - 1)
		above = append(above, t.d.blocks(t.k, +1))
		below = append(below, t.d.blocks(t.k, -1))
	}
	if end := int(math.Ceil(chernoffEnd(above, tau))); end < high {
		high, lost = end, lost+2*tau
	}
	if end := -int(math.Ceil(chernoffEnd(below, tau))); end > low {
		low, lost = end, lost+2*tau
	}
	return low, high, lost
}

// block is a lattice reduced to few atoms, each moved away from the centre.
type block struct {
	k    float64
	x, p []float64
}

// blocks sums runs of mass at their end in direction sign.
func (d *lattice) blocks(k int64, sign int) block {
	const atoms = 512
	run := (len(d.mass) + atoms - 1) / atoms
	b := block{k: float64(k)}
	for i := 0; i < len(d.mass); i += run {
		end := min(i+run, len(d.mass))
		sum := 0.0
		for _, m := range d.mass[i:end] {
			sum += m
		}
		if sum == 0 {
			continue
		}
		at := d.first + end - 1
		if sign < 0 {
			at = -(d.first + i)
		}
		b.x, b.p = append(b.x, float64(at)), append(b.p, sum)
	}
	return b
}

// chernoffEnd returns a point beyond which the sum has mass at most tau.
func chernoffEnd(bs []block, tau float64) float64 {
	variance := 0.0
	for _, b := range bs {
		mean, square := 0.0, 0.0
		for i, x := range b.x {
			mean += b.p[i] * x
			square += b.p[i] * x * x
		}
		variance += b.k * max(1, square-mean*mean)
	}
	end := func(l float64) float64 {
		sum := -math.Log(tau)
		for _, b := range bs {
			top := max(b.x[0], b.x[len(b.x)-1])
			m := 0.0
			for i, x := range b.x {
				m += b.p[i] * vec.Exp(l*(x-top))
			}
			sum += b.k * (math.Log(m) + l*top)
		}
		return sum / l
	}
	// Every l gives an end, and the least of them lies where it falls no more.
	l := math.Sqrt(-2 * math.Log(tau) / variance)
	best := end(l)
	for _, factor := range []float64{2, 0.5, 1.25, 0.8} {
		for next := end(l * factor); next < best; next = end(l * factor) {
			l, best = l*factor, next
		}
	}
	return best + 1
}
