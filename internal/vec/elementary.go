package vec

// Proof: docs/proofs/elementary.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

// The exponential writes x = (128k + j)·ln2/128 + r with |r| ≤ ln2/256, so that
// e^x = 2^k·2^(j/128)·e^r: a table and a short polynomial (Tang 1989). Adding
// shift to a number below 2^51 rounds it to an integer, found in the low bits.
// The logarithm log(1+u) of u in [0, 1] likewise writes u = c + r(1+c) with c a
// multiple of 1/128, so that log(1+u) = log(1+c) + log(1+r), |r| ≤ 1/256.
//
// Where the processor has AVX2 the loops over slices take four numbers at a time, and
// Softplus eight with AVX-512 (elementary_amd64.s), with the same operations in the same
// order, so the bits do not depend on the machine. For the same reason every product is rounded
// explicitly: some processors would fuse it with a sum.
//
// The pieces are small enough for the compiler to inline, and loops do one
// function at a time: the chain of dependent operations is what limits them.
const (
	shift      = 0x1.8p52
	log1pShift = 0x1.8p45 // the same for multiples of 1/128
	perLn2     = tableSize / math.Ln2
	ln2Hi      = 0x1.62e42fef8p-8      // the leading 35 bits of ln2/128: k·ln2Hi is exact
	ln2Lo      = 0x1.1cf79abc9e3b4p-43 // the rest of ln2/128
	expMin     = -708                  // below, e^x nears the denormals
	expMax     = 709                   // above, e^x nears overflow
	tailShift  = 0x1.8p47              // log1pShift for multiples of 1/32
	tailMax    = 32 - 1.0/32           // the last of tailTable
)

// wider says whether loops take eight numbers at a time. Tests try both.
var wider = dense.Wider

// reduce returns r and the bits that hold 128k + j. x must lie in
// [expMin, expMax].
func reduce(x float64) (r float64, bits uint64) {
	z := float64(x*perLn2) + shift
	n := z - shift
	return x - float64(n*ln2Hi) - float64(n*ln2Lo), math.Float64bits(z)
}

// power returns 2^k·2^(j/128) as head·(1 + tail).
func power(bits uint64) (head, tail float64) {
	e := &exp2Table[bits%tableSize]
	return math.Float64frombits(math.Float64bits(e.head) + bits>>tableBits<<52), e.tail
}

// expm1Small returns e^r − 1 + tail for a reduced r.
func expm1Small(r, tail float64) float64 {
	r2 := r * r
	a, b := 0.5+float64(r*(1.0/6)), 1.0/24+float64(r*(1.0/120))
	return r + (tail + float64(r2*a) + float64(r2*r2*b))
}

// Log1pUnit returns log(1 + u) for u in [0, 1], or NaN for NaN; anything else is
// the caller's mistake. Relative error below 2⁻⁵⁰.
func Log1pUnit(u float64) float64 {
	z := u + log1pShift
	e := &log1pTable[math.Float64bits(z)%(2*tableSize)]
	r := (u - (z - log1pShift)) * e.inv
	r2 := r * r
	return e.log + (r - float64(r2*(0.5-float64(r*(1.0/3)))) -
		float64(r2*r2*((0.25-float64(r*(1.0/5)))+float64(r2*(1.0/6-float64(r*(1.0/7)))))))
}

// Exp returns e^x with relative error at most 2⁻⁵².
func Exp(x float64) float64 {
	if !(x >= expMin && x <= expMax) {
		return math.Exp(x)
	}
	r, bits := reduce(x)
	head, tail := power(bits)
	return head + float64(head*expm1Small(r, tail))
}

// Expm1 returns e^x − 1 with relative error below 5·2⁻⁵³.
func Expm1(x float64) float64 {
	if !(x >= expMin && x <= expMax) {
		return math.Expm1(x)
	}
	r, bits := reduce(x)
	head, tail := power(bits)
	return (head - 1) + float64(head*expm1Small(r, tail))
}

// ExpNegAbs sets dst[i] = e^−|x[i]| with relative error at most 2⁻⁵². dst may be
// x.
func ExpNegAbs(dst, x []float64) {
	dst = dst[:len(x)]
	for at := 0; at < len(x); {
		if dense.Wide && len(x)-at >= 4 {
			at += expNegAbs4(&dst[at], &x[at], len(x)-at, &exp2Table[0])
		}
		for end := min(at+4, len(x)); at < end; at++ {
			dst[at] = Exp(-math.Abs(x[at]))
		}
	}
}

// Expm1All sets dst[i] = e^x[i] − 1 with relative error below 5·2⁻⁵³. dst may be
// x.
func Expm1All(dst, x []float64) {
	dst = dst[:len(x)]
	for at := 0; at < len(x); {
		if dense.Wide && len(x)-at >= 4 {
			at += expm1All4(&dst[at], &x[at], len(x)-at, &exp2Table[0])
		}
		for end := min(at+4, len(x)); at < end; at++ {
			dst[at] = Expm1(x[at])
		}
	}
}

// Softplus sets dst[i] = log(1 + e^x[i]) with relative error below 2⁻⁵⁰.
// dst may be x.
func Softplus(dst, x []float64) {
	dst = dst[:len(x)]
	for at := 0; at < len(x); {
		if wider && len(x)-at >= 8 {
			at += softplus8(&dst[at], &x[at], len(x)-at, &tailTable[0])
		}
		if dense.Wide && len(x)-at >= 4 {
			at += softplus4(&dst[at], &x[at], len(x)-at, &tailTable[0])
		}
		for end := min(at+4, len(x)); at < end; at++ {
			dst[at] = softplus(x[at])
		}
	}
}

// softplus is max(x, 0) + L(|x|), where L(t) = log(1 + e^−t). A table has L and q = −L′ at
// multiples c of 1/32. With w = q(1 − q) and s = 1 − 2q, the derivatives of L are −q, w, −ws,
// w(1 − 6w), −ws(1 − 12w) and w(1 − 30w + 120w²), so that a series in r = t − c follows.
func softplus(x float64) float64 {
	t := math.Abs(x)
	if !(t <= tailMax) {
		return max(x, 0) + Log1pUnit(Exp(-t))
	}
	z := t + tailShift
	e := &tailTable[math.Float64bits(z)%tailSize]
	r, q := t-(z-tailShift), e.q
	w, s := q-float64(q*q), 1-(q+q)
	r2 := r * r
	odd := float64(r * float64(s*(float64(r2*(1.0/120-float64(w*(1.0/10))))+1.0/6)))
	even := float64(r2*(float64(r2*(float64(w*(float64(w*(1.0/6))-1.0/24))+1.0/720))-
		float64(w*(1.0/4))+1.0/24)) + 1.0/2
	return max(x, 0) + (e.log + (float64(float64(w*r2)*(even-odd)) - float64(q*r)))
}

// AddLog1p sets dst[i] = x[i] + log(1 + u[i]) for x[i] and u[i] of at least 0, with
// relative error below 2⁻⁵⁰. dst must be neither.
func AddLog1p(dst, x, u []float64) {
	at := 0
	if dense.Wide && len(x) >= 4 {
		at = len(x) &^ 3
		addLog1p4(&dst[0], &x[0], &u[0], at, &log1pTable[0])
	}
	for ; at < len(x); at++ {
		dst[at] = max(x[at], 0) + Log1pUnit(u[at])
	}
	for i, v := range u {
		if !(v <= 1) {
			dst[i] = x[i] + math.Log1p(v)
		}
	}
}

// LogisticTails sets q[i] = 1/(1 + e^−t[i]) with relative error at most 2⁻⁵¹ and
// returns Σ log(1 + e^t[i]), with an error of about len(t)·2⁻⁵³. Each log(1+u) is
// not taken: the sum over 256 of them is the logarithm of a product below 2²⁵⁶.
// q must not be t.
func LogisticTails(q, t []float64) (sum float64) {
	q = q[:len(t)]
	ExpNegAbs(q, t)
	for len(t) > 0 {
		n := min(len(t), 256)
		product, linear := 1.0, 0.0
		for i, v := range t[:n] {
			u := q[i]
			inv := 1 / (1 + u)
			product *= 1 + u
			linear += math.Abs(v) + v
			q[i] = inv
			if v < 0 {
				q[i] = u * inv
			}
		}
		sum += linear/2 + math.Log(product)
		q, t = q[n:], t[n:]
	}
	return sum
}
