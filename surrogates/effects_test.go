package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
)

// someEffects are of numbers, and of the levels of a category where these are open.
func someEffects(share float64, levels bool) *effects {
	of := CentredGaussian{Gaussian: priors.Gaussian{SDs: []float64{2, 0.5, 3, 1.5, 1.5}},
		Means: []float64{0, 0.7, -1.1, 0.2, 0.1}, Categories: [][]int{{3, 4}}}
	return newEffects(of, share, func(j int) float64 {
		switch {
		case j < 3:
			return 1
		case levels:
			return levelScale
		}
		return 0
	})
}

// TestEffectsGradient compares gradients with differences.
func TestEffectsGradient(t *testing.T) {
	for i, share := range effectShares {
		e := someEffects(share, i%2 == 1)
		density := nuts.Func(5, func(grad, theta []float64) float64 {
			e.Grad(grad, theta)
			return e.LogDensity(theta)
		})
		checkGradient(t, "effects", density, []float64{0.3, -0.2, 1, 0.5, -2}, 0.5)
	}
}

// TestEffectsDraws: 10⁵ draws of a number's coefficient have the variance of the mixture, within 5.2 standard errors,
// which fails by chance for one in 10⁷. Intercepts at the means and levels keep theirs. Without heavy tails, the
// mutant, the variance is a third or less.
func TestEffectsDraws(t *testing.T) {
	const draws = 100_000
	e, rng, theta := someEffects(0.25, false), rand.New(rand.NewPCG(3, 9)), make([]float64, 5)
	want, fourth := 0.0, 0.0
	for k, p := range e.alike[0].precise {
		w := math.Exp(e.logs[k])
		want, fourth = want+w/p, fourth+3*w/(p*p)
	}
	var number, intercept, apart float64
	for range draws {
		e.Sample(theta, rng)
		number += theta[1] * theta[1] / 0.25 / draws
		at := theta[0] + e.moved(theta, 0)
		intercept += at * at / 4 / draws
		apart += (theta[3] - theta[4]) * (theta[3] - theta[4]) / (1.5 * 1.5) / draws
	}
	if sd := math.Sqrt((fourth - want*want) / draws); math.Abs(number-want) > 5.2*sd {
		t.Errorf("the variance of a coefficient is %v of the largest, not %v ± %v", number, want, sd)
	}
	for name, v := range map[string]float64{"the predictor at the means": intercept, "two levels' difference": apart} {
		if math.Abs(v-1) > 5.2*math.Sqrt(2.0/draws) {
			t.Errorf("the variance of %s is %v of that of the prior", name, v)
		}
	}
	if plain := 1 / e.alike[0].precise[0]; plain > want/3 {
		t.Errorf("the variance is %v, and %v without heavy tails: the test tells nothing", want, plain)
	}
}

// TestEffectsAbout: the normal prior about a point has the slopes of the prior there.
func TestEffectsAbout(t *testing.T) {
	for i, theta := range [][]float64{{0.3, -0.2, 1, 0.5, -2}, {0, 0, 0, 0, 0}, {1, 3, -20, 0, 1}} {
		e := someEffects(0.5, i != 1)
		got, want := make([]float64, 5), make([]float64, 5)
		e.about(theta, nil).Grad(got, theta)
		e.Grad(want, theta)
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-9*(1+math.Abs(want[j])) {
				t.Errorf("at %v: slope %d is %v about it, and %v of the prior", theta, j, got[j], want[j])
			}
		}
	}
}

// TestEffectsOfLevels: 10⁵ draws of the levels of a category have differences of the mixture's variance, from each
// other and from the one without an indicator, within 5.2 standard errors: an alarm in 2·10⁶ runs. Without
// scales, the mutant, the variance is thrice as large or more.
func TestEffectsOfLevels(t *testing.T) {
	const draws = 100_000
	e, rng, theta := someEffects(0.25/levelScale, true), rand.New(rand.NewPCG(3, 9)), make([]float64, 5)
	want, fourth := 0.0, 0.0
	levels := e.alike[len(e.alike)-1]
	for k, p := range levels.precise {
		w := math.Exp(e.logs[k])
		want, fourth = want+w/p, fourth+3*w/(p*p)
	}
	var between, beside float64
	for range draws {
		e.Sample(theta, rng)
		between += (theta[3] - theta[4]) * (theta[3] - theta[4]) / (1.5 * 1.5) / draws
		beside += theta[3] * theta[3] / (1.5 * 1.5) / draws
	}
	sd := math.Sqrt((fourth - want*want) / draws)
	if math.Abs(between-want) > 5.2*sd || math.Abs(beside-want) > 5.2*sd {
		t.Errorf("variances %v and %v of differences, not %v ± %v", between, beside, want, sd)
	}
	if want > 1.0/3 {
		t.Errorf("the variance is %v of that without scales: the test tells nothing", want)
	}
}
