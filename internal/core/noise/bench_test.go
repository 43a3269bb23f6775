package noise

import (
	"fmt"
	"testing"

	google "github.com/google/differential-privacy/go/v3/noise"
)

func BenchmarkSource(b *testing.B) {
	src := testSource("BenchmarkSource")
	b.ReportAllocs()
	for b.Loop() {
		src.Uint64()
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	for _, sigma := range []float64{1, 1 << 10, 12345.678, 1 << 20, 1 << 40} {
		b.Run(fmt.Sprintf("sigma=%g", sigma), func(b *testing.B) {
			src := testSource("BenchmarkDiscreteGaussian")
			g := discreteGaussian(b, sigma)
			b.ReportAllocs()
			for b.Loop() {
				g.Sample(src)
			}
		})
	}
}

// BenchmarkGoogle is the comparison for BenchmarkDiscreteGaussian.
func BenchmarkGoogle(b *testing.B) {
	gaussian := google.Gaussian()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gaussian.AddNoiseFloat64(0, 1, 1, 1, 1e-5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStandardNormal(b *testing.B) {
	src := testSource("BenchmarkStandardNormal")
	StandardNormal(src)
	b.ReportAllocs()
	for b.Loop() {
		StandardNormal(src)
	}
}

func BenchmarkBit(b *testing.B) {
	src := testSource("BenchmarkBit")
	tail, upper := Logistic(0.3)
	b.ReportAllocs()
	for b.Loop() {
		Bit(src, tail, upper)
	}
}
