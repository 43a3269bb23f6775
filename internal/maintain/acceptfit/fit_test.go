package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/accept"
)

// The fitter must reproduce tables at least as good as those stored. Floating-point
// differences between platforms may change which atoms are chosen, so errors are
// compared with the tolerance, not weights.
func TestFitIsAsGoodAsTheTable(t *testing.T) {
	for _, w := range wanted {
		m, err := fit(w.c, w.tolerance)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := accept.Correction(w.c)
		if err != nil {
			t.Fatal(err)
		}
		if got, limit := m.SupError(), max(stored.SupError()*1.01, w.tolerance); got > limit {
			t.Errorf("C = %v: error %v, above %v", w.c, got, limit)
		}
		if got, most := len(m.Atoms), len(stored.Atoms)+4; got > most {
			t.Errorf("C = %v: %d pairs, above %d", w.c, got, most)
		}
	}
}

// At C = 2 no law can come closer than 5.9·10⁻⁴ (the optimum of a linear program
// over discrete laws, peers F4), and the fitter must say so instead of returning one.
func TestFitRefusesTheImpossible(t *testing.T) {
	if m, err := fit(2, 5.8e-4); err == nil {
		t.Errorf("fit claims an error of %v", m.SupError())
	}
}

// x is optimal exactly when the gradient Aᵀ(b − Ax) is zero where x > 0 and not
// positive elsewhere (Karush, Kuhn and Tucker).
func TestNNLSIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(3, 12).Draw(t, "rows")
		cols := rapid.IntRange(1, rows).Draw(t, "cols")
		entry := rapid.Float64Range(-1, 1)
		a := mat.NewDense(rows, cols, nil)
		b := make([]float64, rows)
		for i := range rows {
			b[i] = entry.Draw(t, "b")
			for j := range cols {
				a.Set(i, j, entry.Draw(t, "a"))
			}
		}
		for j := range cols { // far from dependent, so that the test's tolerance is fair
			a.Set(j, j, a.At(j, j)+3)
		}
		x := nnls(a, b)
		residual, gradient := mat.NewVecDense(rows, nil), mat.NewVecDense(cols, nil)
		residual.MulVec(a, mat.NewVecDense(cols, x))
		residual.SubVec(mat.NewVecDense(rows, b), residual)
		gradient.MulVec(a.T(), residual)
		for j, xj := range x {
			g := gradient.AtVec(j)
			if xj < 0 || g > 1e-10 || xj > 0 && math.Abs(g) > 1e-10 {
				t.Fatalf("x[%d] = %v with gradient %v", j, xj, g)
			}
		}
	})
}
