package suffstat

import (
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Sample returns n independent draws of the law. It is post-processing of the
// noisy count, so rng need not be secret.
func (m BetaMixture) Sample(rng *rand.Rand, n int) []float64 {
	below := make([]float64, len(m.weight)) // weight of the components up to each
	sum := 0.0
	for k, w := range m.weight {
		sum += w
		below[k] = sum
	}
	out := make([]float64, n)
	for i := range out {
		u := rng.Float64() * sum
		a, b := m.component(min(sort.SearchFloat64s(below, u), len(below)-1))
		out[i] = distuv.Beta{Alpha: a, Beta: b, Src: rng}.Rand()
	}
	return out
}
