package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
	got := s.Standardized(1.5, priors.Gaussian{SD: 3}).SDs
	apart := math.Pow(0.3*1.5/0.01, 2) + math.Pow(0.2*1.5/0.2, 2)
	for j, want := range []float64{math.Sqrt(9 + apart/0.25), 1.5 / 0.01, 1.5 / 0.2} {
		if math.Abs(got[j]/want-1) > 1e-9 {
			t.Errorf("the prior's standard deviation of coefficient %d is %v, not %v", j, got[j], want)
		}
	}
	s.Columns[1] = Column{Kind: Level, Upper: 1}
	if got := s.Standardized(1.5, priors.Gaussian{SDs: []float64{3, 4, 5}}).SDs; got[1] != 4 {
		t.Errorf("a level has the prior standard deviation %v, not the model's", got[1])
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

// A posterior takes the standardized prior where it is asked for, and only beside a normal one.
func TestEffect(t *testing.T) {
	s := columnsOf(1000, 1, []float64{0}, []float64{0.05}, rand.New(rand.NewPCG(4, 4)))
	c := Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Effect: 1.5}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := s.Standardized(1.5, priors.Gaussian{SD: 3}).SDs; !slices.Equal(p.broad.SDs, want) {
		t.Errorf("the prior's standard deviations are %v, not %v", p.broad.SDs, want)
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
