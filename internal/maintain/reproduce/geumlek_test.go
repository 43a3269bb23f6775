package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops/conjugate"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestGaussianRelease: the weights of the noisy posterior add up to one; with little
// noise its divergence from the posterior vanishes; a single Beta has the closed form.
func TestGaussianRelease(t *testing.T) {
	truth := successesOf(betaSuccesses, 1, 1)
	for _, sd := range []float64{0.5, 10, 1e4} {
		sum := 0.0
		for _, c := range gaussianRelease(betaSuccesses, sd) {
			sum += c.weight
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("noise %v: weights sum to %v", sd, sum)
		}
	}
	if d := gaussianRelease(betaSuccesses, 0.3).divergence(truth); d < 0 || d > 1e-4 {
		t.Errorf("divergence %v with hardly any noise", d)
	}
	other := successesOf(50, 0.5, 1)
	half := betaLaw{{0.5, other}, {0.5, other}} // a mixture of one law with itself goes by quadrature
	if got, want := half.divergence(truth), conjugate.KL(truth[:], other[:]); math.Abs(got-want) > 1e-6*want {
		t.Errorf("quadrature gives %v, the closed form %v", got, want)
	}
}

// TestExpectedScore: a known proportion of ½ has 100·log 2 nats for any data.
func TestExpectedScore(t *testing.T) {
	known := betaLaw{{1, [2]float64{1e9, 1e9}}}
	if got := expectedScore(func(int) (betaLaw, error) { return known, nil }); math.Abs(got-100*math.Ln2) > 1e-5 {
		t.Errorf("score %v, want %v", got, 100*math.Ln2)
	}
}

// TestLaplaceWalk draws from a posterior in one dimension, whose mean and variance
// follow by quadrature, for each mechanism; a mean further than 6 standard errors away
// has a probability below 1e-8. The weights and the prior's precision, on which the
// curvature rests, differ between the mechanisms: a wrong one shows as rejection.
func TestLaplaceWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := targets.Rows{P: 1}
	for i := range 200 {
		rows.X, rows.Y = append(rows.X, 1), append(rows.Y, float64(i%4/3))
	}
	for _, name := range []string{"concentrated", "diffuse", "posterior", "truncated prior"} {
		law, err := glmMechanism(name, rows, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		p, err := law.Density(rows)
		if err != nil {
			t.Fatal(err)
		}
		var mass, first, second float64
		grad := make([]float64, 1)
		top := p.LogDensityGrad(grad, []float64{-1})
		for x := -12.0; x <= 12; x += 1e-3 {
			w := math.Exp(p.LogDensityGrad(grad, []float64{x}) - top)
			mass, first, second = mass+w, first+w*x, second+w*x*x
		}
		mean := first / mass
		sd := math.Sqrt(second/mass - mean*mean)
		const draws = 4000
		out, rate, err := laplaceWalk(rng, law, rows, draws)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, theta := range out {
			sum += theta[0] / draws
		}
		if math.Abs(sum-mean) > 6*sd/math.Sqrt(draws) || rate < 0.85 {
			t.Errorf("%s: mean %v with %v accepted, want %v ± %v", name, sum, rate, mean, sd/math.Sqrt(draws))
		}
	}
}
