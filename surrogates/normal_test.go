package surrogates

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// TestNormalIsTheLimitOfRows: what a normal law of the features says of the score is what a
// fine grid of rows says, in the mean and in the covariance, of every link, near the anchor and
// far from it. Slopes that are cut
// have kinks in the anchor's predictor, and those of counts that are not have long tails. Were a power of the
// integrals left out, or taken with the wrong sign, the covariance would be off by a tenth.
func TestNormalIsTheLimitOfRows(t *testing.T) {
	const d = 3
	anchor := []float64{0.5, 1.2, -0.6}
	second := mat.NewSymDense(d, []float64{0.25, 0.1, -0.05, 0.1, 0.5, 0.2, -0.05, 0.2, 0.4})
	turn := mat.NewDense(d, d, []float64{1, 0, 0, 0.3, 0.8, 0, -0.2, 0.1, 1.2})
	law := newNormal(second, 0, anchor)
	links := testLinks()
	delete(links, "negative binomial cut at +Inf") // its variance is that of a few rows far out
	for name, link := range links {
		tolerance := 1e-6
		if strings.Contains(name, "cut") && name != "probit cut at +Inf" {
			tolerance = 0.01
		}
		for _, theta := range [][]float64{{-1, 3, 1.5}, {0.5, 1.201, -0.6}} {
			againstGrid(t, name, link, law, theta, nil, tolerance)
			againstGrid(t, name+", turned", link, law.turned(turn), theta, turn, tolerance)
		}
	}
}

// againstGrid holds a law that was turned from the plain one against rows of that.
func againstGrid(t *testing.T, name string, link Link, law *normal, theta []float64, turn *mat.Dense,
	tolerance float64) {
	t.Helper()
	const d, step = 3, 0.08
	want, squares := make([]float64, d), make([]float64, d*d)
	total := 0.0
	for a := -6.0; a <= 6; a += step {
		for b := -6.0; b <= 6; b += step {
			w := math.Exp(-(a*a + b*b) / 2)
			total += w
			// The constant is ½, so that the others have means 0.2 and −0.1.
			x := []float64{0.5, 0.2 + math.Sqrt(0.46)*a, -0.1 + 0.22/math.Sqrt(0.46)*a + math.Sqrt(0.39-0.22*0.22/0.46)*b}
			at := dot(x, law.anchor)
			if turn != nil {
				var turned mat.VecDense
				turned.MulVec(turn, mat.NewVecDense(d, x))
				copy(x, turned.RawVector().Data)
			}
			eta := at + dot(x, theta) - dot(x, law.anchor)
			m, v, _, _ := link.Slope(at, eta)
			for j := range d {
				want[j] += w * m * x[j]
				for k := range d {
					squares[j*d+k] += w * v * x[j] * x[k]
				}
			}
		}
	}
	mean, lower := make([]float64, d), make([]float64, d*d)
	newFeatures(law, link).scores().law(mean, lower, theta, 1)
	for j := range d {
		if e := want[j] / total; math.Abs(mean[j]-e) > tolerance*(1+math.Abs(e)) {
			t.Errorf("%s: the score's mean %d is %v, of many rows %v", name, j, mean[j], e)
		}
		for k := range j + 1 {
			if got, e := lower[j*d+k], squares[j*d+k]/total; math.Abs(got-e) > tolerance*(1+math.Abs(e)) {
				t.Errorf("%s: the score's covariance %d, %d is %v, of many rows %v", name, j, k, got, e)
			}
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
