package suffstat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSampleHasTheLaw: the probability integral transform of 4000 draws is uniform
// by the Kolmogorov-Smirnov distance; above 0.045 the chance is below 2·exp(−2·4000·
// 0.045²) < 2·10⁻⁷. The mutant that draws from the most likely component alone, and
// is too narrow, is 0.1 and more away.
func TestSampleHasTheLaw(t *testing.T) {
	c, err := NewCounts(CountsConfig{Prior: []float64{1, 2}, Records: 200, Privacy: Privacy{Law: Laplace, Epsilon: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	law, err := c.NoiseAware([]float64{60, 140})
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	distance := func(draws []float64) (worst float64) {
		// The empirical distribution at a grid of quantiles of the law.
		for i := 1; i < 40; i++ {
			p := float64(i) / 40
			q, below := law.quantile(p), 0.0
			for _, x := range draws {
				if x <= q {
					below += 1.0 / n
				}
			}
			worst = math.Max(worst, math.Abs(below-p))
		}
		return worst
	}
	if d := distance(law.Sample(rand.New(rand.NewPCG(1, 2)), n)); d > 0.045 {
		t.Errorf("draws are %v from their law", d)
	}
	best := 0
	for k, w := range law.weight {
		if w > law.weight[best] {
			best = k
		}
	}
	mutant := BetaMixture{a: law.a, b: law.b, weight: make([]float64, len(law.weight))}
	mutant.weight[best] = 1
	if d := distance(mutant.Sample(rand.New(rand.NewPCG(1, 2)), n)); d < 0.09 {
		t.Errorf("one component passes for the mixture, at a distance of %v", d)
	}
}
