package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
)

// lighter are nearly exact sums of fitted columns, of records of which a share is missing. Of the others a part of the
// errors' square was cut. Coefficients are in proportion to the effect, and few residuals follow columns.
func lighter(t *testing.T, share, noise, cut, effect float64) *Linear {
	t.Helper()
	const n = 4000
	rng := rand.New(rand.NewPCG(3, 5))
	s := Sums{Moment: make([]float64, 16), MomentSD: noise, Features: 3, Records: n, Radius: 3,
		Columns: []Column{{Kind: Constant, Upper: 1, Missing: 0.5}, {}, {}}}
	for range int(n * (1 - share)) {
		z := []float64{1, rng.NormFloat64(), rng.NormFloat64(), 0}
		z[3] = effect*(0.2+0.5*z[1]-0.4*z[2]) + rng.NormFloat64()
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*4+k] += u * v
			}
		}
	}
	c, err := LinearConfig{Sums: s, Prior: priors.Gaussian{SD: 30}, MinScale: 0.01,
		ScalePrior: priors.HalfCauchy{Scale: 1}}.Through(Seen{Matrix: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		Offset: make([]float64, 3), Unit: 1, Far: 7, Cut: cut})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLinear(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMissingWeightIsDoubted: of 4000 records a tenth is missing, so that an entry of Xᵀy is off by 38 standard
// deviations of an error, as where so much is usual, and by 116 since it is not. The others leave 60 open. Standard
// deviations of 400 effective draws are within 18% but once in 10⁶ times. Where noise may explain what is missing,
// normal columns' share counts, as where all are there, but for a tenth of what seems more, and what rows as long as
// bounds allow for may do is in the doubt alone.
func TestMissingWeightIsDoubted(t *testing.T) {
	l := lighter(t, 0.1, 1, 0, 0)
	draws, err := Sample(t.Context(), l, SampleConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	misfit := lightMisfit*math.Sqrt(0.1)*4000 + lightError*0.097*4000*3
	for j := range 3 {
		want := math.Hypot(60, misfit) / 3600
		if got := diag.Summarize(draws.Column(j)).SD; math.Abs(got/want-1) > 0.18 {
			t.Errorf("coefficient %d has the standard deviation %v, want %v", j, got, want)
		}
	}
	want := lightError * 0.097 * 4000 * 7 / 60 // of rows as long as bounds allow for
	if light := l.Light(draws); math.Abs(light.Share-0.097) > 0.002 || math.Abs(light.Shift/want-1) > 0.1 {
		t.Errorf("%+v, want 0.097 and %v", light, want)
	}
	for _, noise := range []float64{1, 600} { // of which a standard deviation may hide that share of the records
		l := lighter(t, 0, noise, 0, 0)
		want := lightError * noise * 7 / math.Sqrt(4000+noise*noise/2)
		if light := l.Light(draws); light.Share != 0 || light.Shift != 0 || math.Abs(light.Hidden/want-1) > 0.1 {
			t.Errorf("noise %v hides %v, want %v", noise, light.Hidden, want)
		}
	}
	usual := Misfit(usualLight(2, 9), 4000)
	for share, noise := range map[float64]float64{0: 1, 0.02: 200} {
		more := lightError * max(0, share-usualLight(2, 9)) * 4000 * 3
		if l := lighter(t, share, noise, 0, 1); math.Abs(l.doubt-usual-more) > 1e-6 {
			t.Errorf("a share of %v under noise of %v is doubted by %v, want %v", share, noise, l.doubt, usual+more)
		}
	}
}

// TestCutsAreKnown: where a twentieth of the errors' square was cut, about, their scale is a fortieth larger and as
// unsure. That is four of its standard deviations without. Their bounds are those of TestMissingWeightIsDoubted. So
// are coefficients, by the root of what was cut. Gradients are those of the density, also of hidden XᵀX.
func TestCutsAreKnown(t *testing.T) {
	scale := func(cut float64) (mean, sd float64) {
		l := lighter(t, 0, 1, cut, 1)
		if want := math.Hypot(Misfit(usualLight(2, 9), 4000), CutMisfit(cut, 4000)); math.Abs(l.doubt-want) > 1e-9 {
			t.Errorf("a cut of %v is doubted by %v, want %v", cut, l.doubt, want)
		}
		draws, err := Sample(t.Context(), l, SampleConfig{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := diag.Summarize(draws.Column(3))
		return s.Mean, s.SD
	}
	whole, usual := scale(0)
	cut, sd := scale(0.1)
	if got := cut - whole; math.Abs(got-0.026) > 0.012 {
		t.Errorf("the logarithm of the scale is %v larger, want 0.026", got)
	}
	if math.Abs(sd/0.0288-1) > 0.18 || sd < 2*usual {
		t.Errorf("its standard deviation is %v, want 0.0288, and was %v", sd, usual)
	}
	for _, noise := range []float64{1, 200} {
		l := lighter(t, 0.1, noise, 0.1, 1)
		if (l.hidden != nil) != (noise > 1) || l.doubt == 0 || l.lost == 0 {
			t.Fatalf("noise %v: XᵀX hidden is %v", noise, l.hidden != nil)
		}
		at := []float64{0.2, 0.5, -0.4, 0}
		if l.hidden != nil {
			at = make([]float64, 10)
		}
		checkGradient(t, "cut", l.Density(), at, 0.1)
	}
}

// TestErrorsBelowTheLeastScale: where errors are a tenth of the least scale that the model allows for, yᵀy is raised
// to six standard deviations below what that makes, and else it is not.
func TestErrorsBelowTheLeastScale(t *testing.T) {
	s := lighter(t, 0, 60, 0, 1).config.Sums
	for least, want := range map[float64]bool{0.1: false, 10: true} {
		raised := s
		if got := raised.floored(least, 0.05, 0.02); got != want || want == (raised.Moment[15] == s.Moment[15]) {
			t.Errorf("a least scale of %v: yᵀy is raised: %v", least, got)
		}
		n := raised.Moment[0]
		v := n*least*least - mostBelow*math.Hypot(least*least*math.Sqrt(2*n), 60)
		if want && math.Abs(raised.Moment[15]/v-1) > 1e-9 {
			t.Errorf("yᵀy is raised to %v, want %v", raised.Moment[15], v)
		}
	}
}

// TestClearSumsNeedNotBeSampled: where noise hides next to nothing of XᵀX, what is not known of it is in the
// covariance, and the posterior is the one in which it is sampled: means of 400 effective draws
// each are .4 standard deviations apart, or these a quarter, once in 10⁶ times.
func TestClearSumsNeedNotBeSampled(t *testing.T) {
	l := lighter(t, 0, 60, 0, 1)
	if l.hidden != nil || !l.config.Sums.clear() {
		t.Fatal("noise of 60 hides XᵀX of 4000 records")
	}
	if s := l.config.Sums; func() bool { s.MomentSD = 200; return s.clear() }() {
		t.Fatal("noise of 200 hides nothing")
	}
	whole := *l
	var err error
	if whole.hidden, err = newHidden(l.config.Sums); err != nil {
		t.Fatal(err)
	}
	whole.square, whole.open = whole.hidden.centre(), make([]float64, 9)
	a, err1 := Sample(t.Context(), l, SampleConfig{Seed: 1})
	b, err2 := Sample(t.Context(), &whole, SampleConfig{Seed: 2})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for j := range 3 {
		x, y := diag.Summarize(a.Column(j)), diag.Summarize(b.Column(j))
		if off := math.Abs(x.Mean-y.Mean) / y.SD; off > 0.4 || math.Abs(x.SD/y.SD-1) > 0.25 {
			t.Errorf("coefficient %d: means %v standard deviations apart, which are %v and %v", j, off, x.SD, y.SD)
		}
	}
}

// TestUsualLight against 10⁶ normal rows: shares to five standard errors, of which one is at most 10⁻⁴.
func TestUsualLight(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, c := range [][2]float64{{1, 4}, {4, 10}, {9, 20}} {
		const rows = 1_000_000
		missing := 0.0
		for range rows {
			square := 1.0
			for range int(c[0]) {
				square += math.Pow(rng.NormFloat64(), 2)
			}
			missing += max(0, 1-c[1]/square) / rows
		}
		if got := usualLight(c[0], c[1]); missing < 1e-3 || math.Abs(got-missing) > 5e-4 {
			t.Errorf("%v: %v of the weight, of a million rows %v", c, got, missing)
		}
	}
}
