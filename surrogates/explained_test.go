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

// cauchy is the log density of coefficients of some features: a multivariate t with one degree of freedom and the
// scale σ²·(ρ/k)·N·C⁻¹, C their second moments about the constant column.
func cauchy(t *testing.T, square []float64, d int, features []int, theta []float64, rho, n, sigma float64) float64 {
	t.Helper()
	k := len(features)
	precision, about := mat.NewSymDense(k, nil), func(i, j int) float64 {
		return square[i*d+j] - square[i*d]*square[j*d]/square[0]
	}
	x := mat.NewVecDense(k, nil)
	for a, i := range features {
		x.SetVec(a, theta[i])
		for b, j := range features {
			precision.SetSym(a, b, about(i, j)/(sigma*sigma*rho/float64(k)*n))
		}
	}
	log, sign := mat.LogDet(precision)
	if sign <= 0 {
		t.Fatal("the second moments are not positive definite")
	}
	whole, _ := math.Lgamma(float64(k+1) / 2)
	return whole + log/2 - float64(k+1)/2*math.Log(math.Pi) - float64(1+k)/2*math.Log(1+mat.Inner(x, precision, x))
}

// manySums has d features of 200 records: a constant column, numbers, and a category of two levels.
func manySums(d int, momentSD, r float64, effect func(j int) float64) LinearConfig {
	const n = 200
	rng := rand.New(rand.NewPCG(5, 6))
	c := siowSums(momentSD, r)
	c.Sums.Features, c.Sums.Columns, c.Sums.Moment = d, make([]Column, d), make([]float64, (d+1)*(d+1))
	c.Sums.Columns[0] = Column{Kind: Constant, Upper: 0.5}
	c.Sums.Columns[d-2] = Column{Kind: Level, Upper: 1, Group: 1}
	c.Sums.Columns[d-1] = c.Sums.Columns[d-2]
	for range n {
		row := make([]float64, d+1)
		row[0] = 0.5
		row[d] = rng.NormFloat64()
		for j := 1; j < d; j++ {
			row[j] = rng.NormFloat64()
			row[d] += effect(j) * row[j]
		}
		for j, v := range row {
			for k, w := range row {
				c.Sums.Moment[j*(d+1)+k] += v * w
			}
		}
	}
	return c
}

// TestExplainedIsItsDensity: what the prior adds to a density, between two points, is that of all features as one set,
// and beyond 32 of them as much of sets of their own, with a ρ that may be smaller beyond 24. With the features known
// that is of coefficients and of σ, and with noisy ones of the second moments too. One set alone with the largest ρ
// is not it, nor sets of their own alone.
func TestExplainedIsItsDensity(t *testing.T) {
	for _, d := range []int{25, 30, 36} {
		for _, momentSD := range []float64{0, 4} {
			explainedIsItsDensity(t, d, momentSD)
		}
	}
}

func explainedIsItsDensity(t *testing.T, d int, momentSD float64) {
	const r, n = 0.4, 200
	none := func(int) float64 { return 0 }
	with, plain := mustLinear(t, manySums(d, momentSD, r, none)), mustLinear(t, manySums(d, momentSD, 0, none))
	if with.hidden != nil {
		plain.hidden.basis, plain.hidden.length = with.hidden.basis, with.hidden.length
	}
	rng := rand.New(rand.NewPCG(1, 2))
	f, g := with.Density(), plain.Density()
	grad := make([]float64, f.Dim())
	added := func(at []float64) (ours float64, theirs [3]float64) {
		square, theta := with.square, slices.Clone(at)
		with.parametersAt(theta)
		if with.hidden != nil {
			h := f.(*hiddenEvaluator)
			h.spread(at[d+1:])
			square = h.square
		}
		sigma := 0.01 + math.Exp(at[d])
		of := func(rho float64, from, to int) float64 {
			var features []int
			for j := from; j < to; j++ {
				features = append(features, j)
			}
			return cauchy(t, square, d, features, theta, rho, n, sigma)
		}
		return f.LogDensityGrad(grad, at) - g.LogDensityGrad(grad, at), lawsExplained(d, r, of)
	}
	at := make([]float64, f.Dim())
	first, reference := added(at)
	var off [3]float64
	for i := range 20 {
		for j := range at {
			at[j] = 0.01 * rng.NormFloat64()
		}
		at[1] += float64(i % 5)
		ours, theirs := added(at)
		for i := range off {
			off[i] = max(off[i], math.Abs((ours-first)-(theirs[i]-reference[i])))
		}
	}
	checkGradient(t, "prior of what features explain", f, at, 0.1)
	if off[0] > 1e-5 || off[1] < 0.1 || off[2] < 0.1 {
		t.Errorf("%d features, noise %v: the prior is off by %v of its law, of another ρ, and of many sets", d, momentSD, off)
	}
}

// lawsExplained are the log densities of the prior of d features with the constant column, up to a constant, of one
// with another ρ, and of sets of their own alone, given that of features from and up to so many with a ρ.
func lawsExplained(d int, r float64, of func(rho float64, from, to int) float64) [3]float64 {
	together, apart, ratios := (math.Exp(of(r/4, 1, d))+math.Exp(of(r, 1, d)))/2, 0.0, 0.0
	for rho := r / float64(d-2); rho <= r; rho *= 4 {
		log := of(rho, d-2, d)
		for j := 1; j < d-2; j++ {
			log += of(rho, j, j+1)
		}
		apart += math.Exp(log)
		ratios++
	}
	apart /= ratios
	switch one := of(r, 1, d); {
	case d-1 <= 24:
		return [3]float64{one, math.Log(together), math.Log(apart)}
	case d-1 <= 32:
		return [3]float64{math.Log(together), one, math.Log(apart)}
	default:
		return [3]float64{math.Log(together + apart), one, math.Log(apart)}
	}
}

// TestFewExplainMuch: where two of 33 numbers explain nearly all, each number is a set by itself, and what the others
// explain is small. Where all explain as much, they are one set about as likely.
func TestFewExplainMuch(t *testing.T) {
	for name, c := range map[string]struct {
		effect      func(j int) float64
		least, most float64
	}{
		"two": {func(j int) float64 { return float64(2 * max(0, 3-j)) }, 0.999, 1},
		"all": {func(j int) float64 { return 0.5 * float64(1-j%2*2) }, 0, 0.5},
	} {
		l := mustLinear(t, manySums(36, 0, 0.4, c.effect))
		e, beta := l.newExplained(), make([]float64, 36)
		for j := 1; j < 36; j++ {
			beta[j] = c.effect(j)
		}
		e.log(make([]float64, 36), beta, 1)
		if w := e.ways[1].weight; w < c.least || w > c.most {
			t.Errorf("%s: sets of their own have the weight %v, not %v to %v", name, w, c.least, c.most)
		}
	}
}

// TestLittleExplained: where 29 features explain little together, the smaller ρ is likelier, and where they explain
// much the larger is.
func TestLittleExplained(t *testing.T) {
	for effect, likely := range map[float64]int{0.02: 0, 1: 1} {
		e := mustLinear(t, manySums(30, 0, 0.4, func(int) float64 { return 0 })).newExplained()
		e.log(make([]float64, 30), slices.Repeat([]float64{effect}, 30), 1)
		if w := e.ways[0].logs; w[likely] < slices.Max(w) {
			t.Errorf("effects of %v: the weights of ρ are %v, so that %v is not the largest", effect, w, w[likely])
		}
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

// TestExplainedInUnits: the prior does not depend on the unit of the response, and one of
// no features but the constant is none.
func TestExplainedInUnits(t *testing.T) {
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
	if l := mustLinear(t, alone); l.newExplained() != nil {
		t.Error("an intercept alone is to explain something")
	}
}

func TestExplainedRefuses(t *testing.T) {
	for _, r := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := NewLinear(siowSums(1, r)); err == nil {
			t.Errorf("a ratio of %v is taken", r)
		}
	}
}
