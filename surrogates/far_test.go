package surrogates_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestReleasesOfAnyKindHaveAPosterior: noise alone may put an anchor far out and leave
// any curvature. The density of what was released must exist and be a number, not
// panic: a search over 300 releases, with and without weights, of every kind of link.
func TestReleasesOfAnyKindHaveAPosterior(t *testing.T) {
	links := map[int]surrogates.Link{}
	slopes := []float64{2, 2, 0.5}
	for k, family := range []string{"probit", "poisson", "logistic"} {
		model, err := targets.New(targets.RegressionConfig{Family: family, Features: 1, Prior: priors.Gaussian{SD: 3}})
		if err != nil {
			t.Fatal(err)
		}
		link := surrogates.LinkOf(model, targets.Cap{Slope: slopes[k], Count: 20})
		links[2*k], links[2*k+1] = link, link
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 300 {
		d := 1 + rng.IntN(4)
		sd := math.Exp(rng.Float64() * 8)
		s := surrogates.Statistics{
			Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: sd, Ridge: 2, Moment: make([]float64, d*d),
			MomentSD: sd / 4,
			Weighted: i%2 == 0, Records: int64(10 + rng.IntN(3000)), Radius: math.Exp(rng.NormFloat64()), Temperature: 1,
		}
		for j := range d {
			s.Anchor[j] = math.Exp(rng.Float64()*8-2) * rng.NormFloat64()
			s.Score[j] = -s.Ridge * s.Anchor[j]
			for k := range j + 1 {
				v := sd / 4 * rng.NormFloat64()
				s.Moment[j*d+k], s.Moment[k*d+j] = v, v
			}
		}
		link := links[i%10]
		if link == nil {
			link = surrogates.Logistic
		}
		p, err := surrogates.New(surrogates.Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3},
			Imputations: 3, Seed: uint64(i)})
		if err != nil {
			t.Errorf("release %d: %v", i, err)
			continue
		}
		if v := p.Density().LogDensityGrad(make([]float64, d), make([]float64, d)); math.IsNaN(v) || math.IsInf(v, 1) {
			t.Errorf("release %d: log density %v at 0", i, v)
		}
	}
}

// TestWideningOfManyFeatures: the posterior mean of noisy second moments need not be
// positive definite, and privacy has a widening all the same.
func TestWideningOfManyFeatures(t *testing.T) {
	const d = 66
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 5 {
		s := surrogates.Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 9, Ridge: 2,
			Moment: make([]float64, d*d), MomentSD: 12, Records: 5000, Radius: 1}
		for j := range d {
			s.Anchor[j] = 3 * rng.NormFloat64()
			s.Score[j] = -s.Ridge * s.Anchor[j]
			for k := range j + 1 {
				v := 12 * rng.NormFloat64()
				if k == j {
					v += 40
				}
				s.Moment[j*d+k], s.Moment[k*d+j] = v, v
			}
		}
		p, err := surrogates.New(surrogates.Config{Statistics: s, Link: surrogates.Logistic, Prior: priors.Gaussian{SD: 3},
			Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		draws := make([][]float64, 2*d)
		for k := range draws {
			draws[k] = make([]float64, d)
			for j := range d {
				draws[k][j] = rng.NormFloat64()
			}
		}
		widened, err := p.Widening(surrogates.Draws{Chains: [][][]float64{draws}})
		if err != nil {
			t.Errorf("release %d: %v", i, err)
		}
		for j, w := range widened {
			if !(w > 0) || math.IsInf(w, 0) {
				t.Errorf("release %d: coefficient %d is widened by %v", i, j, w)
			}
		}
	}
}
