package planted

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// inEights copies the sixth gradient that is left over into the seventh.
type inEights struct{ *own }

func (m inEights) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	if n := rows.Len(); n > 8 && n%8 == 7 {
		copy(dst[(n-1)*m.dim:n*m.dim], dst[(n-2)*m.dim:])
	}
}

// unrolled has a loop by four, whose tail forgets the last feature.
type unrolled struct{ *own }

func (m unrolled) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	n := rows.Len()
	for i := n - n%4; i < n; i++ {
		x := append([]float64{}, rows.Row(i)...)
		x[len(x)-1] = 0
		dst[i] = m.loss(theta, x, rows.Y[i])
	}
}

// transposed takes a square block of gradients for one by columns.
type transposed struct{ *own }

func (m transposed) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	if n := rows.Len(); n == m.dim {
		for i := range n {
			for j := range i {
				dst[i*n+j], dst[j*n+i] = dst[j*n+i], dst[i*n+j]
			}
		}
	}
}

// deduplicated gives a record the loss of an earlier one of the same features.
type deduplicated struct{ *own }

func (m deduplicated) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	first := map[[2]float64]int{}
	for i := range dst {
		x := [2]float64(rows.Row(i))
		if j, ok := first[x]; ok {
			dst[i] = dst[j]
		} else {
			first[x] = i
		}
	}
}

// scaledByLast is a model of classes, whose sums of exponentials are scaled by the record's before.
type scaledByLast struct{ *own }

func (m scaledByLast) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	most := 0.0
	for i := range dst {
		a, b := dot(rows.Row(i), theta[:2]), dot(rows.Row(i), theta[2:])
		if y := rows.Y[i]; y == 0 || y == 1 || y == 2 {
			if sum := math.Exp(-most) + math.Exp(a-most) + math.Exp(b-most); sum > 0 && !math.IsInf(sum, 0) {
				dst[i] = most + math.Log(sum) - []float64{0, a, b}[int(y)]
			}
		}
		most = max(0, a, b)
	}
}

// overlapping has two workers, who both evaluate the record between them.
type overlapping struct{ *own }

func (m overlapping) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	if n := rows.Len(); n >= 2048 {
		dst[n/2] *= 2
	}
}

// shifted gives the first record of each block of 96 the response of the one before, in gradients.
type shifted struct{ *own }

func (m shifted) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	for i := 96; i < rows.Len(); i += 96 {
		m.grad(dst[i*m.dim:(i+1)*m.dim], theta, rows.Row(i), rows.Y[i-1])
	}
}

// narrow numbers what it writes with sixteen bits.
type narrow struct{ *own }

func (m narrow) LossGrad(dst, theta []float64, rows targets.Rows) {
	g := make([]float64, m.dim)
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		copy(dst[i*m.dim:], g)
		if at := i * m.dim; at > math.MaxUint16 {
			clear(dst[at : at+m.dim])
			copy(dst[int(uint16(at)):], g)
		}
	}
}

// leftover takes predictors of the block of 64 before for a last one of fewer than sixteen.
type leftover struct{ *own }

func (m leftover) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	m.own.LossRatio(dst, theta, next, rows)
	n := rows.Len()
	if left := n % 64; n > 64 && left < 16 {
		for i := n - left; i < n; i++ {
			dst[i] = m.loss(theta, rows.Row(i), rows.Y[i]) - m.loss(next, rows.Row(i-64), rows.Y[i])
		}
	}
}
