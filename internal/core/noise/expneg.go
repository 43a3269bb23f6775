package noise

// Proof: docs/proofs/noise.md.

import (
	"math/big"
	"math/bits"
	"sync"
)

// expNeg returns an integer within 2 of 2^prec·exp(−t), for a rational t ≥ 0
// (docs/proofs/noise.md §4): exp(−t/2^r) by its Taylor series in fixed point, squared
// r times.
func expNeg(t *big.Rat, prec uint) *big.Int {
	whole := new(big.Int).Quo(t.Num(), t.Denom())
	r := uint(whole.BitLen()) + 1
	guard := r + 2*uint(bits.Len(prec+r)) + 16
	p := prec + guard

	u := new(big.Int).Lsh(t.Num(), p-r)
	u.Quo(u, t.Denom())
	term := new(big.Int).Lsh(big.NewInt(1), p)
	sum := new(big.Int).Set(term)
	for i := int64(1); term.Sign() > 0; i++ {
		term.Mul(term, u).Rsh(term, p)
		term.Quo(term, big.NewInt(i))
		if i%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	for range r {
		sum.Mul(sum, sum).Rsh(sum, p)
	}
	return sum.Rsh(sum, guard)
}

// expTables holds exp(−i) and exp(−i/256), in units of 2^-63 and within 2 of them.
type expTables struct {
	whole [44]uint64
	frac  [256]uint64
}

var tables = sync.OnceValue(func() *expTables {
	e := new(expTables)
	for i := range e.whole {
		e.whole[i] = expNeg(big.NewRat(int64(i), 1), 63).Uint64()
	}
	for i := range e.frac {
		e.frac[i] = expNeg(big.NewRat(int64(i), 256), 63).Uint64()
	}
	return e
})

// fixed returns an integer within 2 of 2^56·exp(−t), where t is given in units
// of 2^-56 (docs/proofs/noise.md §5). It is the fast counterpart of expNeg.
func (e *expTables) fixed(t uint64) uint64 {
	whole := t >> 56
	if whole >= uint64(len(e.whole)) {
		return 0
	}
	rest := t << 16 >> 8 // below 2^-8, in units of 2^-64
	series := uint64(1) << 63
	for k := uint64(6); k > 0; k-- {
		hi, _ := bits.Mul64(rest, series)
		series = 1<<63 - hi/k
	}
	product, _ := bits.Mul64(series, e.frac[t>>48&255])
	product, _ = bits.Mul64(product, e.whole[whole])
	return product >> 5
}
