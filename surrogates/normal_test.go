package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// TestNormalIsTheLimitOfRows: what a normal law of the features says of the score is what
// many rows of it say, in the mean and in the covariance. Were E[f‴] left out, or taken with
// the wrong sign, the covariance would be off by a tenth.
func TestNormalIsTheLimitOfRows(t *testing.T) {
	const d, many = 3, 400_000
	anchor, theta := []float64{0.5, 2, -1}, []float64{-1, 3, 1.5}
	second := mat.NewSymDense(d, []float64{0.25, 0.1, -0.05, 0.1, 0.5, 0.2, -0.05, 0.2, 0.4})
	z := whitened(d, 0, many, rand.New(rand.NewPCG(1, 2)))
	x := coloured(second, 0, z, make([]float64, d))
	plain := newRows(Logistic, x, (Config{Statistics: Statistics{Anchor: anchor}}).predictors(x), anchor)
	turn := mat.NewDense(d, d, []float64{1, 0, 0, 0.3, 0.8, 0, -0.2, 0.1, 1.2})
	stretched := mat.NewDense(many, d, nil)
	stretched.Mul(mat.NewDense(many, d, x), turn.T())
	law := newNormal(second, 0, anchor)
	for _, c := range []struct {
		name string
		law  *normal
		rows *rows
	}{
		{"plain", law, plain},
		{"turned", law.turned(turn), newRows(Logistic, stretched.RawMatrix().Data, plain.at, anchor)},
	} {
		mean, want := make([]float64, d), make([]float64, d)
		lower, squares := make([]float64, d*d), make([]float64, d*d)
		c.law.buffered().law(mean, lower, theta, 1)
		c.rows.buffered().law(want, squares, theta, 1.0/many)
		for j := range d {
			if math.Abs(mean[j]-want[j]) > 1e-3 {
				t.Errorf("%s: the score's mean %d is %v, of many rows %v", c.name, j, mean[j], want[j])
			}
			for k := range j + 1 {
				if got, from := lower[j*d+k], squares[j*d+k]; math.Abs(got-from) > 1e-3 {
					t.Errorf("%s: the score's covariance %d, %d is %v, of many rows %v", c.name, j, k, got, from)
				}
			}
			of, variance := c.law.moments(j)
			from, square := c.rows.moments(j)
			if math.Abs(of-from) > 0.01 || math.Abs(variance-square) > 0.01 {
				t.Errorf("%s: feature %d has mean %v and variance %v, rows %v and %v", c.name, j, of, variance, from, square)
			}
		}
		if got, want := c.law.square(theta), c.rows.square(theta)/many; math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: the mean square predictor is %v, of rows %v", c.name, got, want)
		}
	}
}

// TestMomentsOfPredictors holds expectations over a normal predictor against a rule with nodes
// a hundred times as fine, also where the logistic function is a step beside its spread.
func TestMomentsOfPredictors(t *testing.T) {
	for _, mean := range []float64{0, -1.3, 40} {
		for _, sd := range []float64{0, 0.1, 1.9, 2.1, 13, 60} {
			var want moment
			total := 0.0
			const step = 2.0 / 5000
			for u := -9.0; u <= 9; u += step {
				w := math.Exp(-u * u / 2)
				total += w
				p, q := shares(mean + sd*u)
				v := p * q
				for k, f := range []float64{p, v, v * (q - p), v * (1 - 6*v), v * (q - p) * (1 - 12*v),
					v*(1-6*v)*(1-12*v) - 12*v*v*(q-p)*(q-p)} {
					want[k] += w * f
				}
			}
			got := momentsOf(mean, sd*sd)
			for k := range got {
				if !scalar.EqualWithinAbsOrRel(got[k], want[k]/total, 1e-8, 1e-7) {
					t.Errorf("N(%v, %v²): moment %d is %v, want %v", mean, sd, k, got[k], want[k]/total)
				}
			}
		}
	}
}
