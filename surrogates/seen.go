package surrogates

import (
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// Seen says that Sums are of rows x as Matrix·x, and of responses y as (y − Offset·x)/Unit. All of it is
// public.
type Seen struct {
	// Matrix has a row and a column for each feature, row-major. Required, of full rank.
	Matrix []float64
	// Offset are coefficients of which responses are the residuals. Required.
	Offset []float64
	// Unit is that of the residuals. Required, positive.
	Unit float64
	// Missing is the share of the records' weight that is known to be missing. Defaults to 0.
	Missing float64
	// Far is how long rows may be as they are seen, within the bounds of numbers. Defaults to 0.
	Far float64
	// Cut is the part of the errors' square that cutting residuals took away, and CutSD by how much it may be off.
	// Default to 0.
	Cut, CutSD float64
}

// Through restates a regression whose Sums are of records as they are seen: its priors and MinScale
// were those of records as they are, and the posterior's parameters are of records as they are seen.
// Seen.Back turns draws back. Errors: a matrix without full rank.
func (c LinearConfig) Through(s Seen) (LinearConfig, error) {
	d := c.Sums.Features
	var inverse mat.Dense
	if inverse.Inverse(mat.NewDense(d, d, s.Matrix)) != nil {
		return c, errors.New("surrogates: Seen.Matrix has no inverse; give one of full rank")
	}
	p := seenPrior{Prior: c.Prior, seen: s, inverse: inverse.T(), centre: make([]float64, d)}
	p.see(p.centre, make([]float64, d))
	for j := range p.centre {
		p.centre[j] = -p.centre[j]
	}
	c.Prior, c.ScalePrior, c.seen = p, scaledScale{c.ScalePrior, s.Unit}, &p
	c.MinScale /= s.Unit
	return c, nil
}

// Back turns a draw of the parameters of records as they are seen into those of records as they are.
func (s Seen) Back(theta []float64) {
	d := len(s.Offset)
	Unscale(theta, s.Unit)
	var out mat.VecDense
	out.MulVec(mat.NewDense(d, d, s.Matrix).T(), mat.NewVecDense(d, theta[:d]))
	for j, v := range s.Offset {
		theta[j] = v + out.AtVec(j)
	}
}

// seenPrior is the prior of coefficients of records as they are seen.
type seenPrior struct {
	priors.Prior // of records as they are
	seen         Seen
	inverse      mat.Matrix // transposed, of the matrix
	centre       []float64  // the coefficients Offset, as seen where responses are whole
}

// see sets dst to what coefficients are of records as they are seen.
func (p seenPrior) see(dst, theta []float64) {
	d := len(theta)
	less := mat.NewVecDense(d, nil)
	for j, v := range theta {
		less.SetVec(j, (v-p.seen.Offset[j])/p.seen.Unit)
	}
	mat.NewVecDense(d, dst).MulVec(p.inverse, less)
}

func (p seenPrior) back(theta []float64) []float64 {
	out := append(append([]float64(nil), theta...), 0)
	p.seen.Back(out)
	return out[:len(theta)]
}

func (p seenPrior) LogDensity(theta []float64) float64 { return p.Prior.LogDensity(p.back(theta)) }

func (p seenPrior) Grad(dst, theta []float64) {
	d := len(theta)
	grad := mat.NewVecDense(d, nil)
	p.Prior.Grad(grad.RawVector().Data, p.back(theta))
	out := mat.NewVecDense(d, dst)
	out.MulVec(mat.NewDense(d, d, p.seen.Matrix), grad)
	out.ScaleVec(p.seen.Unit, out)
}

func (p seenPrior) Sample(theta []float64, rng *rand.Rand) {
	as := make([]float64, len(theta))
	p.Prior.Sample(as, rng)
	p.see(theta, as)
}

// asTheyAre are draws of the parameters of records as they are.
func (l *Linear) asTheyAre(d Draws) Draws {
	if l.config.seen == nil {
		return d
	}
	out := Draws{Chains: make([][][]float64, len(d.Chains))}
	for i, chain := range d.Chains {
		for _, theta := range chain {
			theta = append([]float64(nil), theta...)
			l.config.seen.seen.Back(theta)
			out.Chains[i] = append(out.Chains[i], theta)
		}
	}
	return out
}
