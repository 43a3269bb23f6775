package diag

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEnergyByHand: two points against two, computed by hand.
func TestEnergyByHand(t *testing.T) {
	x := [][]float64{{0, 0}, {3, 4}}  // 5 apart
	y := [][]float64{{0, 1}, {0, -1}} // 2 apart
	cross := (1 + 1 + math.Hypot(3, 3) + math.Hypot(3, 5)) / 4
	if got, want := Energy(x, y), 2*cross-5-2; math.Abs(got-want) > 1e-14 {
		t.Errorf("Energy is %v, want %v", got, want)
	}
	if got := Energy(x[:1], y); !math.IsNaN(got) {
		t.Errorf("Energy of a single draw is %v, want NaN", got)
	}
}

// TestEnergyOfNormals: the distance of N(0,1) and N(2,1) is known,
// 2·E|N(2,2)| − 2·E|N(0,2)|. With 2000 draws a side the estimate's standard
// deviation is below 0.06 (200 replicates), and the tolerance of 0.36 is 6 of them:
// a false alarm below 10⁻⁸. The biased estimate differs by less than that; the
// mutant that forgets the square root, or one of the three terms, by more than 1.
func TestEnergyOfNormals(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	sample := func(mean float64) [][]float64 {
		out := make([][]float64, 2000)
		for i := range out {
			out[i] = []float64{mean + rng.NormFloat64()}
		}
		return out
	}
	// E|N(m, s²)| = s·√(2/π)·exp(−m²/2s²) + m·erf(m/(s√2)).
	folded := func(m, s float64) float64 {
		return s*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*s*s)) + m*math.Erf(m/(s*math.Sqrt2))
	}
	want := 2*folded(2, math.Sqrt2) - 2*folded(0, math.Sqrt2)
	if got := Energy(sample(0), sample(2)); math.Abs(got-want) > 0.36 {
		t.Errorf("Energy of N(0,1) and N(2,1) is %v, want %v", got, want)
	}
	if got := Energy(sample(0), sample(0)); math.Abs(got) > 0.01 {
		t.Errorf("Energy of samples of one law is %v, want about 0", got)
	}
}
