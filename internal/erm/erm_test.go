package erm

import (
	"context"
	"errors"
	"math"
	"math/big"
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
	theta, err := f.Minimise(context.Background())
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

// exactGradient is ∇F at hi + lo with 300 bits, of the logistic loss.
func (f Objective) exactGradient(at *point) []*big.Float {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	theta, g := make([]*big.Float, f.Features), make([]*big.Float, f.Features)
	for j := range theta {
		theta[j] = exact(at.hi[j])
		theta[j].Add(theta[j], exact(at.lo[j]))
		g[j] = exact(f.Ridge)
		g[j].Mul(g[j], theta[j]).Add(g[j], exact(f.B[j]))
	}
	for i, y := range f.Y {
		if math.IsNaN(y) {
			continue
		}
		eta := exact(0)
		for j, x := range f.row(i) {
			eta.Add(eta, exact(x).Mul(exact(x), theta[j]))
		}
		slope := exact(1) // 1/(1 + e^−η) − y
		slope.Quo(slope, exact(1).Add(exact(1), exponential(eta.Neg(eta)))).Sub(slope, exact(y)).Mul(slope,
			exact(f.weight()))
		for j, x := range f.row(i) {
			g[j].Add(g[j], exact(x).Mul(exact(x), slope))
		}
	}
	return g
}

// exponential is e^v, by its series after halving.
func exponential(v *big.Float) *big.Float {
	v = new(big.Float).SetPrec(300).SetMantExp(v, -20)
	sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
	for k := int64(1); k < 25; k++ {
		term.Mul(term, v).Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactNorm is the norm of exactGradient.
func (f Objective) exactNorm(at *point) float64 {
	square := 0.0
	for _, v := range f.exactGradient(at) {
		x, _ := v.Float64()
		square += x * x
	}
	return math.Sqrt(square)
}

// TestGradientsAreWithinTheirRounding: at points as far out as any that is looked at,
// on rows whose products with them cancel and all lose the same, computed gradients
// are within half of rounding, which is twice what is proved. Sums in plain float64, the
// mutant, are not.
func TestGradientsAreWithinTheirRounding(t *testing.T) {
	f := problem(2000, 3, 1e-3)
	rng := rand.New(rand.NewPCG(3, 1))
	far := 2 * f.Reach()
	broken := 0
	for range 20 {
		theta, x := newPoint(3), []float64{rng.Float64(), rng.Float64() - 0.5, 0}
		theta.hi[0], theta.hi[1], theta.hi[2] = far*0.6*rng.Float64(), far*0.6*rng.Float64(), far*0.5*(1+rng.Float64())/2
		theta.lo[0] = theta.hi[0] * unit * (rng.Float64() - 0.5)
		x[2] = (2*rng.Float64() - 1 - x[0]*theta.hi[0] - x[1]*theta.hi[1]) / theta.hi[2] // a predictor near 0
		if length := norm(x); length > 1 {
			floats.Scale(1/(length*(1+1e-12)), x)
		}
		for i := range f.Records {
			copy(f.row(i), x)
		}
		got, plain := mat.NewVecDense(3, nil), make([]float64, 3)
		f.gradient(got, theta)
		for i, y := range f.Y {
			slope := 1/(1+math.Exp(-dot(f.row(i), theta.hi))) - y
			floats.AddScaled(plain, slope, f.row(i))
		}
		off, offPlain := 0.0, 0.0
		for j, v := range f.exactGradient(theta) {
			e, _ := new(big.Float).Sub(v, big.NewFloat(got.AtVec(j))).Float64()
			p, _ := new(big.Float).Sub(v, big.NewFloat(plain[j]+f.Ridge*theta.hi[j]+f.B[j])).Float64()
			off, offPlain = math.Hypot(off, e), math.Hypot(offPlain, p)
		}
		if off > f.rounding()/2 {
			t.Errorf("a gradient is off by %v, of which %v is proved", off, f.rounding()/2)
		}
		if offPlain > f.rounding() {
			broken++
		}
	}
	if broken == 0 {
		t.Error("plain sums are within the rounding of compensated ones")
	}
}

// TestTolerancesOfManyRecords: the certified gradient is a few units of rounding a
// record, however far out points may be: 10⁻⁷ of one record's largest gradient at 10⁷
// records and a reach of 2600.
func TestTolerancesOfManyRecords(t *testing.T) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		s := Shape{Records: n, Features: 10, Radius: 1, Ridge: 2, Linear: 500}
		if got := s.Tolerance() / (unit * float64(n)); got > 150 {
			t.Errorf("%d records: a tolerance of %v units a record", n, got)
		}
	}
}

// TestCertificate: the gradient really is within the tolerance, on badly scaled
// and separable problems too, by Newton's method and by the descent that stands
// in for it, and both come to the same minimum.
func TestCertificate(t *testing.T) {
	large := problem(200, 3, 1e-3)
	floats.Scale(100, large.B)
	for _, f := range []Objective{problem(3, 5, 1e-3), problem(5000, 4, 1e-2), problem(50, 2, 1e3), large} {
		newton := f.newton(t.Context(), 100)
		if newton == nil {
			t.Fatalf("%+v: Newton's method fails", f.Shape)
		}
		if norm := f.exactNorm(newton); norm > f.Tolerance() {
			t.Errorf("%+v: gradient norm %v above %v", f.Shape, norm, f.Tolerance())
		}
		if got := norm(newton.hi); got > f.Reach() {
			t.Errorf("%+v: ‖θ‖ = %v beyond %v", f.Shape, got, f.Reach())
		}
	}
	f := problem(60, 3, 0.5)
	theta := f.descend(t.Context())
	if norm := f.exactNorm(theta); norm > f.Tolerance() {
		t.Errorf("descent: gradient norm %v above %v", norm, f.Tolerance())
	}
	if far := floats.Distance(theta.hi, f.newton(t.Context(), 100).hi, 2); far > 2*f.Tolerance()/f.Ridge {
		t.Errorf("descent and Newton's method are %v apart", far)
	}
	if f.newton(t.Context(), 1) != nil {
		t.Error("one Newton step was certified, so no test sees the descent")
	}
}

func TestTooLongALinearTerm(t *testing.T) {
	f := problem(10, 2, 1)
	f.Linear = norm(f.B) * 0.99
	if _, err := f.Minimise(context.Background()); err == nil {
		t.Error("a linear term beyond its bound was minimised")
	}
	f.B[0] = math.NaN()
	if _, err := f.Minimise(context.Background()); err == nil {
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
		f.gradient(hi, &point{theta, make([]float64, 3)})
		theta[j] -= 2 * e
		f.gradient(lo, &point{theta, make([]float64, 3)})
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
		if _, err := f.Minimise(context.Background()); err != nil {
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
		if f.newton(t.Context(), 100) == nil {
			t.Fatalf("Newton's method fails on %+v", f.Shape)
		}
	}
}

// TestDescentIsBounded: the number of steps that is proved is enough, and the condition
// is what it grows with.
func TestDescentIsBounded(t *testing.T) {
	for _, ridge := range []float64{0.05, 1, 30} {
		f := problem(60, 3, ridge)
		f.descend(t.Context()) // panics beyond
		if most := f.mostSteps(); !(most > f.Condition() && most < 200*f.Condition()) {
			t.Errorf("ridge %v: %v steps for a condition of %v", ridge, most, f.Condition())
		}
	}
}

// TestCancelledSearchesEnd: both of them, at once, however far from the minimum.
func TestCancelledSearchesEnd(t *testing.T) {
	f := Objective{Shape: Shape{Records: 2, Features: 1, Radius: 1, Ridge: 1e-6}, X: []float64{1, -1}, Y: []float64{1, 0}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if theta, err := f.Minimise(ctx); theta != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search found %v: %v", theta, err)
	}
	if theta := f.descend(ctx); theta.hi[0] != 0 {
		t.Errorf("a cancelled descent went to %v", theta.hi)
	}
}

// TestMinimiseStopsWithinAHessian: what is cancelled while second derivatives are added up, of which with
// thousands of features each block takes seconds, reads no further block for them.
func TestMinimiseStopsWithinAHessian(t *testing.T) {
	f := problem(4*block, 3, 0.5)
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	f.Rows = func(_, _ []float64, lo, hi int) (x, y []float64) {
		if reads++; reads == 5 { // after the first gradient
			cancel()
		}
		return f.X[lo*f.Features : hi*f.Features], f.Y[lo:hi]
	}
	if _, err := f.Minimise(ctx); !errors.Is(err, context.Canceled) || reads > 5+4+1 {
		t.Errorf("%d blocks read, %v", reads, err)
	}
}
