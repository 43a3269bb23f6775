package sites_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

func logistic(t testing.TB, features int) *targets.Regression {
	t.Helper()
	model, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// simulate draws records of a logistic regression, rows with an intercept and of length at
// most 1.
func simulate(n int, truth []float64, rng *rand.Rand) curator.Records {
	d := len(truth)
	r := curator.Records{X: make([]float64, n*d), Features: d, Y: make([]float64, n), Radius: 1}
	for i := range n {
		eta := 0.0
		for j := range d {
			r.X[i*d+j] = math.Sqrt(1 / float64(d))
			if j > 0 {
				r.X[i*d+j] *= 2*rng.Float64() - 1
			}
			eta += r.X[i*d+j] * truth[j]
		}
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			r.Y[i] = 1
		}
	}
	return r
}

// part is the records of site i of k, each k-th of all.
func part(all curator.Records, i, k int) curator.Records {
	r := curator.Records{Features: all.Features, Radius: all.Radius}
	for n := i; n < len(all.Y); n += k {
		r.X = append(r.X, all.X[n*all.Features:(n+1)*all.Features]...)
		r.Y = append(r.Y, all.Y[n])
	}
	return r
}

// open seals records and opens them as a site, by Afford where c has no noise.
func open(t testing.TB, c sites.Config, r curator.Records, epsilon float64, opts ...curator.Option) *sites.Local {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	records, err := curator.Seal(r, budget, opts...)
	if err != nil {
		t.Fatal(err)
	}
	given := c.ScoreNoise[0] > 0
	if !given {
		if c, err = sites.Afford(c, records.Facts(), epsilon, 1e-6); err != nil {
			t.Fatal(err)
		}
	}
	site, err := sites.Open(c, records)
	if err != nil {
		t.Fatal(err)
	}
	spent, err := budget.Spent()
	if err != nil || !given && !(spent.Epsilon > 0.97*epsilon && spent.Epsilon <= epsilon) {
		t.Fatalf("ε %v of %v are spent (%v)", spent.Epsilon, epsilon, err)
	}
	return site
}

// few samples without insisting on diagnostics.
func few(seed uint64) surrogates.SampleConfig {
	return surrogates.SampleConfig{Chains: 2, Draws: 75, LeastESS: 1, MostRHat: 10, Seed: seed, Workers: 1}
}

// TestSumsArePooled: with next to no noise, the sites' statistics are those of one site
// that has all records, and so are their noises' variances added up.
func TestSumsArePooled(t *testing.T) {
	model := logistic(t, 3)
	all := simulate(700, []float64{0.5, -2, 1}, rand.New(rand.NewPCG(1, 1)))
	c := sites.FitConfig{Target: model, Sample: few(1)}
	exact := sites.Config{Target: model, ScoreNoise: [sites.Looks]float64{1e-6, 1e-6},
		MomentNoise: [sites.Looks]float64{1e-6, 1e-6}}
	fit := func(k int) *sites.Result {
		var places []sites.Site
		for i := range k {
			places = append(places, open(t, exact, part(all, i, k), 1e15, curator.InsecureSeed(uint64(i))))
		}
		r, err := sites.Fit(context.Background(), c, places...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, four := fit(1), fit(4)
	// Anchors are means of draws, and a score moves by some 50 times what its anchor does. It
	// would be off by the scores of a hundred records if a site did not count.
	for _, f := range []struct {
		name      string
		one, four []float64
		most      float64
	}{
		{"anchor", one.Statistics.Anchor, four.Statistics.Anchor, 0.05},
		{"score", one.Statistics.Score, four.Statistics.Score, 1},
		{"moment", one.Statistics.Moment, four.Statistics.Moment, 0.05},
	} {
		for j, v := range f.four {
			if math.Abs(v-f.one[j]) > f.most {
				t.Errorf("%s: value %d is %v, pooled %v", f.name, j, v, f.one[j])
			}
		}
	}
	if r := four.Statistics.ScoreSD / one.Statistics.ScoreSD; math.Abs(r-2) > 1e-6 {
		t.Errorf("the score of 4 sites has %v times the noise of one", r)
	}
	if r := four.Statistics.MomentSD / one.Statistics.MomentSD; math.Abs(r-2) > 1e-6 {
		t.Errorf("the curvature of 4 sites has %v times the noise of one", r)
	}
	if four.Statistics.Records != 700 {
		t.Errorf("%d records", four.Statistics.Records)
	}
}

// quieter is a site that states a third of the noise it adds: the mutant of TestCalibration.
type quieter struct{ sites.Site }

func (q quieter) Terms(ctx context.Context) (sites.Terms, error) {
	t, err := q.Site.Terms(ctx)
	for n := range t.ScoreSD {
		t.ScoreSD[n] /= 3
		t.MomentSD[n] /= 3
	}
	return t, err
}

// TestCalibration: ranks u of truths from the prior among the draws are uniform, so (u−½)²
// has mean 1/12 and variance 1/180. Their mean over runs is normal nearly, also if all
// ranks of a run were the same one: 5.5 standard errors have a false-alarm rate below
// 10⁻⁷. Sites that state a third of their noise are the mutant.
func TestCalibration(t *testing.T) {
	spread := func(runs int, wrap func(sites.Site) sites.Site) float64 {
		const k, d = 4, 2
		total := 0.0
		for run := range uint64(runs) {
			rng := rand.New(rand.NewPCG(run, 7))
			model, truth := logistic(t, d), make([]float64, d)
			model.Prior().Sample(truth, rng)
			all := simulate(800, truth, rng)
			var places []sites.Site
			for i := range k {
				places = append(places, wrap(open(t, sites.Config{Target: model}, part(all, i, k), 1,
					curator.InsecureSeed(run*k+uint64(i)))))
			}
			r, err := sites.Fit(context.Background(), sites.FitConfig{Target: model, Sample: few(run),
				Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: math.Sqrt(0.5)},
					{Lower: -math.Sqrt(0.5), Upper: math.Sqrt(0.5)}}}, places...)
			if err != nil {
				t.Fatal(err)
			}
			for j := range d {
				u, all := 0.5, 1.0
				for _, chain := range r.Draws.Column(j) {
					for _, v := range chain {
						all++
						if v < truth[j] {
							u++
						}
					}
				}
				total += math.Pow(u/all-0.5, 2) / d
			}
		}
		n := float64(runs)
		z := (total - n/12) / math.Sqrt(n/180)
		t.Logf("ranks are %.1f standard errors from uniform", z)
		return z
	}
	if z := spread(80, func(s sites.Site) sites.Site { return s }); math.Abs(z) > 5.5 {
		t.Errorf("ranks are %.1f standard errors from uniform", z)
	}
	if z := spread(50, func(s sites.Site) sites.Site { return quieter{s} }); z < 5.5 {
		t.Errorf("sites that state a third of their noise pass, at %.1f standard errors", z)
	}
}

// TestReplay: the same releases on other records give the same bits.
func TestReplay(t *testing.T) {
	model, rng := logistic(t, 2), rand.New(rand.NewPCG(3, 3))
	tapes := []*tape.Tape{tape.New(), tape.New()}
	run := func(truth []float64) *sites.Result {
		var places []sites.Site
		for _, k := range tapes {
			places = append(places, open(t, sites.Config{Target: model}, simulate(200, truth, rng), 1,
				tape.Option(k).(curator.Option)))
		}
		r, err := sites.Fit(context.Background(), sites.FitConfig{Target: model, Sample: few(1)}, places...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	recorded := run([]float64{1, 1})
	for i := range tapes {
		tapes[i] = tapes[i].Rewind()
	}
	if replayed := run([]float64{-2, 0}); !reflect.DeepEqual(recorded, replayed) {
		t.Error("other records change what is computed from the same releases")
	}
	for i := range tapes {
		if !tapes[i].Played() {
			t.Errorf("site %d did not release all that it had", i)
		}
	}
}

// TestRemote: a site across HTTP gives the same bits, and its refusals in its words.
func TestRemote(t *testing.T) {
	model := logistic(t, 2)
	r := simulate(300, []float64{0, 1}, rand.New(rand.NewPCG(5, 5)))
	at := sites.Query{Theta: []float64{0.1, 1.0 / 3}, Weighted: true}
	near := open(t, sites.Config{Target: model}, r, 1, curator.InsecureSeed(1))
	server := httptest.NewServer(sites.Handler(open(t, sites.Config{Target: model}, r, 1, curator.InsecureSeed(1))))
	defer server.Close()
	far, ctx := sites.Remote{URL: server.URL}, context.Background()
	terms, err1 := near.Terms(ctx)
	told, err2 := far.Terms(ctx)
	if errors.Join(err1, err2) != nil || terms != told {
		t.Errorf("terms %+v, across HTTP %+v (%v)", terms, told, errors.Join(err1, err2))
	}
	want, err1 := near.Look(ctx, 0, at)
	got, err2 := far.Look(ctx, 0, at)
	if errors.Join(err1, err2) != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%v, across HTTP %v (%v)", want, got, errors.Join(err1, err2))
	}
	if _, err := far.Look(ctx, 0, at); err == nil || !strings.Contains(err.Error(), curator.ErrSpent.Error()) {
		t.Errorf("a look was answered twice: %v", err)
	}
	_, err := far.Look(ctx, 1, sites.Query{Theta: []float64{1}})
	if err == nil || !strings.Contains(err.Error(), "2 features") {
		t.Errorf("a point of one value: %v", err)
	}
	server.Close()
	if _, err := far.Terms(ctx); err == nil {
		t.Error("a site that is gone answered")
	}
}

// broken fails at its second look.
type broken struct{ sites.Site }

func (b broken) Look(ctx context.Context, n int, q sites.Query) (sites.Answer, error) {
	if n == 1 {
		return sites.Answer{}, errors.New("out of order")
	}
	return b.Site.Look(ctx, n, q)
}

func TestRefusals(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(9, 9))
	two, three := logistic(t, 2), logistic(t, 3)
	site := func() *sites.Local { return open(t, sites.Config{Target: two}, simulate(50, []float64{0, 0}, rng), 1) }
	other := open(t, sites.Config{Target: three}, simulate(50, []float64{0, 0, 0}, rng), 1)
	c := sites.FitConfig{Target: two, Sample: few(1)}
	for name, f := range map[string]func() error{
		"no site":        func() error { _, err := sites.Fit(ctx, c); return err },
		"no target":      func() error { _, err := sites.Fit(ctx, sites.FitConfig{}, site()); return err },
		"sealed by one":  func() error { _, err := sites.Fit(ctx, c, site(), other); return err },
		"site 1: out of": func() error { _, err := sites.Fit(ctx, c, site(), broken{site()}); return err },
		"look 2":         func() error { _, err := site().Look(ctx, 2, sites.Query{Theta: []float64{0, 0}}); return err },
		"finite": func() error {
			_, err := site().Look(ctx, 0, sites.Query{Theta: []float64{0, math.NaN()}, Weighted: true})
			return err
		},
		"no Radius": func() error { _, err := sites.Cost(sites.Config{Target: two}, curator.Facts{Records: 1}); return err },
		"noise": func() error {
			_, err := sites.Cost(sites.Config{Target: two}, curator.Facts{Records: 9, Features: 2, Response: true, Radius: 1,
				RowsPerPerson: 1, Adjacency: accountant.Substitute})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			word := strings.TrimPrefix(strings.TrimPrefix(name, "no site"), "no target")
			if err := f(); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v", err)
			}
		})
	}
}
