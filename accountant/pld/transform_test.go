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
	for _, n := range []int{4, 8, 16, 32, 64, 128, 1024, 2048, 16384, 32768} {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		tr := newTransform(n)
		got, want := tr.forward(tr.fold(x)), fourier.NewFFT(n).Coefficients(nil, x)
		diff, norm := 0.0, 0.0
		for k, z := range want {
			diff = math.Hypot(diff, math.Hypot(got.re[k]-real(z), got.im[k]-imag(z)))
			norm = math.Hypot(norm, math.Hypot(real(z), imag(z)))
		}
		if len(got.re) != len(want) || !(diff <= 2*transformError(n)*norm) {
			t.Errorf("n = %d: off by %v of %v, %v is allowed", n, diff, norm, 2*transformError(n)*norm)
		}
		back := tr.backward(got)
		diff, norm = 0, 0
		for i, v := range x {
			half := back.re
			if i%2 == 1 {
				half = back.im
			}
			diff, norm = math.Hypot(diff, half[i/2]/float64(n)-v), math.Hypot(norm, v)
		}
		if !(diff <= 2*transformError(n)*norm) {
			t.Errorf("n = %d: there and back is off by %v", n, diff)
		}
	}
}

// TestFoldAndUnfold: wrapping around keeps every number at its place modulo the length,
// and reading from any place on returns them in order.
func TestFoldAndUnfold(t *testing.T) {
	const n = 16
	tr := newTransform(n)
	for _, length := range []int{1, 2, 5, 11, 12, 13, 24, 31} {
		mass, want := make([]float64, length), make([]float64, n)
		for i := range mass {
			mass[i] = float64(i + 1)
			want[i%n] += mass[i]
		}
		z := tr.fold(mass)
		norm := 0.0
		for _, v := range want {
			norm = math.Hypot(norm, v)
		}
		if got := z.norm(); math.Abs(got-norm) > 1e-12*norm {
			t.Errorf("%d numbers: norm %v, want %v", length, got, norm)
		}
		halves := waves{z.re[:n/2], z.im[:n/2]}
		for at := range n {
			got := make([]float64, 7)
			halves.unfold(got, at, 2)
			for i, v := range got {
				if v != 2*want[(at+i)%n] {
					t.Errorf("%d numbers from %d on: %v at %d, want %v", length, at, v, i, 2*want[(at+i)%n])
				}
			}
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
			t.backward(t.forward(t.fold(x))).free()
		}
	})
	b.Run("gonum", func(b *testing.B) {
		f := fourier.NewFFT(n)
		for b.Loop() {
			f.Sequence(nil, f.Coefficients(nil, x))
		}
	})
}
