package methods

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/suffstat"
)

// TestLinearDraws: draws have the moments of the normal-inverse-gamma law, σ² of
// mean 0.75 here and coefficients of variance 0.75·Scale. Over 20 000 draws the
// relative error of a variance has a standard deviation below 0.013 (the law of σ²
// has eight moments): 0.08 is six of them, a false alarm below 10⁻⁸. Seeds are fixed.
func TestLinearDraws(t *testing.T) {
	law := &suffstat.NormalPosterior{
		Mean: mat.NewVecDense(2, []float64{3, -1}), Scale: mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1}), Shape: 9, Rate: 6,
	}
	draws, err := linearDraws(law, 20_000, 0.1, Seeded([32]byte{6}))
	if err != nil {
		t.Fatal(err)
	}
	got := moments(Release{Chains: [][][]float64{draws}})
	cross, square := 0.0, 0.0
	for _, d := range draws {
		cross += (d[0] - 3) * (d[1] + 1) / float64(len(draws))
		square += math.Pow(0.1+math.Exp(d[2]), 2) / float64(len(draws))
	}
	for what, c := range map[string][2]float64{
		"variance of the first":  {got[0].sd * got[0].sd, 1.5},
		"variance of the second": {got[1].sd * got[1].sd, 0.75},
		"covariance":             {cross, 0.375},
		"mean of σ²":             {square, 0.75},
		"mean of the first":      {got[0].mean, 3},
		"mean of the second":     {got[1].mean, -1},
	} {
		if math.Abs(c[0]/c[1]-1) > 0.08 {
			t.Errorf("%s is %v, want %v", what, c[0], c[1])
		}
	}
}
