package pld

import (
	"math"
	"math/bits"

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
	sum := total(d.mass)
	scale := 1 / sum
	for i := range d.mass {
		d.mass[i] *= scale
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
	j, r := 0, d.first-low*factor
	for _, m := range d.mass {
		out.mass[j] += m * down[r]
		out.mass[j+1] += m * up[r]
		if r++; r == factor {
			j, r = j+1, 0
		}
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
	c := convolver{transform: newTransform(n)}
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
	seq.unfold(out.mass, mod(low-base, n), scale)
	outward := scale * seq.norm()
	seq.free()
	if less != nil {
		outward = 2 // both products have norm at most 1
	}
	noise += transformError(n)*(c.inward+outward) + powerError(terms)*outward
	out.slip, out.noise = (grown-1)+lost, noise*grown
	out.normalise()
	return out
}

// convolver is a transform and the size of what goes into it.
type convolver struct {
	transform *transform
	inward    float64 // sum of the Euclidean norms of all factors
}

// product returns the transform of the composition of terms.
func (c *convolver) product(terms []term) waves {
	var product waves
	for i, t := range terms {
		folded := c.transform.fold(t.d.mass)
		c.inward += float64(t.k) * folded.norm()
		factor := c.transform.forward(folded)
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

// total adds up x, in four sums, each of which waits for its own last addition only.
func total(x []float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
	}
	for _, v := range x {
		a += v
	}
	return a + b + (c + d)
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

// transformLength returns the least power of two, 4 or more, that is at least n. Factors
// of 3 and 5 would take as long as the next power: they have no wide passes.
func transformLength(n int) int { return 1 << max(2, bits.Len(uint(n-1))) }

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
	// Ends that are no numbers, of lattices that lost all of their mass, cut nothing.
	if end := math.Ceil(chernoffEnd(above, tau)); end < float64(high) && end >= float64(low) {
		high, lost = int(end), lost+2*tau
	}
	if end := -math.Ceil(chernoffEnd(below, tau)); end > float64(low) && end <= float64(high) {
		low, lost = int(end), lost+2*tau
	}
	return low, high, lost
}

// atoms is the most that a block has.
const atoms = 512

// block is a lattice reduced to few atoms, each moved away from the centre.
type block struct {
	k    float64
	x, p []float64
}

// blocks sums runs of mass at their end in direction sign.
func (d *lattice) blocks(k int64, sign int) block {
	run := (len(d.mass) + atoms - 1) / atoms
	b := block{k: float64(k)}
	for i := 0; i < len(d.mass); i += run {
		end := min(i+run, len(d.mass))
		sum := total(d.mass[i:end])
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
	var room [atoms]float64
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
			e := room[:len(b.x)]
			for i, x := range b.x {
				e[i] = l * (top - x)
			}
			vec.ExpNegAbs(e, e)
			m := 0.0
			for i, p := range b.p {
				m += p * e[i]
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
