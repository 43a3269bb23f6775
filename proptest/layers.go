package proptest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"
)

// checkLayers looks at layers of every coordinate. Where those of one are suspicious, they are looked at in four times
// as many other releases, but for Quick.
func (s stated) checkLayers(t rapid.TB, m Additive, columns [][]float64, o MechanismOptions) error {
	t.Helper()
	const suspicious, more, streams = 0.2, 4, 1 << 43
	for j, v := range columns {
		e := &evidence{}
		if s.layers(e, v, j); e.family() > suspicious {
			continue
		}
		if o.Effort >= Standard {
			again := make([]float64, 0, more*len(v))
			for k := range uint64(more) {
				all, err := releases(m, o.A, o.Seed+(k+1)*streams, len(v))
				if err != nil {
					return err
				}
				again = append(again, column(all, j)...)
			}
			e = &evidence{}
			s.layers(e, again, j)
		}
		e.count *= len(columns) // any of them may have been looked at
		if o.noiseIsOff(t, m, e); t.Failed() || o.Effort >= Standard {
			return nil
		}
	}
	return nil
}

// layers compares the parts of narrow intervals of the noise's size with the stated law: given that a value is in one
// of two that lie beside each other, it is in the nearer one with a chance that hardly depends on location and scale.
// A layer of a ziggurat without its wedge, and cells of a table, are level where the law is not. A tenth of the values
// tells both; the others are compared.
func (s stated) layers(e *evidence, v []float64, coordinate int) {
	const cells, deep = 256, 4.0 // of 1/64 of the scale each
	some := len(v) / 10
	mean, unit := momentsOf(v[:some])
	if !s.gaussian {
		unit /= math.Sqrt2
	}
	if some < 1000 || s.step > unit/1000 {
		return // a grid's numbers are not a density's
	}
	counts := make([]int, cells+1)
	for _, x := range v[some:] {
		counts[int(min(math.Abs(x-mean)/unit*cells/deep, cells))]++
	}
	off := 6 / math.Sqrt(float64(some))
	if !s.gaussian { // its variance is known less well
		off = 10 / math.Sqrt(float64(some))
	}
	nearer := func(lo, width, by, at float64) float64 { // at a scale and a location
		mass := func(lo, hi float64) float64 {
			return s.between((lo-at)/by, (hi-at)/by) + s.between((lo+at)/by, (hi+at)/by)
		}
		near := mass(lo, lo+width)
		return near / (near + mass(lo+width, lo+2*width))
	}
	for width := 2; width <= 16; width *= 2 {
		sums := make([]int, cells/(width/2)) // each begins in the middle of the one before
		for i := range sums {
			for _, n := range counts[i*width/2 : min(i*width/2+width, cells)] {
				sums[i] += n
			}
		}
		for i := range len(sums) - 3 {
			near, far, lo, wide := sums[i], sums[i+2], float64(i*width)/2*deep/cells, float64(width)*deep/cells
			least, most := 1.0, 0.0
			for _, by := range []float64{1 - off, 1 + off} {
				for _, at := range []float64{0, off} {
					p := nearer(lo, wide, by, at)
					least, most = min(least, p), max(most, p)
				}
			}
			p := min(atLeast(near, near+far, most*(1+1e-6)), atMost(near, near+far, least*(1-1e-6)))
			e.see(min(1, 2*p), func() string {
				return fmt.Sprintf("of %d values of coordinate %d between %.4g and %.4g from the mean, %d are in the nearer half, "+
					"where the noise has %.4g to %.4g of them", near+far, coordinate, lo*unit, (lo+2*wide)*unit, near, least, most)
			})
		}
	}
}
