package draw

import (
	"math"
	"math/big"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// Precision returns the bits with which [Precise] draws noise for a mechanism of
// the given ε, so that what its law departs from the exact one costs a δ below
// 2⁻¹⁰⁰: see [Departure].
func Precision(epsilon float64) uint { return 256 + uint(math.Ceil(1.5*epsilon)) }

// Departure bounds, per coordinate, the total variation between noise drawn with
// so many bits and rounded to Grid, and the exact law rounded so.
func Departure(precision uint) float64 { return math.Ldexp(1, 64-int(precision)) }

// Precise returns a draw with density ∝ exp(−‖z‖₂/scale), computed with precision
// bits from uniform numbers of as many: a norm that is Gamma(d, scale), in a
// uniform direction (Chaudhuri et al. 2011, §3.1). It is not a vector of Laplace
// draws, whose density has the L1 norm.
func Precise(src *noise.Source, dim int, scale float64, precision uint) []*big.Float {
	p := newPrecise(src, precision)
	z := make([]*big.Float, 0, dim+1)
	square := p.new()
	for len(z) < dim {
		a, b := p.normals()
		z = append(z, a, b)
	}
	z = z[:dim]
	for _, v := range z {
		square.Add(square, p.new().Mul(v, v))
	}
	length := p.new()
	for range dim { // Gamma(d, 1) is a sum of d exponentials
		length.Sub(length, p.log(p.uniform()))
	}
	length.Mul(length, p.new().SetFloat64(scale))
	length.Quo(length, p.new().Sqrt(square))
	for _, v := range z {
		v.Mul(v, length)
	}
	return z
}

// AddPrecise replaces each element of x by the multiple of step, a power of two,
// that is nearest to the exact sum of it and its noise.
func AddPrecise(x []float64, noise []*big.Float, step float64) {
	for i, z := range noise {
		sum := new(big.Float).SetPrec(z.Prec()+2200).Add(z, big.NewFloat(x[i])) // exact
		sum.Quo(sum, big.NewFloat(step))
		half := big.NewFloat(math.Copysign(0.5, float64(sum.Sign())))
		k, _ := sum.Add(sum, half).Int(nil)
		v, _ := new(big.Float).SetInt(k).Float64()
		x[i] = v * step
	}
}

// precise draws numbers of a fixed precision.
type precise struct {
	src  *noise.Source
	prec uint
	ln2  *big.Float
}

func newPrecise(src *noise.Source, prec uint) *precise {
	p := &precise{src: src, prec: prec + 64}
	p.ln2 = p.new().Neg(p.logOfHalf(p.new().SetFloat64(0.5)))
	return p
}

func (p *precise) new() *big.Float { return new(big.Float).SetPrec(p.prec) }

// uniform returns a number in (0, 1), the middle of one of 2^prec equal parts.
func (p *precise) uniform() *big.Float {
	words := int(p.prec+63) / 64
	n := new(big.Int)
	for range words {
		n.Lsh(n, 64)
		n.Or(n, new(big.Int).SetUint64(p.src.Uint64()))
	}
	n.Lsh(n, 1)
	n.SetBit(n, 0, 1)
	u := new(big.Float).SetPrec(p.prec + 65).SetInt(n)
	return u.SetMantExp(u, -64*words-1)
}

// normals returns two independent standard normals, by the polar method.
func (p *precise) normals() (a, b *big.Float) {
	one := p.new().SetInt64(1)
	for {
		a, b = p.centred(), p.centred()
		s := p.new().Add(p.new().Mul(a, a), p.new().Mul(b, b))
		if s.Cmp(one) >= 0 || s.Sign() == 0 {
			continue
		}
		f := p.new().Quo(p.log(s), s)
		f.Sqrt(f.Mul(f, p.new().SetInt64(-2)))
		return a.Mul(a, f), b.Mul(b, f)
	}
}

// centred returns a uniform number in (−1, 1).
func (p *precise) centred() *big.Float {
	u := p.uniform()
	return p.new().Sub(u.SetMantExp(u, 1), p.new().SetInt64(1))
}

// log returns log x for x > 0.
func (p *precise) log(x *big.Float) *big.Float {
	m := p.new()
	e := x.MantExp(m)
	shift := p.new().Mul(p.ln2, p.new().SetInt64(int64(e)))
	return shift.Add(shift, p.logOfHalf(m))
}

// logOfHalf returns log m for m in [½, 1], by the series of atanh after square
// roots that bring m close to 1.
func (p *precise) logOfHalf(m *big.Float) *big.Float {
	const roots = 16
	r := new(big.Float).SetPrec(p.prec + 32).Set(m)
	for range roots {
		r.Sqrt(r)
	}
	one := big.NewFloat(1)
	t := new(big.Float).SetPrec(p.prec+32).Sub(r, one)
	t.Quo(t, r.Add(r, one))
	square := new(big.Float).SetPrec(p.prec+32).Mul(t, t)
	sum := new(big.Float).SetPrec(p.prec + 32)
	for k := int64(1); t.Sign() != 0 && t.MantExp(nil) > -int(p.prec)-40; k += 2 {
		sum.Add(sum, new(big.Float).SetPrec(p.prec+32).Quo(t, new(big.Float).SetInt64(k)))
		t.Mul(t, square)
	}
	return p.new().SetMantExp(sum, roots+1)
}
