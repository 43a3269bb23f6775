package erm

// Proof: docs/proofs/optimum.md.

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// point is a vector of unevaluated sums hi + lo, lo being what rounding took from hi:
// twice the digits of float64 (Ogita, Rump, Oishi 2005).
type point struct{ hi, lo []float64 }

func newPoint(d int) *point { return &point{make([]float64, d), make([]float64, d)} }

// add adds v to coordinate j.
func (p *point) add(j int, v float64) {
	var lost float64
	p.hi[j], lost = twoSum(p.hi[j], v)
	p.lo[j] += lost
}

// addProduct adds a·b to coordinate j.
func (p *point) addProduct(j int, a, b float64) {
	v, lost := twoProduct(a, b)
	p.add(j, v)
	p.lo[j] += lost
}

// move sets p to from + t·step, with lo no more than what hi is rounded by.
func (p *point) move(from *point, t float64, step *mat.VecDense) {
	for j := range p.hi {
		hi, lo := twoSum(from.hi[j], t*step.AtVec(j))
		p.hi[j], p.lo[j] = twoSum(hi, lo+from.lo[j])
	}
}

// dot returns x·p as if with twice the digits, rounded once.
func (p *point) dot(x []float64) float64 {
	var hi, lo float64
	for j, v := range x {
		product, lost := twoProduct(v, p.hi[j])
		var rest float64
		hi, rest = twoSum(hi, product)
		lo += rest + lost + v*p.lo[j]
	}
	return hi + lo
}

// twoSum returns a + b rounded, and exactly what that leaves out (Knuth).
func twoSum(a, b float64) (sum, lost float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// twoProduct returns a·b rounded, and exactly what that leaves out but for underflow.
func twoProduct(a, b float64) (product, lost float64) {
	product = float64(a * b)
	return product, math.FMA(a, b, -product)
}
