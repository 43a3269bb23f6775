package anchors_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// errorsOf are records of one feature, 1, and a response about 0.5 with errors of scale 0.6.
func errorsOf(n int, seed uint64) curator.Records {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := curator.Records{Features: 1, Radius: 1}
	for range n {
		r.X, r.Y = append(r.X, 1), append(r.Y, 0.5+0.6*rng.NormFloat64())
	}
	return r
}

func heteroscedasticOf(t testing.TB, features int) targets.GradTarget {
	t.Helper()
	m, err := targets.New(targets.HeteroscedasticConfig{Features: features, Prior: priors.Gaussian{SD: 2},
		MinScale: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func robust(t testing.TB) targets.GradTarget {
	t.Helper()
	beta := targets.Loss{Beta: 1.5}
	m, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}, Loss: beta})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// longest are lengths for Config.Lengths.
func longest(v float64) func([]float64) targets.Lengths {
	return func([]float64) targets.Lengths { return targets.Lengths{Score: v, Products: v} }
}

// within is a posterior's means and standard deviations by summation on a grid in two
// parameters.
func within(r curator.Records, model targets.Target, lower, upper [2]float64) (mean, sd [2]float64) {
	const cells = 250
	losses, rows := make([]float64, len(r.Y)), targets.Rows{X: r.X, P: r.Features, Y: r.Y}
	logs, most := make([]float64, cells*cells), math.Inf(-1)
	at := func(e int) []float64 {
		a, b := (float64(e/cells)+0.5)/cells, (float64(e%cells)+0.5)/cells
		return []float64{lower[0] + a*(upper[0]-lower[0]), lower[1] + b*(upper[1]-lower[1])}
	}
	for e := range logs {
		model.Loss(losses, at(e), rows)
		logs[e] = model.LogPrior(at(e))
		for _, l := range losses {
			logs[e] -= l
		}
		most = max(most, logs[e])
	}
	var total float64
	var first, second [2]float64
	for e, log := range logs {
		w := math.Exp(log - most)
		total += w
		for j, v := range at(e) {
			first[j], second[j] = first[j]+w*v, second[j]+w*v*v
		}
	}
	for j := range mean {
		mean[j] = first[j] / total
		sd[j] = math.Sqrt(second[j]/total - mean[j]*mean[j])
	}
	return mean, sd
}

// TestFirstOrderSamplesThePosterior: with next to no noise in the release chains of order
// 1 have the exact posterior, by quadrature: of a scale, of a loss that is not convex, and
// of one that is. Means and root mean squares about the exact mean are within 5.5 standard
// errors (four comparisons a case, false alarm below 2·10⁻⁷ each but for the error of the
// effective sample size). Chains at
// temperature 0.8 are told from it.
func TestFirstOrderSamplesThePosterior(t *testing.T) {
	for name, c := range map[string]struct {
		records      curator.Records
		target       targets.GradTarget
		temperature  float64
		lower, upper [2]float64
	}{
		"a scale":    {errorsOf(40, 3), heteroscedasticOf(t, 1), 1, [2]float64{0, -2}, [2]float64{1, 0.8}},
		"mild scale": {errorsOf(40, 3), heteroscedasticOf(t, 1), 0.8, [2]float64{0, -2}, [2]float64{1, 0.8}},
		"not convex": {table(40, 3), robust(t), 1, [2]float64{-9, -6}, [2]float64{5, 14}},
		"convex":     {table(40, 3), logistic(t), 1, [2]float64{-8, -4}, [2]float64{4, 12}},
		"mild":       {table(40, 3), logistic(t), 0.8, [2]float64{-8, -4}, [2]float64{4, 12}},
	} {
		mean, sd := within(c.records, c.target, c.lower, c.upper)
		config := anchors.Config{Target: c.target, Order: 1, Aim: anchors.Remainder, Clip: 3,
			Temperature: c.temperature, Chains: 4,
			Iterations: 15000, OptimumNoise: 0.0005, Lengths: longest(50)}
		draws, release := run(t, config, seal(t, c.records, accountant.Substitute, 1e13), 9)
		if release.Kept < 0.99 || release.Hidden > 0 {
			t.Fatalf("%s: %v of the information is kept, %d directions are hidden", name, release.Kept, release.Hidden)
		}
		worst := 0.0
		for j := range mean {
			m, s := apart(draws, j, mean[j], sd[j])
			t.Logf("%s, parameter %d: exact %.3f ± %.3f, %.1f and %.1f standard errors off; ESS %.0f, anchor %v", name, j,
				mean[j], sd[j], m, s, diag.ESSBulk(column(draws, j)), release.Statistics.Anchor)
			worst = max(worst, m, s)
		}
		if broken := c.temperature < 1; worst > 5.5 != broken {
			t.Errorf("%s: %.1f standard errors from the exact posterior", name, worst)
		}
	}
}

func column(draws [][][]float64, j int) [][]float64 {
	out := make([][]float64, len(draws))
	for i, chain := range draws {
		for _, theta := range chain {
			out[i] = append(out[i], theta[j])
		}
	}
	return out
}

// apart is how far draws of a parameter are from an exact mean and standard deviation, in
// standard errors of the mean and of the mean square about the exact mean.
func apart(draws [][][]float64, j int, mean, sd float64) (m, s float64) {
	values := column(draws, j)
	var squares [][]float64
	sum, square, n := 0.0, 0.0, 0.0
	for _, chain := range values {
		var q []float64
		for _, v := range chain {
			e := v - mean
			q = append(q, e*e)
			sum, square, n = sum+e, square+e*e, n+1
		}
		squares = append(squares, q)
	}
	spread := 0.0
	for _, q := range slices.Concat(squares...) {
		spread += (q - square/n) * (q - square/n) / n
	}
	return math.Abs(sum/n) / (sd / math.Sqrt(diag.ESSMean(values))),
		math.Abs(square/n-sd*sd) / math.Sqrt(spread/diag.ESSMean(squares))
}
