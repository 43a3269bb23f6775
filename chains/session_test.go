package chains_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// budget is one of ε at δ = 1e-6.
func budget(t testing.TB, epsilon float64) *accountant.Budget {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// builtin is a simulated table.
func builtin(t testing.TB, spec string) *data.Table {
	t.Helper()
	sim, err := data.Builtin(spec)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Table
}

// simulated is a logistic table and its model.
func simulated(t testing.TB) (*data.Table, *models.Model) {
	t.Helper()
	table := builtin(t, "builtin:logistic?n=500&d=2")
	m, err := models.New("logistic", &table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table, m
}

// chosen is a sealed table with the plan of a model on it.
func chosen(t testing.TB, table *data.Table, m *models.Model, s chains.Settings, epsilon float64,
	options ...curator.Option) (*curator.Curator, *chains.Plan) {
	t.Helper()
	records, err := chains.Seal(m, table, budget(t, epsilon), options...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := chains.Choose(s, chains.ProblemOn(m, records))
	if err != nil {
		t.Fatal(err)
	}
	return records, plan
}

// opened is a session of that plan.
func opened(t testing.TB, table *data.Table, m *models.Model, s chains.Settings, epsilon float64,
	options ...curator.Option) *chains.Session {
	t.Helper()
	records, plan := chosen(t, table, m, s, epsilon, options...)
	session, err := plan.Open(records, 5)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// ran is the result of such a session, whose noise has a public seed.
func ran(t testing.TB, table *data.Table, m *models.Model, s chains.Settings, epsilon float64) *chains.Result {
	t.Helper()
	result, err := opened(t, table, m, s, epsilon, curator.InsecureSeed(3)).Run(t.Context(), m, chains.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRunsAreAllOrNothing opens many runs at once on a budget that covers one: one is
// opened, the others are refused, and only what was opened is spent. Charging chain by
// chain, they would refuse one another half-way.
func TestRunsAreAllOrNothing(t *testing.T) {
	table, m := simulated(t)
	for range 20 {
		b := budget(t, 1.25)
		records, err := chains.Seal(m, table, b)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := chains.Choose(chains.Settings{Kernel: "dpsgld", Chains: 4, Iterations: 20},
			chains.ProblemOf(m, records.Facts(), 1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		var opened atomic.Int64
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				_, err := plan.Open(records, uint64(i))
				var exceeded *accountant.ExceededError
				switch {
				case err == nil:
					opened.Add(1)
				case !errors.As(err, &exceeded):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		cost, err := plan.Cost()
		if err != nil {
			t.Fatal(err)
		}
		if opened.Load() != 1 || !b.Events().Equal(cost) {
			t.Fatalf("%d runs were opened, and %v is charged instead of %v", opened.Load(), b.Events(), cost)
		}
	}
}

// watched is a model that looks, in the midst of a run, whether the caller's table is
// still in memory.
type watched struct {
	*targets.Regression
	calls *atomic.Int64
	look  func()
}

// LogPrior is asked for in every step.
func (w watched) LogPrior(theta []float64) float64 {
	if w.calls.Add(1) == 50 {
		w.look()
	}
	return w.Regression.LogPrior(theta)
}

// TestTheTableIsNotKept: once records are sealed a run does not keep the table that it
// was given. The mutant, a caller that keeps it, is found out.
func TestTheTableIsNotKept(t *testing.T) {
	for _, kept := range []bool{false, true} {
		table, _ := simulated(t)
		var gone atomic.Bool
		var calls atomic.Int64
		runtime.AddCleanup(&table.X[0], func(int) { gone.Store(true) }, 0)
		model, err := models.Custom("watched", watched{logistic(t, 3), &calls, func() {
			for range 100 {
				runtime.GC()
				if time.Sleep(time.Millisecond); gone.Load() {
					return
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		mutant := table
		if !kept {
			mutant = nil
		}
		result, err := chains.Run(t.Context(), table, model,
			chains.Settings{Iterations: 100, Step: 0.01, Clip: 0.01, Start: "prior-mean"}, budget(t, 8))
		if err != nil || !result.Complete {
			t.Fatal(err)
		}
		if calls.Load() < 50 {
			t.Fatal("nobody looked")
		}
		if gone.Load() == kept {
			t.Errorf("kept by the caller: %t, gone in the midst of the run: %t", kept, gone.Load())
		}
		runtime.KeepAlive(mutant)
	}
}

// TestRunIsItsParts: a run's certificate is that of its plan, its draws are those of its
// chains, and the file that the certificate makes says the same.
func TestRunIsItsParts(t *testing.T) {
	table, m := simulated(t)
	b := budget(t, 1)
	result, err := chains.Run(t.Context(), table, m, chains.Settings{Kernel: "barker", Iterations: 400, Chains: 2}, b)
	if err != nil {
		t.Fatal(err)
	}
	c := result.Certificate
	spent, err := b.Spent()
	// The same releases in another order: their sums may differ in the last bits.
	if err != nil || math.Abs(spent.Epsilon-c.Epsilon) > 1e-13 || c.Epsilon > 1 || c.Start.Kind != "optimum" ||
		len(c.Start.Value) != 3 {
		t.Errorf("certified ε = %v, spent %v, start %+v, error %v", c.Epsilon, spent.Epsilon, c.Start, err)
	}
	if len(result.Draws) != 2 || len(result.Draws[0]) != 200 || len(result.Names) != 3 || !result.Complete {
		t.Errorf("%d chains of %d draws of %v", len(result.Draws), len(result.Draws[0]), result.Names)
	}
	var back chains.Certificate
	if err := json.Unmarshal(c.JSON(), &back); err != nil || back.Settings != c.Settings ||
		!reflect.DeepEqual(back.Start.Value, c.Start.Value) {
		t.Errorf("the file says %+v, error %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"settings":{"stepp":1}}`), &back); err == nil {
		t.Error("a setting that does not exist was read")
	}
}

// TestWarmupOfAnchoredChains: summaries leave out a quarter of anchored chains, and half of
// others. A share that is given wins.
func TestWarmupOfAnchoredChains(t *testing.T) {
	for _, c := range []struct {
		kernel string
		share  float64
		kept   int
	}{{"anchored", 0, 60}, {"anchored", 0.5, 40}, {"anchored", -1, 80}, {"barker", 0, 40}} {
		table, m := simulated(t)
		session := opened(t, table, m, chains.Settings{Kernel: c.kernel, Iterations: 80, Chains: 1}, 1,
			curator.InsecureSeed(1))
		result, err := session.Run(t.Context(), m, chains.Options{Warmup: c.share})
		if err != nil || len(result.Draws[0]) != c.kept {
			t.Errorf("%s, share %v: %d draws of 80, want %d, error %v", c.kernel, c.share, len(result.Draws[0]), c.kept, err)
		}
	}
}

// TestStoppedRunsAreCertified: a run that is stopped returns what it drew, with the
// price of the whole.
func TestStoppedRunsAreCertified(t *testing.T) {
	table, m := simulated(t)
	session := opened(t, table, m, chains.Settings{Kernel: "barker", Iterations: 1e7}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	result, err := session.Run(ctx, m, chains.Options{Thin: 1, Progress: func(p kernels.Progress) {
		if p.Done > 100 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || result == nil || result.Complete || len(result.Draws[0]) == 0 ||
		math.Abs(result.Certificate.Epsilon-1) > 0.01 {
		t.Errorf("result %+v, error %v", result, err)
	}
	if words := result.Certificate.Words(false); !strings.Contains(words, "stopped early") {
		t.Errorf("it is certified as\n%s", words)
	}
}

// TestSimulatedBeginningsStop: releases on simulated records end with their context.
func TestSimulatedBeginningsStop(t *testing.T) {
	table, m := simulated(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	session := opened(t, table, m, chains.Settings{Kernel: "anchored"}, 1)
	if _, err := session.BeginSimulated(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestVerdict: draws of a posterior are usable; a random walk that has not arrived, a
// constant, too few draws, and a chain that aims elsewhere are not.
func TestVerdict(t *testing.T) {
	table, m := simulated(t)
	// Of 25 such runs the least ESS was 1148 and R-hat at most 1.003, where 50 and 1.05 are usable.
	long := chains.Settings{Iterations: 60_000, Temperature: 0.05, Start: "prior-mean"}
	for _, c := range []struct {
		s       chains.Settings
		epsilon float64
		usable  bool
		reason  string
	}{
		{long, 300, true, ""},
		{chains.Settings{Iterations: 2000, Start: "1,1,1"}, 0.3, false, "on its way"},
		{chains.Settings{Iterations: 6, Start: "prior-mean"}, 1, false, "Too few"},
		{chains.Settings{Kernel: "dpsgld", Iterations: 200, AsPublished: true}, 1, false, "SQUARE"},
	} {
		result, err := chains.Run(t.Context(), table, m, c.s, budget(t, c.epsilon))
		if err != nil {
			t.Fatal(err)
		}
		v := result.Verdict
		if v.Usable != c.usable || strings.HasPrefix(v.Headline, "Usable: ") != c.usable ||
			!strings.Contains(strings.Join(v.Reasons, " "), c.reason) {
			t.Errorf("%+v: %+v\n%v", c.s, v, result.Summary())
		}
	}
}
