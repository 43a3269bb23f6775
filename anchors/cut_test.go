package anchors

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestScoreCutsSlopes: for Score the noise is that of slopes cut where little is lost, and for
// aims whose steps look at the loss that of the loss's own bound. Of counts the score is that at the
// last anchor, with less noise than the optimum.
func TestScoreCutsSlopes(t *testing.T) {
	prior := priors.Gaussian{SD: 3}
	logistic, e0 := targets.New(targets.RegressionConfig{Features: 2, Prior: prior})
	probit, e1 := targets.New(targets.RegressionConfig{Family: "probit", Features: 2, Prior: prior})
	poisson, e2 := targets.New(targets.RegressionConfig{Family: "poisson", Features: 2, Prior: prior})
	spread, e3 := targets.New(targets.RegressionConfig{Family: "negative-binomial", Features: 2, Prior: prior,
		Dispersion: 300})
	if e0 != nil || e1 != nil || e2 != nil || e3 != nil {
		t.Fatal(e0, e1, e2, e3)
	}
	for _, c := range []struct {
		target     *targets.Regression
		count      float64
		cut, whole float64
	}{{logistic, 0, 0.5, 1}, {probit, 0, 0.5, 3}, {poisson, 64, 0.5, 64}, {poisson, 2, 0.5, 2},
		{spread, 100, math.Sqrt(75) / 2, 300}} {
		sd := func(aim Aim, slope float64) float64 {
			facts := curator.Facts{Records: 50, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
				Adjacency: accountant.Substitute}
			prepared, _, err := Prepare(Config{Target: c.target, Aim: aim, Iterations: 1, Ridge: 300, LeastESS: 10,
				OptimumNoise: 5, MomentNoise: 5, Clip: 0.01, Cap: targets.Cap{Count: c.count, Slope: slope}}, facts)
			if err != nil {
				t.Fatal(err)
			}
			release, err := prepared.describe(make([]float64, prepared.size())) // the noise is that of any values
			if err != nil {
				t.Fatal(err)
			}
			return release.Statistics.ScoreSD
		}
		cut := sd(Score, 0)
		if want := sd(Score, c.cut); math.Abs(cut/want-1) > 1e-6 {
			t.Errorf("%s: the score's noise is %v, that of slopes up to %v is %v", c.target.Family(), cut, c.cut, want)
		}
		want := c.whole / c.cut
		if c.count > 0 {
			want /= 0.6
		}
		if own := sd(Perturbed, 0); math.Abs(own/cut/want-1) > 1e-6 {
			t.Errorf("%s: noise of %v and, cut, %v, want a factor of %v", c.target.Family(), own, cut, want)
		}
	}
}
