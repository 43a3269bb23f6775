package starts_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/internal/shared"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

func logistic(t testing.TB, features int) *targets.Regression {
	t.Helper()
	m, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// table is n simulated records of a logistic regression with an intercept and
// coefficients (1, 2, −2), rows of norm at most 1.
func table(n int, seed uint64) curator.Records {
	rng := rand.New(rand.NewPCG(seed, 3))
	r := curator.Records{Features: 3, Radius: 1}
	for range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		r.X = append(r.X, 0.57, 0.57*a, 0.57*b)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-0.57*(1+2*a-2*b))) {
			y = 1
		}
		r.Y = append(r.Y, y)
	}
	return r
}

func seal(t testing.TB, r curator.Records, adj accountant.Adjacency, epsilon float64,
	options ...curator.Option) *curator.Curator {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6, Adjacency: adj})
	if err != nil {
		t.Fatal(err)
	}
	c, err := curator.Seal(r, b, append(options, curator.InsecureSeed(1))...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAffordFillsTheShare: what Afford chooses costs what it was given to spend,
// and Find charges exactly that, whoever owns several rows and under either
// adjacency.
func TestAffordFillsTheShare(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		for _, rows := range []int{1, 2} {
			for _, kind := range []starts.Kind{starts.Optimum, starts.Gradient} {
				r := table(200, 1)
				r.RowsPerPerson = rows
				c := seal(t, r, adj, 1)
				config, err := starts.Afford(starts.Config{Kind: kind, Target: logistic(t, 3), Temperature: 0.5},
					c.Facts(), 0.5, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				cost, err := starts.Cost(config, c.Facts())
				if err != nil {
					t.Fatal(err)
				}
				g, err := cost.Epsilon(1e-6)
				if err != nil || g.Epsilon > 0.5 || g.Epsilon < 0.499 {
					t.Errorf("%v, %v, %d rows: ε = %v of 0.5 (%v)", adj, kind, rows, g.Epsilon, err)
				}
				s, err := starts.Find(context.Background(), config, c)
				if err != nil {
					t.Fatal(err)
				}
				if !s.Event.Equal(cost) || !c.Budget().Events().Equal(cost) || s.Kind != kind || len(s.Theta) != 3 {
					t.Errorf("%v, %v: found %+v, charged %v, the cost is %v", adj, kind, s, c.Budget().Events(), cost)
				}
				if _, err := starts.Find(context.Background(), config, seal(t, r, adj, 0.49)); !errors.As(err,
					new(*accountant.ExceededError)) {
					t.Errorf("%v, %v: a budget below the cost: %v", adj, kind, err)
				}
			}
		}
	}
}

// TestAffordTakesFewerSteps where 64 gradients need more noise than there is, and
// says what it cannot afford.
func TestAffordTakesFewerSteps(t *testing.T) {
	f := seal(t, table(50, 1), accountant.Substitute, 1).Facts()
	config, err := starts.Afford(starts.Config{Kind: starts.Gradient, Target: logistic(t, 3)}, f, 0.02, 1e-6)
	if err != nil || config.Steps < 1 || config.Steps >= starts.DefaultSteps || config.NoiseMultiplier > 512 {
		t.Errorf("ε = 0.02: %d steps of noise %v (%v)", config.Steps, config.NoiseMultiplier, err)
	}
	for _, kind := range []starts.Kind{starts.Gradient, starts.Optimum} {
		if _, err := starts.Afford(starts.Config{Kind: kind, Target: logistic(t, 3)}, f, 1e-5, 1e-6); !errors.As(err,
			new(*accountant.UnreachableError)) {
			t.Errorf("%v at ε = 10⁻⁵: %v", kind, err)
		}
	}
	if _, err := starts.Afford(starts.Config{Kind: starts.Optimum, Target: logistic(t, 3)}, f, math.NaN(),
		1e-6); err == nil {
		t.Error("ε = NaN was afforded")
	}
	free := starts.Config{Kind: starts.PriorDraw, Target: logistic(t, 3), Seed: 4}
	if got, err := starts.Afford(free, f, 0.1, 1e-6); err != nil || got.NoiseMultiplier != 0 || got.Seed != 4 {
		t.Errorf("a free start became %+v (%v)", got, err)
	}
}

// TestFreeStarts cost nothing and look at no record.
func TestFreeStarts(t *testing.T) {
	c := seal(t, table(20, 1), accountant.Substitute, 1)
	find := func(config starts.Config) []float64 {
		t.Helper()
		config.Target = logistic(t, 3)
		s, err := starts.Find(context.Background(), config, c)
		if err != nil {
			t.Fatal(err)
		}
		if s.Event.RDP(math.Inf(1)) != 0 || config.Kind.Charged() {
			t.Errorf("%v costs %v", config.Kind, s.Event)
		}
		return s.Theta
	}
	if got := find(starts.Config{}); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("by default a chain starts at %v", got)
	}
	given := []float64{1, -2, 3}
	if got := find(starts.Config{Value: given}); !slices.Equal(got, given) || &got[0] == &given[0] {
		t.Errorf("a given start is %v, or shares memory with its Config", got)
	}
	a, again, b := find(starts.Config{Kind: starts.PriorDraw, Seed: 1}),
		find(starts.Config{Kind: starts.PriorDraw, Seed: 1}), find(starts.Config{Kind: starts.PriorDraw, Seed: 2})
	if !slices.Equal(a, again) || slices.Equal(a, b) {
		t.Errorf("draws of seeds 1, 1 and 2 are %v, %v and %v", a, again, b)
	}
	square := 0.0
	for seed := range uint64(1000) {
		for _, v := range find(starts.Config{Kind: starts.PriorDraw, Seed: seed}) {
			square += v * v / 9
		}
	}
	// 3000 squared normals within 6 standard deviations: false alarm 10⁻⁸.
	if math.Abs(square-3000) > 6*math.Sqrt(6000) {
		t.Errorf("3000 coordinates of draws from the prior have squares of %v prior variances", square)
	}
	if spent, err := c.Budget().Spent(); err != nil || spent.Epsilon != 0 {
		t.Errorf("free starts spent ε = %v (%v)", spent.Epsilon, err)
	}
}

// TestReplay: a start depends on the records through what was released alone.
func TestReplay(t *testing.T) {
	for _, kind := range []starts.Kind{starts.Optimum, starts.Gradient} {
		config := starts.Config{Kind: kind, Target: logistic(t, 3), NoiseMultiplier: 5, Ridge: 1}
		recorded := tape.New()
		find := func(r curator.Records, k *tape.Tape) []float64 {
			s, err := starts.Find(context.Background(), config,
				seal(t, r, accountant.Substitute, 1e6, tape.Option(k).(curator.Option)))
			if err != nil {
				t.Fatal(err)
			}
			return s.Theta
		}
		want := find(table(100, 1), recorded)
		replayed := recorded.Rewind()
		if got := find(table(100, 2), replayed); !slices.Equal(got, want) || !replayed.Played() {
			t.Errorf("%v: replayed over other records: %v, recorded %v", kind, got, want)
		}
	}
}

// TestDescentFindsTheMode: with little noise a descent comes within a tenth of a
// posterior mode that it starts 2.9 away from, for a linear target and for one that
// is not.
func TestDescentFindsTheMode(t *testing.T) {
	r := table(2000, 4)
	f := erm.Objective{Shape: erm.Shape{Records: 2000, Features: 3, Radius: 1, Ridge: 1.0 / 9}, X: r.X, Y: r.Y}
	mode, err := f.Minimise(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s, err := starts.Find(context.Background(), starts.Config{Kind: starts.Gradient, Target: logistic(t, 3),
		NoiseMultiplier: 0.1}, seal(t, r, accountant.Substitute, 1e9))
	if err != nil || far(s.Theta, mode) > 0.1 || far(mode, []float64{0, 0, 0}) < 1 {
		t.Errorf("a descent ends at %v, the mode is %v (%v)", s.Theta, mode, err)
	}
	mean, err := targets.New(targets.GaussianMeanConfig{Features: 3, Prior: priors.Gaussian{SD: 10}})
	if err != nil {
		t.Fatal(err)
	}
	shifted := curator.Records{X: slices.Clone(r.X), Features: 3}
	for i := range shifted.X {
		shifted.X[i] += float64(i%3) - 1
	}
	want := make([]float64, 3)
	for i, v := range shifted.X {
		want[i%3] += v / 2000
	}
	s, err = starts.Find(context.Background(), starts.Config{Kind: starts.Gradient, Target: mean, Clip: 5,
		NoiseMultiplier: 0.1, Value: []float64{2, 2, 2}}, seal(t, shifted, accountant.Substitute, 1e9))
	if err != nil || far(s.Theta, want) > 0.1 {
		t.Errorf("a descent ends at %v, the mean is %v (%v)", s.Theta, want, err)
	}
}

// far is the root-mean-square distance of two points.
func far(a, b []float64) float64 {
	square := 0.0
	for j, v := range a {
		square += (v - b[j]) * (v - b[j]) / float64(len(a))
	}
	return math.Sqrt(square)
}

// TestAdultStarts holds the distances that theory 5.6 quotes for half of ε = 1 and
// half of ε = 0.3, on UCI Adult's numeric columns: at most 0.4 and 0.8 from the mode,
// where the prior mean is 2.9 away. The measured 0.12 and 0.35 have so many degrees
// of freedom that a false alarm has probability below 10⁻⁹.
func TestAdultStarts(t *testing.T) {
	path := shared.Path(t, "data/adult.csv")
	text, err := os.ReadFile("../data/testdata/adult.toml")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemafile.Parse("adult.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	adult, err := data.Load(context.Background(), path, schema)
	if err != nil {
		t.Fatal(err)
	}
	records := curator.Records{X: adult.X, Features: adult.Features(), Y: adult.Y, Radius: adult.Radius}
	f := erm.Objective{Shape: erm.Shape{Records: adult.Records, Features: adult.Features(), Radius: adult.Radius,
		Ridge: 1.0 / 9}, X: adult.X, Y: adult.Y}
	mode, err := f.Minimise(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if origin := far(mode, make([]float64, adult.Features())); origin < 2.5 {
		t.Errorf("the mode %v is %v from the prior mean, so the test proves little", mode, origin)
	}
	for epsilon, most := range map[float64]float64{0.5: 0.4, 0.15: 0.8} {
		for _, kind := range []starts.Kind{starts.Optimum, starts.Gradient} {
			square := 0.0
			const runs = 3
			for seed := range uint64(runs) {
				b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
				if err != nil {
					t.Fatal(err)
				}
				c, err := curator.Seal(records, b, curator.InsecureSeed(seed))
				if err != nil {
					t.Fatal(err)
				}
				config, err := starts.Afford(starts.Config{Kind: kind, Target: logistic(t, adult.Features())}, c.Facts(),
					epsilon, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				s, err := starts.Find(context.Background(), config, c)
				if err != nil {
					t.Fatal(err)
				}
				square += far(s.Theta, mode) * far(s.Theta, mode) / runs
			}
			t.Logf("ε = %v, %v: %.3f from the mode", epsilon, kind, math.Sqrt(square))
			if math.Sqrt(square) > most {
				t.Errorf("ε = %v: %v is %v from the mode, want at most %v", epsilon, kind, math.Sqrt(square), most)
			}
		}
	}
}

func TestCancelledDescent(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := seal(t, table(20, 1), accountant.Substitute, 1e6)
	if _, err := starts.Find(ctx, starts.Config{Kind: starts.Gradient, Target: logistic(t, 3), NoiseMultiplier: 1},
		c); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled descent: %v", err)
	}
}

// opaque hides every ability of a target.
type opaque struct{ targets.Target }

func TestRefusals(t *testing.T) {
	c := seal(t, table(20, 1), accountant.Substitute, 1e6)
	model := logistic(t, 3)
	for words, config := range map[string]starts.Config{
		"Target is not set":         {},
		"Value has 2 values":        {Target: model, Value: []float64{1, 2}},
		"finite":                    {Target: model, Value: []float64{1, 2, math.NaN()}},
		"Kind is Kind(9)":           {Target: model, Kind: 9},
		"Steps is -1":               {Target: model, Kind: starts.Gradient, NoiseMultiplier: 1, Steps: -1},
		"Reach is NaN":              {Target: model, Kind: starts.Gradient, NoiseMultiplier: 1, Reach: math.NaN()},
		"has no gradients":          {Target: opaque{model}, Kind: starts.Gradient, NoiseMultiplier: 1},
		"cannot be drawn from":      {Target: opaque{model}, Kind: starts.PriorDraw},
		"the ridge is 0":            {Target: model, Kind: starts.Optimum, NoiseMultiplier: 1},
		"noise multiplier is 0":     {Target: model, Kind: starts.Optimum, Ridge: 1},
		"one for each feature":      {Target: logistic(t, 2), Kind: starts.Optimum, Ridge: 1, NoiseMultiplier: 1},
		"the target is for records": {Target: logistic(t, 2), Kind: starts.Gradient, NoiseMultiplier: 1},
	} {
		_, cost := starts.Cost(config, c.Facts())
		_, find := starts.Find(context.Background(), config, c)
		if cost == nil || find == nil || !strings.Contains(cost.Error(), words) || cost.Error() != find.Error() {
			t.Errorf("%s: Cost says %v, Find %v", words, cost, find)
		}
	}
	if spent, err := c.Budget().Spent(); err != nil || spent.Epsilon != 0 {
		t.Errorf("refused starts spent ε = %v (%v)", spent.Epsilon, err)
	}
}

// Half of a budget finds a start for a logistic regression; the rest is for the
// chain.
func ExampleFind() {
	model, _ := targets.New(targets.RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 3}})
	budget, _ := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	records, _ := curator.Seal(table(3000, 1), budget)
	config, err := starts.Afford(starts.Config{Kind: starts.Optimum, Target: model}, records.Facts(), 0.5, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	start, err := starts.Find(context.Background(), config, records)
	spent, _ := budget.Spent()
	fmt.Printf("%v: %d coefficients by %v, ε = %.2f spent\n", err, len(start.Theta), start.Kind, spent.Epsilon)
	// Output: <nil>: 3 coefficients by optimum, ε = 0.50 spent
}

// The price of a descent, before anything is charged.
func ExampleCost() {
	model, _ := targets.New(targets.RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 3}})
	facts := curator.Facts{Records: 3000, Features: 3, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	event, err := starts.Cost(starts.Config{Kind: starts.Gradient, Target: model, NoiseMultiplier: 100, Steps: 16}, facts)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, _ := event.Epsilon(1e-6)
	fmt.Printf("ε = %.3f\n", g.Epsilon)
	// Output: ε = 0.149
}

func BenchmarkFind(b *testing.B) {
	r := table(30_000, 1)
	for _, kind := range []starts.Kind{starts.Optimum, starts.Gradient} {
		b.Run(kind.String(), func(b *testing.B) {
			config := starts.Config{Kind: kind, Target: logistic(b, 3), NoiseMultiplier: 100, Ridge: 2}
			c := seal(b, r, accountant.Substitute, 1e9)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := starts.Find(context.Background(), config, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
