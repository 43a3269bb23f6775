package sites_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

const responseBound = 20

func linear(t testing.TB, features int) *targets.Linear {
	t.Helper()
	model, err := targets.New(targets.LinearConfig{Features: features, Prior: priors.Gaussian{SD: 2}, MinScale: 0.2,
		ScalePrior: priors.HalfNormal{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// simulateLinear is simulate with the responses of a linear regression.
func simulateLinear(n int, model *targets.Linear, theta []float64, rng *rand.Rand) curator.Records {
	d := len(theta) - 1
	r := simulate(n, make([]float64, d), rng)
	for i := range n {
		r.Y[i] = model.Scale(theta) * rng.NormFloat64()
		for j := range d {
			r.Y[i] += r.X[i*d+j] * theta[j]
		}
	}
	return r
}

func budgetOf(t testing.TB, epsilon float64) *accountant.Budget {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// release seals records and releases their sums for all of epsilon, or by the noise given.
func release(t testing.TB, c sites.LinearConfig, r curator.Records, epsilon float64, seed uint64) sites.LinearSums {
	t.Helper()
	budget := budgetOf(t, epsilon)
	records, err := curator.Seal(r, budget, curator.InsecureSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	given := c.NoiseMultiplier > 0
	if !given {
		if c, err = sites.AffordLinear(c, records.Facts(), epsilon, 1e-6); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sites.ReleaseLinear(c, records)
	if err != nil {
		t.Fatal(err)
	}
	if spent, err := budget.Spent(); err != nil || !given && !(spent.Epsilon > 0.999*epsilon && spent.Epsilon <= epsilon) {
		t.Fatalf("ε %v of %v are spent (%v)", spent.Epsilon, epsilon, err)
	}
	return s
}

// TestLinearSumsArePooled: with next to no noise, four sites' sums are those of one that
// has all records, and so are an aggregator's. Noise of four sites is twice that of one or
// of the aggregator, whose release costs what the pooled table's would.
func TestLinearSumsArePooled(t *testing.T) {
	model := linear(t, 3)
	all := simulateLinear(600, model, []float64{1, -2, 0.5, -1}, rand.New(rand.NewPCG(1, 1)))
	c := sites.LinearConfig{Target: model, Response: responseBound, NoiseMultiplier: 1e-6}
	one := release(t, c, all, 1e15, 1)
	var apart []sites.LinearSums
	var exact [][]int64
	pooled, err := curator.Seal(all, budgetOf(t, 1), curator.InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	f := pooled.Facts()
	for i := range 4 {
		apart = append(apart, release(t, c, part(all, i, 4), 1e15, uint64(i)))
		sums, err := sites.ExactLinear(c, f, part(all, i, 4))
		if err != nil {
			t.Fatal(err)
		}
		exact = append(exact, sums)
	}
	budget := budgetOf(t, 1e15)
	aggregated, err := sites.PoolLinear(c, f, budget, exact, curator.InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(aggregated, one) {
		t.Errorf("an aggregator released %+v, pooled records %+v with the same noise", aggregated, one)
	}
	price, err1 := sites.CostLinear(c, f)
	want, err2 := price.Epsilon(1e-6)
	if spent, err := budget.Spent(); err != nil || err1 != nil || err2 != nil || spent.Epsilon != want.Epsilon {
		t.Errorf("the aggregator spent ε %v, a pooled release costs %v", spent.Epsilon, want.Epsilon)
	}
	r, err := sites.FitLinear(context.Background(), sites.FitLinearConfig{Target: model, Sample: few(1)}, apart...)
	if err != nil {
		t.Fatal(err)
	}
	for e, v := range r.Sums.Moment {
		if math.Abs(v-one.Moment[e]) > 0.05 {
			t.Errorf("moment %d is %v, pooled %v", e, v, one.Moment[e])
		}
	}
	if ratio := r.Sums.MomentSD / one.MomentSD; r.Sums.Records != 600 || math.Abs(ratio-2) > 1e-6 {
		t.Errorf("%d records, with %v times the noise of one site", r.Sums.Records, ratio)
	}
}

// TestLinearCalibration is TestCalibration for linear regressions: ranks of the truths are
// uniform, by the same test and false-alarm rate, and sites that state a tenth of their
// noise are the mutant. Sums cross JSON on the way.
func TestLinearCalibration(t *testing.T) {
	spread := func(runs int, stated float64) float64 {
		const k, d = 3, 2
		total := 0.0
		for run := range uint64(runs) {
			rng := rand.New(rand.NewPCG(run, 8))
			model, truth := linear(t, d), make([]float64, d+1)
			model.SamplePrior(truth, rng)
			all := simulateLinear(600, model, truth, rng)
			places := make([]sites.LinearSums, k)
			for i := range k {
				s := release(t, sites.LinearConfig{Target: model, Response: responseBound}, part(all, i, k), 2,
					run*k+uint64(i))
				s.MomentSD *= stated
				text, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(text, &places[i]); err != nil || !reflect.DeepEqual(s, places[i]) {
					t.Fatalf("%+v came back as %+v (%v)", s, places[i], err)
				}
			}
			r, err := sites.FitLinear(context.Background(), sites.FitLinearConfig{Target: model, Sample: few(run),
				Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: math.Sqrt(0.5)},
					{Lower: -math.Sqrt(0.5), Upper: math.Sqrt(0.5)}}}, places...)
			if err != nil {
				t.Fatal(err)
			}
			for j := range d + 1 {
				u, all := 0.5, 1.0
				for _, chain := range r.Draws.Column(j) {
					for _, v := range chain {
						all++
						if v < truth[j] {
							u++
						}
					}
				}
				total += math.Pow(u/all-0.5, 2) / (d + 1)
			}
		}
		n := float64(runs)
		z := (total - n/12) / math.Sqrt(n/180)
		t.Logf("ranks are %.1f standard errors from uniform", z)
		return z
	}
	if z := spread(50, 1); math.Abs(z) > 5.5 {
		t.Errorf("ranks are %.1f standard errors from uniform", z)
	}
	if z := spread(40, 0.1); z < 5.5 {
		t.Errorf("sites that state a tenth of their noise pass, at %.1f standard errors", z)
	}
}

func TestLinearRefusals(t *testing.T) {
	ctx, model := context.Background(), linear(t, 2)
	r := simulateLinear(50, model, []float64{0, 0, 0}, rand.New(rand.NewPCG(9, 9)))
	c := sites.LinearConfig{Target: model, Response: responseBound, NoiseMultiplier: 1}
	good := release(t, c, r, 100, 1)
	f := curator.Facts{Records: 50, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	tails, err := targets.New(targets.LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 2}, MinScale: 0.2,
		ScalePrior: priors.HalfNormal{SD: 1}, DegreesOfFreedom: 4})
	if err != nil {
		t.Fatal(err)
	}
	cost := func(c sites.LinearConfig) error { _, err := sites.CostLinear(c, f); return err }
	fit := func(c sites.FitLinearConfig, s ...sites.LinearSums) error {
		_, err := sites.FitLinear(ctx, c, s...)
		return err
	}
	other := good
	other.Unit *= 2
	pool := func(sums ...[]int64) error {
		_, err := sites.PoolLinear(c, f, budgetOf(t, 100), sums)
		return err
	}
	for word, err := range map[string]error{
		"not set":       cost(sites.LinearConfig{Response: 1, NoiseMultiplier: 1}),
		"normal errors": cost(sites.LinearConfig{Target: tails, Response: 1, NoiseMultiplier: 1}),
		"3 features":    cost(sites.LinearConfig{Target: linear(t, 3), Response: 1, NoiseMultiplier: 1}),
		"bound on |y|":  cost(sites.LinearConfig{Target: model, NoiseMultiplier: 1}),
		"oise":          cost(sites.LinearConfig{Target: model, Response: 1}),
		"no sums":       fit(sites.FitLinearConfig{Target: model, Sample: few(1)}),
		"place 1":       fit(sites.FitLinearConfig{Target: model, Sample: few(1)}, good, other),
		"give the":      fit(sites.FitLinearConfig{Sample: few(1)}, good),
		"site 1 gave 5": pool(make([]int64, 6), make([]int64, 5)),
	} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v", word, err)
		}
	}
}
