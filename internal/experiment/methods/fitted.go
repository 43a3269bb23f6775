package methods

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// correlated is a centred normal prior of any precision.
type correlated struct {
	priors.Gaussian // of the scales of a draw
	precision       *mat.SymDense
}

func (c correlated) LogDensity(theta []float64) float64 {
	v := mat.NewVecDense(len(theta), theta)
	return -mat.Inner(v, c.precision, v) / 2
}

func (c correlated) Grad(dst, theta []float64) {
	var out mat.VecDense
	out.MulVec(c.precision, mat.NewVecDense(len(theta), theta))
	floats.ScaleTo(dst, -1, out.RawVector().Data)
}

// Sample has no correlations. It serves to find starts alone.
func (c correlated) Sample(theta []float64, rng *rand.Rand) { c.Gaussian.Sample(theta, rng) }

// fitted is the prior that anchored chains of fitted columns have (docs/anchored.md): what numbers
// that are made uncorrelated add to the predictor has the variances that standardized columns have.
func fitted(m *models.Model, t standardizes, rows targets.Rows) correlated {
	s := momentsOf(m, rows)
	c, d, n := s.Standardized(t.Standardized(), t.Prior().(priors.Gaussian)), rows.P, float64(s.Records)
	constant := surrogates.ConstantOf(s.Columns)
	number := func(j int) bool { return j != constant && s.Columns[j].Kind == surrogates.Number }
	effect := t.Standardized()
	numbers := 0
	for j := range d {
		if number(j) {
			numbers++
		}
	}
	c.SDs[c.Intercept] *= surrogates.Openness(numbers)
	out := correlated{apart(c), precisionOf(c)}
	level := s.Columns[constant].Upper
	for j := range d {
		if !number(j) {
			continue
		}
		for k := range j + 1 {
			if !number(k) {
				continue
			}
			v := s.Moment[j*d+k]/n - c.Means[j]*level*c.Means[k]*level
			had := 0.0
			if j == k {
				v = max(v, s.Radius*s.Radius/(n*n)) * (1 + surrogates.OwnShare)
				had = 1 / (c.SDs[j] * c.SDs[j])
			}
			out.precision.SetSym(j, k, out.precision.At(j, k)+v/(effect*effect)-had)
		}
	}
	return out
}

// precisionOf is that of a normal prior, whose gradients are linear.
func precisionOf(c surrogates.CentredGaussian) *mat.SymDense {
	d := len(c.SDs)
	at, slope, out := make([]float64, d), make([]float64, d), mat.NewSymDense(d, nil)
	for j := range d {
		at[j] = 1
		c.Grad(slope, at)
		at[j] = 0
		for k := range j + 1 {
			out.SetSym(j, k, -slope[k])
		}
	}
	return out
}
