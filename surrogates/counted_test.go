package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
)

// TestRecordsThatWeighLess: where rows and responses of half of the records are shortened
// together, released sums have the errors' scale of those that count, to five standard
// deviations (false alarm 10⁻⁶), and coefficients of all. With N in their place the scale is
// farther off.
func TestRecordsThatWeighLess(t *testing.T) {
	const n, sigma = 4000, 0.5
	rng := rand.New(rand.NewPCG(8, 1))
	for _, d := range []int{2, 25} { // second moments are sampled, or not
		sums := Sums{Moment: make([]float64, (d+1)*(d+1)), MomentSD: 0.5, Features: d, Records: n, Radius: 3,
			Columns: make([]Column, d)}
		z := make([]float64, d+1)
		missing := 0.0
		for i := range n {
			s := 1.0
			if i%2 == 0 {
				s = 0.3 + 0.5*rng.Float64()
			}
			missing += (1 - s*s) / n
			z[0], z[d] = 0.7, 0.2*0.7+sigma*rng.NormFloat64()
			for j := 1; j < d; j++ {
				z[j] = rng.NormFloat64()
				z[d] += 0.4 * z[j] / math.Sqrt(float64(d-1))
			}
			for j, u := range z {
				for k, v := range z {
					sums.Moment[j*(d+1)+k] += s * u * s * v
				}
			}
		}
		for _, known := range []bool{true, false} {
			sums.Columns[0] = Column{Kind: Constant, Upper: 0.7}
			if known {
				sums.Columns[0].Missing = missing
			}
			l, err := NewLinear(LinearConfig{Sums: sums, Prior: priors.Gaussian{SD: 3}, ScalePrior: priors.HalfNormal{SD: 1},
				MinScale: 0.01})
			if err != nil {
				t.Fatal(err)
			}
			draws, err := Sample(t.Context(), l, SampleConfig{Chains: 2, Draws: 75, LeastESS: 1, MostRHat: 10, Seed: 4})
			if err != nil {
				t.Fatal(err)
			}
			off := func(j int, want float64) float64 {
				s := diag.Summarize(draws.Column(j))
				return math.Abs(s.Mean-want) / s.SD
			}
			slope, scale := off(1, 0.4/math.Sqrt(float64(d-1))), off(d, math.Log(sigma-0.01))
			if slope > 5 || known != (scale < 5) {
				t.Errorf("%d features, known: %t: a coefficient is %.3g standard deviations off, the scale %.3g", d, known, slope,
					scale)
			}
		}
	}
}
