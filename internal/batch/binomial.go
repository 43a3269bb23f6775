package batch

// Proof: docs/proofs/noise.md.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	mathrand "math/rand/v2"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// maxTrials keeps the table of a Binomial below 16 MB, and a count in an int32.
const maxTrials = math.MaxInt32

const (
	// tableBits is the number of bits of the table's entries.
	tableBits = 128
	// guardBits is how much wider than what they make the numbers of the arithmetic are.
	guardBits = 192
	// doubt bounds the error of an entry, in units of its last bit.
	doubt = 1 << 28
	// tailUnits: each end of a table leaves out at most 2·tailUnits of these units.
	tailUnits = 1 << 25
)

// Binomial draws the number of successes of n independent trials of probability
// q, exactly: the size of a Poisson batch (docs/proofs/noise.md §8). It inverts a table
// of 128-bit cumulative probabilities. Where a uniform number is too close to an entry
// for that to be certain, with chance below 2^-75, further bits of both decide.
// It is immutable and safe for concurrent use with separate sources.
//
// The table has about 24 standard deviations of entries of 16 bytes (16 kB for
// n = 10^6, q = 10^-3; 8 MB for n = 10^9, q = ½, which takes about a second to make).
type Binomial struct {
	n     int64
	q     float64
	first int64 // the value of the first entry
	// cumulative[i] is 2^128·P(X ≤ first+i), within doubt; the last entry, 2^128, is
	// left out.
	cumulative []uint128
	// guide[c] counts the entries at or below c·2^128/(len(guide)−1).
	guide []int32
	shift uint // a word >> shift is its guide cell
}

// uint128 is hi·2^64 + lo.
type uint128 struct{ hi, lo uint64 }

func (a uint128) atMost(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo <= b.lo }

// beyond reports whether a − b, modulo 2^128, is more than doubt.
func (a uint128) beyond(b uint128) bool {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return hi > 0 || lo > doubt
}

// NewBinomial returns a sampler of Binomial(n, q), where q is exactly the
// rational number that the float64 is. It needs 0 ≤ n < 2^31 and q in [0, 1].
func NewBinomial(n int64, q float64) (*Binomial, error) {
	if n < 0 || n > maxTrials {
		return nil, fmt.Errorf("batch: binomial with %d trials, allowed are 0 to 2^31−1: split the trials", n)
	}
	if !(q >= 0 && q <= 1) {
		return nil, fmt.Errorf("batch: binomial with probability %v, it must lie in [0, 1]", q)
	}
	b := &Binomial{n: n, q: q}
	if b.constant() {
		b.first = int64(q) * n
	} else {
		m := newMasses(n, q, tableBits)
		b.first, b.cumulative = m.first, make([]uint128, 0, m.last-m.first)
		var bytes [tableBits / 8]byte
		m.cumulate(func(upTo *big.Int) bool {
			upTo.FillBytes(bytes[:])
			b.cumulative = append(b.cumulative,
				uint128{binary.BigEndian.Uint64(bytes[:8]), binary.BigEndian.Uint64(bytes[8:])})
			return true
		})
	}
	b.index()
	return b, nil
}

func (b *Binomial) constant() bool { return b.q == 0 || b.q == 1 }

// index makes the guide: two to four cells for every entry.
func (b *Binomial) index() {
	log := bits.Len(uint(len(b.cumulative)))
	b.shift = uint(64 - log)
	b.guide = make([]int32, 1<<log+1)
	count := 0
	for c := range 1 << log {
		edge := uint128{hi: uint64(c) << b.shift}
		for count < len(b.cumulative) && b.cumulative[count].atMost(edge) {
			count++
		}
		b.guide[c] = int32(count)
	}
	b.guide[1<<log] = int32(len(b.cumulative))
}

// Sample returns the next draw, in [0, n]. It takes two words of src, and hardly ever
// more.
func (b *Binomial) Sample(src *noise.Source) int64 { return b.sample(src) }

func (b *Binomial) sample(src mathrand.Source) int64 {
	u := uint128{hi: src.Uint64(), lo: src.Uint64()}
	i := b.quantile(u)
	// The ends are 0 and 2^128, which is 0 here.
	var below, above uint128
	if i > 0 {
		below = b.cumulative[i-1]
	}
	if i < len(b.cumulative) {
		above = b.cumulative[i]
	}
	if u.beyond(below) && above.beyond(u) || b.constant() {
		return b.first + int64(i)
	}
	return b.decide(src, u)
}

// quantile returns the number of entries at or below u.
func (b *Binomial) quantile(u uint128) int {
	cell := u.hi >> b.shift
	low, high := b.guide[cell], b.guide[cell+1]
	for low < high {
		mid := (low + high) / 2
		if b.cumulative[mid].atMost(u) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return int(low)
}

// decide is sample for a uniform number of which u is the first 128 bits, with as many
// further bits of it, and digits of the probabilities, as it takes.
func (b *Binomial) decide(src mathrand.Source, u uint128) int64 {
	known := new(big.Int)
	append64 := func(word uint64) { known.Lsh(known, 64).Or(known, new(big.Int).SetUint64(word)) }
	append64(u.hi)
	append64(u.lo)
	for width := uint(tableBits); ; {
		append64(src.Uint64())
		width += 64
		if k, sure := newMasses(b.n, b.q, width).find(known); sure {
			return k
		}
	}
}

// masses are the probabilities of Binomial(n, q) from first to last, as
// multiples of an unknown constant, made on the fly from the ratio of neighbours, for
// sums that are right to so many bits. What they leave out is below 4·tailUnits of these.
type masses struct {
	n           int64
	bits        uint
	odds        *big.Float // q/(1−q)
	first, last int64
	low, total  *big.Float // the mass of first, the sum of all
}

// newMasses finds the range that holds nearly all of the probability, 0 < q < 1.
func newMasses(n int64, q float64, bits uint) *masses {
	m := &masses{n: n, bits: bits}
	m.odds = m.wide(1)
	m.odds.Quo(m.wide(q), m.odds.Sub(m.odds, m.wide(q)))
	start := min(int64(float64(n)*q), n)
	// Downwards, the law of k is the law of n − k upwards, with inverse odds.
	up := m.climb(start, m.odds)
	down := m.climb(n-start, m.wide(0).Quo(m.wide(1), m.odds))
	m.first, m.last, m.low = n-down.end, up.end, down.mass
	m.total = up.sum.Add(up.sum, down.sum)
	m.total.Add(m.total, m.wide(1))
	return m
}

// wide returns x in the precision of the arithmetic.
func (m *masses) wide(x float64) *big.Float {
	return new(big.Float).SetPrec(m.bits + guardBits).SetFloat64(x)
}

// slope is the result of climb: where it ended, the mass there, and the sum of the
// masses after the start.
type slope struct {
	end       int64
	mass, sum *big.Float
}

// climb follows the masses upwards from k, whose mass is 1, until what remains
// is below 2·tailUnits. The ratio of neighbours falls as k grows, so once it is
// ρ < 1 the remaining masses are at most those of a geometric series.
func (m *masses) climb(k int64, odds *big.Float) slope {
	s := slope{end: k, mass: m.wide(1), sum: m.wide(0)}
	ratio, next := m.wide(0), m.wide(0)
	least := math.Log2(tailUnits) - float64(m.bits)
	for ; s.end < m.n; s.end++ {
		m.step(ratio, s.end, odds)
		next.Mul(s.mass, ratio)
		// The factor 2 of what may remain is far more than the rounding of 1 − ρ, which is
		// within 2^-23 of itself where ρ is not too close to 1, and that of the logarithm.
		rho, _ := ratio.Float64()
		if rho < 1-0x1p-30 && float64(next.MantExp(nil))-math.Log2(1-rho) <= least {
			break
		}
		s.mass.Set(next)
		s.sum.Add(s.sum, next)
	}
	return s
}

// step sets ratio = P(k+1)/P(k) = (n−k)·odds/(k+1).
func (m *masses) step(ratio *big.Float, k int64, odds *big.Float) {
	ratio.SetInt64(m.n - k)
	ratio.Mul(ratio, odds)
	ratio.Quo(ratio, m.wide(float64(k+1)))
}

// cumulate yields ⌊2^bits·P(X ≤ k)⌋ for k from first to last−1, within doubt.
func (m *masses) cumulate(yield func(upTo *big.Int) bool) {
	scale := new(big.Float).SetMantExp(m.wide(1), int(m.bits))
	scale.Quo(scale, m.total)
	mass, sum, scaled, ratio := m.wide(0).Set(m.low), m.wide(0), m.wide(0), m.wide(0)
	var whole big.Int
	for k := m.first; k < m.last; k++ {
		sum.Add(sum, mass)
		scaled.Mul(sum, scale).Int(&whole)
		if !yield(&whole) {
			return
		}
		m.step(ratio, k, m.odds)
		mass.Mul(mass, ratio)
	}
}

// find returns the k with P(X < k) ≤ U < P(X ≤ k), where u is the first bits of U, and
// whether these are enough.
func (m *masses) find(u *big.Int) (k int64, sure bool) {
	k = m.first
	below, above := new(big.Int), new(big.Int).Lsh(big.NewInt(1), m.bits)
	m.cumulate(func(upTo *big.Int) bool {
		if upTo.Cmp(u) > 0 {
			above.Set(upTo)
			return false
		}
		below.Set(upTo)
		k++
		return true
	})
	unsure := big.NewInt(doubt)
	return k, below.Sub(u, below).Cmp(unsure) > 0 && above.Sub(above, u).Cmp(unsure) > 0
}
