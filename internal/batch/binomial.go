package batch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

const (
	// maxTrials keeps the table of a Binomial below 16 MB, and a count in an int32.
	maxTrials = math.MaxInt32
	// precision of the arithmetic that makes the table, in bits.
	precision = 320
	// tailBits: each end of the table leaves out at most 2·2^-tailBits.
	tailBits = 103
)

// Binomial draws the number of successes of n independent trials of probability
// q: the size of a Poisson batch. It inverts a table of 128-bit cumulative
// probabilities, with a total-variation error below 2^-100 (docs/proofs/noise.md §8).
// It is immutable and safe for concurrent use with separate sources.
//
// The table has about 24 standard deviations of entries of 16 bytes (16 kB for
// n = 10^6, q = 10^-3; 8 MB for n = 10^9, q = ½, which takes about a second to make).
type Binomial struct {
	first int64 // the value of the first entry
	// cumulative[i] is 2^128·P(X ≤ first+i); the last entry, 2^128, is left out.
	cumulative []uint128
	// guide[c] counts the entries at or below c·2^128/(len(guide)−1).
	guide     []int32
	shift     uint // a word >> shift is its guide cell
	variation float64
}

// uint128 is hi·2^64 + lo.
type uint128 struct{ hi, lo uint64 }

func (a uint128) atMost(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo <= b.lo }

// NewBinomial returns a sampler of Binomial(n, q), where q is exactly the
// rational number that the float64 is. It needs 0 ≤ n < 2^31 and q in [0, 1].
func NewBinomial(n int64, q float64) (*Binomial, error) {
	if n < 0 || n > maxTrials {
		return nil, fmt.Errorf("batch: binomial with %d trials, allowed are 0 to 2^31−1: split the trials", n)
	}
	if !(q >= 0 && q <= 1) {
		return nil, fmt.Errorf("batch: binomial with probability %v, it must lie in [0, 1]", q)
	}
	if q == 0 || q == 1 {
		return point(int64(q) * n), nil
	}
	m := newMasses(n, q)
	b := point(m.first)
	b.cumulative = m.cumulate()
	// Each of the cumulative probabilities is off by less than 2^-127.
	b.variation = m.missing + float64(len(b.cumulative))*0x1p-127
	b.index()
	return b, nil
}

// point returns the law of the constant k.
func point(k int64) *Binomial { return &Binomial{first: k, guide: make([]int32, 2), shift: 64} }

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

// Sample returns the next draw, in [0, n]. It takes two words of src.
func (b *Binomial) Sample(src *noise.Source) int64 {
	return b.quantile(uint128{hi: src.Uint64(), lo: src.Uint64()})
}

// quantile returns the first value whose cumulative probability exceeds u.
func (b *Binomial) quantile(u uint128) int64 {
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
	return b.first + int64(low)
}

// TotalVariation bounds the total-variation distance between the law of Sample
// and Binomial(n, q) from above. It is at most 2^-100: the δ of a release whose
// proof takes the batch size to be exactly binomial grows by no more than
// (1 + exp(ε)) times this.
func (b *Binomial) TotalVariation() float64 { return b.variation }

// masses are the probabilities of Binomial(n, q) from first to last, as
// multiples of an unknown constant, made on the fly from the ratio of neighbours.
type masses struct {
	n           int64
	odds        *big.Float // q/(1−q)
	first, last int64
	low, total  *big.Float // the mass of first, the sum of all
	missing     float64    // a bound on the probability outside
}

// wide returns x in the precision of the table.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// newMasses finds the range that holds all but 2^-101 of the probability.
func newMasses(n int64, q float64) *masses {
	odds := wide(1)
	odds.Quo(wide(q), odds.Sub(odds, wide(q)))
	start := min(int64(float64(n)*q), n)
	// Downwards, the law of k is the law of n − k upwards, with inverse odds.
	up := climb(n, start, odds)
	down := climb(n, n-start, wide(0).Quo(wide(1), odds))
	total := up.sum.Add(up.sum, down.sum)
	return &masses{
		n: n, odds: odds,
		first: n - down.end, last: up.end,
		low: down.mass, total: total.Add(total, wide(1)),
		missing: up.missing + down.missing,
	}
}

// slope is the result of climb: where it ended, the mass there, the sum of the
// masses after the start, and a bound on the sum of those after the end.
type slope struct {
	end       int64
	mass, sum *big.Float
	missing   float64
}

// climb follows the masses upwards from k, whose mass is 1, until what remains
// is below 2^-tailBits. The ratio of neighbours falls as k grows, so once it is
// ρ < 1 the remaining masses are at most those of a geometric series.
func climb(n, k int64, odds *big.Float) slope {
	s := slope{end: k, mass: wide(1), sum: wide(0)}
	ratio, next := wide(0), wide(0)
	for ; s.end < n; s.end++ {
		step(ratio, n, s.end, odds)
		next.Mul(s.mass, ratio)
		// The factor 2 below is far more than the rounding of 1 − ρ, which is within
		// 2^-23 of itself where ρ is not too close to 1.
		rho, _ := ratio.Float64()
		if rest := math.Ldexp(1, next.MantExp(nil)) / (1 - rho); rho < 1-0x1p-30 && rest <= math.Ldexp(1, -tailBits) {
			s.missing = 2 * rest
			break
		}
		s.mass.Set(next)
		s.sum.Add(s.sum, next)
	}
	return s
}

// step sets ratio = P(k+1)/P(k) = (n−k)·odds/(k+1).
func step(ratio *big.Float, n, k int64, odds *big.Float) {
	ratio.SetInt64(n - k)
	ratio.Mul(ratio, odds)
	ratio.Quo(ratio, wide(float64(k+1)))
}

// cumulate returns ⌊2^128·P(X ≤ k)⌋ for k from first to last−1.
func (m *masses) cumulate() []uint128 {
	out := make([]uint128, 0, m.last-m.first)
	scale := new(big.Float).SetMantExp(wide(1), 128)
	scale.Quo(scale, m.total)
	mass, sum, scaled, ratio := wide(0).Set(m.low), wide(0), wide(0), wide(0)
	var whole big.Int
	var bytes [16]byte
	for k := m.first; k < m.last; k++ {
		sum.Add(sum, mass)
		scaled.Mul(sum, scale).Int(&whole)
		whole.FillBytes(bytes[:])
		out = append(out, uint128{binary.BigEndian.Uint64(bytes[:8]), binary.BigEndian.Uint64(bytes[8:])})
		step(ratio, m.n, k, m.odds)
		mass.Mul(mass, ratio)
	}
	return out
}
