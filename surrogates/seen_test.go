package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestSeenSumsHaveTheSamePosterior: without noise the sums of residuals of mapped rows have the density of
// the sums themselves, at the same parameters, but for a constant. With another offset they have not.
func TestSeenSumsHaveTheSamePosterior(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const d, n = 3, 30
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		seen := Seen{Unit: 0.2 + rng.Float64()}
		for range d {
			seen.Offset = append(seen.Offset, rng.NormFloat64())
		}
		for e := range d * d {
			seen.Matrix = append(seen.Matrix, 0.3*rng.NormFloat64())
			if e%(d+1) == 0 {
				seen.Matrix[e] += 2
			}
		}
		copy(seen.Matrix, []float64{1, 0, 0}) // the constant stays
		plain, mapped := make([]float64, (d+1)*(d+1)), make([]float64, (d+1)*(d+1))
		for range n {
			row := []float64{1, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			to := make([]float64, d+1)
			to[d] = row[d]
			for j := range d {
				to[d] -= seen.Offset[j] * row[j]
				to[j] = dot(seen.Matrix[j*d:(j+1)*d], row[:d])
			}
			to[d] /= seen.Unit
			for j := range row {
				for k := range row {
					plain[j*(d+1)+k] += row[j] * row[k]
					mapped[j*(d+1)+k] += to[j] * to[k]
				}
			}
		}
		config := func(moment []float64) LinearConfig {
			return LinearConfig{Sums: Sums{Moment: moment, Features: d, Records: n, Radius: 10,
				Columns: []Column{{Kind: Constant, Upper: 1}, {}, {}}},
				Prior: priors.Gaussian{SD: 2}, ZellnerSiow: 1, MinScale: 0.1, ScalePrior: priors.HalfCauchy{Scale: 1}}
		}
		difference := func(s Seen) (most float64) {
			through, err := config(mapped).Through(s)
			if err != nil {
				t.Fatal(err)
			}
			a, err1 := NewLinear(config(plain))
			b, err2 := NewLinear(through)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			first, grad := 0.0, make([]float64, d+1)
			for i := range 3 {
				at := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				lift := b.Density().LogDensityGrad(grad, at)
				seen.Back(at)
				lift -= a.Density().LogDensityGrad(grad, at)
				if i == 0 {
					first = lift
				}
				most = max(most, math.Abs(lift-first)/(1+math.Abs(first)))
			}
			return most
		}
		if off := difference(seen); !(off < 1e-4) {
			t.Fatalf("densities differ by %v", off)
		}
		other := seen
		other.Offset = append([]float64(nil), seen.Offset...)
		other.Offset[1] += 1
		if off := difference(other); !(off > 1e-5) {
			t.Fatalf("another offset is not found out: %v", off)
		}
	})
}
