package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestOnColumns: the prior on columns of a law is normal with the precision that it states, whose
// inverse has the variances that it states. Its gradients are those of its density, which integrates
// to 1, and a prior of twice the coefficients has four times the variances.
func TestOnColumns(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		p, of := rapid.IntRange(1, 5).Draw(r, "features"), rapid.IntRange(1, 3).Draw(r, "predictors")
		s := Statistics{Records: 100, Radius: 1, Columns: make([]Column, p)}
		law := &normal{mean: make([]float64, p), spread: make([]float64, p*p)}
		for j := range p {
			law.mean[j], law.spread[j*p+j] = rng.NormFloat64(), 0.1+rng.Float64()
			s.Columns[j] = Column{Kind: rapid.SampledFrom([]ColumnKind{Number, Level}).Draw(r, "kind"), Lower: -1, Upper: 1}
		}
		if rapid.Bool().Draw(r, "constant") {
			j := rng.IntN(p)
			s.Columns[j] = Column{Kind: Constant, Upper: 0.5}
			law.mean[j], law.spread[j*p+j] = 0.5, 0
		}
		levels := rapid.IntRange(0, p).Draw(r, "levels of a category")
		for j := range levels {
			s.Columns[j] = Column{Kind: Level, Upper: 1}
		}
		model, same := priors.Gaussian{SDs: make([]float64, p*of)}, rng.Float64()
		for i := range model.SDs {
			model.SDs[i] = 0.5 + rng.Float64()
			if i%p < levels {
				model.SDs[i] = 0.5 + same
			}
		}
		s.Anchor = make([]float64, p)
		o := broad{s.onColumns(1.5, model, s.standingOf(law), p*of)}
		if err := o.Check(p * of); err != nil {
			t.Fatal(err)
		}
		precision, cov := mat.NewSymDense(p*of, nil), mat.NewSymDense(p*of, nil)
		o.precision(precision, 1)
		var chol mat.Cholesky
		if !chol.Factorize(precision) || chol.InverseTo(cov) != nil {
			t.Fatal("the precision is not positive definite")
		}
		theta, wide := make([]float64, p*of), o.widened(2)
		for i := range theta {
			theta[i] = rng.NormFloat64()
			if v := cov.At(i, i); math.Abs(o.variance(i)/v-1) > 1e-9 || math.Abs(wide.variance(i)/v-4) > 1e-9 {
				r.Fatalf("variance %v of coefficient %d is stated as %v, and of the wide prior as %v", v, i, o.variance(i),
					wide.variance(i))
			}
			if j := i % p; s.Columns[j].Kind == Number && math.Abs(o.variance(i)*law.spread[j*p+j]-1.5*1.5) > 1e-9 {
				r.Fatalf("a standard deviation of column %d moves a predictor by a variance of %v", j,
					o.variance(i)*law.spread[j*p+j])
			}
		}
		at := mat.NewVecDense(len(theta), theta)
		if v := mat.Inner(at, cov, at); math.Abs(o.along(theta)/v-1) > 1e-9 {
			r.Fatalf("variance %v along %v is stated as %v", v, theta, o.along(theta))
		}
		want := (chol.LogDet() - mat.Inner(at, precision, at)) / 2
		if got := o.LogDensity(theta) + o.log(); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			r.Fatalf("log density %v, and by the precision %v", got, want)
		}
		grad := make([]float64, len(theta))
		o.Grad(grad, theta)
		for i, g := range grad {
			want := 0.0
			for k, v := range theta {
				want -= precision.At(i, k) * v
			}
			if math.Abs(g-want) > 1e-9*(1+math.Abs(want)) {
				r.Fatalf("gradient %v along %d, and by the precision %v", g, i, want)
			}
		}
	})
}

// TestOnColumnsDraws: 4000 draws have the mean squares that are stated, within 5.6 standard errors, an
// alarm in 10⁷ runs for all. Draws of constants at zeros in place of means have not.
func TestOnColumnsDraws(t *testing.T) {
	const draws = 4000
	s := Statistics{Records: 100, Radius: 1, Anchor: make([]float64, 2),
		Columns: []Column{{Kind: Constant, Upper: 0.5}, {Kind: Number, Lower: -1, Upper: 1}}}
	law := &normal{mean: []float64{0.5, 0.4}, spread: []float64{0, 0, 0, 0.01}}
	o := broad{s.onColumns(1, priors.Gaussian{SD: 2}, s.standingOf(law), 4)}
	off := func(o broad) (worst float64) {
		rng, theta, squares := rand.New(rand.NewPCG(2, 3)), make([]float64, 4), make([]float64, 4)
		for range draws {
			o.Sample(theta, rng)
			for i, v := range theta {
				squares[i] += v * v / draws
			}
		}
		for i, v := range squares {
			worst = max(worst, math.Abs(v/([]float64{4 + 0.8*0.8*100, 100})[i%2]-1)*math.Sqrt(draws/2.0))
		}
		return worst
	}
	if e := off(o); e > 5.6 {
		t.Errorf("mean squares are %.1f standard errors off", e)
	}
	all := func(int) float64 { return 1 }
	one, wide := newEffects(o.CentredGaussian, 2, all), newEffects(o.CentredGaussian, 0.25, all)
	either, theta := eitherOf{one, wide}, []float64{1, 2, -1, 3}
	want := math.Log(math.Exp(one.LogDensity(theta)) + math.Exp(wide.LogDensity(theta)))
	if got := either.LogDensity(theta); math.Abs(got-want) > 1e-9 {
		t.Errorf("the log density of either is %v, not %v", got, want)
	}
	mutant := o
	mutant.Means = make([]float64, 2)
	if e := off(mutant); e < 5.6 {
		t.Errorf("a prior of the predictor at 0 passes, %.1f standard errors off", e)
	}
}

// TestEffectOfClasses: each imputation has the prior on columns of its own law, and parts the one of theirs. Columns
// that noise hides are found under that prior alone: the limit is that of TestFaint.
func TestEffectOfClasses(t *testing.T) {
	s := columnsOf(2000, 20, make([]float64, 5), slices.Repeat([]float64{0.01}, 5), rand.New(rand.NewPCG(5, 5)))
	c := ClassesConfig{Statistics: s, Prior: priors.Gaussian{SD: 3}, Effect: 1.5}
	c.Statistics.Anchor, c.Statistics.Score = make([]float64, 12), make([]float64, 12)
	for _, effect := range []float64{1.5, 0} {
		c.Effect = effect
		p, err := NewClasses(c)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := p.parts()
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range p.rows {
			_, variance := r.law.moments(1)
			_, least, _ := c.ofFeatures().standing(1)
			variance = max(variance, least)
			own := parts[k].(*Classes).priors().widest()[0].broad.variance(1)
			if want := effect * effect / variance; effect > 0 && math.Abs(own/want-1) > 1e-9 || effect == 0 && own != 9 {
				t.Errorf("effect %v: the variance of slopes is %v, on columns of variance %v", effect, own, variance)
			}
		}
		chain := make([][]float64, 100)
		rng := rand.New(rand.NewPCG(6, 6))
		for i := range chain {
			chain[i] = make([]float64, 12)
			for j := range chain[i] {
				chain[i][j] = rng.NormFloat64()
			}
		}
		check, err := p.CheckPrior(Draws{Chains: [][][]float64{chain}})
		if err != nil {
			t.Fatal(err)
		}
		if faint := len(check.Faint) == 5; faint != (effect > 0) {
			t.Errorf("effect %v: columns %v are faint", effect, check.Faint)
		}
	}
	for _, effect := range []float64{-1, math.Inf(1), math.NaN()} {
		c.Effect = effect
		if _, err := NewClasses(c); err == nil {
			t.Errorf("an effect of %v was taken", effect)
		}
	}
	c.Effect, c.Prior = 1.5, priors.StudentT{DegreesOfFreedom: 4, Scale: 3}
	if _, err := NewClasses(c); err == nil {
		t.Error("a Student-t prior was standardized")
	}
}
