package anchors

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Density is what stands for everything but the remainder: the model's prior times a
// normal likelihood N(θ; θ̂, C). With H the released curvature and Σ the covariance of
// the released score G, θ̂ = θ₀ − H⁻¹G, and C = H⁻¹ + H⁻¹ΣH⁻¹ where it is aware of the
// noise, H⁻¹ where not.
type Density struct {
	// Kept is the mean share of the information that survives the noise of the score, and
	// the share at which targets.Remainder.Anchor weighs the remainder. It is 1 where the
	// density is not aware of the noise.
	Kept float64
	// Widening is by how much that noise widens intervals, a median over coefficients.
	Widening float64

	prior     targets.GradTarget
	estimate  []float64
	precision *mat.SymDense // C⁻¹
	flat      []float64     // C⁻¹ row-major
	anchor    []float64
	carried   []float64 // of order 1: the curvature that bits carry, row-major
	mean      []float64 // of proposals
	factor    []float64 // of their covariance, row-major
	bound     []int     // of order 1: parameters that the prior bounds
}

// NewDensity makes the density of statistics with the curvature (Weighted), aware of the
// noise of the score or not. Errors are those of surrogates.FirstOrder; a curvature and a
// prior that leave a direction without bounds.
func NewDensity(s surrogates.Statistics, model *targets.Regression, aware bool) (*Density, error) {
	g, err := surrogates.FirstOrder(s)
	if err != nil {
		return nil, err
	}
	d := len(g.Mean)
	out := &Density{prior: model, estimate: g.Mean, flat: g.Information, Kept: 1, Widening: 1,
		precision: mat.NewSymDense(d, g.Information)}
	if !aware {
		return out, out.approximate()
	}
	if out.Widening, err = widened(g); err != nil {
		return nil, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(d, g.Cov)) || chol.InverseTo(out.precision) != nil {
		return nil, errors.New("anchors: the released curvature leaves a direction nearly without bounds")
	}
	out.Kept = g.Kept
	for j := range d {
		for k := range d {
			out.flat[j*d+k] = out.precision.At(j, k)
		}
	}
	return out, out.approximate()
}

// widened is the median over coefficients of the standard deviation with the noise of
// the score over that without.
func widened(g surrogates.Gaussian) (float64, error) {
	d := len(g.Mean)
	var chol mat.Cholesky
	without := mat.NewSymDense(d, nil)
	if !chol.Factorize(mat.NewSymDense(d, g.Information)) || chol.InverseTo(without) != nil {
		return 0, errors.New("anchors: the released curvature leaves a direction nearly without bounds")
	}
	ratios := make([]float64, d)
	for j := range ratios {
		ratios[j] = math.Sqrt(g.Cov[j*d+j] / without.At(j, j))
	}
	return middle(ratios), nil
}

// Log is the log density, up to a constant.
func (d *Density) Log(theta []float64) float64 {
	out := d.prior.LogPrior(theta) - quadratic(d.flat, theta, d.estimate)/2
	if d.carried != nil {
		out += quadratic(d.carried, theta, d.anchor) / 2
	}
	return out
}

// surrogate is Log with what bits are expected to carry: what proposals approximate.
func (d *Density) surrogate(theta []float64) float64 {
	return d.prior.LogPrior(theta) - quadratic(d.flat, theta, d.estimate)/2
}

// quadratic is (θ − c)ᵀM(θ − c).
func quadratic(m, theta, centre []float64) float64 {
	n, square := len(theta), 0.0
	for j, t := range theta {
		row, s := m[j*n:j*n+n], 0.0
		for k, v := range row {
			s += v * (theta[k] - centre[k])
		}
		square += s * (t - centre[j])
	}
	return square
}

// approximate finds the mode by Newton's method and the normal approximation there,
// for proposals.
func (d *Density) approximate() error {
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
		from, size := d.surrogate(d.mean), 1.0
		for ; size > 1e-6; size /= 2 {
			for j := range next {
				next[j] = d.mean[j] + size*step.AtVec(j)
			}
			if d.surrogate(next) >= from {
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

// Spread is the root mean square distance of the normal approximation's draws from its
// mode.
func (d *Density) Spread() float64 {
	square := 0.0
	for _, l := range d.factor {
		square += l * l
	}
	return math.Sqrt(square)
}

// Proposal is the law of independent moves: a t distribution about the density's mode.
func (d *Density) Proposal() curator.Proposal {
	return curator.Proposal{Mean: d.mean, Factor: d.factor, Freedom: tail}
}

// addPrior adds minus the second derivatives of the log prior along the axes, by
// differences, where they are positive.
func (d *Density) addPrior(curved *mat.SymDense) {
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

// Start draws a start twice as far out as the approximation, where the prior is
// positive.
func (d *Density) Start(rng *rand.Rand) []float64 {
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
		if lp := d.surrogate(theta); !math.IsInf(lp, 0) && !math.IsNaN(lp) || scale < 1e-6 {
			return theta
		}
	}
}
