package anchors

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// density is what stands for everything but the remainder: the model's prior times a
// normal likelihood N(θ; θ̂, C). With H the released curvature and Σ the covariance of
// the released score G, θ̂ = θ₀ − H⁻¹G, and C = H⁻¹ + H⁻¹ΣH⁻¹ where it is aware of the
// noise, H⁻¹ where not.
type density struct {
	prior     *targets.Regression
	estimate  []float64
	precision *mat.SymDense // C⁻¹
	flat      []float64     // C⁻¹ row-major
	kept      float64       // mean share of the information that survives
	mean      []float64     // of proposals
	factor    []float64     // of their covariance, row-major
}

// newDensity makes the density of weighted statistics. Directions that the noise of the
// curvature hides count as no better known than that noise.
func newDensity(s surrogates.Statistics, model *targets.Regression, aware bool) (*density, error) {
	d := len(s.Anchor)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, append([]float64(nil), s.Moment...)), true) {
		return nil, errors.New("anchors: the released curvature has no eigenvalues")
	}
	tau := s.Temperature
	hidden := tau * s.MomentSD * math.Sqrt(float64(d))
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := &density{prior: model, estimate: make([]float64, d), precision: mat.NewSymDense(d, nil), kept: 0}
	copy(out.estimate, s.Anchor)
	for k, v := range eigen.Values(nil) {
		h := max(tau*v, hidden, 1e-12)
		u := vectors.ColView(k)
		shift := 0.0
		for j, g := range s.Score {
			shift -= u.AtVec(j) * g / h
		}
		noise := s.ScoreSD * s.ScoreSD
		if !aware {
			noise = 0
		}
		out.precision.SymRankOne(out.precision, h*h/(h+noise), u)
		out.kept += h / (h + noise) / float64(d)
		for j := range out.estimate {
			out.estimate[j] += shift * u.AtVec(j)
		}
	}
	out.flat = make([]float64, d*d)
	for j := range d {
		for k := range d {
			out.flat[j*d+k] = out.precision.At(j, k)
		}
	}
	return out, out.approximate()
}

// log is the log density, up to a constant.
func (d *density) log(theta []float64) float64 {
	n := len(theta)
	square := 0.0
	for j, t := range theta {
		row, s := d.flat[j*n:j*n+n], 0.0
		for k, v := range row {
			s += v * (theta[k] - d.estimate[k])
		}
		square += s * (t - d.estimate[j])
	}
	return d.prior.LogPrior(theta) - square/2
}

// approximate finds the mode by Newton's method and the normal approximation there,
// for proposals.
func (d *density) approximate() error {
	n := len(d.estimate)
	d.mean = append([]float64(nil), d.estimate...)
	gradient, next := make([]float64, n), make([]float64, n)
	var chol mat.Cholesky
	for range 50 {
		curved := mat.NewSymDense(n, nil)
		curved.CopySym(d.precision)
		d.addPrior(curved)
		if !chol.Factorize(curved) {
			return errors.New("anchors: the released curvature and the prior leave a direction without bounds")
		}
		d.prior.GradLogPrior(gradient, d.mean)
		for j := range n {
			for k := range n {
				gradient[j] -= d.flat[j*n+k] * (d.mean[k] - d.estimate[k])
			}
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, mat.NewVecDense(n, gradient)); err != nil {
			return errors.New("anchors: the released curvature and the prior leave a direction nearly without bounds")
		}
		from, size := d.log(d.mean), 1.0
		for ; size > 1e-6; size /= 2 {
			for j := range next {
				next[j] = d.mean[j] + size*step.AtVec(j)
			}
			if d.log(next) >= from {
				break
			}
		}
		copy(d.mean, next)
		if mat.Dot(&step, mat.NewVecDense(n, gradient)) < 1e-10 || size <= 1e-6 {
			break
		}
	}
	covariance := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(covariance); err != nil {
		return errors.New("anchors: the released curvature and the prior leave a direction nearly without bounds")
	}
	if !chol.Factorize(covariance) {
		return errors.New("anchors: the released curvature and the prior leave no normal approximation")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	d.factor = make([]float64, n*n)
	for j := range n {
		for k := range j + 1 {
			d.factor[j*n+k] = lower.At(j, k)
		}
	}
	return nil
}

// addPrior adds minus the second derivatives of the log prior along the axes, by
// differences, where they are positive.
func (d *density) addPrior(curved *mat.SymDense) {
	const h = 1e-4
	n := len(d.mean)
	at, up, down := append([]float64(nil), d.mean...), make([]float64, n), make([]float64, n)
	for j := range n {
		at[j] = d.mean[j] + h
		d.prior.GradLogPrior(up, at)
		at[j] = d.mean[j] - h
		d.prior.GradLogPrior(down, at)
		at[j] = d.mean[j]
		if v := (down[j] - up[j]) / (2 * h); v > 0 && !math.IsInf(v, 1) {
			curved.SetSym(j, j, curved.At(j, j)+v)
		}
	}
}

// start draws a start twice as far out as the approximation, where the prior is
// positive.
func (d *density) start(rng *rand.Rand) []float64 {
	n := len(d.mean)
	theta := make([]float64, n)
	for scale := 2.0; ; scale /= 2 {
		z := make([]float64, n)
		for j := range z {
			z[j] = scale * rng.NormFloat64()
		}
		for j := range theta {
			theta[j] = d.mean[j]
			for k, l := range d.factor[j*n : j*n+j+1] {
				theta[j] += l * z[k]
			}
		}
		if lp := d.log(theta); !math.IsInf(lp, 0) && !math.IsNaN(lp) || scale < 1e-6 {
			return theta
		}
	}
}
