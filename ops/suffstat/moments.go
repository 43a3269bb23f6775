package suffstat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/gram"
	"github.com/dpmcmc/dpmcmc/targets"
)

// MomentsConfig describes the second moments of a linear regression.
type MomentsConfig struct {
	// Features is the number of features, d; an intercept is one of them. Required.
	Features int
	// Records is n, the public number of records. Required, at least 1.
	Records int
	// Radius bounds ‖x‖₂; longer rows are projected. Required, positive.
	Radius float64
	// Bound bounds |y|; responses are clipped. Required, positive. The noise is on
	// the scale Radius² + Bound², so choose units that make the two alike.
	Bound float64
	// Privacy is required.
	Privacy Privacy
}

// Moments releases Σ z·zᵀ of the vectors z = (x, y). It is immutable.
type Moments struct {
	mechanism
	cfg  MomentsConfig
	gram gram.Gram
}

// NewMoments returns the mechanism. With s = Radius² + Bound² ≥ ‖z‖², the matrix
// has L2 sensitivity √2·s, and its upper triangle, of p = d + 1 columns, L1
// sensitivity s·√(p(p+3)/2).
func NewMoments(cfg MomentsConfig) (*Moments, error) {
	if cfg.Features < 1 {
		return nil, fmt.Errorf("suffstat: Features = %d: at least 1 is needed", cfg.Features)
	}
	if cfg.Records < 1 || cfg.Records > 1<<31 {
		return nil, fmt.Errorf("suffstat: Records = %d: the public number of records must be from 1 to 2^31", cfg.Records)
	}
	if !(cfg.Radius > 0 && cfg.Bound > 0) || math.IsInf(cfg.Radius+cfg.Bound, 1) {
		return nil, fmt.Errorf("suffstat: Radius = %v, Bound = %v: both must be positive and finite", cfg.Radius, cfg.Bound)
	}
	out := &Moments{cfg: cfg, gram: gram.New(cfg.Features+1, cfg.Radius*cfg.Radius+cfg.Bound*cfg.Bound)}
	l1, l2 := out.gram.Sensitivities(cfg.Records)
	var err error
	if out.mechanism, err = newMechanism(cfg.Privacy, l1, l2, out.gram.Len()); err != nil {
		return nil, err
	}
	return out, nil
}

// Cost returns the guarantee of one release.
func (m *Moments) Cost() ops.Guarantee { return m.cost() }

// Release returns the noisy matrix Σ z·zᵀ, (d+1)×(d+1), the response last. It need
// not be positive semidefinite.
func (m *Moments) Release(src *ops.Source, rows targets.Rows) (*mat.SymDense, error) {
	if err := ops.CheckShape("suffstat", rows, m.cfg.Features, true); err != nil {
		return nil, err
	}
	if rows.Len() != m.cfg.Records {
		return nil, fmt.Errorf("suffstat: the records are not as many as Records, the public number %d, says", m.cfg.Records)
	}
	triangle := m.sum(ops.Project(rows, m.cfg.Radius))
	if m.privacy.Law == Gaussian {
		m.gram.Isometric(triangle, false)
	}
	if err := m.add(src, triangle); err != nil {
		return nil, err
	}
	if m.privacy.Law == Gaussian {
		m.gram.Isometric(triangle, true)
	}
	return m.gram.Matrix(triangle), nil
}

// sum is the upper triangle of Σ z·zᵀ over projected rows.
func (m *Moments) sum(rows targets.Rows) []float64 {
	return m.gram.Sum(rows.Len(), func(i int, z []float64) float64 {
		z[copy(z, rows.Row(i))] = clip(rows.Y[i], m.cfg.Bound)
		return 1
	})
}

// clip is y in [−bound, bound], 0 for NaN.
func clip(y, bound float64) float64 {
	if math.IsNaN(y) {
		return 0
	}
	return min(max(y, -bound), bound)
}

// NormalPrior is the conjugate prior of a linear regression: the error variance
// is inverse gamma, and the coefficients given it are N(0, σ²·Variance·I).
type NormalPrior struct {
	// Variance, Shape and Rate are required, positive.
	Variance, Shape, Rate float64
}

// NormalPosterior is the conjugate posterior: given the error variance σ², which
// is inverse gamma (Shape, Rate), the coefficients are N(Mean, σ²·Scale).
type NormalPosterior struct {
	Mean        *mat.VecDense
	Scale       *mat.SymDense
	Shape, Rate float64
}

// PlugIn returns the posterior that takes the nearest positive semidefinite
// matrix for the moments. It ignores the noise, so its intervals are too short.
func (m *Moments) PlugIn(noisy *mat.SymDense, prior NormalPrior) (*NormalPosterior, error) {
	if !(prior.Variance > 0 && prior.Shape > 0 && prior.Rate > 0) {
		return nil, fmt.Errorf("suffstat: prior %+v: Variance, Shape and Rate must be positive", prior)
	}
	d := m.cfg.Features
	moments, err := nearestPSD(noisy)
	if err != nil {
		return nil, err
	}
	precision := mat.NewSymDense(d, nil)
	cross := mat.NewVecDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			precision.SetSym(j, k, moments.At(j, k))
		}
		precision.SetSym(j, j, moments.At(j, j)+1/prior.Variance)
		cross.SetVec(j, moments.At(j, d))
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return nil, fmt.Errorf("suffstat: the posterior precision is singular: use a smaller prior Variance")
	}
	out := &NormalPosterior{Mean: mat.NewVecDense(d, nil), Scale: mat.NewSymDense(d, nil)}
	if err := chol.SolveVecTo(out.Mean, cross); err != nil {
		return nil, fmt.Errorf("suffstat: %w", err)
	}
	if err := chol.InverseTo(out.Scale); err != nil {
		return nil, fmt.Errorf("suffstat: %w", err)
	}
	out.Shape = prior.Shape + float64(m.cfg.Records)/2
	out.Rate = prior.Rate + max(0, moments.At(d, d)-mat.Dot(cross, out.Mean))/2
	return out, nil
}

// nearestPSD replaces negative eigenvalues by zero.
func nearestPSD(a *mat.SymDense) (*mat.SymDense, error) {
	values, vectors, err := gram.Eigen(a)
	if err != nil {
		return nil, err
	}
	out := mat.NewSymDense(len(values), nil)
	for k, v := range values {
		out.SymRankOne(out, v, vectors.ColView(k))
	}
	return out, nil
}
