package barker_test

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
)

// mixtureTable is the published experiment's data (Heikkilä et al. 2019, §4),
// simulated.
func mixtureTable(t testing.TB) *data.Table {
	t.Helper()
	return posteriors.Must(data.Builtin("builtin:mixture")).Table
}

// mixturePosterior integrates the tempered posterior of the mixture data, from
// the formula and not from the target, in the parameters θ₁ + share·θ₂ and θ₂.
// The records are binned (1000 bins over ±12): their variance of 2 grows by a
// twelfth of the bins' squared width, 5·10⁻⁵.
func mixturePosterior(x []float64, tau, share float64) posteriors.Moments {
	const bins, reach = 1000, 12.0
	count := make([]float64, bins)
	for _, v := range x {
		b := int((v + reach) / (2 * reach) * bins)
		count[min(max(b, 0), bins-1)]++
	}
	return posteriors.Quadrature(posteriors.Box{-1.6, 2.6, -3.2, 3.2}, 64, func(theta []float64) float64 {
		a, b := theta[0]-share*theta[1], theta[1]
		l := -a*a/20 - b*b/2
		for i, n := range count {
			if n > 0 {
				v := (float64(i)+0.5)/bins*2*reach - reach
				d, e := v-a, v-a-b
				l += tau * n * math.Log(math.Exp(-d*d/4)+math.Exp(-e*e/4))
			}
		}
		return l
	})
}

// centred gives θ₁, θ₂ and the mixture's centre θ₁ + θ₂/2.
func centred(x []float64, tau float64) posteriors.Moments {
	m, centre := mixturePosterior(x, tau, 0), mixturePosterior(x, tau, 0.5)
	return posteriors.Moments{Mean: append(m.Mean, centre.Mean[0]), SD: append(m.SD, centre.SD[0])}
}

// TestMixtureOfThePublishedExperiment runs the subsampled tempered chain on a
// million records, N₀ = 100, b = 1000, and holds mean and standard deviation
// within 4 Monte Carlo standard errors of the exact posterior. False-alarm rate
// of a fresh seed: 6 figures a chain at 4 errors, 4·10⁻⁴; the seed is fixed.
// The modes swap so rarely that θ₁ and θ₂ have 15 to 30 effective draws; the
// centre, which both modes share, has 900, and tells the posterior from the
// mutant, that of half the data.
func TestMixtureOfThePublishedExperiment(t *testing.T) {
	table := mixtureTable(t)
	const tau, b = 1e-4, 1000.0
	want, mutant := centred(table.X, tau), centred(table.X, tau/2)
	t.Logf("exact posterior: %.4v", want)
	for _, tc := range []struct {
		name  string
		test  curator.Test
		batch curator.Batch
		step  float64
		steps int64
	}{
		// The exact test ignores the batch's noise, so its steps are kept small
		// enough for that noise not to show, and there are more of them.
		{"exact test, Poisson", curator.Test{}, curator.Batch{Rate: b / 1e6}, 0.05, 60_000},
		{"corrected, Poisson", curator.Test{Corrected: 1}, curator.Batch{Rate: b / 1e6}, 0.1, 20_000},
		{"corrected, fixed size, C=2", curator.Test{Corrected: 2}, curator.Batch{Size: b}, 0.1, 20_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			draws := posteriors.Run(t, posteriors.Seal(curator.Records{X: table.X, Features: 1}), []float64{0.5, 0.5}, tc.steps,
				factory(barker.Config{
					Target: posteriors.Mixture(), Proposal: curator.Proposal{Scale: tc.step}, Test: tc.test, Batch: tc.batch,
					Temperature: tau, Clip: math.Sqrt(b) / 1e6,
				}))
			centre := make([]float64, len(draws[0]))
			for i := range centre {
				centre[i] = draws[0][i] + draws[1][i]/2
			}
			draws = append(draws, centre)
			if !want.Agree(t, tc.name, draws, 4, 0) {
				t.Error("a figure is more than 4 Monte Carlo errors from the exact posterior")
			}
			if mutant.Agree(t, tc.name+", mutant", draws, 4, 0) {
				t.Error("the draws cannot be told from the posterior of half the data")
			}
		})
	}
}

// TestLogisticPosterior compares the exact full-data chain with quadrature, and
// rejects mutants. False-alarm rate: 4 figures at 5.5 errors, 1.5·10⁻⁷.
func TestLogisticPosterior(t *testing.T) {
	p := posteriors.Logistic()
	p.Wrong["prior of twice the scale"] = [2]float64{0.25, 1}
	for _, proposal := range []curator.Proposal{{Scale: 0.9}, {Scale: 1.3, OneComponent: true},
		{Scale: 0.9, Radius: 3}} {
		p.Check(t, 100_000, 5.5, factory(barker.Config{Target: p.Target, Proposal: proposal}))
	}
}
