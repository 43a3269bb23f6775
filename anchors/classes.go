package anchors

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// A softmax regression under the log loss has the curvature Σ(diag p − ppᵀ) ⊗ xxᵀ. Second
// moments of features say nearly all of it, with a fraction of the noise that products of
// gradients have: there are K² times fewer, and each is as large.

// mostOfClasses is how many parameters such a model may have.
const mostOfClasses = 160

// ofClasses reports whether a model has such a curvature.
func ofClasses(t targets.GradTarget) bool {
	s, ok := t.(*targets.Softmax)
	return ok && math.IsInf(s.LossRange(), 1)
}

// classesOf is the model if that is how its curvature is released, or nil.
func classesOf(m model, f curator.Facts) *targets.Softmax {
	if ofClasses(m.first) && f.Radius > 0 {
		return m.first.(*targets.Softmax)
	}
	return nil
}

// join makes statistics of two looks: the mean of what they released, plain.
func (a *first) join(s *surrogates.Statistics, earlier []float64, lengths func([]float64) targets.Lengths,
	f curator.Facts) error {
	other, err := a.statistics(earlier, lengths, f)
	if err != nil {
		return err
	}
	for j, v := range other.Score {
		s.Score[j] = (s.Score[j] + v) / looks
	}
	for j, v := range other.Moment {
		s.Moment[j] = (s.Moment[j] + v) / looks
	}
	s.ScoreSD, s.MomentSD = s.ScoreSD/math.Sqrt(looks), s.MomentSD/math.Sqrt(looks)
	s.Weighted, s.Columns = false, a.config.Columns
	return nil
}

// fromClasses draws from the posterior of a softmax regression given its scores.
func (s *Chains) fromClasses(ctx context.Context, seed uint64, r *Release) ([]kernels.Chain, error) {
	d := len(r.Statistics.Anchor)
	p, err := surrogates.NewClasses(surrogates.ClassesConfig{Statistics: r.Statistics, Seed: seed,
		Anchors: [][]float64{r.Statistics.Anchor, r.Values[s.first.size() : s.first.size()+d]},
		Prior:   s.first.classes.Prior(), Effect: s.first.classes.Standardized()})
	if err != nil {
		return nil, err
	}
	return s.fromGradients(ctx, p, seed, r)
}

// drawnRows stand for the records' features.
const drawnRows = 400

// classCurvature is of drawn features that have the released moments. Those have noise of
// standard deviation s.MomentSD along any direction, of which a curvature has at most the mean
// of diag p − ppᵀ.
func classCurvature(t *targets.Softmax, s surrogates.Statistics, columns []surrogates.Column) curved {
	d := t.Dim()
	p, _ := t.Shape()
	classes := d / p
	c := curved{mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)}
	draw := rowsOf(s, p, columns)
	x, probs := make([]float64, p), make([]float64, classes)
	weight := float64(s.Records) / drawnRows
	spread := mat.NewSymDense(classes, nil)
	for range drawnRows {
		draw(x)
		chances(probs, s.Anchor, x)
		for k, a := range probs {
			for l, b := range probs[:k+1] {
				v := -a * b
				if k == l {
					v = a * (1 - a)
				}
				spread.SetSym(l, k, spread.At(l, k)+v/drawnRows)
				addBlock(c.of, k*p, l*p, x, weight*v)
			}
		}
	}
	for k := range classes {
		for l := range k + 1 {
			for j := range p {
				c.noise.SetSym(l*p+j, k*p+j, s.MomentSD*spread.At(l, k))
			}
		}
	}
	return c
}

// addBlock adds weight·xxᵀ at a row and a column.
func addBlock(m *mat.SymDense, row, column int, x []float64, weight float64) {
	for j, u := range x {
		for i, v := range x {
			if row+j >= column+i {
				m.SetSym(column+i, row+j, m.At(column+i, row+j)+weight*u*v)
			}
		}
	}
}

// chances are the probabilities of classes at theta.
func chances(probs, theta, x []float64) {
	p, top, sum := len(x), math.Inf(-1), 0.0
	for k := range probs {
		probs[k] = 0
		for j, v := range x {
			probs[k] += theta[k*p+j] * v
		}
		top = max(top, probs[k])
	}
	for k, v := range probs {
		probs[k] = math.Exp(v - top)
		sum += probs[k]
	}
	for k := range probs {
		probs[k] /= sum
	}
}

// rowsOf draws normal rows that have the released second moments, less what noise made
// negative. The means are beside the constant column, if there is one.
func rowsOf(s surrogates.Statistics, p int, columns []surrogates.Column) func(x []float64) {
	n, constant := float64(s.Records), -1
	mean := make([]float64, p)
	for j, c := range columns {
		if c.Kind == surrogates.Constant && c.Upper != 0 {
			constant = j
			for i := range mean {
				mean[i] = s.Moment[j*p+i] / (n * c.Upper)
			}
			mean[j] = c.Upper
		}
	}
	within := mat.NewSymDense(p, nil)
	for j := range p {
		for i := range j + 1 {
			if j != constant && i != constant {
				within.SetSym(i, j, s.Moment[j*p+i]/n-mean[j]*mean[i])
			}
		}
	}
	var eigen mat.EigenSym
	var axes mat.Dense
	eigen.Factorize(within, true)
	eigen.VectorsTo(&axes)
	values, rng := eigen.Values(nil), rand.New(rand.NewPCG(1, 0xc1a5))
	return func(x []float64) {
		copy(x, mean)
		for k, v := range values {
			z := math.Sqrt(max(0, v)) * rng.NormFloat64()
			for j := range x {
				x[j] += z * axes.At(j, k)
			}
		}
	}
}
