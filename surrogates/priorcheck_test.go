package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestCheckPriorOfQuadratic: for a quadratic loss and exact second moments all is normal,
// and the check has a closed form.
func TestCheckPriorOfQuadratic(t *testing.T) {
	s := Statistics{
		Anchor: []float64{0, 0}, Score: []float64{-300, -20}, ScoreSD: 3, Moment: []float64{60, 0, 0, 40}, Weighted: true,
		Records: 100, Radius: 1,
		Columns: []Column{{Kind: Constant, Upper: 1}, {}},
	}
	const sd = 1.5
	p, err := New(Config{Statistics: s, Link: Normal{SD: 1}, Prior: priors.Gaussian{SD: sd}, Imputations: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.CheckPrior(Draws{})
	if err != nil {
		t.Fatal(err)
	}
	logs := map[float64]float64{}
	moved, fall, rise := 0.0, map[float64]float64{}, 0.0
	for j := range 2 {
		h := s.Moment[3*j]
		at, variance := -s.Score[j]/h, (h+9)/(h*h)
		centre := func(scale float64) float64 { v := scale * scale * sd * sd; return at * v / (v + variance) }
		for _, scale := range []float64{1, 2, 4} {
			v := variance + scale*scale*sd*sd
			logs[scale] -= math.Log(v)/2 + at*at/(2*v)
			far := at - scale*centre(1)
			fall[scale] += far * far / (2 * variance)
		}
		if j > 0 { // an intercept alone is where the release has it
			rise += at * at / (2 * variance)
		}
		moved = max(moved, (centre(2)-centre(1))/math.Sqrt(1/(1/variance+1/(sd*sd))))
	}
	want := PriorCheck{Moved: moved, Favoured: math.Exp(max(logs[2], logs[4]) - logs[1]),
		Bounded: min(fall[2], fall[4]) - fall[1], Rise: rise - fall[1]}
	if math.Abs(c.Moved-want.Moved) > 1e-4 || c.Coefficient != 0 || math.Abs(c.Favoured/want.Favoured-1) > 1e-4 ||
		math.Abs(c.Bounded/want.Bounded-1) > 1e-4 || math.Abs(c.Rise/want.Rise-1) > 1e-4 {
		t.Errorf("%+v, closed form %+v", c, want)
	}
}

// checked is the check of a scaledUp regression.
func checked(t *testing.T, d, n int, noise, scale float64, seed uint64) PriorCheck {
	t.Helper()
	p, _ := scaledUp(t, d, n, noise, scale, seed)
	c, err := p.CheckPrior(Draws{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scaledUp is the posterior of a simulated regression of d features with coefficients drawn
// from N(0, 3²), times a scale, and they: with a large one a line through the origin all but
// separates the classes.
func scaledUp(t *testing.T, d, n int, noise, scale float64, seed uint64) (*Score, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	truth := make([]float64, d)
	priors.Gaussian{SD: 3}.Sample(truth, rng)
	return regressionOf(t, truth, n, noise, scale, seed, rng), truth
}

// regressionOf is the posterior of a simulated regression with coefficients of scale times truth.
func regressionOf(t *testing.T, truth []float64, n int, noise, scale float64, seed uint64, rng *rand.Rand) *Score {
	t.Helper()
	d := len(truth)
	x := make([]float64, d)
	s := Statistics{
		Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: noise, Moment: make([]float64, d*d),
		MomentSD: noise, Records: int64(n), Radius: 1, Columns: make([]Column, d),
	}
	s.Columns[0] = Column{Kind: Constant, Upper: 1 / math.Sqrt(float64(d))}
	for range n {
		drawRow(x, rng)
		at := scale * dot(x, truth)
		y := 0.0
		if p, _ := shares(at); rng.Float64() < p {
			y = 1
		}
		for j, u := range x {
			s.Score[j] += (0.5 - y) * u
			for k, v := range x {
				s.Moment[j*d+k] += u * v
			}
		}
	}
	for j := range s.Score {
		s.Score[j] += noise * rng.NormFloat64()
	}
	noisySquares(s.Moment, d, noise, rng)
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Imputations: 2, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckPriorSeesSeparation: of 100 tables whose classes a line separates at least 65
// are in conflict with the prior or left unbounded by the release, and of 100 with
// coefficients from the prior at most 29; at most 21 of these are in conflict. Of 1000
// there were 894, 96 and 49: with these chances an alarm is rarer than 10⁻⁷. Either kind
// of table is the mutant of the other's limit.
func TestCheckPriorSeesSeparation(t *testing.T) {
	count := func(scale float64) (conflicts, either int) {
		for seed := range uint64(100) {
			c := checked(t, 2, 2000, 8, scale, seed)
			if c.Conflict() {
				conflicts++
			}
			if c.Conflict() || c.Unbounded() {
				either++
			}
		}
		return conflicts, either
	}
	conflicts, seen := count(1e6)
	falseConflicts, alarms := count(1)
	t.Logf("separable: %d in conflict, %d seen; from the prior: %d and %d", conflicts, seen, falseConflicts, alarms)
	if seen < 65 || alarms > 29 || falseConflicts > 21 {
		t.Errorf("separable: %d of 100 seen; from the prior: %d in conflict, %d in all", seen, falseConflicts, alarms)
	}
}

// TestCheckPriorOfUnknownWidth: where the prior's width is unknown, no width is held
// against it.
func TestCheckPriorOfUnknownWidth(t *testing.T) {
	prior, err := priors.NewNormalScale(priors.NormalScaleConfig{Groups: []int{0, 0},
		Scale: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := Statistics{Anchor: []float64{0, 0}, Score: []float64{-300, -20}, ScoreSD: 3, Moment: []float64{60, 0, 0, 40},
		Weighted: true, Records: 100, Radius: 1}
	p, err := New(Config{Statistics: s, Link: Normal{SD: 1}, Prior: prior, Imputations: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.CheckPrior(Draws{}); err != nil || c.Favoured != 1 || c.Conflict() {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCheckPriorOfManyFeatures: beyond 64 features, where the score's variance is
// frozen, the prior that parameters came from is not called in conflict, and one that is a
// fourth as wide is. There were 0 and 10 conflicts of 10. Seeds are fixed, so that an alarm
// means a change of the code. Either kind of table is the mutant of the other's limit.
func TestCheckPriorOfManyFeatures(t *testing.T) {
	count := func(scale float64) (conflicts int) {
		for seed := range uint64(10) {
			if checked(t, 66, 20000, 4, scale, seed).Conflict() {
				conflicts++
			}
		}
		return conflicts
	}
	right, wrong := count(1), count(4)
	t.Logf("in conflict: %d of 10 from the prior, %d with coefficients four times as large", right, wrong)
	if right > 4 || wrong < 5 {
		t.Errorf("in conflict: %d of 10 from the prior, %d with coefficients four times as large", right, wrong)
	}
}

// TestCheckPriorSeesWhatNoiseHides: for a quadratic loss the posterior has a closed form.
// The second coefficient's standard deviation is the prior's, nearly, and a prior standard
// deviation of 1.5 moves a typical record by 0.21, of 10 by 1.4.
func TestCheckPriorSeesWhatNoiseHides(t *testing.T) {
	s := Statistics{Anchor: []float64{0, 0}, Score: []float64{-60, -1}, ScoreSD: 9, Moment: []float64{60, 0, 0, 2},
		Weighted: true, Records: 100, Radius: 1, Columns: []Column{{Kind: Constant, Upper: 0.8}, {}}}
	for _, c := range []struct {
		sd             float64
		hidden, narrow []int
	}{{0.1, []int{0, 1}, []int{0, 1}}, {1.5, []int{1}, []int{1}}, {10, []int{1}, nil}} {
		p, err := New(Config{Statistics: s, Link: Normal{SD: 1}, Prior: priors.Gaussian{SD: c.sd}, Imputations: 1})
		if err != nil {
			t.Fatal(err)
		}
		check, err := p.CheckPrior(Draws{})
		if err != nil || !slices.Equal(check.Hidden, c.hidden) || !slices.Equal(check.Narrow, c.narrow) {
			t.Errorf("prior sd %v: hidden %v, narrow %v, %v; want %v and %v", c.sd, check.Hidden, check.Narrow, err,
				c.hidden, c.narrow)
		}
	}
}

// TestCheckPriorSeesSizesThatNothingBounds: where a line separates the classes a release of
// little noise says that there are coefficients and not how large they are. Of 20 tables 13
// are so, others having one label nearly, and 2 of 20 with coefficients from a wide prior. Seeds are
// fixed, so that an alarm means a change of the code. Either kind of table is the mutant of the other's
// limit.
func TestCheckPriorSeesSizesThatNothingBounds(t *testing.T) {
	count := func(scale float64) (separable int) {
		for seed := range uint64(20) {
			if checked(t, 2, 2000, 8, scale, seed).Separable() {
				separable++
			}
		}
		return separable
	}
	apart, control := count(1e6), count(1)
	t.Logf("separable: %d of 20, and %d of 20 with coefficients from the prior", apart, control)
	if apart < 10 || control > 5 {
		t.Errorf("separable: %d of 20, and %d of 20 with coefficients from the prior", apart, control)
	}
}

// TestRareLabelsAreNotSeparable: noise hides how rare a label is, so that nothing bounds the intercept.
// An intercept alone explains that, and no release of ten is taken for separable classes. With
// coefficients of 0 in its place seven are, at least.
func TestRareLabelsAreNotSeparable(t *testing.T) {
	mutants := 0
	for seed := range uint64(10) {
		p := regressionOf(t, []float64{-8, 0}, 2000, 20, 1, seed, rand.New(rand.NewPCG(seed, 6)))
		c, err := p.CheckPrior(Draws{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Separable() {
			t.Errorf("seed %d: %+v", seed, c)
		}
		e := p.evaluator()
		if c.Rise = e.averageLikelihood(p.mean) - e.averageLikelihood([]float64{0, 0}); c.Separable() {
			mutants++
		}
	}
	if mutants < 7 {
		t.Errorf("from coefficients of 0 only %d of 10 look separable, so the test proves little", mutants)
	}
}
