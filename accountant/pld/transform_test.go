package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// TestTransform: forwards it agrees with gonum's, an independent program, within
// what transformError allows, and there and back gives n times the numbers.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 1024, 2560, 3072, 20480, 24576, 32768} {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		tr := newTransform(n)
		got, want := tr.forward(x), fourier.NewFFT(n).Coefficients(nil, x)
		diff, norm := 0.0, 0.0
		for k, z := range want {
			diff = math.Hypot(diff, math.Hypot(got.re[k]-real(z), got.im[k]-imag(z)))
			norm = math.Hypot(norm, math.Hypot(real(z), imag(z)))
		}
		if len(got.re) != len(want) || !(diff <= 2*transformError(n)*norm) {
			t.Errorf("n = %d: off by %v of %v, %v is allowed", n, diff, norm, 2*transformError(n)*norm)
		}
		diff = 0
		for i, v := range tr.backward(got) {
			diff = math.Hypot(diff, v/float64(n)-x[i])
		}
		if !(diff <= 2*transformError(n)*norm2(x)) {
			t.Errorf("n = %d: there and back is off by %v", n, diff)
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	const n = 32768
	x := make([]float64, n)
	x[3] = 1
	b.Run("own", func(b *testing.B) {
		t := newTransform(n)
		for b.Loop() {
			t.backward(t.forward(x))
		}
	})
	b.Run("gonum", func(b *testing.B) {
		f := fourier.NewFFT(n)
		for b.Loop() {
			f.Sequence(nil, f.Coefficients(nil, x))
		}
	})
}
