package proptest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRegionsTellDirections: three numbers from a cube, and of the same lengths in any direction, are alike
// in their distance from the middle. Regions tell them apart, and two samples of one law hardly.
func TestRegionsTellDirections(t *testing.T) {
	cube := func(seed uint64, turned bool) [][]float64 {
		rng, all := rand.New(rand.NewPCG(seed, 7)), make([][]float64, 50_000)
		for i := range all {
			v, way := make([]float64, 3), make([]float64, 3)
			for j := range v {
				v[j], way[j] = 2*rng.Float64()-1, rng.NormFloat64()
			}
			if length := norm(v); turned {
				times(way, length/norm(way))
				v = way
			}
			all[i] = v
		}
		return all
	}
	differ := func(f feature, a, b [][]float64) (sum float64) {
		p, q := f.counts(a), f.counts(b)
		for k := range p {
			sum += math.Abs(float64(p[k]-q[k])) / float64(2*len(a))
		}
		return sum
	}
	a, b, c, d := cube(1, false), cube(2, true), cube(3, false), cube(4, true)
	f := regions(a, b, []int{0, 1, 2})
	if got := differ(f, c, d); got < 0.1 {
		t.Errorf("in %d regions the worlds differ by %.3f", f.cells, got)
	}
	if got := differ(quantiles(a, "", 128, fromMiddle(a)), c, d); got > 0.05 {
		t.Errorf("by the distance from the middle they differ by %.3f", got)
	}
	if got := differ(regions(a, c, []int{0, 1, 2}), cube(5, false), cube(6, false)); got > 0.05 {
		t.Errorf("samples of one law differ by %.3f", got)
	}
}

// TestFewValuesAreFollowed: where nearly all releases are one of two values, a set that exceeds δ by a
// thousandth is followed, since more releases will show it. One that meets δ is not, nor is one that is
// beyond it by less than they can show.
func TestFewValuesAreFollowed(t *testing.T) {
	lie := 1 / (1 + math.Exp(3))
	for _, c := range []struct {
		lies    float64
		follows bool
	}{{12.0 / 256, true}, {lie, false}, {lie - 1e-5, false}} {
		e, f := event{delta: 1 - 2*lie}, feature{cells: 2}
		if got := e.shows(1-c.lies, c.lies, 1e6, 32, f.clearly()); got > 0 != c.follows {
			t.Errorf("lies of %v: what is projected is %v", c.lies, got)
		}
	}
}
