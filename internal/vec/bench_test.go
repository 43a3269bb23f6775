package vec

import (
	"math/rand/v2"
	"testing"
)

func benchSlice(b *testing.B, f func(dst, x []float64)) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, dst := make([]float64, 4096), make([]float64, 4096)
	for i := range x {
		x[i] = 4 * rng.NormFloat64()
	}
	b.ReportAllocs()
	for b.Loop() {
		f(dst, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/element")
}

func each(f func(float64) float64) func(dst, x []float64) {
	return func(dst, x []float64) {
		for i, v := range x {
			dst[i] = f(v)
		}
	}
}

func BenchmarkSoftplus(b *testing.B) { benchSlice(b, Softplus) }
func BenchmarkExp(b *testing.B)      { benchSlice(b, each(Exp)) }
func BenchmarkExpm1(b *testing.B)    { benchSlice(b, each(Expm1)) }
