package dense

import "testing"

func BenchmarkMulVec(b *testing.B) {
	const n, d = 1_000_000, 10
	x, dst, v := make([]float64, n*d), make([]float64, n), make([]float64, d)
	for i := range x {
		x[i] = float64(i%17) / 17
	}
	b.SetBytes(8 * n * d)
	b.ReportAllocs()
	for b.Loop() {
		MulVec(dst, x, v)
	}
}
