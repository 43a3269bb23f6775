package diag

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestSquaredMMDByHand holds three and two points of the plane to the value
// written out.
func TestSquaredMMDByHand(t *testing.T) {
	x := [][]float64{{0, 0}, {3, 4}, {0, 1}}
	y := [][]float64{{0, 0}, {1, 0}}
	k := func(squared float64) float64 { return math.Exp(-squared / 8) } // bandwidth 2
	want := (k(25)+k(1)+k(18))/3 + k(1) - (k(0)+k(1)+k(25)+k(20)+k(1)+k(2))/3
	if got := squaredMMD(x, y, 2); math.Abs(got-want) > 1e-15 {
		t.Errorf("squaredMMD is %v, by hand it is %v", got, want)
	}
}

// gaussians returns n draws of N(mean·1, I) in the plane.
func gaussians(rng *rand.Rand, n int, mean float64) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = []float64{mean + rng.NormFloat64(), mean + rng.NormFloat64()}
	}
	return out
}

// meanSquaredMMD averages estimates over pairs of samples of N(0, I) and
// N(1, I), and returns their distance from the closed form in standard errors.
func meanSquaredMMD(estimate func(x, y [][]float64, bandwidth float64) float64) float64 {
	const bandwidth, replications = 1.0, 4000
	rng := rand.New(rand.NewPCG(5, 12))
	values := make([]float64, replications)
	for i := range values {
		values[i] = estimate(gaussians(rng, 12, 0), gaussians(rng, 9, 1), bandwidth)
	}
	// For the difference v of two draws, v ~ N(μ, 2I): E exp(−‖v‖²/2b²) is
	// b²/(b²+2)·exp(−‖μ‖²/(2(b²+2))) in the plane.
	s := bandwidth*bandwidth + 2
	want := 2 * (1 - math.Exp(-1/s)) * bandwidth * bandwidth / s
	mean, sd := stat.MeanStdDev(values, nil)
	return (mean - want) / (sd / math.Sqrt(replications))
}

// TestSquaredMMDUnbiased holds the mean of 4000 estimates to the closed form
// within 6 standard errors, a false alarm below 1e-8 for a bounded statistic,
// and rejects the biased estimate and two wrong bandwidths.
func TestSquaredMMDUnbiased(t *testing.T) {
	const bound = 6
	if z := meanSquaredMMD(squaredMMD); math.Abs(z) > bound {
		t.Errorf("the mean estimate is %.1f standard errors from the closed form", z)
	}
	for name, mutant := range map[string]func(x, y [][]float64, b float64) float64{
		"pairs of a draw with itself": func(x, y [][]float64, b float64) float64 {
			n, m := float64(len(x)), float64(len(y))
			scale := -0.5 / (b * b)
			return squaredMMD(x, y, b) + (1-2*pairs(x, scale)/(n*(n-1)))/n + (1-2*pairs(y, scale)/(m*(m-1)))/m
		},
		"exp(-d²/b²)": func(x, y [][]float64, b float64) float64 { return squaredMMD(x, y, b/math.Sqrt2) },
		"exp(-d²/4b²)": func(x, y [][]float64, b float64) float64 {
			return squaredMMD(x, y, b*math.Sqrt2)
		},
	} {
		if z := meanSquaredMMD(mutant); math.Abs(z) <= bound {
			t.Errorf("%s: the mutant is only %.1f standard errors away", name, z)
		}
	}
}

// TestMMDSeparates holds the bandwidth rule: a common change of unit leaves the
// distance alone (up to the choice of pairs, which is the same), a shift of 1 is
// seen, and one law is near 0.
//
// Samples of 600: the estimate under one law has a standard deviation below
// 1/600, so 0.15² = 13 of them is never reached; a shift of (1, 1) is 0.19 in
// square and its deviation below 0.02, so 0.25² is 6 of them away.
func TestMMDSeparates(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	x, same, shifted := gaussians(rng, 600, 0), gaussians(rng, 600, 0), gaussians(rng, 600, 1)
	pairing := func() *rand.Rand { return rand.New(rand.NewPCG(8, 8)) }
	if d := MMD(x, same, pairing()); d > 0.15 {
		t.Errorf("samples of one law are %.3f apart", d)
	}
	far := MMD(x, shifted, pairing())
	if far < 0.25 {
		t.Errorf("samples whose means differ by (1, 1) are %.3f apart", far)
	}
	scaled := func(x [][]float64) [][]float64 {
		out := make([][]float64, len(x))
		for i, draw := range x {
			out[i] = []float64{1024 * draw[0], 1024 * draw[1]} // exact
		}
		return out
	}
	if d := MMD(scaled(x), scaled(shifted), pairing()); d != far {
		t.Errorf("in another unit the distance is %v instead of %v", d, far)
	}
}

// TestMMDUndefined lists what has no distance, and what is a programmer's error.
func TestMMDUndefined(t *testing.T) {
	two, nan := [][]float64{{0}, {1}}, [][]float64{{0}, {math.NaN()}}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, d := range map[string]float64{
		"no draws":       MMD(nil, two, rng),
		"one draw":       MMD(two, two[:1], rng),
		"not a number":   MMD(two, nan, rng),
		"bandwidth 0":    squaredMMD(two, two, 0),
		"one draw given": squaredMMD(two[:1], two, 1),
		"neither sample": squaredMMD(nil, nil, 1),
	} {
		if !math.IsNaN(d) {
			t.Errorf("%s: the distance is %v instead of NaN", name, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("draws of different lengths did not panic")
		}
	}()
	squaredMMD(two, [][]float64{{0, 1}, {1, 2}}, 1)
}
