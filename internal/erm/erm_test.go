package erm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func problem(n, d int, ridge float64) Objective {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	f := Objective{Shape: Shape{Records: n, Features: d, Radius: 1, Ridge: ridge, Linear: 1000}, B: make([]float64, d)}
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		floats.Scale(1/max(1, floats.Norm(row, 2)), row)
		f.X = append(f.X, row...)
		label := 0.0
		if rng.Float64() < 1/(1+math.Exp(-3*row[0])) {
			label = 1
		}
		f.Y = append(f.Y, label)
	}
	for j := range f.B {
		f.B[j] = 5 * rng.NormFloat64()
	}
	return f
}

func (f Objective) row(i int) []float64 { return f.X[i*f.Features : (i+1)*f.Features] }

// objective is F, written separately from its gradient.
func (f Objective) objective(theta []float64) float64 {
	v := f.Ridge/2*floats.Dot(theta, theta) + floats.Dot(f.B, theta)
	for i, y := range f.Y {
		if !math.IsNaN(y) {
			v += f.weight() * math.Log1p(math.Exp((1-2*y)*floats.Dot(f.row(i), theta)))
		}
	}
	return v
}

func minimum(t *testing.T, f Objective) []float64 {
	t.Helper()
	theta, err := f.Minimise()
	if err != nil {
		t.Fatal(err)
	}
	return theta
}

// TestMinimumOfTheObjective: F rises by Ridge/2·‖δ‖² at least in every direction
// from the minimum, which only the minimum of a strongly convex F does.
func TestMinimumOfTheObjective(t *testing.T) {
	for _, weight := range []float64{0, 0.3} {
		f := problem(400, 3, 0.5)
		f.Weight, f.Y[7] = weight, math.NaN()
		got := minimum(t, f)
		rng := rand.New(rand.NewPCG(8, 9))
		low := f.objective(got)
		for range 200 {
			const length = 1e-2
			move := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			floats.Scale(length/floats.Norm(move, 2), move)
			floats.Add(move, got)
			if rise := f.objective(move) - low; rise < f.Ridge/2*length*length*0.999 {
				t.Fatalf("weight %v: F rises by %v only", weight, rise)
			}
		}
	}
}

// exactGradient is the gradient's norm by compensated sums, whose rounding is far
// below what Tolerance allows for.
func (f Objective) exactGradient(theta []float64) float64 {
	square := 0.0
	for j := range theta {
		terms := []float64{f.Ridge * theta[j], f.B[j]}
		for i := range f.Records {
			terms = append(terms, f.weight()*f.loss().Slope(floats.Dot(f.row(i), theta), f.Y[i])*f.row(i)[j])
		}
		v := floats.SumCompensated(terms)
		square += v * v
	}
	return math.Sqrt(square)
}

// TestCertificate: the gradient really is within the tolerance, on badly scaled
// and separable problems too, by Newton's method and by the descent that stands
// in for it, and both come to the same minimum.
func TestCertificate(t *testing.T) {
	large := problem(200, 3, 1e-3)
	floats.Scale(100, large.B)
	for _, f := range []Objective{problem(3, 5, 1e-3), problem(5000, 4, 1e-2), problem(50, 2, 1e3), large} {
		newton := f.newton(100)
		if newton == nil {
			t.Fatalf("%+v: Newton's method fails", f.Shape)
		}
		if norm := f.exactGradient(newton); norm > f.Tolerance() {
			t.Errorf("%+v: gradient norm %v above %v", f.Shape, norm, f.Tolerance())
		}
		if got := norm(newton); got > f.Reach() {
			t.Errorf("%+v: ‖θ‖ = %v beyond %v", f.Shape, got, f.Reach())
		}
	}
	f := problem(60, 3, 0.5)
	theta := f.descend()
	if norm := f.exactGradient(theta); norm > f.Tolerance() {
		t.Errorf("descent: gradient norm %v above %v", norm, f.Tolerance())
	}
	if far := floats.Distance(theta, f.newton(100), 2); far > 2*f.Tolerance()/f.Ridge {
		t.Errorf("descent and Newton's method are %v apart", far)
	}
	if f.newton(1) != nil {
		t.Error("one Newton step was certified, so no test sees the descent")
	}
}

func TestTooLongALinearTerm(t *testing.T) {
	f := problem(10, 2, 1)
	f.Linear = norm(f.B) * 0.99
	if _, err := f.Minimise(); err == nil {
		t.Error("a linear term beyond its bound was minimised")
	}
	f.B[0] = math.NaN()
	if _, err := f.Minimise(); err == nil {
		t.Error("a linear term of NaN was minimised")
	}
}

// TestHessian against differences of the gradient.
func TestHessian(t *testing.T) {
	f := problem(100, 3, 0.7)
	f.Weight, f.Y[3] = 0.4, math.Inf(1)
	theta := []float64{0.3, -0.2, 0.1}
	h := f.Hessian(theta)
	lo, hi := mat.NewVecDense(3, nil), mat.NewVecDense(3, nil)
	for j := range theta {
		const e = 1e-5
		theta[j] += e
		f.gradient(hi, theta)
		theta[j] -= 2 * e
		f.gradient(lo, theta)
		theta[j] += e
		for i := range theta {
			if want := (hi.AtVec(i) - lo.AtVec(i)) / (2 * e); math.Abs(h.At(i, j)-want) > 1e-7 {
				t.Errorf("H[%d,%d] = %v, differences give %v", i, j, h.At(i, j), want)
			}
		}
	}
}

func BenchmarkMinimise(b *testing.B) {
	f := problem(10_000, 10, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Minimise(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNewtonDoesNotFail draws problems up to the condition that the curator allows,
// with rows that nearly vanish or nearly coincide: the descent, which may take hours at
// that condition, is a fallback that is not seen.
func TestNewtonDoesNotFail(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	problems := 3000
	if testing.Short() {
		problems = 400
	}
	for range problems {
		d, n := 1+rng.IntN(4), 1+rng.IntN(40)
		ridge, sd := math.Exp(rng.Float64()*9-math.Log(1e3)), math.Exp(rng.Float64()*8-6)
		f := Objective{Shape: Shape{Records: n, Features: d, Radius: 1, Ridge: ridge,
			Linear: 16 * sd * math.Sqrt(float64(d)) * 1.0001}, B: make([]float64, d)}
		for range n {
			row := make([]float64, d)
			for j := range row {
				if row[j] = rng.NormFloat64(); rng.IntN(3) == 0 {
					row[j] *= math.Exp(-20 * rng.Float64())
				}
			}
			shrink := math.Exp(-10*rng.Float64()*float64(rng.IntN(2))) / (norm(row) * (1 + 1e-12))
			for j := range row {
				row[j] *= shrink
			}
			f.X, f.Y = append(f.X, row...), append(f.Y, float64(rng.IntN(2)))
		}
		for j := range f.B {
			f.B[j] = sd * rng.NormFloat64()
		}
		if f.newton(100) == nil {
			t.Fatalf("Newton's method fails on %+v", f.Shape)
		}
	}
}

// TestDescentIsBounded: the number of steps that is proved is enough, and the condition
// is what it grows with.
func TestDescentIsBounded(t *testing.T) {
	for _, ridge := range []float64{0.05, 1, 30} {
		f := problem(60, 3, ridge)
		f.descend() // panics beyond
		if most := f.mostSteps(); !(most > f.Condition() && most < 200*f.Condition()) {
			t.Errorf("ridge %v: %v steps for a condition of %v", ridge, most, f.Condition())
		}
	}
}
