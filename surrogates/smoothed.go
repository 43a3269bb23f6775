package surrogates

import (
	"math"
	"sync"
)

// A logistic function smoothed by a normal law is tabulated over means and variances, with its
// derivatives in the mean. Between entries it is its Taylor polynomial, in both: half the second
// derivative in the mean is the first in the variance.
const (
	smoothStep   = 0.125 // of the means
	smoothMost   = 18    // beyond which all is flat, within 2·10⁻⁸
	smoothWide   = 4     // the largest variance
	smoothOrders = 10    // derivatives of an entry
	smoothMeans  = 2*smoothMost/smoothStep + 1
	// Rows lie this far apart at variance 0, and farther where the function is wider.
	smoothRow, smoothWider = 0.04, 0.35
)

// derivatives are those of one mean and variance, from order 0.
type derivatives [smoothOrders]float64

// smoothedRows are the table by variance, made when it is first needed.
var smoothedRows = sync.OnceValue(func() (rows [][]derivatives) {
	rows = make([][]derivatives, rowOf(smoothWide)+1)
	for r := range rows {
		rows[r] = make([]derivatives, smoothMeans)
		for k := range rows[r] {
			rows[r][k] = smoothedAt(float64(k)*smoothStep-smoothMost, math.Sqrt(varianceOf(r)))
		}
	}
	return rows
})

// rowOf is the row nearest to a variance, and varianceOf its inverse.
func rowOf(variance float64) int {
	return int(math.Round(math.Log1p(smoothWider*variance) / (smoothWider * smoothRow)))
}

func varianceOf(row int) float64 { return math.Expm1(smoothWider*smoothRow*float64(row)) / smoothWider }

// smoothedAt are the derivatives at mean and standard deviation sd, by the trapezoid rule.
func smoothedAt(mean, sd float64) (out derivatives) {
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
	row  []derivatives // nil for more than the table has
	half float64       // of the variance beyond the row's
}

func smoothingBy(sd float64) smoothing {
	s, variance := smoothing{sd: sd}, sd*sd
	if variance <= smoothWide {
		r := rowOf(variance)
		s.row, s.half = smoothedRows()[r], (variance-varianceOf(r))/2
	}
	return s
}

// at are the smoothed logistic function and its first derivatives.
func (s *smoothing) at(mean float64) (m moment) {
	if s.row == nil {
		return momentsOf(mean, s.sd*s.sd)
	}
	x := (mean + smoothMost) / smoothStep
	if !(x >= 0) {
		return moment{}
	}
	if x > smoothMeans-1 {
		return moment{1}
	}
	k := int(x + 0.5)
	t := s.row[k]
	x = (x - float64(k)) * smoothStep
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
