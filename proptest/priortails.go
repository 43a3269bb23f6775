package proptest

import (
	"fmt"
	"math"
	"slices"
)

// farEnd is where another parameter lies beyond a quantile of the draws, and what a parameter's own quantiles,
// of which it has the first two Legendre polynomials, are there.
type farEnd struct {
	from    float64
	largest bool
	one     int // of so many draws
	what    string
	bent    [2]moment
	out     int // quantiles near 0 or 1
}

// nearEnds is the share of quantiles that are near 0 or 1.
const nearEnds = 1. / 8

func newFarEnd(from float64, largest bool, one int, what string) *farEnd {
	return &farEnd{from, largest, one, what, [2]moment{{span: 2}, {span: 2}}, 0}
}

// otherEnd is one of parameter k.
type otherEnd struct {
	k int
	*farEnd
}

// farEnds are those of parameters but one. Draws choose where they begin, which changes nothing: given all other
// parameters of all draws, a right parameter's quantiles are uniform.
func farEnds(draws [][]float64, but int) (all []otherEnd) {
	for _, k := range someOf(len(draws[0]), 9) {
		if k == but {
			continue
		}
		v := column(draws, k)
		slices.Sort(v)
		for _, one := range []int{32, 128} {
			out, what := len(v)/one, fmt.Sprintf("where parameter %d is among the ", k)
			all = append(all, otherEnd{k, newFarEnd(v[out], false, one, what+"least")},
				otherEnd{k, newFarEnd(v[len(v)-1-out], true, one, what+"largest")})
		}
	}
	return all
}

func (f *farEnd) add(v float64, bent [degrees]float64) {
	if f.largest && v > f.from || !f.largest && v < f.from {
		for k := range f.bent {
			f.bent[k].add(bent[k])
		}
		if math.Abs(bent[0]) > 1-nearEnds {
			f.out++
		}
	}
}

// see compares the means at parameter j with 0, and counts what is near either end of its law. Far out quadrature is
// good to a hundredth.
func (f *farEnd) see(e *evidence, j int) {
	const few, allowed = 100, 0.02 // fewer draws show nothing
	for k, m := range f.bent {
		if m.n < few {
			continue
		}
		said := m.mean()
		m.less(allowed)
		e.mean(&m, func() string {
			return fmt.Sprintf("the mean of the Legendre polynomial of degree %d of the quantiles of parameter %d is %.2g "+
				"over %d draws %s, one in %d, not 0", k+1, j, said, m.n, f.what, f.one)
		})
	}
	if n := f.bent[0].n; n >= few {
		p := 2 * min(atLeast(f.out, n, nearEnds+allowed), atMost(f.out, n, nearEnds-allowed))
		e.see(min(1, p), func() string {
			return fmt.Sprintf("%d of %d quantiles of parameter %d are near 0 or 1 over draws %s, one in %d, where one in "+
				"%.3g should be", f.out, n, j, f.what, f.one, 1/nearEnds)
		})
	}
}

// otherOnes is a bounded function of other parameters: of one, of its size if that is said, or of two.
type otherOnes struct {
	k, l int
	size bool
}

// others are such functions of all parameters but one, and of pairs of a few.
func others(d, but int) (all []otherOnes) {
	for k := range d {
		if k != but {
			all = append(all, otherOnes{k, k, false}, otherOnes{k, k, true})
		}
	}
	some := someOf(d, 9)
	for i, k := range some {
		for _, l := range some[:i] {
			if k != but && l != but {
				all = append(all, otherOnes{k, l, false})
			}
		}
	}
	return all
}

func (f otherOnes) of(theta, scale []float64) float64 {
	v := math.Tanh(theta[f.k] / scale[f.k])
	switch {
	case f.size:
		return 2*math.Abs(v) - 1
	case f.k != f.l:
		return v * math.Tanh(theta[f.l]/scale[f.l])
	}
	return v
}

func (f otherOnes) String() string {
	switch {
	case f.size:
		return fmt.Sprintf("the size of parameter %d", f.k)
	case f.k != f.l:
		return fmt.Sprintf("parameters %d and %d", f.k, f.l)
	}
	return fmt.Sprintf("parameter %d", f.k)
}
