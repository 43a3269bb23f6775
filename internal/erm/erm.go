// Package erm minimises regularised sums of convex losses to a certified gradient
// norm, for mechanisms whose privacy needs to know how far the minimum can be.
package erm

// Proof: docs/proofs/optimum.md.

import (
	"context"
	"errors"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// Shape is what is public of an objective.
type Shape struct {
	// Loss is the loss of a record. The zero value is the logistic one.
	Loss convex.Loss
	// Records and Features are the number of rows and columns.
	Records, Features int
	// Radius bounds the norm of a row.
	Radius float64
	// Weight multiplies every loss. Zero is 1.
	Weight float64
	// Ridge is the factor of ‖θ‖²/2, positive.
	Ridge float64
	// Linear bounds the norm of the linear term; zero for none.
	Linear float64
}

// Objective is F(θ) = Weight·Σ ℓ(x·θ, y) + (Ridge/2)·‖θ‖² + B·θ. A response that
// has no loss (convex.Loss.Absent) leaves its record out.
type Objective struct {
	Shape
	X []float64 // row-major, Records×Features, finite, rows no longer than Radius
	Y []float64
	// Rows returns rows lo to hi-1, instead of X and Y. It may use buf and bufY for it,
	// which have room for block rows.
	Rows func(buf, bufY []float64, lo, hi int) (x, y []float64)
	B    []float64 // no longer than Linear; nil for none
}

// block is the number of rows that are read at a time.
const block = 256

func (s Shape) weight() float64 {
	if s.Weight == 0 {
		return 1
	}
	return s.Weight
}

func (s Shape) loss() convex.Loss {
	if !s.Loss.Valid() {
		return convex.Logistic()
	}
	return s.Loss
}

// Reach bounds ‖θ‖ wherever F(θ) ≤ F(0), the minimum included: there
// (Ridge/2)‖θ‖² ≤ Weight·Records·Drop + Linear·‖θ‖.
func (s Shape) Reach() float64 {
	start := s.weight() * float64(s.Records) * s.loss().Drop()
	return (s.Linear + math.Sqrt(s.Linear*s.Linear+2*s.Ridge*start)) / s.Ridge * (1 + 0x1p-40)
}

// smoothness bounds the largest curvature of F.
func (s Shape) smoothness() float64 {
	return s.weight()*float64(s.Records)*s.Radius*s.Radius*s.loss().MaxCurvature() + s.Ridge
}

// Condition bounds how much more F curves in one direction than in another, on which
// the work of Minimise depends.
func (s Shape) Condition() float64 { return s.smoothness() / s.Ridge }

// mostSteps bounds the steps of descend: each takes at least the share ¾/Condition off
// what F exceeds its minimum by, which starts below drop and stays above 2e²/L, e being
// rounding and L smoothness, until the gradient is certified.
func (s Shape) mostSteps() float64 {
	drop := s.weight()*float64(s.Records)*s.loss().Drop() + s.Linear*s.Linear/(2*s.Ridge)
	e := s.rounding()
	return 1 + s.Condition()/0.75*(math.Log(drop/e)+math.Log(s.smoothness()/e))
}

// unit is that of float64 rounding.
const unit = 0x1p-53

// rounding bounds the error of a computed gradient's norm at ‖θ‖ ≤ 2·Reach, plus
// what rounding a step of descent amounts to, seen as an error of its gradient
// (docs/proofs/optimum.md, "Approximate minima"). Predictors and sums are compensated,
// so what counts is a few units a record.
func (s Shape) rounding() float64 {
	n, far, wide := float64(s.Records), 2*s.Reach(), float64(s.Features+2)
	l := s.loss()
	slopes := s.weight() * n * s.Radius * l.MaxSlope()
	each := l.Ulps() + l.Pull()/l.MaxSlope() + 4 +
		unit*(8*wide*wide*s.Radius*far*(l.MaxCurvature()/l.MaxSlope())+2*(n+4)*(n+4))
	rest := 4*(slopes+s.Ridge*far+s.Linear) + 4*unit*s.smoothness()*far
	return 2 * unit * (slopes*each + rest)
}

// Tolerance is the public bound on ‖∇F‖₂ that Minimise certifies: 10⁻⁹ of a
// record's largest gradient, or a multiple of the rounding error of a gradient
// where that is larger.
func (s Shape) Tolerance() float64 {
	return max(1e-9*s.weight()*s.Radius*s.loss().MaxSlope(), 4*s.rounding())
}

// Distance bounds how far from the minimum what Minimise returns is: Tolerance over
// Ridge, and its rounding to float64.
func (s Shape) Distance() float64 {
	return (s.Tolerance()/s.Ridge + 2*unit*s.Reach()) * (1 + 0x1p-40)
}

// Minimise returns a point within Distance of the minimum: one with ‖∇F(θ)‖₂ ≤
// Tolerance, rounded to float64. It finds one whatever the rows are: by Newton's
// method, and should that fail by gradient descent, which cannot, and takes at most
// some 100·Condition steps. Errors: a linear term that is longer than Shape.Linear;
// ctx's, when it is cancelled meanwhile.
func (f Objective) Minimise(ctx context.Context) ([]float64, error) {
	if !(norm(f.B) <= f.Linear) {
		return nil, errors.New("erm: the linear term is longer than its bound")
	}
	if theta := f.newton(ctx, 100); theta != nil {
		return theta.hi, nil
	}
	theta := f.descend(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return theta.hi, nil
}

// certified reports whether a computed gradient at theta proves the tolerance.
func (f Objective) certified(theta *point, grad *mat.VecDense) bool {
	return mat.Norm(grad, 2) <= f.Tolerance()-f.rounding() && norm(theta.hi) <= 2*f.Reach()
}

// newton is Newton's method, halving steps until the gradient's norm falls; nil
// when that stalls, takes too many steps, or is cancelled.
func (f Objective) newton(ctx context.Context, most int) *point {
	theta, next := newPoint(f.Features), newPoint(f.Features)
	grad, trial := mat.NewVecDense(f.Features, nil), mat.NewVecDense(f.Features, nil)
	step := mat.NewVecDense(f.Features, nil)
	f.gradient(grad, theta)
	for range most {
		if f.certified(theta, grad) {
			return theta
		}
		var chol mat.Cholesky
		h := f.hessian(ctx, theta.hi)
		if ctx.Err() != nil || !chol.Factorize(h) || chol.SolveVecTo(step, grad) != nil {
			return nil
		}
		size := mat.Norm(grad, 2)
		for t := 1.0; ; t /= 2 {
			next.move(theta, -t, step)
			f.gradient(trial, next)
			if mat.Norm(trial, 2) <= (1-t/4)*size {
				break
			}
			if t < 1e-9 {
				return nil
			}
		}
		theta, next = next, theta
		grad.CopyVec(trial)
	}
	return nil
}

// descend is gradient descent from 0 in steps of 1/smoothness. Every step before
// the last lowers F, rounding included, so it ends, after mostSteps at most, or when
// cancelled.
func (f Objective) descend(ctx context.Context) *point {
	theta, grad := newPoint(f.Features), mat.NewVecDense(f.Features, nil)
	step, left := 1/f.smoothness(), f.mostSteps()
	for f.gradient(grad, theta); ctx.Err() == nil && !f.certified(theta, grad); f.gradient(grad, theta) {
		if left--; left < 0 {
			panic("erm: a descent takes more steps than is proved")
		}
		theta.move(theta, -step, grad)
	}
	return theta
}

// gradient sets g = ∇F(θ).
func (f Objective) gradient(g *mat.VecDense, theta *point) {
	sum := newPoint(f.Features)
	w, loss := f.weight(), f.loss()
	for rows, y := range f.blocks() {
		for i, r := range y {
			row := rows[i*f.Features : (i+1)*f.Features]
			slope := w * loss.Slope(theta.dot(row), r)
			for j, x := range row {
				sum.add(j, slope*x)
			}
		}
	}
	for j, v := range theta.hi {
		sum.addProduct(j, f.Ridge, v)
		sum.lo[j] += f.Ridge * theta.lo[j]
		if f.B != nil {
			sum.add(j, f.B[j])
		}
		g.SetVec(j, sum.hi[j]+sum.lo[j])
	}
}

// blocks goes through the records, block rows at a time.
func (f Objective) blocks() iter.Seq2[[]float64, []float64] {
	return func(yield func(x, y []float64) bool) {
		rows := f.Rows
		var buf, bufY []float64
		if rows == nil {
			rows = func(_, _ []float64, lo, hi int) (x, y []float64) {
				return f.X[lo*f.Features : hi*f.Features], f.Y[lo:hi]
			}
		} else {
			buf, bufY = make([]float64, block*f.Features), make([]float64, block)
		}
		for lo := 0; lo < f.Records; lo += block {
			if !yield(rows(buf, bufY, lo, min(lo+block, f.Records))) {
				return
			}
		}
	}
}

// Hessian returns ∇²F(θ) = Weight·Σ ℓ″·xxᵀ + Ridge·I.
func (f Objective) Hessian(theta []float64) *mat.SymDense {
	return f.hessian(context.Background(), theta)
}

// hessian is Hessian, and says nothing where ctx is cancelled: of thousands of features it takes long.
func (f Objective) hessian(ctx context.Context, theta []float64) *mat.SymDense {
	d, weight, loss := len(theta), f.weight(), f.loss()
	h := make([]float64, d*d)
	for rows, y := range f.blocks() {
		if ctx.Err() != nil {
			return nil
		}
		for i, r := range y {
			row := rows[i*d : (i+1)*d]
			w := weight * loss.Curvature(dot(row, theta), r)
			for j, x := range row {
				a := w * x
				for k := j; k < d; k++ {
					h[j*d+k] += a * row[k]
				}
			}
		}
	}
	for j := range d {
		h[j*d+j] += f.Ridge
	}
	return mat.NewSymDense(d, h)
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
