package vec

// Proof: docs/proofs/elementary.md.

import (
	"math"
	"math/big"
)

// tableBits sets the size of the tables: 128 entries, 2 or 4 kB each, which stay
// in the first-level cache.
const (
	tableBits = 7
	tableSize = 1 << tableBits
)

// exp2Entry is 2^(j/128) as head·(1 + tail), good to about 106 bits.
type exp2Entry struct{ head, tail float64 }

// exp2Table holds 2^(j/128).
var exp2Table = makeExp2Table()

func makeExp2Table() (t [tableSize]exp2Entry) {
	const prec = 200
	root := big.NewFloat(2).SetPrec(prec)
	for range tableBits {
		root = new(big.Float).SetPrec(prec).Sqrt(root)
	}
	v := big.NewFloat(1).SetPrec(prec)
	for j := range t {
		head, _ := v.Float64()
		rest := new(big.Float).SetPrec(prec).Sub(v, big.NewFloat(head))
		lo, _ := rest.Float64()
		t[j] = exp2Entry{head, lo / head}
		v = new(big.Float).SetPrec(prec).Mul(v, root)
	}
	return t
}

// log1pEntry is for c = j/128: 1/(1+c) and log(1+c).
type log1pEntry struct{ inv, log float64 }

// log1pTable covers c in [0, 1]; its upper half is there so that a masked index
// needs no bounds check.
var log1pTable = makeLog1pTable()

func makeLog1pTable() (t [2 * tableSize]log1pEntry) {
	for j := range t {
		c := float64(j) / tableSize
		t[j] = log1pEntry{1 / (1 + c), math.Log1p(c)}
	}
	return t
}

// tailSize is that of tailTable, 16 kB. Those near 0 are used most.
const tailSize = 1024

// tailEntry is for c = j/32: log(1 + e^−c) and 1/(1 + e^c).
type tailEntry struct{ log, q float64 }

// tailTable covers c in [0, 32).
var tailTable = makeTailTable()

func makeTailTable() (t [tailSize]tailEntry) {
	const prec = 120
	step, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec) // e^(−1/32)
	for k := 1; k < 20; k++ {
		term.Quo(term, big.NewFloat(float64(-32*k)))
		step.Add(step, term)
	}
	v := big.NewFloat(1).SetPrec(prec)
	for j := range t {
		u, _ := v.Float64()
		rest, _ := new(big.Float).Sub(v, big.NewFloat(u)).Float64()
		t[j] = tailEntry{math.Log1p(u) + rest/(1+u), u / (1 + u)}
		v.Mul(v, step)
	}
	return t
}
