package gram

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TestSumIsExactInAnyOrder, and within a step per record of the float64 sum.
func TestSumIsExactInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d = 500, 3
	g := New(d, 2)
	z := make([]float64, n*d)
	for i := range z {
		z[i] = rng.Float64() * math.Sqrt(2.0/d)
	}
	sum := func(order []int) []float64 {
		return g.Sum(n, func(i int, out []float64) float64 { copy(out, z[order[i]*d:][:d]); return 0.5 })
	}
	forward := rng.Perm(n)
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	a := sum(forward)
	if !slices.Equal(a, sum(backward)) {
		t.Error("the sum depends on the order of records")
	}
	x := mat.NewDense(n, d, z)
	var want mat.SymDense
	want.SymOuterK(0.5, x.T())
	var diff mat.Dense
	diff.Sub(g.Matrix(a), &want)
	if worst := mat.Max(&diff); math.Abs(worst) > n*g.step || math.Abs(mat.Min(&diff)) > n*g.step {
		t.Errorf("off by %v, a step is %v", worst, g.step)
	}
}

func TestIsometric(t *testing.T) {
	g := New(3, 1)
	tri := []float64{1, 2, 3, 4, 5, 6}
	norm := mat.Norm(g.Matrix(tri), 2)
	g.Isometric(tri, false)
	if got := floats.Norm(tri, 2); math.Abs(got-norm) > 1e-12 {
		t.Errorf("norm %v, want %v", got, norm)
	}
	g.Isometric(tri, true)
	if !floats.EqualApprox(tri, []float64{1, 2, 3, 4, 5, 6}, 1e-12) {
		t.Errorf("there and back gives %v", tri)
	}
}

// TestSensitivities over unit vectors: within the bounds, close to the second.
func TestSensitivities(t *testing.T) {
	g := New(2, 1)
	l1, l2 := g.Sensitivities(3)
	most1, most2 := 0.0, 0.0
	one := func(angle float64) []float64 {
		return g.Sum(1, func(_ int, z []float64) float64 { z[0], z[1] = math.Cos(angle), math.Sin(angle); return 1 })
	}
	for i := range 60 {
		for j := range 60 {
			d := one(float64(i) * math.Pi / 60)
			floats.Sub(d, one(float64(j)*math.Pi/60))
			most1 = max(most1, floats.Norm(d, 1))
			most2 = max(most2, mat.Norm(g.Matrix(d), 2))
		}
	}
	if most1 > l1 || most2 > l2 || most2 < l2*0.999 || most1 < l1/2 {
		t.Errorf("changes of (%v, %v), sensitivities (%v, %v)", most1, most2, l1, l2)
	}
}

// TestLargeSumsAreCovered: a sum of 2³¹ records is rounded to float64 and scaled by
// √2; what that adds to a difference of two is in the sensitivities, and would not
// be in those of few records.
func TestLargeSumsAreCovered(t *testing.T) {
	const records = 1 << 31
	g := New(1, 1)
	l1, frobenius := g.Sensitivities(records)
	fewL1, few := g.Sensitivities(1)
	root := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetInt64(2))
	worst := 0.0
	for k := range int64(1000) {
		total := int64(1)<<61 - 1 - k*k*977 // in steps of 2⁻³⁰
		entry := float64(total) * 0x1p-30
		exact := new(big.Float).SetPrec(200).SetInt64(total)
		exact.Mul(exact.SetMantExp(exact, -30), root)
		off, _ := exact.Sub(exact, new(big.Float).SetFloat64(entry*math.Sqrt2)).Float64()
		worst = max(worst, math.Abs(off))
	}
	if 2*worst > frobenius-few || 2*worst > l1-fewL1 {
		t.Errorf("two sums are off by %v, sensitivities allow %v and %v for it", 2*worst, l1-fewL1, frobenius-few)
	}
	if 2*worst < few-math.Sqrt2 {
		t.Errorf("two sums are off by %v: the allowance for few records, %v, would have done", 2*worst, few-math.Sqrt2)
	}
}

func TestEigenIsTheNearestPSD(t *testing.T) {
	values, vectors, err := Eigen(mat.NewSymDense(2, []float64{0, 1, 1, 0}))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(values)
	if values[0] != 0 || math.Abs(values[1]-1) > 1e-12 {
		t.Errorf("eigenvalues %v, want 0 and 1", values)
	}
	if r, c := vectors.Dims(); r != 2 || c != 2 {
		t.Errorf("%d×%d eigenvectors", r, c)
	}
}
