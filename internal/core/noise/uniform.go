package noise

// Proof: docs/proofs/noise.md.

import (
	"fmt"
	"math"
	"math/bits"
)

// Uint64n returns a uniform integer in [0, n), exactly (Lemire 2019, "Fast
// random integer generation in an interval"; docs/proofs/noise.md §1). It panics
// if n is 0.
func Uint64n(src *Source, n uint64) uint64 { return uint64n(src, n) }

func uint64n(src words, n uint64) uint64 {
	if n == 0 {
		panic("noise: Uint64n: there is no integer in [0, 0)")
	}
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		// 2^64 mod n words would be counted once too often: redraw those.
		for surplus := -n % n; lo < surplus; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// Bernoulli returns true with probability p, exactly: p is taken as the dyadic
// number that the float64 is, so the only error is the one made in computing it
// (docs/proofs/noise.md §2). It takes one word of src, or more with chance 2^-64
// when p is below 2^-11, and panics if p is NaN or outside [0, 1].
func Bernoulli(src *Source, p float64) bool { return bernoulli(src, p) }

func bernoulli(src words, p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("noise: Bernoulli: probability %v is not in [0, 1]", p))
	}
	u := src.Uint64()
	if p == 1 {
		return true
	}
	for {
		scaled := p * 0x1p64 // exact, as are the two lines below
		digits := uint64(scaled)
		p = scaled - float64(digits)
		if u != digits || p == 0 {
			return u < digits
		}
		u = src.Uint64()
	}
}

// Bit returns true with probability tail, or 1 − tail if upper, exactly. A
// probability close to 1 is thus passed as what it lacks, which float64 holds
// to full relative accuracy. It panics like [Bernoulli].
func Bit(src *Source, tail float64, upper bool) bool { return bernoulli(src, tail) != upper }

// Logistic returns σ(u) = 1/(1 + exp(−u)) in the form that [Bit] takes: its
// smaller side tail = σ(−|u|) in [0, ½], and whether σ(u) is the larger one,
// that is σ(u) = tail if !upper and 1 − tail if upper. The relative error of tail
// is at most 2^-50 for |u| ≤ 700, so the log-odds of the bit are within 2^-48 of u
// (docs/proofs/noise.md §3). Beyond that tail sinks through the subnormal numbers to
// 0, so clamp u where that matters. A NaN gives a NaN, which Bit refuses.
func Logistic(u float64) (tail float64, upper bool) {
	e := math.Exp(-math.Abs(u))
	return e / (1 + e), u >= 0
}
