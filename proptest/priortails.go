package proptest

import (
	"fmt"
	"slices"
)

// farEnd is where another parameter lies beyond a quantile of the draws, and what a parameter's own quantiles,
// of which it has the first two Legendre polynomials, are there.
type farEnd struct {
	k       int
	from    float64
	largest bool
	one     int // of so many draws
	bent    [2]moment
}

// farEnds are those of parameters but one. Draws choose where they begin, which changes nothing: given all other
// parameters of all draws, a right parameter's quantiles are uniform.
func farEnds(draws [][]float64, but int) (all []*farEnd) {
	for _, k := range someOf(len(draws[0]), 9) {
		if k == but {
			continue
		}
		v := column(draws, k)
		slices.Sort(v)
		for _, one := range []int{32, 128} {
			out, bent := len(v)/one, [2]moment{{span: 2}, {span: 2}}
			all = append(all, &farEnd{k, v[out], false, one, bent}, &farEnd{k, v[len(v)-1-out], true, one, bent})
		}
	}
	return all
}

func (f *farEnd) add(theta []float64, bent [degrees]float64) {
	if v := theta[f.k]; f.largest && v > f.from || !f.largest && v < f.from {
		for k := range f.bent {
			f.bent[k].add(bent[k])
		}
	}
}

// see compares the means at parameter j with 0. Far out quadrature is good to a hundredth.
func (f *farEnd) see(e *evidence, j int) {
	const few, allowed = 100, 0.02 // fewer draws show nothing
	for k, m := range f.bent {
		if m.n < few {
			continue
		}
		said := m.mean()
		m.less(allowed)
		e.mean(&m, func() string {
			end := map[bool]string{true: "largest", false: "least"}[f.largest]
			return fmt.Sprintf("the mean of the Legendre polynomial of degree %d of the quantiles of parameter %d is %.2g "+
				"over %d draws where parameter %d is among the %s, one in %d, not 0", k+1, j, said, m.n, f.k, end, f.one)
		})
	}
}
