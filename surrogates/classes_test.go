package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
)

// simulatedClasses is a release at an anchor of a softmax regression with three classes and
// coefficients from the prior, and they. Its noise is that many times what is stated.
func simulatedClasses(rng *rand.Rand, p, records int, noise, stated float64) (ClassesConfig, []float64) {
	return farClasses(rng, p, records, noise, stated, 1.5, 0.3)
}

// farClasses has coefficients and a way from them to the anchor of these standard deviations.
func farClasses(rng *rand.Rand, p, records int, noise, stated, sd, way float64) (ClassesConfig, []float64) {
	const of = 3
	d := of * p
	prior := priors.Gaussian{SD: sd}
	truth, at, x := make([]float64, d), make([]float64, d), make([]float64, p)
	prior.Sample(truth, rng)
	for j, v := range truth {
		at[j] = v + way*rng.NormFloat64()
	}
	s := Statistics{Anchor: at, Score: make([]float64, d), ScoreSD: noise * stated, Moment: make([]float64, p*p),
		MomentSD: noise * stated, Records: int64(records), Radius: 1, Columns: make([]Column, p)}
	s.Columns[0] = Column{Kind: Constant, Upper: 1 / math.Sqrt(float64(p))}
	probs, here := make([]float64, of), make([]float64, of)
	for range records {
		for j := range x {
			x[j] = 0.7 * rng.NormFloat64() / math.Sqrt(float64(p))
		}
		x[0] = s.Columns[0].Upper
		chancesOf(probs, truth, x)
		chancesOf(here, at, x)
		u, y := rng.Float64(), 0
		for y < of-1 && u > probs[y] {
			u -= probs[y]
			y++
		}
		here[y]--
		for j, v := range x {
			for k, g := range here {
				s.Score[k*p+j] += g * v
			}
			for k, w := range x {
				s.Moment[j*p+k] += v * w
			}
		}
	}
	for j := range s.Score {
		s.Score[j] += noise * rng.NormFloat64()
	}
	noisySquares(s.Moment, p, noise, rng)
	return ClassesConfig{Statistics: s, Prior: prior}, truth
}

// TestClassGradients compares gradients with differences, of few features and of many, which
// share the mean of their second moments.
func TestClassGradients(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		p := rapid.SampledFrom([]int{2, 3, mostClassNumbers + 1}).Draw(r, "features")
		c, _ := simulatedClasses(rand.New(rand.NewPCG(seed, 1)), p, 300, rapid.Float64Range(1, 30).Draw(r, "noise"), 1)
		c.Statistics.Temperature = rapid.SampledFrom([]float64{1, 0.25}).Draw(r, "temperature")
		c.Imputations = 2
		post, err := NewClasses(c)
		if err != nil {
			r.Fatal(err)
		}
		if (p > mostClassNumbers) != (post.rows[0].lacking != nil) {
			r.Fatal("which features share second moments?")
		}
		checkGradient(t, "classes", post.Density(), post.mean, 0.5)
	})
}

// TestClassRows: rows have the mean and the covariance of their law.
func TestClassRows(t *testing.T) {
	c, _ := simulatedClasses(rand.New(rand.NewPCG(3, 1)), 4, 500, 5, 1)
	post, err := NewClasses(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range post.rows {
		p, sums := post.p, mat.NewDense(post.p, post.p, nil)
		r.visit(func(x []float64, each float64) {
			sums.RankOne(sums, each, mat.NewVecDense(p, x), mat.NewVecDense(p, x))
		})
		for j := range p {
			for k := range p {
				sum := sums.At(j, k)
				if want := r.law.spread[j*p+k] + r.law.mean[j]*r.law.mean[k]; math.Abs(sum-want) > 1e-9 {
					t.Errorf("second moment %d, %d of rows is %v and of the law %v", j, k, sum, want)
				}
			}
		}
	}
}

// classRanks are the ranks of two contrasts of classes.
func classRanks(t *testing.T, seed uint64, stated float64) []float64 {
	t.Helper()
	c, truth := simulatedClasses(rand.New(rand.NewPCG(seed, 7)), 2, 400, 16, stated)
	c.Imputations, c.Seed = 2, seed
	post, err := NewClasses(c)
	if err != nil {
		t.Fatal(err)
	}
	draws := quick(t, post, seed)
	var ranks []float64
	for _, j := range []int{0, 3} {
		v := post.contrast(j).RawVector().Data
		told, chains := dot(v, truth), Draws{}
		for _, chain := range draws.Chains {
			var one [][]float64
			for _, theta := range chain {
				one = append(one, []float64{dot(v, theta)})
			}
			chains.Chains = append(chains.Chains, one)
		}
		ranks = append(ranks, rankOf(chains, 0, told))
	}
	return slices.Clip(ranks)
}

// TestClassCalibration is TestCalibration for softmax regressions: an alarm in 2·10⁷ runs, and a
// posterior that takes the release for exact is rejected.
func TestClassCalibration(t *testing.T) {
	sets := 80
	if testing.Short() {
		sets = 40
	}
	const limit = 5.6
	e := off(sets, func(seed uint64) []float64 { return classRanks(t, seed, 1) })
	t.Logf("ranks are %.1f standard errors from uniform", e)
	if e > limit {
		t.Errorf("ranks are %.1f standard errors from uniform", e)
	}
	if e := off(30, func(seed uint64) []float64 { return classRanks(t, seed, 1e-3) }); e < limit { // 6.7
		t.Errorf("a posterior that ignores the noise passes, %.1f standard errors from uniform", e)
	}
}

// TestEffectsOfClassesAreLearnt: effects of 0.3 are found to be small. Truths are as far from means as draws say, and
// widths are at most 0.7 of those under the largest effects, the mutant. The mean square of 30 standardized
// distances, of which 20 are independent, is above 3.3 once in 10⁶ runs or less, if they are normal. Seeds are fixed.
func TestEffectsOfClassesAreLearnt(t *testing.T) {
	const sets, p = 2, 6
	square, ratio, count := 0.0, 0.0, 0.0
	for seed := range uint64(sets) {
		c, truth := farClasses(rand.New(rand.NewPCG(seed, 31)), p, 1000, 20, 1, 1, 0.3)
		c.Prior, c.Effect, c.Seed, c.Imputations = priors.Gaussian{SD: 7}, 1.06, seed, 2
		told := func(shares []float64) (means, widths []float64) {
			before := effectShares
			effectShares = shares
			defer func() { effectShares = before }()
			post, err := NewClasses(c)
			if err != nil {
				t.Fatal(err)
			}
			draws := quick(t, post, seed)
			for j := range post.dim {
				var along []float64
				for _, theta := range slices.Concat(draws.Chains...) {
					along = append(along, dot(post.contrast(j).RawVector().Data, theta))
				}
				means, widths = append(means, stat.Mean(along, nil)), append(widths, stat.StdDev(along, nil))
			}
			return means, widths
		}
		means, widths := told(effectShares)
		_, alone := told([]float64{1000})
		truth = (&Classes{dim: len(truth), p: p, of: len(truth) / p}).contrasts(truth)
		for j, w := range widths {
			if j%p != 0 {
				z := (means[j] - truth[j]) / w
				square, ratio, count = square+z*z, ratio+math.Log(w/alone[j]), count+1
			}
		}
	}
	t.Logf("mean square %.2f, and %.2f of the width alone", square/count, math.Exp(ratio/count))
	if square/count > 3.3 || ratio/count > math.Log(0.7) {
		t.Errorf("mean square %v and %v of the width alone; at most 3.3 and 0.7 are meant", square/count,
			math.Exp(ratio/count))
	}
}
