package laplaceapprox

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
	"github.com/dpmcmc/dpmcmc/ops/internal/gram"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a mechanism.
type Config struct {
	// Features is the number of features, d; an intercept is one of them. Required.
	Features int
	// Records is n, the public number of records. Required.
	Records int
	// Radius bounds ‖x‖₂; longer rows are projected. Required, positive.
	Radius float64
	// PriorSD is the standard deviation of the normal prior. Required, positive.
	PriorSD float64
	// Epsilon and Delta are the cost of the whole release. Required, positive and
	// in (0, 1).
	Epsilon, Delta float64
	// Columns says what is publicly known of each feature, such as which one is the
	// intercept. The posterior is nearer the truth with it, and nothing is spent. Optional.
	Columns []surrogates.Column
	// HessianShare is the part of the Gaussian budget µ² that the Hessian gets.
	// Defaults to 0.15; must be in (0, 1).
	HessianShare float64
}

// The part of ε that the determinant may take, and the part of µ² that covers
// the approximate minimum.
const (
	determinantShare = 0.1
	minimumShare     = 1e-3
)

// imputations is how many sets of features the posterior averages over: with few, one
// whose noise hid a direction counts for too much.
const imputations = 8

// Mechanism is a configured release. It is immutable.
type Mechanism struct {
	cfg     Config
	ridge   float64 // Λ of the minimised objective
	mu      float64 // Gaussian budget of everything
	linear  float64 // standard deviation of the linear term
	output  *draw.GridGaussian
	hessian *draw.GridGaussian
	gram    gram.Gram
}

// New returns the mechanism.
func New(cfg Config) (*Mechanism, error) {
	cfg.HessianShare = cmp.Or(cfg.HessianShare, 0.15)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	curvature := cfg.Radius * cfg.Radius / 4
	m := &Mechanism{cfg: cfg, gram: gram.New(cfg.Features, curvature)}
	m.ridge = max(1/(cfg.PriorSD*cfg.PriorSD), curvature/math.Expm1(determinantShare*cfg.Epsilon))
	left := cfg.Epsilon - m.beside()
	var err error
	// The δ is a hair below the configured one, as in ops.Approximate.
	if m.mu, _, err = accountant.SolveParameter(gaussians, 1e-9, 1e6, left, cfg.Delta*(1-0x1p-40)/folding,
		true); err != nil {
		return nil, fmt.Errorf("laplaceapprox: no noise gives ε = %v at δ = %v: %w", left, cfg.Delta/folding, err)
	}
	m.linear = 2 * cfg.Radius / (m.mu * math.Sqrt(1-cfg.HessianShare-minimumShare)) * (1 + 0x1p-30)
	// The linear term is a normal rounded to 2⁻⁴⁰ standard deviations, which moves
	// the minimum too.
	rounding := m.linear * math.Sqrt(float64(cfg.Features)) * 0x1p-39
	distance := 2 * (m.shape().Distance() + rounding/m.ridge)
	if m.output, err = draw.NewGridGaussian(1/(m.mu*math.Sqrt(minimumShare)), distance, cfg.Features); err != nil {
		return nil, fmt.Errorf("laplaceapprox: %w", err)
	}
	_, frobenius := m.gram.Sensitivities(cfg.Records)
	if m.hessian, err = draw.NewGridGaussian(1/(m.mu*math.Sqrt(cfg.HessianShare)), frobenius, m.gram.Len()); err != nil {
		return nil, fmt.Errorf("laplaceapprox: %w", err)
	}
	return m, nil
}

func (c Config) check() error {
	if c.Features < 1 {
		return fmt.Errorf("laplaceapprox: Features = %d: at least 1 is needed", c.Features)
	}
	if c.Records < 1 || c.Records > 1<<31 {
		return fmt.Errorf("laplaceapprox: Records = %d: the public number of records must be from 1 to 2^31", c.Records)
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"Radius", c.Radius}, {"PriorSD", c.PriorSD}, {"Epsilon", c.Epsilon}} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return fmt.Errorf("laplaceapprox: %s = %v: must be positive and finite", f.name, f.v)
		}
	}
	if !(c.Delta > 0 && c.Delta < 1) {
		return fmt.Errorf("laplaceapprox: Delta = %v: must be in (0, 1)", c.Delta)
	}
	if !(c.HessianShare > 0 && c.HessianShare < 1-minimumShare) {
		return fmt.Errorf("laplaceapprox: HessianShare = %v: must be in (0, %v)", c.HessianShare, 1-minimumShare)
	}
	empty := c.statistics(make([]float64, c.Features), make([]float64, c.Features*c.Features))
	if err := empty.Check(); err != nil {
		return fmt.Errorf("laplaceapprox: Columns: %w", err)
	}
	return nil
}

// statistics are those of an optimum and of a Hessian there, without their noise. The
// optimum says that the score there is −Λθ̃.
func (c Config) statistics(optimum, hessian []float64) surrogates.Statistics {
	return surrogates.Statistics{Anchor: optimum, Score: make([]float64, c.Features), Moment: hessian, Weighted: true,
		Records: int64(c.Records), Radius: c.Radius, Columns: c.Columns}
}

// shape is the objective that is minimised, with a bound that no linear term exceeds.
func (m *Mechanism) shape() erm.Shape {
	return erm.Shape{
		Records: m.cfg.Records, Features: m.cfg.Features, Radius: m.cfg.Radius, Ridge: m.ridge,
		Linear: noise.MostNormal * m.linear * math.Sqrt(float64(m.cfg.Features)) * (1 + 0x1p-30),
	}
}

// folding bounds max over x of Φ(x) + ½·e^(−x²/2), attained near 0.798: what the
// linear term costs beyond a Gaussian mechanism, since the slopes of the records
// depend on the noise.
const folding = 1.1514

// gaussians is Gaussian noise of budget mu by its Rényi curve, which is what the
// proof composes, rather than by its exact trade-off.
func gaussians(mu float64) (accountant.Event, error) {
	return accountant.ZCDP(accountant.Substitute, mu*mu/2)
}

// beside is the privacy loss beside that of Gaussian noise: of the change of variables,
// log(1 + R²/4Λ), and of the grid of the linear term, whose coordinates' log-probabilities
// depart by 2⁻⁵⁷ from those of rounded normals in either data set.
func (m *Mechanism) beside() float64 {
	return math.Log1p(m.cfg.Radius*m.cfg.Radius/(4*m.ridge))*(1+0x1p-48) + float64(m.cfg.Features)*0x1p-56
}

// Cost returns the guarantee of one release.
func (m *Mechanism) Cost() (ops.Guarantee, error) {
	return ops.Approximate(m.cfg.Delta, ops.Unconditional,
		"docs/proofs/ops-laplaceapprox.md (after Iyengar et al. 2019, Redberg et al. 2023)",
		func(delta float64) (float64, error) {
			e, err := gaussians(m.mu)
			if err != nil {
				return 0, err
			}
			g, err := e.Epsilon(delta / folding)
			return g.Epsilon + m.beside(), err
		})
}

// Release is what was released, and the posterior that follows from it.
type Release struct {
	// Optimum is the private minimum of the objective with ridge Λ.
	Optimum []float64
	// Hessian is the noisy Hessian of the log loss at Optimum, without the prior.
	// It need not be positive semidefinite.
	Hessian *mat.SymDense
	// Posterior is the noise-aware posterior given Optimum and Hessian, to draw from
	// with surrogates.Sample: that costs nothing.
	Posterior *surrogates.Score
	// Mean and Cov are those of draws from it.
	Mean []float64
	Cov  *mat.SymDense
}

// Release runs the mechanism. Responses of at least ½ count as 1.
func (m *Mechanism) Release(src *ops.Source, rows targets.Rows) (*Release, error) {
	if err := ops.CheckShape("laplaceapprox", rows, m.cfg.Features, true); err != nil {
		return nil, err
	}
	if rows.Len() != m.cfg.Records {
		return nil, fmt.Errorf("laplaceapprox: the records are not as many as Records, the public number %d, says",
			m.cfg.Records)
	}
	rows = ops.Project(rows, m.cfg.Radius)
	f := erm.Objective{Shape: m.shape(), X: rows.X, Y: rows.Y, B: make([]float64, m.cfg.Features)}
	for i := range f.B {
		f.B[i] = m.linear * noise.StandardNormal(src)
	}
	theta, err := f.Minimise(context.Background())
	if err != nil {
		return nil, fmt.Errorf("laplaceapprox: %w", err)
	}
	m.output.Add(src, theta)

	triangle := m.gram.Sum(rows.Len(), func(i int, z []float64) float64 {
		copy(z, rows.Row(i))
		return convex.LogisticCurvature(dot(z, theta))
	})
	m.gram.Isometric(triangle, false)
	m.hessian.Add(src, triangle)
	m.gram.Isometric(triangle, true)
	r := &Release{Optimum: theta, Hessian: m.gram.Matrix(triangle)}
	return r, m.posterior(r)
}

// posterior fills in Posterior, Mean and Cov. The score's noise is that of the linear term
// and of what the optimum was published with, which is at most the largest curvature
// times its own.
func (m *Mechanism) posterior(r *Release) error {
	d := m.cfg.Features
	most := float64(m.cfg.Records)*m.cfg.Radius*m.cfg.Radius/4 + m.ridge
	hessian := make([]float64, 0, d*d)
	for i := range d {
		for j := range d {
			hessian = append(hessian, r.Hessian.At(i, j))
		}
	}
	s := m.cfg.statistics(r.Optimum, hessian)
	s.Ridge, s.ScoreSD, s.MomentSD = m.ridge, math.Hypot(m.linear, most*m.output.Sigma()), m.hessian.Sigma()
	for i, t := range r.Optimum {
		s.Score[i] = -m.ridge * t
	}
	var err error
	r.Posterior, err = surrogates.New(surrogates.Config{Statistics: s, Link: surrogates.Logistic,
		Prior: priors.Gaussian{SD: m.cfg.PriorSD}, Imputations: imputations})
	if err != nil {
		return fmt.Errorf("laplaceapprox: %w", err)
	}
	draws, err := surrogates.Sample(context.Background(), r.Posterior,
		surrogates.SampleConfig{Chains: 2, Draws: 300, LeastESS: 100, MostRHat: 1.05, Workers: 1})
	if err != nil {
		return fmt.Errorf("laplaceapprox: %w", err)
	}
	var all []float64
	for _, chain := range draws.Chains {
		for _, draw := range chain {
			all = append(all, draw...)
		}
	}
	x := mat.NewDense(len(all)/d, d, all)
	r.Mean, r.Cov = make([]float64, d), mat.NewSymDense(d, nil)
	for j := range d {
		r.Mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	stat.CovarianceMatrix(r.Cov, x, nil)
	return nil
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
