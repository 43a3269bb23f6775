package surrogates

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Gaussian is the normal approximation of what a release at an anchor says, the
// prior left out: N(Mean, Cov) in the coefficients.
type Gaussian struct {
	// Mean is θ₀ − H⁻¹G, where G is the noisy score and H the temperature times the
	// curvature.
	Mean []float64
	// Cov is H⁻¹ + H⁻¹ΣH⁻¹, row-major: the spread of the posterior and the noise.
	Cov []float64
	// Information is H, row-major, positive definite.
	Information []float64
	// Kept is κ, the mean eigenvalue of H(H + Σ)⁻¹: the part of the information that
	// the noise left, and the weight of the remainder in a noise-aware chain.
	Kept float64
}

// FirstOrder returns the normal approximation of a release of the curvature: exact
// without noise where the loss is quadratic. It does not know the noise of the
// curvature, and its intervals are too short where noise is of the posterior's size:
// use Score for those. Errors: statistics out of range, or not Weighted.
func FirstOrder(s Statistics) (Gaussian, error) {
	if err := s.Check(); err != nil {
		return Gaussian{}, err
	}
	if !s.Weighted {
		return Gaussian{}, errors.New("surrogates: FirstOrder needs the curvature at the anchor; release it Weighted")
	}
	d := len(s.Anchor)
	m := newMoments(s.Moment, s.MomentSD, float64(s.Records)*s.Radius*s.Radius, s.Columns, d)
	m.average(rand.New(rand.NewPCG(1, 0xf125)))
	h := m.positive()
	h.ScaleSym(s.temperature(), h)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return Gaussian{}, fmt.Errorf("surrogates: the curvature of %d features is not positive definite", d)
	}
	inverse, cov := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	if err := chol.InverseTo(inverse); err != nil {
		return Gaussian{}, fmt.Errorf("surrogates: the curvature: %w", err)
	}
	cov.CopySym(inverse)
	mean := mat.NewVecDense(d, append([]float64(nil), s.Anchor...))
	for j := range d {
		column := mat.NewVecDense(d, nil)
		for k := range d {
			column.SetVec(k, inverse.At(j, k))
		}
		cov.SymRankOne(cov, s.ScoreSD*s.ScoreSD, column)
		mean.AddScaledVec(mean, -s.Score[j], column)
	}
	return Gaussian{Mean: mean.RawVector().Data, Cov: dense(cov), Information: dense(h), Kept: keptBy(h, s.ScoreSD)}, nil
}

func dense(s *mat.SymDense) []float64 {
	d := s.SymmetricDim()
	out := make([]float64, d*d)
	for e := range out {
		out[e] = s.At(e/d, e%d)
	}
	return out
}
