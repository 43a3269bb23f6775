package noise

// Proof: docs/proofs/noise.md.

import (
	"fmt"
	"math/big"
	"math/bits"
	mathrand "math/rand/v2"
	"sync"
)

const (
	// maxSigma keeps every value below 2^53.
	maxSigma = 1 << 40
	// reach is how many σ the strips cover at least. The density beyond them is
	// below exp(−reach²/2) < 2^-72, so the tail needs no fast path.
	reach = 10
	// maxStrips is the largest number of strips for which 512 cells suffice.
	maxStrips = 95
	// levels is how many cells stand on each other between the heights 0 and 1.
	levels = 32
	// maxTail is the number of tail strips: only values beyond 5000σ are left out.
	maxTail = 1 << 16
	// one is the height 1, and a cell is one/levels high.
	one = 1 << 56
	// slack bounds the error of density, in the same units.
	slack = 8
)

// DiscreteGaussian draws from the discrete Gaussian law N_Z(0, σ²) on the
// integers, P(x) ∝ f(x) = exp(−x²/2σ²) (Canonne, Kamath, Steinke 2020), by
// rejection with exact decisions (docs/proofs/noise.md §6). Its law is N_Z(0, σ²)
// given |x| < X for some X > 5000σ, an event of probability above 1 − 2^(−10^7).
// It is immutable and safe for concurrent use with separate sources.
//
// The integers from 0 are cut into strips of the same width, and what lies
// under the graph of f is covered by cells, each one strip wide and 1/levels high. A
// point (|x|, height) uniform on a random cell is accepted if it lies below f. One
// further cell stands for the tail: its k-th part, 2^-(k+1) of it, is the part
// of strip number strips+k below the height 2^-(k+1)/levels.
type DiscreteGaussian struct {
	sigma float64
	width uint64
	tail  uint64 // the first integer after the strips
	cells []cell // of equal probability; a power of two of them
	shift int    // x << shift nearly fills a word for the largest x below tail
	scale uint64 // x²/2σ² is (x<<shift)²·scale in units of 2^-184
	slack uint64
	exp   *expTables
}

// cell is a rectangle of points (|x|, height): start ≤ |x| < start + width, and
// base ≤ height < base + one/levels. On it f is at least lower, and at most upper.
type cell struct{ start, base, lower, upper uint64 }

// NewDiscreteGaussian returns a sampler of N_Z(0, σ²), where σ is exactly the
// rational number that the float64 sigma is, in units of the grid on which sums
// are integers. It must lie in [1, 2^40].
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if !(sigma >= 1 && sigma <= maxSigma) {
		return nil,
			fmt.Errorf("noise: discrete Gaussian with σ of %v grid steps, allowed are 1 to 2^40: choose another σ or grid",
				sigma)
	}
	return newStrips(sigma, reach), nil
}

// newStrips covers at least reach·σ with strips.
func newStrips(sigma float64, reach int64) *DiscreteGaussian {
	exact := new(big.Rat).SetFloat64(sigma)
	covered := new(big.Rat).Mul(exact, big.NewRat(reach, 1))
	g := &DiscreteGaussian{
		sigma: sigma,
		width: ceil(new(big.Rat).Mul(covered, big.NewRat(1, maxStrips))),
		slack: slack,
		exp:   tables(),
	}
	strips := ceil(covered.Mul(covered, new(big.Rat).SetFrac64(1, int64(g.width))))
	g.tail = strips * g.width

	g.shift = bits.LeadingZeros64(g.tail - 1)
	scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(183-2*g.shift)))
	scale.Quo(scale, exact.Mul(exact, exact))
	g.scale = new(big.Int).Quo(scale.Num(), scale.Denom()).Uint64()
	g.cover()
	return g
}

// cover makes the cells: those of the strips, that of the tail, in which only
// points below 2^-56 can be accepted, and empty ones up to a power of two.
func (g *DiscreteGaussian) cover() {
	for start := uint64(0); start < g.tail; start += g.width {
		last := g.density(start + g.width - 1)
		c := cell{start: start, lower: last - min(last, g.slack), upper: min(g.density(start)+g.slack, one)}
		for ; c.base < c.upper; c.base += one / levels {
			g.cells = append(g.cells, c)
		}
	}
	g.cells = append(g.cells, cell{start: g.tail, upper: 1})
	empty := 1<<bits.Len(uint(len(g.cells)-1)) - len(g.cells)
	g.cells = append(g.cells, make([]cell, empty)...)
}

// ceil returns ⌈x⌉ for a positive x that fits.
func ceil(x *big.Rat) uint64 {
	sum := new(big.Int).Add(x.Num(), x.Denom())
	return sum.Sub(sum, big.NewInt(1)).Quo(sum, x.Denom()).Uint64()
}

// Sigma is the σ of the law, in grid steps. The variance is below σ², by a
// relative 2.2·10^-7 at σ = 1 and by less than 10^-31 from σ = 2 on.
func (g *DiscreteGaussian) Sigma() float64 { return g.sigma }

// Sample returns the next draw. Its magnitude is below 2^53.
func (g *DiscreteGaussian) Sample(src *Source) int64 { return g.sample(src) }

func (g *DiscreteGaussian) sample(src words) int64 {
	for {
		// One word holds 51 bits of height, a sign, and up to 12 bits for the cell.
		word := src.Uint64()
		c := &g.cells[word&uint64(len(g.cells)-1)]
		height := c.base + word>>13
		if height >= c.upper {
			continue
		}
		x, below := g.inCell(src, c, height)
		switch negative := word>>12&1 == 1; {
		case !below || x == 0 && negative: // zero has one sign only
		case negative:
			return -int64(x)
		default:
			return int64(x)
		}
	}
}

// inCell draws x uniformly from a cell and reports whether the point (x, height)
// lies below f.
func (g *DiscreteGaussian) inCell(src words, c *cell, height uint64) (x uint64, below bool) {
	if c.start == g.tail {
		return g.inTail(src, height)
	}
	x = c.start + uint64n(src, g.width)
	return x, height < c.lower || g.below(src, height, x)
}

// inTail is inCell for the tail.
func (g *DiscreteGaussian) inTail(src words, height uint64) (x uint64, below bool) {
	k := geometric(src)
	if k >= maxTail {
		return 0, false
	}
	x = g.tail + k*g.width + uint64n(src, g.width)
	return x, g.decide(src, height, uint(k)+1, x)
}

// geometric returns k with probability 2^-(k+1), at most maxTail.
func geometric(src words) uint64 {
	for k := uint64(0); k < maxTail; k += 64 {
		if word := src.Uint64(); word != 0 {
			return k + uint64(bits.TrailingZeros64(word))
		}
	}
	return maxTail
}

// density returns an integer within slack of one·f(x), for x < tail.
func (g *DiscreteGaussian) density(x uint64) uint64 {
	x <<= g.shift
	square, _ := bits.Mul64(x, x)
	t, _ := bits.Mul64(square, g.scale)
	return g.exp.fixed(t)
}

// below reports whether H < f(x), where H is a uniform number of which height
// is the first 56 bits. Those nearly always settle it.
func (g *DiscreteGaussian) below(src words, height, x uint64) bool {
	d := g.density(x)
	switch {
	case height+1+g.slack <= d:
		return true
	case height >= d+g.slack:
		return false
	}
	return g.decide(src, height, 0, x)
}

// decide reports whether H·2^-drop < f(x), for the H of below, with as many
// further bits of H, and digits of f, as it takes.
func (g *DiscreteGaussian) decide(src words, height uint64, drop uint, x uint64) bool {
	ratio := new(big.Rat).SetFloat64(g.sigma)
	ratio.Quo(new(big.Rat).SetInt(new(big.Int).SetUint64(x)), ratio)
	t := ratio.Mul(ratio, ratio).Mul(ratio, big.NewRat(1, 2))

	low := new(big.Int).SetUint64(height) // H lies in [low, low+1)·2^-known
	two, three := big.NewInt(2), big.NewInt(3)
	for known := uint(56); ; known += 64 {
		f := expNeg(t, known+drop) // within 2
		gap := new(big.Int).Sub(f, low)
		if gap.Cmp(three) >= 0 {
			return true
		}
		if gap.Add(gap, two).Sign() <= 0 {
			return false
		}
		low.Lsh(low, 64).Or(low, new(big.Int).SetUint64(src.Uint64()))
	}
}

// unit is N_Z(0, 2^80), of which StandardNormal is the multiple by 2^-40.
var unit = sync.OnceValue(func() *DiscreteGaussian { return newStrips(maxSigma, reach) })

// MostNormal is above the size of what StandardNormal returns (docs/proofs/noise.md §7).
const MostNormal = 6910

// StandardNormal returns a draw of the standard normal law on the grid 2^-40:
// exactly 2^-40·N_Z(0, 2^80). It is for public moves, so it takes any generator.
// It is no privacy noise by itself: one mechanism adds it to what it hides, with a
// proof of what the grid costs (docs/proofs/optimum.md). The result depends on the words of src alone, not
// on the machine. A bound proved for normal moves of d coordinates holds for
// these if |x·Z| is raised by ‖x‖·√d·2^-41 and the expectation by a factor
// exp(d·2^-83) (docs/proofs/noise.md §7), and unchanged where it is an expectation of
// exp(λ(x·Z)²). The ziggurat of math/rand/v2 rests on float32 tables and 32
// random bits, and has no such bound.
func StandardNormal(src mathrand.Source) float64 {
	return float64(unit().sample(src)) * 0x1p-40
}
