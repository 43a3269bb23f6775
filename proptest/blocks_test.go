package proptest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumsInARow: numbers that make up for each other within hundreds of draws are seen, and independent ones of
// any law are not. Seeds are fixed, and so is what is found.
func TestSumsInARow(t *testing.T) {
	var order []int
	for name, c := range map[string]struct {
		draw  func(rng *rand.Rand, i int) float64
		wrong bool
	}{
		"normal":   {func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }, false},
		"a coin":   {func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(2)) }, false},
		"constant": {func(*rand.Rand, int) float64 { return 1 }, false},
		"Cauchy":   {func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() / rng.NormFloat64() }, false},
		"strata of 300": {func(rng *rand.Rand, i int) float64 {
			if i%300 == 0 {
				order = rng.Perm(300)
			}
			return float64(order[i%300]) + rng.Float64()
		}, true},
		"strata of 60 of the size": {func(rng *rand.Rand, i int) float64 {
			if i%60 == 0 {
				order = rng.Perm(60)
			}
			return math.Copysign(float64(order[i%60])+rng.Float64(), rng.NormFloat64())
		}, true},
		"a sum that is kept near 0": {func(rng *rand.Rand, i int) float64 {
			if i%2 == 0 {
				order = []int{rng.IntN(1000)}
			}
			return float64(order[0]) * float64(1-2*(i%2))
		}, true},
	} {
		rng, all := rand.New(rand.NewPCG(1, 2)), make([][]float64, 200_000)
		for i := range all {
			all[i] = []float64{c.draw(rng, i)}
		}
		e := &evidence{}
		if balanced(e, all, 0); (e.family() < 1e-9) != c.wrong {
			t.Errorf("%s: p = %.2g: %s", name, e.family(), e.about)
		}
	}
}

// TestCallsShareNoise: numbers of two calls with one noise are seen, turned round and in other columns too, and those
// of few values are not.
func TestCallsShareNoise(t *testing.T) {
	draw := func(seed uint64, of func(z [2]float64) []float64) (all [][]float64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 64 {
			all = append(all, of([2]float64{rng.NormFloat64(), rng.NormFloat64()}))
		}
		return all
	}
	plain := func(z [2]float64) []float64 { return []float64{10 + z[0], 20 + z[1]} }
	for name, c := range map[string]struct {
		seed uint64
		of   func(z [2]float64) []float64
		want bool
	}{
		"another seed":            {2, plain, false},
		"one noise":               {1, plain, true},
		"turned round":            {1, func(z [2]float64) []float64 { return []float64{10 - z[0], 0} }, true},
		"in the other column":     {1, func(z [2]float64) []float64 { return []float64{0, 20 + z[0]} }, true},
		"a constant":              {2, func(z [2]float64) []float64 { return []float64{0, 20} }, false},
		"a little of both noises": {1, func(z [2]float64) []float64 { return []float64{z[0] + 0.01*z[1], 0} }, false},
	} {
		if got := sharesNoise(draw(1, plain), draw(c.seed, c.of)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
