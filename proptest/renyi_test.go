package proptest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// draws counts n draws of a law of cells.
func draws(rng *rand.Rand, law []float64, n int) []int {
	counts := make([]int, len(law))
	for range n {
		u, i := rng.Float64(), 0
		for ; i < len(law)-1 && u >= law[i]; i++ {
			u -= law[i]
		}
		counts[i]++
	}
	return counts
}

// renyi is the divergence of two laws of cells.
func renyi(order float64, p, q []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Pow(p[i], order) * math.Pow(q[i], 1-order)
	}
	return math.Log(sum) / (order - 1)
}

// TestDivergencesAreBoundedFromBelow: a bound exceeds the exact divergence no more often than it
// says. Of 2000 bounds at one in a thousand, more than 15 would come once in 10⁸, and a bound
// without its margins, as the estimate is, exceeds it half of the time. From many draws it is near.
func TestDivergencesAreBoundedFromBelow(t *testing.T) {
	p, q := []float64{0.5, 0.3, 0.15, 0.05}, []float64{0.2, 0.3, 0.3, 0.2}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, order := range []float64{1.25, 2, 6} {
		exact, over, bare := renyi(order, p, q), 0, 0
		for range 2000 {
			a, b, c, d := draws(rng, p, 300), draws(rng, q, 300), draws(rng, p, 300), draws(rng, q, 300)
			if proptest.LowerDivergence(order, a, b, c, d, 1e-3) > exact {
				over++
			}
			if proptest.LowerDivergence(order, a, b, a, b, 3.999) > exact { // of its own weights, with no margin
				bare++
			}
		}
		if over > 15 {
			t.Errorf("order %v: %d of 2000 bounds exceed %v", order, over, exact)
		}
		if bare < 100 {
			t.Errorf("order %v: %d of 2000 bare estimates exceed %v, which this test could not tell from bounds", order,
				bare, exact)
		}
		a, b := draws(rng, p, 1_000_000), draws(rng, q, 1_000_000)
		if got := proptest.LowerDivergence(order, a, b, a, b, 1e-9); !(got > 0.9*exact && got < exact) {
			t.Errorf("order %v: a million draws bound %v by %v", order, exact, got)
		}
	}
}
