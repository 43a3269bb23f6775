package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
)

// lighter are nearly exact sums of fitted columns, of records of which a share is missing.
func lighter(t *testing.T, share, noise float64) *Linear {
	t.Helper()
	const n = 4000
	rng := rand.New(rand.NewPCG(3, 5))
	s := Sums{Moment: make([]float64, 16), MomentSD: noise, Features: 3, Records: n, Radius: 3,
		Columns: []Column{{Kind: Constant, Upper: 1, Missing: 0.5}, {}, {}}}
	for range int(n * (1 - share)) {
		z := []float64{1, rng.NormFloat64(), rng.NormFloat64(), 0}
		z[3] = 0.2 + 0.5*z[1] - 0.4*z[2] + rng.NormFloat64()
		for j, u := range z {
			for k, v := range z {
				s.Moment[j*4+k] += u * v
			}
		}
	}
	c, err := LinearConfig{Sums: s, Prior: priors.Gaussian{SD: 30}, MinScale: 0.01,
		ScalePrior: priors.HalfCauchy{Scale: 1}}.Through(Seen{Matrix: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		Offset: make([]float64, 3), Unit: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLinear(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMissingWeightIsDoubted: of 4000 records of length up to 3 a tenth is missing, so that an entry of Xᵀy
// is off by 120 standard deviations of an error, where 3600 others leave 60 open: widths are √5 times as
// large. Normal rows would be missing .003 of that. Standard deviations of 400 effective draws are within
// 18% but once in 10⁶ times. With all of the weight there is no doubt, and with less missing than noise hides there is.
func TestMissingWeightIsDoubted(t *testing.T) {
	const noise = 1
	l := lighter(t, 0.1, noise)
	draws, err := Sample(t.Context(), l, SampleConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for j := range 3 {
		want := math.Sqrt(1/3600. + math.Pow(120./3600, 2))
		if got := diag.Summarize(draws.Column(j)).SD; math.Abs(got/want-1) > 0.18 {
			t.Errorf("coefficient %d has the standard deviation %v, want %v", j, got, want)
		}
	}
	if light := l.Light(draws); math.Abs(light.Share-0.097) > 0.002 || math.Abs(light.Shift-2) > 0.2 {
		t.Errorf("%+v, want 0.097 and twice what is open", light)
	}
	for share, noise := range map[float64]float64{0: 1, 0.02: 200} {
		if l := lighter(t, share, noise); (l.doubt > 0) != (share > 0) {
			t.Errorf("a share of %v under noise of %v is doubted by %v", share, noise, l.doubt)
		}
	}
	checkGradient(t, "doubt", l.Density(), []float64{0.2, 0.5, -0.4, 0}, 0.1)
	hidden := lighter(t, 0.1, 200)
	if hidden.hidden == nil || hidden.doubt == 0 {
		t.Fatal("XᵀX is not hidden, or nothing is doubted")
	}
	checkGradient(t, "doubt, XᵀX hidden", hidden.Density(), make([]float64, 10), 0.1)
}

// TestClearSumsNeedNotBeSampled: where noise hides next to nothing of XᵀX, what is not known of it is in the
// covariance, and the posterior is the one in which it is sampled: means of 400 effective draws
// each are .4 standard deviations apart, or these a quarter, once in 10⁶ times.
func TestClearSumsNeedNotBeSampled(t *testing.T) {
	l := lighter(t, 0, 60)
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
