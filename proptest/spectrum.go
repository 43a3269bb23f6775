package proptest

import (
	"cmp"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// suspected is how many lags and how many periods are looked at again.
const suspected = 6

// repeats searches the first half of one score of the releases for periods and
// for lags of any length, by its Fourier transform, and tests the strongest on the
// second half.
func repeats(e *evidence, score func(i int) float64, n int, what string) {
	half := n / 2
	if half < 5000 {
		return
	}
	first := make([]float64, half)
	for i := range first {
		first[i] = score(i)
	}
	transform := fourier.NewFFT(half)
	spectrum := transform.Coefficients(nil, first)
	power := make([]float64, len(spectrum))
	for k, c := range spectrum {
		power[k] = real(c)*real(c) + imag(c)*imag(c)
	}
	for _, k := range strongest(power[1:]) {
		rate, phase := float64(k+1)/float64(half), cmplx.Phase(spectrum[k+1])
		m := moment{span: 4}
		for i := half; i < n; i++ {
			turns := rate * float64(i-half) // half is a whole number of periods
			m.add(score(i) * math.Cos(2*math.Pi*(turns-math.Floor(turns))+phase))
		}
		e.see(m.p(), func() string {
			return fmt.Sprintf("releases have the period %.6g: the mean product of %s with its wave is %.3g", 1/rate, what,
				m.mean())
		})
	}
	for k := range spectrum {
		spectrum[k] = complex(power[k], 0)
	}
	spectrum[0] = 0
	correlation := transform.Sequence(first, spectrum)
	for i, v := range correlation {
		correlation[i] = math.Abs(v)
	}
	for _, k := range strongest(correlation[1 : half/100]) {
		e.see(apart(score, half, n, k+1, what))
	}
}

// strongest are the places of the largest values.
func strongest(v []float64) []int {
	at := make([]int, 0, suspected+1)
	for i, x := range v {
		if len(at) == suspected && x <= v[at[suspected-1]] {
			continue
		}
		k, _ := slices.BinarySearchFunc(at, x, func(j int, x float64) int { return cmp.Compare(x, v[j]) })
		at = slices.Insert(at, k, i)
		at = at[:min(len(at), suspected)]
	}
	return at
}

// apart tests that releases from low to high that lie lag apart are independent,
// by the products of a score at disjoint pairs.
func apart(score func(i int) float64, low, high, lag int, what string) (p float64, about func() string) {
	m := moment{span: 4}
	for i := low; i+lag < high; i++ {
		if (i-low)%(2*lag) < lag {
			m.add(score(i) * score(i+lag))
		}
	}
	return m.p(), func() string {
		return fmt.Sprintf("releases %d apart are dependent: the mean product of %s is %.3g", lag, what, m.mean())
	}
}
