package anchors_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestNearerAnchors: of counts with a uniform column the score at the last anchor has the truth
// within 5.5 posterior standard deviations, for both coefficients of two tables, which fails by
// chance for one in 6·10⁶. The score at the first, which takes the column for normal, does not,
// in any of them.
func TestNearerAnchors(t *testing.T) {
	model, err := targets.New(targets.RegressionConfig{Family: "poisson", Features: 2, Prior: priors.Gaussian{SD: 10}})
	if err != nil {
		t.Fatal(err)
	}
	truth := []float64{-1, 4}
	c := anchors.Config{Target: model, Aim: anchors.Score, Cap: targets.Cap{Count: 20}, Chains: 2, Iterations: 40,
		LeastESS: 20, Ridge: 60, OptimumNoise: 3, MomentNoise: 3,
		Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.7}, {Lower: -0.7, Upper: 0.7}}}
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 31))
		r := curator.Records{Features: 2, Radius: 1}
		for range 40_000 {
			x := []float64{0.7, 1.4*rng.Float64() - 0.7}
			mean, count := math.Exp(x[0]*truth[0]+x[1]*truth[1]), 0.0
			for at := rng.ExpFloat64(); at < mean; at += rng.ExpFloat64() {
				count++
			}
			r.X, r.Y = append(r.X, x...), append(r.Y, count)
		}
		records := seal(t, r, accountant.Substitute, 1e6)
		draws, release := run(t, c, records, seed)
		for j, want := range truth {
			s := diag.Summarize(column(draws, j))
			if !(math.Abs(s.Mean-want) < 5.5*s.SD) {
				t.Errorf("table %d, coefficient %d: %.3f ± %.3f, and the truth is %v", seed, j, s.Mean, s.SD, want)
			}
		}
		if n := len(release.Earlier); n != 2 {
			t.Errorf("table %d: %d scores before the last, of three", seed, n)
		}
		s := release.Statistics
		s.Anchor, s.Ridge, s.ScoreSD = release.Values[:2], c.Ridge, s.ScoreSD/0.6
		s.Score = []float64{-c.Ridge * s.Anchor[0], -c.Ridge * s.Anchor[1]}
		first, err := surrogates.New(surrogates.Config{Statistics: s, Link: surrogates.LinkOf(model,
			targets.Cap{Slope: 0.5, Count: 20}), Prior: model.Prior()})
		if err != nil {
			t.Fatal(err)
		}
		farthest := 0.0
		for j, v := range first.Mode() {
			farthest = max(farthest, math.Abs(v-truth[j])/diag.Summarize(column(draws, j)).SD)
		}
		if farthest < 5.5 {
			t.Errorf("table %d: the mode given the first anchor is %v, %.1f standard deviations off", seed, first.Mode(),
				farthest)
		}
	}
}
