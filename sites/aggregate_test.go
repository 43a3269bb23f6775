package sites_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/sites"
)

// aggregate opens an aggregator of k sites that hold all records between them.
func aggregate(t testing.TB, c sites.Config, all curator.Records, k int, b *accountant.Budget) *sites.Aggregator {
	t.Helper()
	f := curator.Facts{Records: int64(len(all.Y)), Features: all.Features, Response: true, Radius: all.Radius,
		RowsPerPerson: 1, Adjacency: accountant.Substitute}
	var parts []sites.Part
	for i := range k {
		p, err := sites.Trust(c, f, part(all, i, k))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	a, err := sites.Aggregate(c, f, b, parts, curator.InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAggregatorIsPooled: an aggregator says of itself what one site with all records does,
// spends what that costs, and with next to no noise releases the same sums.
func TestAggregatorIsPooled(t *testing.T) {
	ctx, model := context.Background(), logistic(t, 3)
	all := simulate(700, []float64{0.5, -2, 1}, rand.New(rand.NewPCG(1, 1)))
	c := quiet(model, 2, 3)
	b := budgetOf(t, 1e15)
	one, four := open(t, c, all, 1e15, curator.InsecureSeed(1)), aggregate(t, c, all, 4, b)
	said, err1 := one.Terms(ctx)
	told, err2 := four.Terms(ctx)
	if errors.Join(err1, err2) != nil || said != told {
		t.Errorf("pooled records say %+v, the aggregator %+v", said, told)
	}
	for n := range sites.Looks {
		q := sites.Query{Theta: []float64{1, -1, 0.5}, Weighted: n == 1}
		want, err1 := one.Look(ctx, n, q)
		got, err2 := four.Look(ctx, n, q)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for i, v := range append(got.Score, got.Moment...) {
			if w := append(want.Score, want.Moment...)[i]; math.Abs(v-w) > 1e-3 {
				t.Errorf("look %d: value %d is %v, of pooled records %v", n, i, v, w)
			}
		}
		if _, err := four.Look(ctx, n, q); !errors.Is(err, curator.ErrSpent) {
			t.Errorf("look %d was answered twice: %v", n, err)
		}
	}
	m := sites.Moves{Anchor: []float64{0, 1, 2}, Share: 0.7, Clip: 1e-2, From: [][]float64{{0, 1, 2}, {1, 1, 1}},
		To: [][]float64{{1, 1, 2}, {-1, 0, 2}}}
	for range 3 {
		want, err1 := one.Step(ctx, m)
		got, err2 := four.Step(ctx, m)
		if err := errors.Join(err1, err2); err != nil || len(got) != 2 {
			t.Fatal(err, got)
		}
		for i, v := range got {
			if off := math.Abs(v - want[i]); off > 12*told.StepSD*m.Clip { // of two noises
				t.Errorf("step of chain %d: %v, of pooled records %v", i, v, want[i])
			}
			if math.Abs(v) < 100*told.StepSD*m.Clip {
				t.Errorf("step of chain %d: %v is no more than noise", i, v)
			}
		}
	}
	if _, err := four.Step(ctx, m); !errors.Is(err, curator.ErrSpent) {
		t.Errorf("a step that was not paid for: %v", err)
	}
	price, err := sites.Cost(c, curator.Facts{Records: 700, Features: 3, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	want, err1 := price.Epsilon(1e-6)
	spent, err2 := b.Spent()
	if errors.Join(err1, err2) != nil || math.Abs(spent.Epsilon/want.Epsilon-1) > 1e-9 {
		t.Errorf("ε %v is spent, and pooled looks cost %v", spent.Epsilon, want.Epsilon)
	}
}

// TestAggregatedWalk: chains whose steps an aggregator of three parts answers across HTTP have
// the moments of the posterior, within the bound of TestWalkLaw. Parts that hand over nothing
// at steps are rejected.
func TestAggregatedWalk(t *testing.T) {
	model, rng := logistic(t, 2), rand.New(rand.NewPCG(11, 1))
	all := simulate(18, []float64{2, 3}, rng)
	want := moments(model, all)
	f := curator.Facts{Records: 18, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	for name, wrap := range map[string]func(sites.Part) sites.Part{
		"right": func(p sites.Part) sites.Part { return p }, "mute": func(p sites.Part) sites.Part { return mute{p} },
	} {
		c := quiet(model, 8, 2500)
		var parts []sites.Part
		for i := range 3 {
			p, err := sites.Trust(c, f, part(all, i, 3))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(sites.TrustHandler(wrap(p)))
			defer server.Close()
			parts = append(parts, sites.RemotePart{URL: server.URL})
		}
		a, err := sites.Aggregate(c, f, budgetOf(t, 1e15), parts, curator.InsecureSeed(3))
		if err != nil {
			t.Fatal(err)
		}
		r, err := sites.Walk(context.Background(), sites.WalkConfig{
			FitConfig: sites.FitConfig{Target: model, Sample: few(1)}, Clip: 5}, a)
		if err != nil {
			t.Fatal(err)
		}
		z := errorsFrom(want, r.Draws)
		t.Logf("%s: %.1f errors, acceptance %.2f, ESS %.0f, variance %.3f", name, z, r.Accepted, r.Draws.LeastESS, r.Variance)
		if z > 5.5 != (name == "mute") {
			t.Errorf("%s: moments are %.1f Monte Carlo errors from the posterior's", name, z)
		}
	}
}

// mute is a part that hands over nothing at steps.
type mute struct{ sites.Part }

func (mute) StepSums(_ context.Context, m sites.Moves) ([]int64, error) {
	return make([]int64, len(m.From)), nil
}

// small is a model, its price, and 60 records as one part.
func small(t testing.TB) (c sites.Config, f curator.Facts, r curator.Records, p sites.Part) {
	t.Helper()
	r = simulate(60, []float64{1, 1}, rand.New(rand.NewPCG(2, 1)))
	f = curator.Facts{Records: 60, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	c, err := sites.Afford(sites.Config{Target: logistic(t, 2)}, f, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = sites.Trust(c, f, r); err != nil {
		t.Fatal(err)
	}
	return c, f, r, p
}

// TestAggregatorRefuses: what does not fit, before anything is charged.
func TestAggregatorRefuses(t *testing.T) {
	ctx := context.Background()
	c, f, r, p := small(t)
	short, whole := budgetOf(t, 0.5), budgetOf(t, 1)
	stepping := c
	stepping.Chains, stepping.Steps, stepping.StepNoise = 1, 1, 1
	walked, err := sites.Trust(stepping, f, r)
	if err != nil {
		t.Fatal(err)
	}
	partial, err := sites.Aggregate(stepping, f, budgetOf(t, 9), []sites.Part{walked, torn{}})
	if err != nil {
		t.Fatal(err)
	}
	origin := [][]float64{{0, 0}}
	m := sites.Moves{Anchor: []float64{0, 0}, Share: 1, Clip: 1, From: origin, To: origin}
	broken, err := sites.Aggregate(c, f, whole, []sites.Part{p, torn{}})
	if err != nil {
		t.Fatal(err)
	}
	at := sites.Query{Theta: []float64{0, 0}}
	for name, do := range map[string]func() error{
		"of no sites":    func() error { _, err := sites.Aggregate(c, f, whole, nil); return err },
		"does not cover": func() error { _, err := sites.Aggregate(c, f, short, []sites.Part{p}); return err },
		"1: it answered": func() error { _, err := partial.Step(ctx, m); return err },
		"0 chains":       func() error { _, err := p.StepSums(ctx, m); return err },
		"look 2":         func() error { _, err := p.Sums(ctx, 2, at); return err },
		"site 1":         func() error { _, err := broken.Look(ctx, 0, at); return err },
		"noise":          func() error { _, err := sites.Trust(sites.Config{Target: c.Target}, f, r); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := whole.Events(); len(e.Mechanisms()) != 0 {
		t.Errorf("%v was charged", e)
	}
}

// TestAggregatorAnswersOnce: a look that many ask for at once has one answer.
func TestAggregatorAnswersOnce(t *testing.T) {
	c, f, _, p := small(t)
	a, err := sites.Aggregate(c, f, budgetOf(t, 9), []sites.Part{slow{p}}) // enough for all to be answered
	if err != nil {
		t.Fatal(err)
	}
	var answers atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := a.Look(context.Background(), 0, sites.Query{Theta: []float64{0, 0}}); err == nil {
				answers.Add(1)
			} else if !errors.Is(err, curator.ErrSpent) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := answers.Load(); n != 1 {
		t.Errorf("%d answers to one look", n)
	}
}

// slow is a part that lets others run before it answers.
type slow struct{ sites.Part }

func (s slow) Sums(ctx context.Context, n int, q sites.Query) (sites.Sums, error) {
	for range 1000 {
		runtime.Gosched()
	}
	return s.Part.Sums(ctx, n, q)
}

// torn is a part that gives too few sums.
type torn struct{}

func (torn) Sums(context.Context, int, sites.Query) (sites.Sums, error) { return sites.Sums{}, nil }

func (torn) StepSums(context.Context, sites.Moves) ([]int64, error) { return nil, nil }
