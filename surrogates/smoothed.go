package surrogates

import (
	"math"
	"sync"
)

// A logistic function smoothed by a normal law is tabulated over means and variances, with its
// derivatives in the mean. Between entries it is its Taylor polynomial, in both: half the second
// derivative in the mean is the first in the variance.
const (
	smoothWide   = 1000 // the largest variance
	smoothOrders = 10   // derivatives of an entry
	// Entries lie so far apart at variance 0, and farther where the function is wider.
	smoothStep, smoothRow, smoothWider = 0.125, 0.04, 0.35
)

// derivatives are those of one mean and variance, from order 0.
type derivatives [smoothOrders]float64

// smoothedRow has the entries of one variance, from the mean −most on. Beyond all is flat, within 2·10⁻⁸.
type smoothedRow struct {
	variance, most, step float64
	at                   []derivatives
}

// smoothedRows are the table by variance, a row made when it is first needed.
var smoothedRows = func() (rows []func() *smoothedRow) {
	for r := range rowOf(smoothWide) + 1 {
		rows = append(rows, sync.OnceValue(func() *smoothedRow { return newSmoothedRow(r) }))
	}
	return rows
}()

// rowOf is the row nearest to a variance.
func rowOf(variance float64) int {
	return int(math.Round(math.Log1p(smoothWider*variance) / (smoothWider * smoothRow)))
}

func newSmoothedRow(r int) *smoothedRow {
	v := math.Expm1(smoothWider*smoothRow*float64(r)) / smoothWider
	sd := math.Sqrt(v)
	s := &smoothedRow{variance: v, most: 18 + min(v/2, 6*sd), step: smoothStep * math.Sqrt(1+smoothWider*v)}
	s.at = make([]derivatives, int(math.Ceil(2*s.most/s.step))+1)
	for k := range s.at {
		s.at[k] = smoothedAt(float64(k)*s.step-s.most, sd)
	}
	return s
}

// smoothedAt are the derivatives at mean and standard deviation sd, by the trapezoid rule.
func smoothedAt(mean, sd float64) (out derivatives) {
	if sd > farOut {
		overBend(out[:], mean, sd)
		return out
	}
	n := nodesFor(2 * sd)
	for i, w := range n.weights {
		p, _ := shares(mean + sd*n.at(i))
		for k, c := range logisticOrders {
			v := 0.0
			for j := len(c) - 1; j >= 0; j-- {
				v = v*p + c[j]
			}
			out[k] += w * v / n.total
		}
	}
	return out
}

// logisticOrders are the derivatives of the logistic function as polynomials in it: pᵏ changes by
// k(pᵏ − pᵏ⁺¹).
var logisticOrders = func() (out [smoothOrders][]float64) {
	out[0] = []float64{0, 1}
	for n := 1; n < smoothOrders; n++ {
		out[n] = make([]float64, n+2)
		for k, c := range out[n-1] {
			out[n][k] += float64(k) * c
			out[n][k+1] -= float64(k) * c
		}
	}
	return out
}()

// smoothing is by a normal law.
type smoothing struct {
	sd   float64
	row  *smoothedRow // nil for more than the table has
	half float64      // of the variance beyond the row's
}

func smoothingBy(sd float64) smoothing {
	s, variance := smoothing{sd: sd}, sd*sd
	if variance <= smoothWide {
		s.row = smoothedRows[rowOf(variance)]()
		s.half = (variance - s.row.variance) / 2
	}
	return s
}

// at are the smoothed logistic function and its first derivatives.
func (s *smoothing) at(mean float64) (m moment) {
	if s.row == nil {
		return momentsOf(mean, s.sd*s.sd)
	}
	x := (mean + s.row.most) / s.row.step
	if !(x >= 0) {
		return moment{}
	}
	if x > float64(len(s.row.at)-1) {
		return moment{1}
	}
	k := int(x + 0.5)
	t := s.row.at[k]
	x = (x - float64(k)) * s.row.step
	for n := range smoothOrders - 4 {
		t[n] += s.half * (t[n+2] + s.half/2*t[n+4])
	}
	t[smoothOrders-4] += s.half * t[smoothOrders-2]
	t[smoothOrders-3] += s.half * t[smoothOrders-1]
	for n := range m {
		m[n] = t[n] + x*(t[n+1]+x/2*(t[n+2]+x/3*(t[n+3]+x/4*t[n+4])))
	}
	return m
}

// powers are E[f⁽ᵏ⁾(η + sd·u)·u^q] for q from 0, of smoothed derivatives from the kth on (Stein).
func (s *smoothing) powers(m []float64) [4]float64 {
	v := s.sd * s.sd
	return [4]float64{m[0], s.sd * m[1], m[0] + v*m[2], s.sd * (3*m[1] + v*m[3])}
}

// smoothed is across, of halved logistic slopes: they are a0 − jump·y.
func (s *slopes) smoothed(i int, eta float64, by *smoothing) (sums [4][4]float64) {
	m := by.at(eta)
	a0, jump := s.jumps[i][0], s.jumps[i][1]
	chance, first, second := by.powers(m[0:]), by.powers(m[1:]), by.powers(m[2:])
	for q, one := range [4]float64{1, 0, 1, 0} {
		sums[0][q] = a0*one - jump*chance[q]
		sums[1][q] = jump * jump * first[q]
		sums[2][q] = -jump * first[q]
		sums[3][q] = jump * jump * second[q]
	}
	return sums
}
