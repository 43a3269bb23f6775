package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// siowSums has a constant column and two features that nearly follow from each other.
func siowSums(momentSD, r float64) LinearConfig {
	return LinearConfig{
		Sums: Sums{Moment: []float64{50, 5, 8, 20, 5, 40, 37, -16, 8, 37, 38, -12, 20, -16, -12, 70}, MomentSD: momentSD,
			Features: 3, Records: 200, Radius: 1.4, Columns: []Column{{Kind: Constant, Upper: 0.5}, {}, {}}},
		Prior: priors.Gaussian{SD: 3}, ScalePrior: priors.HalfNormal{SD: 1}, MinScale: 0.01, ZellnerSiow: r,
	}
}

// cauchy is the log density of slopes, constants left out: a multivariate t with one degree
// of freedom and the scale σ²·(r/k)·N·C⁻¹, C the second moments about the constant column.
func cauchy(t *testing.T, square []float64, slopes []float64, r, n, sigma float64) float64 {
	t.Helper()
	d, k := len(slopes)+1, float64(len(slopes))
	precision, about := mat.NewSymDense(d-1, nil), func(i, j int) float64 {
		return square[i*d+j] - square[i*d]*square[j*d]/square[0]
	}
	for i := 1; i < d; i++ {
		for j := i; j < d; j++ {
			precision.SetSym(i-1, j-1, about(i, j)/(sigma*sigma*r/k*n))
		}
	}
	x := mat.NewVecDense(d-1, slopes)
	log, sign := mat.LogDet(precision)
	if sign <= 0 {
		t.Fatal("the second moments are not positive definite")
	}
	return log/2 - (1+k)/2*math.Log(1+mat.Inner(x, precision, x))
}

// TestZellnerSiowIsItsDensity: what the prior adds to a density, between two points, is
// that of the Cauchy law. With the features known that is of coefficients and
// of σ, and with noisy ones of the second moments too: without their determinant it is not.
func TestZellnerSiowIsItsDensity(t *testing.T) {
	const r, n = 0.4, 200
	for _, momentSD := range []float64{0, 4} {
		with, plain := mustLinear(t, siowSums(momentSD, r)), mustLinear(t, siowSums(momentSD, 0))
		if with.hidden != nil {
			plain.hidden.basis, plain.hidden.length = with.hidden.basis, with.hidden.length
		}
		rng := rand.New(rand.NewPCG(1, 2))
		f, g := with.Density(), plain.Density()
		grad := make([]float64, f.Dim())
		added := func(at []float64) (ours, theirs, root float64) {
			square, theta := with.square, slices.Clone(at)
			with.parametersAt(theta)
			if with.hidden != nil {
				h := f.(*hiddenEvaluator)
				h.spread(at[4:])
				square = h.square
			}
			root = math.Log(mat.Det(mat.NewDense(3, 3, append([]float64(nil), square...)))) / 2
			sigma := 0.01 + math.Exp(at[3])
			return f.LogDensityGrad(grad, at) - g.LogDensityGrad(grad, at), cauchy(t, square, theta[1:3], r, n, sigma), root
		}
		at := make([]float64, f.Dim())
		first, reference, root := added(at)
		for range 20 {
			for j := range at {
				at[j] = 0.3 * rng.NormFloat64()
			}
			ours, theirs, moved := added(at)
			if off := (ours - first) - (theirs - reference); math.Abs(off) > 1e-8 {
				t.Errorf("noise %v: the prior is off by %v", momentSD, off)
			}
			if off := (ours - moved - first + root) - (theirs - reference); momentSD > 0 && math.Abs(off) < 1e-8 {
				t.Errorf("the determinant does not show")
			}
		}
		checkGradient(t, "prior of what features explain", f, at, 0.1)
	}
}

func mustLinear(t *testing.T, c LinearConfig) *Linear {
	t.Helper()
	l, err := NewLinear(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestZellnerSiowInUnits: the prior does not depend on the unit of the response, and one of
// no features but the constant is none.
func TestZellnerSiowInUnits(t *testing.T) {
	const unit = 2
	one, other := siowSums(0, 0.4), siowSums(0, 0.4)
	for j := range 4 {
		other.Sums.Moment[4*j+3] /= unit
		other.Sums.Moment[12+j] /= unit
	}
	f, g := mustLinear(t, one).Density(), mustLinear(t, other.In(unit)).Density()
	grad, at, first := make([]float64, 4), make([]float64, 4), 0.0
	for i, theta := range [][]float64{{0.3, -1, 0.5, 0.2}, {1, 2, 0.1, -0.3}, {-1, 0, 1, 0}} {
		a := f.LogDensityGrad(grad, theta)
		for j := range 3 {
			at[j] = theta[j] / unit
		}
		at[3] = theta[3] - math.Log(unit)
		if off := a - g.LogDensityGrad(grad, at); i == 0 {
			first = off
		} else if math.Abs(off-first) > 1e-8 {
			t.Errorf("in another unit the density is off by %v", off-first)
		}
	}
	alone := siowSums(4, 0.4)
	alone.Sums.Moment, alone.Sums.Features, alone.Sums.Columns = []float64{50, 20, 20, 70}, 1, alone.Sums.Columns[:1]
	if l := mustLinear(t, alone); l.newExplained() != nil || l.hidden.given != 0 {
		t.Error("an intercept alone is to explain something")
	}
}

func TestZellnerSiowRefuses(t *testing.T) {
	for _, r := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := NewLinear(siowSums(1, r)); err == nil {
			t.Errorf("a ratio of %v is taken", r)
		}
	}
}
