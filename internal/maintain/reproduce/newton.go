package main

import "gonum.org/v1/gonum/mat"

// newton maximises a smooth, concave log density of a few parameters, from 0. f
// returns its value and sets grad; second derivatives are differences of grad.
func newton(dim int, f func(grad, theta []float64) float64) []float64 {
	const steps, width = 12, 1e-4
	theta, grad, ahead, behind := mat.NewVecDense(dim, nil), make([]float64, dim), make([]float64, dim),
		make([]float64, dim)
	for range steps {
		hessian := mat.NewSymDense(dim, nil)
		for j := range dim {
			at := mat.VecDenseCopyOf(theta)
			at.SetVec(j, theta.AtVec(j)+width)
			f(ahead, at.RawVector().Data)
			at.SetVec(j, theta.AtVec(j)-width)
			f(behind, at.RawVector().Data)
			for k := j; k < dim; k++ {
				hessian.SetSym(j, k, -(ahead[k]-behind[k])/(2*width))
			}
		}
		f(grad, theta.RawVector().Data)
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(hessian) || chol.SolveVecTo(&step, mat.NewVecDense(dim, grad)) != nil {
			break // flat: no better point is known
		}
		theta.AddVec(theta, &step)
	}
	return theta.RawVector().Data
}
