package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestColouredRowsAreEvenAlongTheAnchor: rows have the second moments asked for, and their
// predictors at an anchor are quantiles of a normal law, however the anchor points.
func TestColouredRowsAreEvenAlongTheAnchor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 6).Draw(t, "features")
		constant := rapid.SampledFrom([]int{-1, 0, d - 1}).Draw(t, "constant")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		const m = 60
		moment, toward := mat.NewSymDense(d, nil), make([]float64, d)
		for range 3 * d {
			row := make([]float64, d)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			if constant >= 0 {
				row[constant] = 0.5
			}
			moment.SymRankOne(moment, 1/float64(3*d), mat.NewVecDense(d, row))
		}
		for j := range toward {
			toward[j] = rng.NormFloat64()
		}
		x := coloured(moment, constant, whitened(d, constant, m, rng), toward)
		square, along := mat.NewSymDense(d, nil), make([]float64, m)
		for i := range m {
			row := x[i*d : (i+1)*d]
			square.SymRankOne(square, 1.0/m, mat.NewVecDense(d, row))
			along[i] = dot(row, toward)
		}
		for j := range d {
			for k := range d {
				if got, want := square.At(j, k), moment.At(j, k); math.Abs(got-want) > 1e-9 {
					t.Fatalf("second moment %d, %d is %v, want %v", j, k, got, want)
				}
			}
		}
		slices.Sort(along)
		middle, spread := (along[0]+along[m-1])/2, along[m-1]-along[0]
		least := distuv.UnitNormal.Quantile(0.5 / m)
		for i, v := range along {
			want := middle - spread/2*distuv.UnitNormal.Quantile((float64(i)+0.5)/m)/least
			if math.Abs(v-want) > 1e-6*spread {
				t.Fatalf("predictor %d of %d in order is %v, want %v", i, m, v, want)
			}
		}
	})
}
