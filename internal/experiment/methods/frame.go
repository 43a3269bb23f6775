package methods

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// A softmax regression has many coefficients, and directions of very different widths: records say nothing of a common
// shift of all classes. A metric learnt from fewer draws than coefficients is nearly singular. So it is sampled in
// coordinates in which the curvature at its mode is the identity.

// concave reports whether a posterior has a log density that is smooth and concave, as such a regression's is.
func concave(m *models.Model) bool {
	t, ok := m.Target.(*targets.Softmax)
	if !ok || !math.IsInf(t.LossRange(), 1) {
		return false
	}
	_, normal := t.Prior().(priors.Gaussian)
	return normal
}

// frame are coordinates φ of parameters: mode + axes·φ.
type frame struct {
	mode []float64
	axes *mat.Dense
}

// newtons are at most so many steps to a mode.
const newtons = 50

// frameOf climbs to the mode of a concave density by Newton's steps, halved until it rises.
func frameOf(of nuts.LogDensity) (*frame, error) {
	d := of.Dim()
	at, grad, next, other := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil), mat.NewVecDense(d, nil), make([]float64, d)
	for range newtons {
		value := of.LogDensityGrad(grad.RawVector().Data, at.RawVector().Data)
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(bend(of, grad, at)) || chol.SolveVecTo(&step, grad) != nil {
			break
		}
		if mat.Dot(&step, grad) < 1e-6 {
			var lower mat.TriDense
			chol.LTo(&lower)
			f := &frame{mode: at.RawVector().Data, axes: mat.NewDense(d, d, nil)}
			return f, f.axes.Solve(lower.T(), mat.NewDiagDense(d, ones(d)))
		}
		for size := 1.0; size > 1e-6; size /= 2 {
			next.AddScaledVec(at, size, &step)
			if of.LogDensityGrad(other, next.RawVector().Data) > value {
				break
			}
		}
		at.CopyVec(next)
	}
	return nil, errors.New("methods: the mode of the posterior without privacy was not found")
}

func ones(d int) []float64 {
	out := make([]float64, d)
	floats.AddConst(1, out)
	return out
}

// bend is minus the second derivative where the gradient is grad, by differences of it.
func bend(of nuts.LogDensity, grad, at *mat.VecDense) *mat.SymDense {
	const h = 1e-5
	d := at.Len()
	rows, theta := mat.NewDense(d, d, nil), mat.VecDenseCopyOf(at).RawVector().Data
	for j := range d {
		theta[j] += h
		of.LogDensityGrad(rows.RawRowView(j), theta)
		theta[j] = at.AtVec(j)
		floats.SubTo(rows.RawRowView(j), grad.RawVector().Data, rows.RawRowView(j))
	}
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			out.SetSym(j, k, (rows.At(j, k)+rows.At(k, j))/(2*h))
		}
	}
	return out
}

// of are the parameters at φ.
func (f *frame) of(theta, phi []float64) {
	v := mat.NewVecDense(len(theta), theta)
	v.MulVec(f.axes, mat.NewVecDense(len(phi), phi))
	floats.Add(theta, f.mode)
}

// sample runs NUTS in the frame.
func (f *frame) sample(ctx context.Context, density func() nuts.LogDensity, cfg nuts.Config) ([]nuts.Chain, error) {
	d := len(f.mode)
	cfg.Metric = nuts.Unit
	out, err := nuts.Sample(ctx, func() nuts.LogDensity {
		own, theta, grad := density(), make([]float64, d), make([]float64, d)
		return nuts.Func(d, func(slope, phi []float64) float64 {
			f.of(theta, phi)
			value := own.LogDensityGrad(grad, theta)
			mat.NewVecDense(d, slope).MulVec(f.axes.T(), mat.NewVecDense(d, grad))
			return value
		})
	}, cfg)
	for _, chain := range out {
		for _, draw := range chain.Draws {
			phi := append([]float64(nil), draw...)
			f.of(draw, phi)
		}
	}
	return out, err
}
