package proptest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRipplesAreSeen: a normal law has none, and a Laplace law those that are known, at any place,
// scale and grid. Stairs of a fifth of the standard deviation are some. The first are rejected with
// probability at most 10⁻⁶ each.
func TestRipplesAreSeen(t *testing.T) {
	const n = 400_000
	rng := rand.New(rand.NewPCG(1, 53))
	p := func(law stated, step float64, draw func() float64) float64 {
		v := make([]float64, n)
		for i := range v {
			if v[i] = draw(); step > 0 {
				v[i] = step * math.Round(v[i]/step)
			}
		}
		e := &evidence{}
		law.ripples(e, v, 0, step)
		return e.family()
	}
	for _, step := range []float64{0, 0x1p-30, 1e-3, 0.0101, 0.4} {
		if got := p(stated{gaussian: true}, step, func() float64 { return 17.3 + 1.7*rng.NormFloat64() }); got < 1e-6 {
			t.Errorf("a normal law on a grid of %v: p = %v", step, got)
		}
		if got := p(stated{}, step, func() float64 { return 17.3 + rng.ExpFloat64() - rng.ExpFloat64() }); got < 1e-6 {
			t.Errorf("a Laplace law on a grid of %v: p = %v", step, got)
		}
	}
	stairs := func() float64 { return 17.3 + 0.34*(math.Round(rng.NormFloat64()/0.2)+rng.Float64()-0.5) }
	for _, step := range []float64{0, 1e-3} {
		for _, law := range []stated{{gaussian: true}, {}} {
			if got := p(law, step, stairs); got > 1e-6 {
				t.Errorf("stairs on a grid of %v, for %+v: p = %v", step, law, got)
			}
		}
	}
}

// TestMeetingsAreFeatures: a size that two coordinates share now and then is a feature, and others' are not.
func TestMeetingsAreFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 54))
	draws := func(share float64) [][]float64 {
		all := make([][]float64, 20_000)
		for i := range all {
			all[i] = make([]float64, 3)
			normals(rng, all[i])
			if rng.Float64() < share {
				all[i][2] = 5 - all[i][0]
			}
		}
		return all
	}
	onA := draws(0.02)
	found := meetings(onA, draws(0))
	if len(found) != 1 || len(meetings(draws(0), draws(0))) != 0 {
		t.Fatalf("%d features", len(found))
	}
	most := 0
	for _, n := range found[0].counts(onA)[1:] {
		most = max(most, n)
	}
	if most < 200 {
		t.Errorf("a cell of %d releases of 400", most)
	}
}
