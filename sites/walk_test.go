package sites_test

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// quiet is a configuration whose looks have next to no noise, and whose steps have noise.
func quiet(model *targets.Regression, chains int, steps int64) sites.Config {
	return sites.Config{Target: model, Chains: chains, Steps: steps, StepNoise: 0.1,
		ScoreNoise: [sites.Looks]float64{1e-6, 1e-6}, MomentNoise: [sites.Looks]float64{1e-6, 1e-6}}
}

// moments are the means and second moments of the posterior of a logistic regression with
// two coefficients, by sums over a grid.
func moments(model *targets.Regression, r curator.Records) (m [4]float64) {
	loss, all := make([]float64, len(r.Y)), 0.0
	rows := targets.Rows{X: r.X, Y: r.Y, P: r.Features}
	for a := -10.0; a <= 10; a += 0.05 {
		for b := -10.0; b <= 10; b += 0.05 {
			theta := []float64{a, b}
			model.Loss(loss, theta, rows)
			log := model.LogPrior(theta)
			for _, l := range loss {
				log -= l
			}
			w := math.Exp(log)
			all += w
			for i, v := range [4]float64{a, b, a * a, b * b} {
				m[i] += w * v
			}
		}
	}
	for i := range m {
		m[i] /= all
	}
	return m
}

// errorsFrom is the largest distance of draws' moments from those wanted, in Monte Carlo
// errors.
func errorsFrom(want [4]float64, draws surrogates.Draws) (worst float64) {
	for i, w := range want {
		column := draws.Column(i % 2)
		for _, chain := range column {
			for n, v := range chain {
				if i >= 2 {
					chain[n] = v * v
				}
			}
		}
		s := diag.Summarize(column)
		worst = max(worst, math.Abs(s.Mean-w)/s.MCSEMean)
	}
	return worst
}

// deaf is a site that answers steps with nothing, and loud one that states a fifth of its
// noise there: the mutants of TestWalkLaw.
type (
	deaf struct{ sites.Site }
	loud struct{ sites.Site }
)

func (d deaf) Step(ctx context.Context, m sites.Moves) ([]float64, error) {
	return make([]float64, len(m.From)), ctx.Err()
}

func (l loud) Terms(ctx context.Context) (sites.Terms, error) {
	t, err := l.Site.Terms(ctx)
	t.StepSD /= 5
	return t, err
}

// TestWalkLaw: chains at three sites have the moments of the posterior of all their records,
// far from normal, though each step's sum has noise of variance 3. The four differences
// over their Monte Carlo errors are within 5.5, a false-alarm rate of 2·10⁻⁷. The seeds are
// fixed. Sites that leave steps unanswered, or state a fifth of their noise, are rejected.
func TestWalkLaw(t *testing.T) {
	model, rng := logistic(t, 2), rand.New(rand.NewPCG(11, 1))
	all := simulate(18, []float64{2, 3}, rng)
	want := moments(model, all)
	far := func(wrap func(sites.Site) sites.Site) float64 {
		var places []sites.Site
		for i := range 3 {
			places = append(places, wrap(open(t, quiet(model, 8, 6000), part(all, i, 3), 1e15,
				curator.InsecureSeed(uint64(i)))))
		}
		r, err := sites.Walk(context.Background(), sites.WalkConfig{
			FitConfig: sites.FitConfig{Target: model, Sample: few(1)}, Clip: 5}, places...)
		if err != nil {
			t.Fatal(err)
		}
		worst := errorsFrom(want, r.Draws)
		t.Logf("%.1f errors, acceptance %.2f, ESS %.0f, variance %.3f, kept %.3f", worst, r.Accepted, r.Draws.LeastESS,
			r.Variance, r.Kept)
		return worst
	}
	if z := far(func(s sites.Site) sites.Site { return s }); z > 5.5 {
		t.Errorf("moments are %.1f Monte Carlo errors from the posterior's", z)
	}
	if z := far(func(s sites.Site) sites.Site { return deaf{s} }); z < 5.5 {
		t.Errorf("sites that answer no step pass, at %.1f", z)
	}
	if z := far(func(s sites.Site) sites.Site { return loud{s} }); z < 5.5 {
		t.Errorf("sites that state a fifth of their noise pass, at %.1f", z)
	}
}

// TestWalkReplay: the same releases on other records give the same bits, and all that was
// charged was released: ε is spent, and a further step is refused.
func TestWalkReplay(t *testing.T) {
	model, rng := logistic(t, 2), rand.New(rand.NewPCG(3, 3))
	tapes := []*tape.Tape{tape.New(), tape.New()}
	var places []sites.Site
	run := func(truth []float64) *sites.WalkResult {
		places = nil
		for _, k := range tapes {
			places = append(places, open(t, sites.Config{Target: model, Chains: 2, Steps: 30}, simulate(200, truth, rng), 1,
				tape.Option(k).(curator.Option)))
		}
		r, err := sites.Walk(context.Background(), sites.WalkConfig{
			FitConfig: sites.FitConfig{Target: model, Sample: few(1)}}, places...)
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
	at := [][]float64{{0, 0}, {0, 0}}
	_, err := places[0].Step(context.Background(), sites.Moves{Anchor: recorded.Statistics.Anchor, Share: recorded.Kept,
		Clip: 1, From: at, To: at})
	if err == nil || !strings.Contains(err.Error(), curator.ErrSpent.Error()) {
		t.Errorf("a step that was not paid for: %v", err)
	}
}

// TestStepsRemote: steps across HTTP are the same bits, and refusals are in the site's words.
func TestStepsRemote(t *testing.T) {
	model, ctx := logistic(t, 2), context.Background()
	r := simulate(300, []float64{0, 1}, rand.New(rand.NewPCG(5, 5)))
	site := func() *sites.Local {
		return open(t, sites.Config{Target: model, Chains: 2, Steps: 5}, r, 1, curator.InsecureSeed(1))
	}
	near := site()
	server := httptest.NewServer(sites.Handler(site()))
	defer server.Close()
	remote := sites.Remote{URL: server.URL}
	m := sites.Moves{Anchor: []float64{0.1, 1.0 / 3}, Share: 0.9, Clip: 1e-3, From: [][]float64{{0, 0}, {1, 1}},
		To: [][]float64{{1, 0}, {0, 2}}}
	want, err := near.Step(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Step(ctx, m)
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%v, across HTTP %v (%v)", want, got, err)
	}
	for name, change := range map[string]func(*sites.Moves){
		"the first was at":  func(m *sites.Moves) { m.Anchor = []float64{0, 0} },
		"0.9":               func(m *sites.Moves) { m.Share = 0.8 },
		"answers 2 chains":  func(m *sites.Moves) { m.To = m.To[:1] },
		"clip of a move is": func(m *sites.Moves) { m.Clip = -1 },
	} {
		bad := m
		change(&bad)
		if _, err := remote.Step(ctx, bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fresh := m
	fresh.Share = 2
	if _, err := site().Step(ctx, fresh); err == nil || !strings.Contains(err.Error(), "share is 2") {
		t.Errorf("a share of 2: %v", err)
	}
	none := open(t, sites.Config{Target: model}, r, 1)
	if _, err := sites.Walk(ctx, sites.WalkConfig{FitConfig: sites.FitConfig{Target: model}}, none); err == nil ||
		!strings.Contains(err.Error(), "walk of 0 steps") {
		t.Errorf("a walk at a site without steps: %v", err)
	}
	if _, err := sites.Cost(sites.Config{Target: model, Chains: 2}, curator.Facts{}); err == nil ||
		!strings.Contains(err.Error(), "2 chains of 0 steps") {
		t.Errorf("chains without steps: %v", err)
	}
}
