package anchors_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// table is a table of n records of two features, the first an intercept.
func table(n int, seed uint64) curator.Records {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := curator.Records{Features: 2, Radius: 1}
	for range n {
		x := 2*rng.Float64() - 1
		r.X = append(r.X, 0.7, 0.7*x)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-0.7*(-2+3*x))) {
			y = 1
		}
		r.Y = append(r.Y, y)
	}
	return r
}

func logistic(t testing.TB) *targets.Regression {
	t.Helper()
	m, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func seal(t testing.TB, r curator.Records, adj accountant.Adjacency, epsilon float64,
	opts ...curator.Option) *curator.Curator {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6, Adjacency: adj})
	if err != nil {
		t.Fatal(err)
	}
	c, err := curator.Seal(r, b, append(opts, curator.InsecureSeed(7))...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run grants and runs chains.
func run(t testing.TB, c anchors.Config, records *curator.Curator, seed uint64) ([][][]float64, anchors.Release) {
	t.Helper()
	prepared, requests, err := anchors.Prepare(c, records.Facts())
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Grant(requests...); err != nil {
		t.Fatal(err)
	}
	chains, release, err := prepared.Begin(context.Background(), seed)
	if err != nil {
		t.Fatal(err)
	}
	memory := kernels.NewMemory(len(chains))
	if err := kernels.Run(context.Background(), chains,
		kernels.Options{Iterations: c.Iterations, Seed: seed, Sink: memory}); err != nil {
		t.Fatal(err)
	}
	var out [][][]float64
	for i := range chains {
		out = append(out, memory.Draws(i)[c.Iterations/10:])
		if left := chains[i].Kernel.Left(); left != 0 {
			t.Errorf("chain %d has %d steps left", i, left)
		}
	}
	return out, release
}

// moments are the posterior's means and standard deviations by summation on a grid.
func moments(r curator.Records, model *targets.Regression) (mean, sd [2]float64) {
	n := len(r.Y)
	losses, rows := make([]float64, n), targets.Rows{X: r.X, P: 2, Y: r.Y}
	var total float64
	var first, second [2]float64
	for a := -8.0; a <= 4; a += 0.05 {
		for b := -4.0; b <= 12; b += 0.05 {
			theta := []float64{a, b}
			model.Loss(losses, theta, rows)
			log := model.LogPrior(theta) + 10
			for _, l := range losses {
				log -= l
			}
			w := math.Exp(log)
			total += w
			for j, v := range theta {
				first[j], second[j] = first[j]+w*v, second[j]+w*v*v
			}
		}
	}
	for j := range mean {
		mean[j] = first[j] / total
		sd[j] = math.Sqrt(second[j]/total - mean[j]*mean[j])
	}
	return mean, sd
}

// TestChainsSampleThePosterior: with next to no noise in the release the chains have
// the exact posterior, skewed as it is on 40 records: means and root mean squares
// about the exact mean within 5.5 standard errors (four comparisons, false alarm below
// 2·10⁻⁷ a run but for the error of the effective sample size). So they do where each
// step reads a part of the records. Without the remainder, by a clip of next to
// nothing, they have not.
func TestChainsSampleThePosterior(t *testing.T) {
	r, model := table(40, 3), logistic(t)
	mean, sd := moments(r, model)
	for name, c := range map[string]anchors.Config{
		"remainder": {Aim: anchors.Remainder, Clip: 1}, "perturbed": {Aim: anchors.Perturbed, Clip: 1},
		"parts": {Aim: anchors.Remainder, Clip: 0.3, Rate: 0.6}, "penalty": {Aim: anchors.Remainder, Clip: 1, Variance: 0.5},
		"no remainder": {Aim: anchors.Remainder, Clip: 1e-9},
	} {
		c.Target, c.Chains, c.Iterations, c.Ridge, c.OptimumNoise, c.MomentNoise = model, 4, 15000, 0.5, 0.002, 0.002
		draws, release := run(t, c, seal(t, r, accountant.Substitute, 1e12), 9)
		if release.Kept < 0.99 {
			t.Fatalf("%s: %v of the information is kept", name, release.Kept)
		}
		worst := 0.0
		for j := range mean {
			var column, squares [][]float64
			sum, square, n := 0.0, 0.0, 0.0
			for _, chain := range draws {
				var v, q []float64
				for _, theta := range chain {
					e := theta[j] - mean[j]
					v, q = append(v, theta[j]), append(q, e*e)
					sum, square, n = sum+theta[j], square+e*e, n+1
				}
				column, squares = append(column, v), append(squares, q)
			}
			m := math.Abs(sum/n-mean[j]) / (sd[j] / math.Sqrt(diag.ESSMean(column)))
			spread := 0.0 // of the squares
			for _, q := range squares {
				for _, v := range q {
					spread += (v - square/n) * (v - square/n) / n
				}
			}
			s := math.Abs(square/n-sd[j]*sd[j]) / math.Sqrt(spread/diag.ESSMean(squares))
			t.Logf("%s, parameter %d: mean %.4f, exact %.4f (%.1f errors); sd %.4f, exact %.4f (%.1f); ESS %.0f", name, j,
				sum/n, mean[j], m, math.Sqrt(square/n), sd[j], s, diag.ESSBulk(column))
			worst = max(worst, m, s)
		}
		if broken := name == "no remainder"; worst > 5.5 != broken {
			t.Errorf("%s: %.1f standard errors from the exact posterior", name, worst)
		}
	}
}

// TestAffordSpendsTheBudget, all of it and no more, for every aim, adjacency and number
// of rows a person.
func TestAffordSpendsTheBudget(t *testing.T) {
	linear, err := targets.New(targets.LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 3}, MinScale: 0.1,
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	probit, err := targets.New(targets.RegressionConfig{Family: "probit", Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	poisson, err := targets.New(targets.RegressionConfig{Family: "poisson", Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	spread, err := targets.New(targets.RegressionConfig{Family: "negative-binomial", Features: 2,
		Prior: priors.Gaussian{SD: 3}, Dispersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		for _, rows := range []int{1, 3} {
			for _, n := range []int64{900, 400_000} {
				f := curator.Facts{Records: n, Features: 2, Response: true, Radius: 1, RowsPerPerson: rows, Adjacency: adj}
				for _, c := range []anchors.Config{
					{Target: logistic(t), Aim: anchors.Score}, {Target: logistic(t), Aim: anchors.Remainder}, {Target: logistic(t)},
					{Target: logistic(t), Aim: anchors.Perturbed, Temperature: 0.5}, {Target: logistic(t), Variance: 0.25},
					{Target: probit, Aim: anchors.Remainder},
					{Target: logistic(t), Order: 1}, {Target: robust(t), Variance: 0.25}, {Target: heteroscedasticOf(t, 2)},
					{Target: poisson, Aim: anchors.Remainder, Cap: targets.Cap{Count: 10}},
					{Target: poisson, Aim: anchors.Score, Cap: targets.Cap{Count: 10}}, {Target: linear, Response: 2},
					{Target: spread, Aim: anchors.Score, Cap: targets.Cap{Count: 10}},
					{Target: softmaxOf(t)}, {Target: softmaxOf(t), Aim: anchors.Remainder},
				} {
					c.Iterations = 500
					c.Lengths = longest(3)
					c, err := anchors.Afford(c, f, 0.8, 1e-6)
					if err != nil {
						t.Fatalf("%+v: %v", c, err)
					}
					cost, err := anchors.Cost(c, f)
					if err != nil {
						t.Fatal(err)
					}
					g, err := cost.Epsilon(1e-6)
					if err != nil || g.Epsilon > 0.8 || g.Epsilon < 0.799 {
						t.Errorf("%v, %d rows, %d records, %v of a %T: ε = %v (%v)", adj, rows, n, c.Aim, c.Target, g.Epsilon, err)
					}
					if (c.Rate > 0) != (c.Aim.Bits() && c.Variance == 0 && n > 1000) {
						t.Errorf("%d records: a rate of %v", n, c.Rate)
					}
					if step, err := anchors.StepCost(c, f); err != nil || (step.RDP(2) > 0) != c.Aim.Bits() {
						t.Errorf("%v: a step costs %v (%v)", c.Aim, step.RDP(2), err)
					}
				}
			}
		}
	}
}

// TestRoundingOfTheOptimumDoesNotCount: the noise that hides how far the computed
// optimum is from the exact one, seen through a curvature above any typical one, adds
// less than 1% to the score's standard deviation up to 10⁷ records. It used to be as
// large as the score's at 10⁶.
func TestRoundingOfTheOptimumDoesNotCount(t *testing.T) {
	model, err := targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{10_000, 100_000, 1_000_000, 10_000_000} {
		f := curator.Facts{Records: n, Features: 10, Response: true, Radius: 1, RowsPerPerson: 1,
			Adjacency: accountant.Substitute}
		for _, epsilon := range []float64{0.2, 1, 5} {
			c, err := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Iterations: 500}, f, epsilon, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			m := curator.Optimum{Ridge: c.Ridge, NoiseMultiplier: c.OptimumNoise}
			output, err1 := m.OutputSD(f)
			score, err2 := m.ScoreSD(f)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if seen := output * (0.25*float64(n)/10 + c.Ridge) / score; math.Hypot(1, seen) > 1.01 {
				t.Errorf("%d records, ε = %v: the optimum's rounding is %v of the score's noise", n, epsilon, seen)
			}
		}
	}
}

// TestBitsAreCheap: 2000 steps on 10⁴ records of 6 features at ε = 1 cost at most 5% of
// what the whole does, in Rényi divergence of the order that decides and about it.
func TestBitsAreCheap(t *testing.T) {
	model, err := targets.New(targets.RegressionConfig{Features: 6, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	f := curator.Facts{Records: 10_000, Features: 6, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	c, err := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Chains: 1, Iterations: 2000},
		f, 1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	all, err1 := anchors.Cost(c, f)
	step, err2 := anchors.StepCost(c, f)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, order := range []float64{4, 16, 32} {
		if share := 2000 * step.RDP(order) / all.RDP(order); share > 0.05 {
			t.Errorf("order %v: the bits cost %v of the whole", order, share)
		}
	}
	if c.Clip < 5e-4 {
		t.Errorf("the clip is %v; typical remainders need some 5e-4", c.Clip)
	}
	// On 3·10⁴ records 4·10⁴ steps cost no more, with a clip six spreads wide.
	f.Records = 30_000
	short, err1 := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Chains: 1, Iterations: 1000},
		f, 1, 1e-5)
	long, err2 := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Chains: 1, Iterations: 40_000},
		f, 1, 1e-5)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	all, err1 = anchors.Cost(long, f)
	step, err2 = anchors.StepCost(long, f)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if share := 40_000 * step.RDP(16) / all.RDP(16); long.Clip < short.Clip || share > 0.05 {
		t.Errorf("40000 steps cost %v of the whole at a clip of %v, 1000 have %v", share, long.Clip, short.Clip)
	}
}

// TestReplay: everything depends on the records through what was released alone.
func TestReplay(t *testing.T) {
	poisson, err := targets.New(targets.RegressionConfig{Family: "poisson", Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []anchors.Config{{Aim: anchors.Remainder, Clip: 0.01}, {Aim: anchors.Score},
		{Aim: anchors.Perturbed, Clip: 0.3, Rate: 0.6}, {Aim: anchors.Remainder, Clip: 0.01, Variance: 0.25},
		{Aim: anchors.Remainder, Clip: 0.01, Variance: 1, Rate: 0.5}, {Aim: anchors.Remainder, Clip: 0.01, Order: 1},
		{Aim: anchors.Perturbed, Clip: 0.3, Rate: 0.6, Order: 1}, {Aim: anchors.Score, Target: softmaxOf(t)},
		{Aim: anchors.Score, Target: poisson, Cap: targets.Cap{Count: 5}, LeastESS: 10}} {
		if c.Target == nil {
			c.Target = logistic(t)
		}
		c.Chains, c.Iterations, c.Ridge, c.OptimumNoise, c.MomentNoise = 2, 40, 1, 3, 3
		recorded := tape.New()
		want, _ := run(t, c, seal(t, table(60, 1), accountant.Substitute, 1e9, tape.Option(recorded).(curator.Option)), 4)
		replayed := recorded.Rewind()
		got, _ := run(t, c, seal(t, table(60, 2), accountant.Substitute, 1e9, tape.Option(replayed).(curator.Option)), 4)
		for i := range want {
			for k := range want[i] {
				if !slices.Equal(want[i][k], got[i][k]) {
					t.Fatalf("%v: draw %d of chain %d is %v, recorded %v", c.Aim, k, i, got[i][k], want[i][k])
				}
			}
		}
		if !replayed.Played() {
			t.Errorf("%v: releases are left", c.Aim)
		}
	}
}

// TestStepsAllocateNothing, whichever part of the records they read.
func TestStepsAllocateNothing(t *testing.T) {
	for _, c := range []anchors.Config{{Aim: anchors.Remainder, Clip: 0.01},
		{Aim: anchors.Remainder, Clip: 0.01, Rate: 0.2}, {Aim: anchors.Score},
		{Aim: anchors.Remainder, Clip: 0.01, Variance: 0.5}, {Aim: anchors.Remainder, Clip: 0.01, Variance: 1, Rate: 0.2},
		{Aim: anchors.Remainder, Clip: 0.01, Order: 1}} {
		c.Target, c.Chains, c.Iterations, c.Ridge, c.OptimumNoise, c.MomentNoise = logistic(t), 1, 400, 1, 3, 3
		records := seal(t, table(500, 1), accountant.Substitute, 1e9)
		prepared, requests, err := anchors.Prepare(c, records.Facts())
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Grant(requests...); err != nil {
			t.Fatal(err)
		}
		chains, _, err := prepared.Begin(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		k := chains[0].Kernel
		state, err := k.Init(chains[0].Start)
		if err != nil {
			t.Fatal(err)
		}
		rng := kernels.Stream(1, 0)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := k.Step(rng, state); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v, rate %v: %v allocations a step", c.Aim, c.Rate, n)
		}
	}
}

// softmaxOf is a model of two classes and two features.
func softmaxOf(t testing.TB) targets.GradTarget {
	t.Helper()
	m, err := targets.New(targets.SoftmaxConfig{Features: 2, Classes: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRefusals(t *testing.T) {
	robust := robust(t)
	good := anchors.Config{Target: logistic(t), Aim: anchors.Remainder, Iterations: 10, Ridge: 1, OptimumNoise: 3,
		MomentNoise: 3, Clip: 0.01}
	for words, spoil := range map[string]func(*anchors.Config){
		"Target is not set":     func(c *anchors.Config) { c.Target = nil },
		"not convex":            func(c *anchors.Config) { c.Target, c.Order = robust, 2 },
		"no curvature to":       func(c *anchors.Config) { c.Target, c.Aim = heteroscedasticOf(t, 2), anchors.Score },
		"Order is 3":            func(c *anchors.Config) { c.Order = 3 },
		"OptimumNoise is 1000":  func(c *anchors.Config) { c.Order, c.OptimumNoise = 1, 1000 },
		"nothing bounds":        func(c *anchors.Config) { c.Target = heteroscedasticOf(t, 2) },
		"cannot be anchored":    func(c *anchors.Config) { c.Target = struct{ targets.Target }{logistic(t)} },
		"Iterations":            func(c *anchors.Config) { c.Iterations = 0 },
		"Temperature":           func(c *anchors.Config) { c.Temperature = 2 },
		"Clip":                  func(c *anchors.Config) { c.Clip = 0 },
		"Sums is for":           func(c *anchors.Config) { c.Aim = anchors.Sums },
		"Aim is Aim(9)":         func(c *anchors.Config) { c.Aim = 9 },
		"the ridge is 0":        func(c *anchors.Config) { c.Ridge = 0 },
		"noise multiplier":      func(c *anchors.Config) { c.MomentNoise = 0 },
		"Afford chooses it":     func(c *anchors.Config) { c.Aim = anchors.Auto },
		"rate is 0.001":         func(c *anchors.Config) { c.Rate = 0.001 },
		"at least 1 of each is": func(c *anchors.Config) { c.Chains = -1 },
	} {
		c := good
		spoil(&c)
		if words == "Iterations" {
			words = "of 0 steps"
		}
		records := seal(t, table(20, 1), accountant.Substitute, 1e6)
		if _, _, err := anchors.Prepare(c, records.Facts()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q, got %v", words, err)
		}
	}
	// All or nothing: bits beyond the budget leave the anchor unpaid, too.
	records := seal(t, table(20, 1), accountant.Substitute, 1)
	_, requests, err := anchors.Prepare(good, records.Facts())
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Grant(requests...); err == nil {
		t.Error("releases beyond the budget were granted")
	}
	if spent, err := records.Budget().Spent(); err != nil || spent.Epsilon != 0 {
		t.Errorf("ε = %v was charged (%v)", spent.Epsilon, err)
	}
}

// Anchored chains of a logistic regression, with every setting chosen from public facts.
func ExamplePrepare() {
	model, _ := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	budget, _ := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	records, _ := curator.Seal(table(30_000, 1), budget)
	config, err := anchors.Afford(anchors.Config{Target: model, Iterations: 500}, records.Facts(), 1, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	prepared, requests, err := anchors.Prepare(config, records.Facts())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := records.Grant(requests...); err != nil { // one charge, all or nothing
		fmt.Println(err)
		return
	}
	chains, release, err := prepared.Begin(context.Background(), 1)
	spent, _ := budget.Spent()
	fmt.Printf("%v: %d chains of %s, ε = %.2f, anchor of %d values\n", err, len(chains), chains[0].Kernel.Name(),
		spent.Epsilon, len(release.Statistics.Anchor))
	// Output: <nil>: 4 chains of dp_anchored_score, ε = 1.00, anchor of 2 values
}

// TestSumsOfALinearRegression: with next to no noise in the sums draws have the mean and
// the spread of least squares and the scale that made the records, whatever the unit of
// responses; the bounds are 12% of a coefficient's spread about and 25% of it.
func TestSumsOfALinearRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, unit := range []float64{1, 30} {
		r := curator.Records{Features: 2, Radius: 1}
		const n = 4000
		var a, b, c, u, v float64 // of the normal equations
		for range n {
			x := 2*rng.Float64() - 1
			y := unit * (0.5 + 0.8*x + 0.1*rng.NormFloat64())
			r.X, r.Y = append(r.X, 0.7, 0.7*x), append(r.Y, y)
			a, b, c, u, v = a+0.49, b+0.49*x, c+0.49*x*x, u+0.7*y, v+0.7*x*y
		}
		least := [2]float64{(c*u - b*v) / (a*c - b*b), (a*v - b*u) / (a*c - b*b)}
		spread := [2]float64{0.1 * unit * math.Sqrt(c/(a*c-b*b)), 0.1 * unit * math.Sqrt(a/(a*c-b*b))}
		model, err := targets.New(targets.LinearConfig{
			Features: 2, Prior: priors.Gaussian{SD: 100 * unit}, MinScale: 0.001 * unit,
			ScalePrior: priors.HalfCauchy{Scale: unit},
		})
		if err != nil {
			t.Fatal(err)
		}
		c2 := anchors.Config{Target: model, Aim: anchors.Sums, Response: 2 * unit, Chains: 2, Iterations: 1500,
			MomentNoise: 1e-4}
		draws, _ := run(t, c2, seal(t, r, accountant.Substitute, 1e12), 3)
		var mean, square [3]float64
		count := 0.0
		for _, chain := range draws {
			for _, theta := range chain {
				count++
				for j, value := range theta {
					if j == 2 {
						value = model.Scale(theta) / unit
					}
					mean[j], square[j] = mean[j]+value, square[j]+value*value
				}
			}
		}
		for j := range mean {
			mean[j] /= count
		}
		for j := range least {
			if off := math.Abs(mean[j] - least[j]); off > 0.12*spread[j] {
				t.Errorf("unit %v: coefficient %d is %v, least squares %v, spread %v", unit, j, mean[j], least[j], spread[j])
			}
			if sd := math.Sqrt(square[j]/count - mean[j]*mean[j]); math.Abs(sd/spread[j]-1) > 0.25 {
				t.Errorf("unit %v: spread of coefficient %d is %v, least squares %v", unit, j, sd, spread[j])
			}
		}
		if math.Abs(mean[2]-0.1) > 0.01 {
			t.Errorf("unit %v: the scale is %v, want 0.1", unit, mean[2])
		}
	}
}

// TestPenaltyBitsCostWhatIsSaid: a penalty bit on remainders costs no more than
// 4/Variance times Barker's at the same clip, and more than Barker's itself.
func TestPenaltyBitsCostWhatIsSaid(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		f := curator.Facts{Records: 5000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1, Adjacency: adj}
		for _, clip := range []float64{1e-4, 1e-2, 0.1} {
			c := anchors.Config{Target: logistic(t), Aim: anchors.Remainder, Iterations: 1, Clip: clip, Ridge: 1,
				OptimumNoise: 3, MomentNoise: 3}
			barker, err := anchors.StepCost(c, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []float64{0.25, 1, 4} {
				c.Variance = v
				bit, err := anchors.StepCost(c, f)
				if err != nil {
					t.Fatal(err)
				}
				if r := bit.RDP(8) / barker.RDP(8); !(r <= 4/v*1.001) || v < 1 && r <= 1 {
					t.Errorf("%v, clip %v: a bit of variance %v costs %v of Barker's", adj, clip, v, r)
				}
			}
		}
	}
}
