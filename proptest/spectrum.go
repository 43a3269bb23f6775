package proptest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/cmplx"
	"math/rand/v2"
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
	for _, k := range strongest(correlation[1 : half/2]) {
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

// pairs are the first members of disjoint pairs that lie lag apart. Their places keep
// in step with no period.
func pairs(low, high, lag int) iter.Seq[int] {
	return func(yield func(int) bool) {
		rng := rand64(uint64(lag), 31)
		for i := low; i+2*lag <= high; i += 2*lag + rng.IntN(2) {
			for k := range lag {
				if !yield(i + k) {
					return
				}
			}
		}
	}
}

// apart tests that releases from low to high that lie lag apart are independent,
// by the products of a score at disjoint pairs.
func apart(score func(i int) float64, low, high, lag int, what string) (p float64, about func() string) {
	m := moment{span: 4}
	for i := range pairs(low, high, lag) {
		m.add(score(i) * score(i+lag))
	}
	return m.p(), func() string {
		return fmt.Sprintf("releases %d apart are dependent: the mean product of %s is %.3g", lag, what, m.mean())
	}
}

// product is one of up to three scores: of a release, of the one lag before it and,
// with a second lag, of the one that lies that further back.
type product struct {
	lags    [2]int // the second is 0 for a product of two
	degrees [3]int
}

func (p product) at(scores [][4]float64, i int) float64 {
	v := scores[i][p.degrees[0]] * scores[i-p.lags[0]][p.degrees[1]]
	if p.lags[1] > 0 {
		v *= scores[i-p.lags[1]][p.degrees[2]]
	}
	return v
}

// products are those of releases near each other that apart does not see: of two
// degrees, and of three releases, any two of which may be independent.
var products = func() (all []product) {
	for bits := range 8 {
		d := [3]int{bits & 1, bits >> 1 & 1, bits >> 2}
		for lag := 1; lag <= 8; lag++ {
			if d[0] != d[1] && d[2] == 0 {
				all = append(all, product{[2]int{lag}, d})
			}
			for further := lag + 1; further <= 5; further++ {
				all = append(all, product{[2]int{lag, further}, d})
			}
		}
	}
	return all
}()

// related searches the first half of the releases for a product that does not
// average zero, and tests the strongest on disjoint groups of the second half.
func related(e *evidence, scores [][4]float64, coordinate int, rng *rand.Rand) {
	half := len(scores) / 2
	if half < 1000 {
		return
	}
	size := make([]float64, len(products))
	for k, p := range products {
		sum, squares := 0.0, 0.0
		for i := 8; i < half; i++ {
			v := p.at(scores, i)
			sum, squares = sum+v, squares+v*v
		}
		size[k] = sum * sum / max(squares, 1)
	}
	for _, k := range strongest(size) {
		p, m := products[k], moment{span: 4}
		reach := max(p.lags[0], p.lags[1])
		for i := half + reach; i < len(scores); i += reach + 1 + rng.IntN(3) { // in step with no period
			m.add(p.at(scores, i))
		}
		e.see(m.p(), func() string {
			return fmt.Sprintf("releases of coordinate %d near each other are dependent: the mean product of scores of the "+
				"degrees %v at the distances %v is %.3g", coordinate, p.degrees, p.lags, m.mean())
		})
	}
}

// twins looks for numbers of different releases that keep a distance or a sum: noise that comes
// again, of either sign, in the same coordinate or another one. The distance that comes
// most often is found in the first half, and counted in one part of the second and, between numbers
// that lie far apart, in another: under independence either is as likely to be the next to show it.
func twins(e *evidence, all [][]float64) {
	some, part := someOf(len(all[0]), 4), len(all)/4
	for _, lag := range lags {
		if lag > len(all)/100 {
			break
		}
		for _, j := range some {
			for _, k := range some {
				if lag <= 10 || j == k {
					twin{lag, j, k, 1}.see(e, all, part)
					twin{lag, j, k, -1}.see(e, all, part)
				}
			}
		}
	}
}

// twin is the distance, or the sum, of a release's coordinate and of one some releases before.
type twin struct {
	lag, j, k int
	sign      float64
}

func (w twin) see(e *evidence, all [][]float64, part int) {
	apart := func(i, before int) float64 { return all[i][w.j] - w.sign*all[before][w.k] }
	var found []float64
	for i := w.lag; i < min(2*part, 20_000); i++ {
		found = append(found, apart(i, i-w.lag))
	}
	if len(found) < 100 {
		return
	}
	slices.Sort(found)
	width := 1e-9 * (found[len(found)*3/4] - found[len(found)/4]) // sums are rounded
	value, most := 0.0, 0
	for i, k := 0, 0; i < len(found); i++ {
		for found[i]-found[k] > width {
			k++
		}
		if i-k > most {
			value, most = (found[i]+found[k])/2, i-k
		}
	}
	if w.j == w.k && w.sign > 0 {
		value = 0 // as many as that may be equal is asked whatever the first half shows
	} else if most < 3 {
		return
	}
	near, far, n := 0, 0, 0
	hit := func(v float64) bool { return math.Abs(v-value) <= width }
	for i := range pairs(2*part, 3*part, w.lag) {
		if hit(apart(i+w.lag, i)) {
			near++
		}
		if hit(apart(3*part+n, 4*part-1-n)) {
			far++
		}
		n++
	}
	e.see(fair(near, far), func() string {
		return fmt.Sprintf("%d of %d pairs of coordinates %d and %d, of releases %d apart, have the %s %.6g, and %d of as "+
			"many that lie far apart", near, n, w.j, w.k, w.lag, map[float64]string{1: "difference", -1: "sum"}[w.sign],
			value, far)
	})
}
