package proptest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/targets"
)

// TestRipplesAreSeen: a normal law has none, at any place, scale and grid; stairs of a fifth of its
// standard deviation are some. The first are rejected with probability at most 10⁻⁶ each.
func TestRipplesAreSeen(t *testing.T) {
	const n = 400_000
	rng := rand.New(rand.NewPCG(1, 53))
	p := func(step float64, draw func() float64) float64 {
		v := make([]float64, n)
		for i := range v {
			if v[i] = draw(); step > 0 {
				v[i] = step * math.Round(v[i]/step)
			}
		}
		e := &evidence{}
		ripples(e, v, 0, step)
		return e.family()
	}
	for _, step := range []float64{0, 0x1p-30, 1e-3, 0.0101, 0.4} {
		if got := p(step, func() float64 { return 17.3 + 1.7*rng.NormFloat64() }); got < 1e-6 {
			t.Errorf("a normal law on a grid of %v: p = %v", step, got)
		}
	}
	stairs := func() float64 { return 17.3 + 0.34*(math.Round(rng.NormFloat64()/0.2)+rng.Float64()-0.5) }
	for _, step := range []float64{0, 1e-3} {
		if got := p(step, stairs); got > 1e-6 {
			t.Errorf("stairs on a grid of %v: p = %v", step, got)
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

// TestPlacesInHeavyTails: a Cauchy law's quantiles are known from its middle to far out.
func TestPlacesInHeavyTails(t *testing.T) {
	where := about{middle: 0, width: 1, scale: 6}
	for _, v := range []float64{0, 0.3, -1, 2, -5, 20, -100, 700, -5000} {
		got := quantile(cauchyLaw{}, []float64{v}, 0, where)
		if want := 0.5 + math.Atan(v)/math.Pi; !(math.Abs(got-want) < 1e-3) {
			t.Errorf("%v is at the quantile %v, not %v", v, got, want)
		}
	}
}

// cauchyLaw is a prior; a record says nothing.
type cauchyLaw struct{}

func (cauchyLaw) Dim() int                              { return 1 }
func (cauchyLaw) Shape() (int, bool)                    { return 1, false }
func (cauchyLaw) LogPrior(theta []float64) float64      { return -math.Log1p(theta[0] * theta[0]) }
func (cauchyLaw) Loss(dst, _ []float64, _ targets.Rows) { clear(dst) }
