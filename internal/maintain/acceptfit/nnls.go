package main

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// nnls returns the x ≥ 0 that minimises ‖A·x − b‖₂, by the active-set method of
// Lawson & Hanson, Solving Least Squares Problems (1974), chapter 23. The problem on
// each passive set is solved by a QR factorisation, because the columns of a
// dictionary are nearly dependent. A is r×c, b has length r.
func nnls(a *mat.Dense, b []float64) []float64 {
	rows, cols := a.Dims()
	x := make([]float64, cols)
	residual, gradient := mat.NewVecDense(rows, nil), mat.NewVecDense(cols, nil)
	var passive []int
	useless := make([]bool, cols) // entered and left at once: rounding, not descent
	for range 20 * cols {
		residual.MulVec(a, mat.NewVecDense(cols, x))
		residual.SubVec(mat.NewVecDense(rows, b), residual)
		gradient.MulVec(a.T(), residual)
		enter := steepest(gradient, passive, useless)
		if enter < 0 {
			break
		}
		passive = shrinkToFeasible(a, b, x, append(passive, enter))
		if useless[enter] = x[enter] == 0; !useless[enter] {
			clear(useless)
		}
	}
	return x
}

// steepest returns the column outside the passive set along which the squared
// error falls fastest, or −1 when none does.
func steepest(gradient *mat.VecDense, passive []int, useless []bool) int {
	best, at := 1e-15, -1
	for j := range gradient.Len() {
		if g := gradient.AtVec(j); g > best && !useless[j] && !slices.Contains(passive, j) {
			best, at = g, j
		}
	}
	return at
}

// shrinkToFeasible moves x to the least-squares solution on the passive set. For as
// long as that has a negative component, it goes only as far as the first zero and
// drops the columns that are zero there. It returns the set that is left.
func shrinkToFeasible(a *mat.Dense, b []float64, x []float64, passive []int) []int {
	const zero = 1e-14
	for {
		z := leastSquares(a, b, passive)
		step := 1.0
		for k, j := range passive {
			if z[k] <= 0 {
				step = min(step, x[j]/(x[j]-z[k]))
			}
		}
		kept := passive[:0]
		for k, j := range passive {
			if x[j] += step * (z[k] - x[j]); x[j] > zero {
				kept = append(kept, j)
			} else {
				x[j] = 0
			}
		}
		passive = kept
		if step == 1 || len(passive) == 0 {
			return passive
		}
	}
}

// leastSquares solves min ‖A_P·z − b‖₂ over the columns P.
func leastSquares(a *mat.Dense, b []float64, columns []int) []float64 {
	rows, _ := a.Dims()
	sub := mat.NewDense(rows, len(columns), nil)
	for k, j := range columns {
		sub.SetCol(k, mat.Col(nil, j, a))
	}
	var qr mat.QR
	qr.Factorize(sub)
	z := mat.NewVecDense(len(columns), nil)
	// A solution with a large condition number is reported as an error, and usable.
	var condition mat.Condition
	if err := qr.SolveVecTo(z, false, mat.NewVecDense(rows, b)); err != nil && !errors.As(err, &condition) {
		panic(fmt.Sprintf("fit: least squares on %d columns: %v", len(columns), err))
	}
	return z.RawVector().Data
}
