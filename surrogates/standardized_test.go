package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// columnsOf are statistics of an intercept of ½ and numbers of the given means and standard
// deviations, independent, in bounds of ±1, over n records, with the noise of rng.
func columnsOf(n int64, noise float64, means, sds []float64, rng *rand.Rand) Statistics {
	d := len(means) + 1
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 1, Moment: make([]float64, d*d),
		MomentSD: noise, Records: n, Radius: 1, Columns: []Column{{Kind: Constant, Upper: 0.5}}}
	at, spread := append([]float64{0.5}, means...), append([]float64{0}, sds...)
	for range means {
		s.Columns = append(s.Columns, Column{Lower: -1, Upper: 1})
	}
	for j := range d {
		for k := range j + 1 {
			v, sd := float64(n)*at[j]*at[k], noise/math.Sqrt2
			if j == k {
				v, sd = v+float64(n)*spread[j]*spread[j], noise
			}
			v += sd * rng.NormFloat64()
			s.Moment[j*d+k], s.Moment[k*d+j] = v, v
		}
	}
	return s
}

// Without noise a standard deviation of a column adds N(0, effect²), and the predictor at the
// columns' means is N(0, (½·3)²).
func TestStandardizedIsOfStandardDeviations(t *testing.T) {
	means, sds := []float64{0.3, -0.2}, []float64{0.01, 0.2}
	s := columnsOf(1000, 0, means, sds, rand.New(rand.NewPCG(1, 1)))
	got := s.Standardized(1.5, priors.Gaussian{SD: 3})
	for j, want := range []float64{3, 1.5 / 0.01, 1.5 / 0.2} {
		if math.Abs(got.SDs[j]/want-1) > 1e-9 {
			t.Errorf("the prior's standard deviation of coefficient %d is %v, not %v", j, got.SDs[j], want)
		}
	}
	for j, want := range []float64{0, 0.6, -0.4} {
		if math.Abs(got.Means[j]-want) > 1e-9 || got.Intercept != 0 {
			t.Errorf("the predictor is centred at %v of column %d, not %v", got.Means[j], j, want)
		}
	}
	s.Columns[1] = Column{Kind: Level, Upper: 1}
	if got := s.Standardized(1.5, priors.Gaussian{SDs: []float64{3, 4, 5}}); got.SDs[1] != 4 ||
		math.Abs(got.Means[1]-0.6) > 1e-9 {
		t.Errorf("a level has the prior standard deviation %v, not the model's, and is centred at %v", got.SDs[1],
			got.Means[1])
	}
	s.Columns[1] = Column{Kind: Level, Lower: -1, Upper: 1}
	if got := s.Standardized(1.5, priors.Gaussian{SDs: []float64{3, 4, 5}}).SDs[1]; got != 2 { // they are 2 apart
		t.Errorf("labels of a binary column differ by a prior standard deviation of %v, not by that of two levels, 4", 2*got)
	}
}

// The log odds of the mean response over records are N(0, 3²) under the prior of fitted numbers, but for an
// eighth: with the intercept's own prior, and 15 numbers, they would hardly be beyond 1.
func TestOpennessKeepsMeanResponses(t *testing.T) {
	for _, numbers := range []int{1, 4, 8, 15} {
		intercept := 3 * Openness(numbers)
		mean := momentsOf(intercept, 1.5*1.5*float64(numbers))[0] // at one standard deviation of the prior
		if got := math.Log(mean / (1 - mean)); math.Abs(got/3-1) > 0.125 {
			t.Errorf("%d numbers: mean responses have log odds of standard deviation %.2f, not 3", numbers, got)
		}
	}
}

// Given each law of features a standard deviation of its columns adds N(0, effect²) as well, or less where it is
// below the least that the release allows for. The predictor at the law's means is N(0, (½·3)²). Laws that
// share their moments have one prior, of the least spreads.
func TestEachLawHasItsPrior(t *testing.T) {
	s := columnsOf(1000, 20, []float64{0.3, -0.2}, []float64{0.1, 0.2}, rand.New(rand.NewPCG(6, 5)))
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	least, narrow := s.Standardized(1.5, priors.Gaussian{SD: 3}).SDs, 0
	var first []float64
	for k, im := range p.imputations {
		n, prior := im.features.normal, im.effects.CentredGaussian
		for j := 1; j < 3; j++ {
			mean, variance := n.moments(j)
			want := 1.5 / math.Sqrt(variance)
			if want > least[j] {
				want = least[j]
				narrow++
			}
			if math.Abs(prior.SDs[j]/want-1) > 1e-9 || math.Abs(prior.Means[j]*n.mean[0]-mean) > 1e-9 {
				t.Errorf("law %d: standard deviation %v and mean %v of coefficient %d, of a column %v ± %v", k, prior.SDs[j],
					prior.Means[j], j, mean, math.Sqrt(variance))
			}
		}
		if prior.SDs[0] != 3 {
			t.Errorf("law %d: the predictor at the means has a prior standard deviation of %v", k, prior.SDs[0]/2)
		}
		if k > 0 && slices.Equal(first, prior.SDs) {
			t.Error("two laws have one prior")
		}
		first = prior.SDs
	}
	if narrow == 0 || narrow == 2*len(p.imputations) {
		t.Errorf("%d spreads of laws are below the least; the test needs some, and not all", narrow)
	}
	const more = mostNumbers
	many := columnsOf(1000, 20, make([]float64, more), slices.Repeat([]float64{0.05}, more), rand.New(rand.NewPCG(6, 6)))
	p, err = New(Config{Statistics: many, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	want := many.Standardized(1.5, priors.Gaussian{SD: 3})
	got := p.imputations[0].effects
	if !slices.Equal(got.SDs, want.SDs) || !slices.Equal(got.Means, want.Means) {
		t.Errorf("the prior of many columns is %+v, not %+v", got, want)
	}
}

// Laws count by evidences of priors with the same integral, and the posterior's density is the mean of prior times
// likelihood.
func TestPriorsOfLawsAreNormalized(t *testing.T) {
	s := columnsOf(1000, 20, []float64{0.3}, []float64{0.2}, rand.New(rand.NewPCG(7, 7)))
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	for k, im := range p.imputations {
		sum, sds := 0.0, im.effects.SDs
		const step = 0.01
		for u := -8.0; u < 8; u += step {
			for v := -8.0; v < 8; v += step {
				sum += math.Exp(im.prior.LogDensity([]float64{u*sds[0] - im.effects.Means[1]*v*sds[1], v * sds[1]}))
			}
		}
		if integral := sum * step * step * sds[0] * sds[1] / (2 * math.Pi); math.Abs(integral-1) > 1e-6 {
			t.Errorf("law %d has a prior of integral 2π·%v", k, integral)
		}
		if k == 1 {
			break
		}
	}
	theta, e, mean := []float64{-0.5, 1}, p.evaluator(), 0.0
	for k := range p.imputations {
		im := &p.imputations[k]
		log := im.prior.LogDensity(theta) - im.chosen + e.likelihood(e.grads[k], theta, im, e.features[k])
		mean += math.Exp(log) / float64(len(p.imputations))
	}
	if got := e.LogDensityGrad(make([]float64, 2), theta); math.Abs(math.Exp(got)/mean-1) > 1e-9 {
		t.Errorf("the posterior is %v, and priors times likelihoods have the mean %v", math.Exp(got), mean)
	}
}

// The normal approximation of a prior has its precision, which is minus the derivative of its gradient, and its
// variances.
func TestBroadIsThePrior(t *testing.T) {
	prior := CentredGaussian{Gaussian: priors.Gaussian{SDs: []float64{2, 0.5, 3}}, Intercept: 1,
		Means: []float64{0.7, 0, -1.1}}
	b := broaden(prior, 3, nil)
	precision, inverse := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
	b.precision(precision, 1)
	for j := range 3 {
		at, grad := make([]float64, 3), make([]float64, 3)
		at[j] = 1
		prior.Grad(grad, at)
		for k := range 3 {
			if math.Abs(precision.At(j, k)+grad[k]) > 1e-12 {
				t.Errorf("precision %d, %d is %v, not %v", j, k, precision.At(j, k), -grad[k])
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) || chol.InverseTo(inverse) != nil {
		t.Fatal("the precision has no inverse")
	}
	for j := range 3 {
		if v := b.variance(j); math.Abs(v/inverse.At(j, j)-1) > 1e-9 {
			t.Errorf("variance %d is %v, not %v", j, v, inverse.At(j, j))
		}
	}
}

// Noise leaves a tenth of priors narrower than the effect a standard deviation. The limit is five standard errors off,
// which raises a false alarm less than once in 10⁶ runs; the mean in place of the tenth fails.
func TestNoiseWidensStandardized(t *testing.T) {
	const releases = 3000
	rng := rand.New(rand.NewPCG(2, 2))
	narrow := 0.0
	for range releases {
		sd := math.Sqrt(rng.Float64() * 0.4) // variances are as likely everywhere
		s := columnsOf(1000, 20, []float64{0}, []float64{sd}, rng)
		if s.Standardized(1.5, priors.Gaussian{SD: 3}).SDs[1]*sd < 1.5 {
			narrow++
		}
	}
	if share := narrow / releases; math.Abs(share-0.1) > 5*math.Sqrt(0.09/releases) {
		t.Errorf("%.3f of the priors are narrower than an ordinary effect; 0.1 should be", share)
	}
}

// Noise in a column's mean moves what the predictor is there by that noise times the slope, which the intercept's
// prior allows for.
func TestNoiseInMeansWidensIntercept(t *testing.T) {
	s := columnsOf(1000, 20, []float64{0.4}, []float64{0.3}, rand.New(rand.NewPCG(8, 8)))
	got := s.Standardized(1.5, priors.Gaussian{SD: 3})
	noise := 20 / math.Sqrt2 / (1000 * 0.5 * 0.5) // of the mean over ½
	if want := math.Hypot(3, noise*got.SDs[1]); math.Abs(got.SDs[0]/want-1) > 1e-9 {
		t.Errorf("the intercept's standard deviation is %v, not %v", got.SDs[0], want)
	}
}

// Noise alone takes no column for one that is wider than well chosen bounds make it.
func TestNoiseMakesNoColumnWide(t *testing.T) {
	for seed := range uint64(20) {
		s := columnsOf(1000, 1e5, []float64{0}, []float64{0.3}, rand.New(rand.NewPCG(seed, 10)))
		least := 1.5 / s.Standardized(1.5, priors.Gaussian{SD: 3}).SDs[1]
		_, variance, noise := s.released(1)
		if least > max(1.0/3, math.Sqrt(max(0, variance-1.28*noise)))+1e-9 {
			t.Errorf("seed %d: the least standard deviation is %v, in bounds of ±1", seed, least)
		}
	}
}

// Where noise hides everything draws are those of the prior, whatever the spread of columns in a law, and all
// coefficients are said to be hidden. None is where a release has next to no noise.
func TestCheckSeesWhatPriorsOfLawsDetermine(t *testing.T) {
	for noise, want := range map[float64][]int{1e4: {0, 1, 2}, 1e-2: nil} {
		s := columnsOf(100000, 20*noise, []float64{0.3, -0.2}, []float64{0.1, 0.2}, rand.New(rand.NewPCG(9, 9)))
		s.ScoreSD = noise
		p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		check, err := p.CheckPrior(quick(t, p, 1))
		if err != nil || !slices.Equal(check.Hidden, want) || len(check.Narrow) > 0 || check.Conflict() {
			t.Errorf("noise %v: %+v, %v", noise, check, err)
		}
	}
}

// Columns far narrower than their bounds are told from ordinary ones, unless noise hides either or
// neither. Limits are four standard deviations of noise from what is asked, and the seed is fixed.
func TestFaint(t *testing.T) {
	for name, c := range map[string]struct {
		n         int64
		noise, sd float64
		faint     bool
	}{
		"far too wide bounds":                {2000, 20, 0.01, true},
		"ordinary":                           {2000, 20, 1.0 / 3, false},
		"too wide, but plainly seen":         {2000000, 20, 0.01, false},
		"noise would hide ordinary ones too": {150, 20, 0.01, false},
		"no noise":                           {2000, 0, 0.01, false},
	} {
		s := columnsOf(c.n, c.noise, make([]float64, 5), slices.Repeat([]float64{c.sd}, 5), rand.New(rand.NewPCG(3, 3)))
		if got := s.faint(); (len(got) == 5) != c.faint || !c.faint && got != nil {
			t.Errorf("%s: columns %v are faint; all of them: %v", name, got, c.faint)
		}
		if s.Weighted = true; s.faint() != nil {
			t.Errorf("%s: curvatures are taken for spreads", name)
		}
	}
}

// Of columns whose standard deviation is so far from twice the noise in their variance that four standard deviations
// of it lie between, those are unseen that have less. The seed is fixed. Columns without bounds are not taken for such.
func TestUnseen(t *testing.T) {
	const n, noise = 2000, 20
	for sd, want := range map[float64]int{0: 5, 0.3: 0} {
		s := columnsOf(n, noise, make([]float64, 5), slices.Repeat([]float64{sd}, 5), rand.New(rand.NewPCG(3, 3)))
		for j := range s.Columns[1:] {
			_, variance, hides := s.released(j + 1)
			if hides == 0 || math.Abs(variance-sd*sd) > 2*hides {
				t.Fatalf("variance %v, noise %v", variance, hides)
			}
		}
		if got := s.unseen(); len(got) != want {
			t.Errorf("standard deviation %v: columns %v are unseen", sd, got)
		}
		for j := range s.Columns {
			s.Columns[j].Lower, s.Columns[j].Upper = 0, 0
		}
		if got := s.unseen(); got != nil {
			t.Errorf("columns %v without bounds are unseen", got)
		}
	}
}

// A posterior takes the standardized prior where it is asked for, and only beside a normal one.
func TestEffect(t *testing.T) {
	s := columnsOf(1000, 1, []float64{0}, []float64{0.05}, rand.New(rand.NewPCG(4, 4)))
	c := Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if p.imputations[0].effects == nil {
		t.Errorf("the prior is %+v", p.imputations[0].prior)
	}
	for _, effect := range []float64{-1, math.Inf(1), math.NaN()} {
		c.Effect = effect
		if _, err := New(c); err == nil {
			t.Errorf("an effect of %v was taken", effect)
		}
	}
	c.Effect, c.Prior = 1.5, priors.StudentT{DegreesOfFreedom: 4, Scale: 3}
	if _, err := New(c); err == nil {
		t.Error("a Student-t prior was standardized")
	}
}
