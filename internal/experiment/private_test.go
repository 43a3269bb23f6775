package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
)

// TestTotalIsTheAccountants: the total is what a budget is charged when every
// cell's method is charged on its own, and less than the sum of the cells' ε.
func TestTotalIsTheAccountants(t *testing.T) {
	p := plan(t, private, Options{ConfigDir: privateTable(t)})
	total, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e6, Delta: 1e-4,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cells) != 8 {
		t.Fatalf("%d cells, want 2 repeats × 2 ε × 2 methods", len(p.Cells))
	}
	sum := 0.0
	for _, c := range p.Cells {
		if err := budget.Charge(c.Mechanism.Cost, 1); err != nil {
			t.Fatal(err)
		}
		sum += c.Mechanism.Epsilon
	}
	want, err := budget.Spent()
	if err != nil {
		t.Fatal(err)
	}
	got, err := total.Epsilon(1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Epsilon-want.Epsilon) > 1e-12*want.Epsilon {
		t.Errorf("the total is ε = %v, the accountant's is %v", got.Epsilon, want.Epsilon)
	}
	if !(got.Epsilon > 1 && got.Epsilon < sum) {
		t.Errorf("the total is ε = %v; it must exceed the largest, 1, and not the sum, %v", got.Epsilon, sum)
	}
}

// TestPrivateDataNeedABudget: without one that covers everything the run is refused
// before the records are read: their file is not even there.
func TestPrivateDataNeedABudget(t *testing.T) {
	dir := privateTable(t)
	if err := os.Remove(filepath.Join(dir, "people.csv")); err != nil {
		t.Fatal(err)
	}
	p := plan(t, private, Options{ConfigDir: dir})
	if !p.Private {
		t.Fatal("a file is public although nobody said so")
	}
	var none *NoBudgetError
	if _, err := p.Run(t.Context(), RunOptions{}); !errors.As(err, &none) {
		t.Errorf("without a budget: %v", err)
	}
	out := t.TempDir()
	var exceeded *accountant.ExceededError
	if _, err := p.Run(t.Context(), RunOptions{Dir: out, Epsilon: 1, Delta: 1e-4}); !errors.As(err, &exceeded) {
		t.Errorf("with too small a budget: %v", err)
	}
	_, err := p.Run(t.Context(), RunOptions{Dir: out, Epsilon: 100, Delta: 1e-4})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("with a budget that covers it the file is opened: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(out, journalFile)); err != nil || strings.Contains(string(text), "start") {
		t.Errorf("a refused run charged something: %s %v", text, err)
	}
}

// TestPrivateResults: only what is computed from releases, with noise of the
// operating system, and what was spent.
func TestPrivateResults(t *testing.T) {
	dir := privateTable(t)
	run := func() *Results {
		r, err := plan(t, private, Options{ConfigDir: dir}).Run(t.Context(), RunOptions{Epsilon: 8, Delta: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run()
	if len(r.References) != 0 {
		t.Error("a non-private posterior was sampled")
	}
	for i, c := range r.Cells {
		for name := range c.Metrics {
			if name != "ess" && name != "interval-width" {
				t.Errorf("%s has the metric %s, which reads records", c.Cell, name)
			}
		}
		if c.Noise != "operating system" || r.Seconds[i] != 0 {
			t.Errorf("%s: noise %q, %v seconds", c.Cell, c.Noise, r.Seconds[i])
		}
	}
	total, err := plan(t, private, Options{ConfigDir: dir}).Total()
	if err != nil {
		t.Fatal(err)
	}
	want, err := total.Epsilon(1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if r.Spent == nil || r.Spent.Epsilon != want.Epsilon || r.Spent.Releases != 8 ||
		r.Spent.Guarantee != methods.Unconditional {
		t.Errorf("spent %+v, want ε = %v of 8 releases", r.Spent, want.Epsilon)
	}
	if again := run(); again.Cells[0].Mean[0] == r.Cells[0].Mean[0] {
		t.Error("two runs have the same noise")
	}
	folder := t.TempDir()
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "timings.csv")); err == nil {
		t.Error("wall times on private records were written")
	}
}

// TestInterruptedCellsStayCharged: a cell that began before a run was killed counts
// although it has no result. It runs again where the budget covers that, too.
func TestInterruptedCellsStayCharged(t *testing.T) {
	dir := privateTable(t)
	p := plan(t, private, Options{ConfigDir: dir})
	fingerprint, err := p.fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	journal := `{"fingerprint":"` + fingerprint + `"}` + "\n" + `{"start":"` + p.Cells[3].ID + `"}` + "\n"
	total, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	once, err := total.Epsilon(1e-4)
	if err != nil {
		t.Fatal(err)
	}
	short := t.TempDir()
	write(t, filepath.Join(short, journalFile), journal)
	var exceeded *accountant.ExceededError
	if _, err := p.Run(t.Context(), RunOptions{Dir: short, Epsilon: once.Epsilon * (1 - 1e-6),
		Delta: 1e-4}); !errors.As(err, &exceeded) {
		t.Errorf("the other cells alone would fit, but one was charged: %v", err)
	}
	for _, c := range []struct {
		epsilon  float64
		releases int
		lost     bool
	}{{once.Epsilon * (1 + 1e-9), 8, true}, {2 * once.Epsilon, 9, false}} {
		out := t.TempDir()
		write(t, filepath.Join(out, journalFile), journal)
		r, err := plan(t, private, Options{ConfigDir: dir}).Run(t.Context(),
			RunOptions{Dir: out, Epsilon: c.epsilon, Delta: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if lost := r.Cells[3].Error != ""; lost != c.lost || r.Spent.Releases != c.releases ||
			!(r.Spent.Epsilon <= c.epsilon) {
			t.Errorf("at ε = %v: %q, spent %+v; want %d releases", c.epsilon, r.Cells[3].Error, r.Spent, c.releases)
		}
		// What is done is done: nothing runs, and nothing is charged, again.
		again, err := plan(t, private, Options{ConfigDir: dir}).Run(t.Context(),
			RunOptions{Dir: out, Epsilon: c.epsilon, Delta: 1e-4})
		if err != nil || again.Spent.Releases != c.releases {
			t.Errorf("a second time: %v", err)
		}
	}
}

// TestPrivateDataRefuseWhatNoBudgetPaysFor names methods and metrics.
func TestPrivateDataRefuseWhatNoBudgetPaysFor(t *testing.T) {
	dir := privateTable(t)
	for text, want := range map[string]string{
		private + "\n[[method]]\nname = \"nuts\"\n":                     "nuts has no guarantee",
		"metrics = [\"auc\"]\n" + private:                               "the metric auc depends on held-out records",
		"metrics = [\"ess\", \"rmse\"]\n" + private:                     "the metric rmse depends on the truth",
		"metrics = [\"membership\"]\n" + private:                        "further runs on altered records",
		strings.Replace(private, "people.toml", "other.toml", 1):        "other.toml",
		strings.Replace(private, "[data]", "[data]\ntest-share=1.5", 1): "",
	} {
		c, err := Parse("exp.toml", []byte(text))
		if want == "" {
			if err == nil {
				t.Error("a test share above 1 is allowed")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewPlan(c, Options{ConfigDir: dir})
		var where *ConfigError
		if !errors.As(err, &where) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; it must be a *ConfigError about %q", err, want)
		}
		if strings.Contains(text, "other.toml") {
			continue
		}
		if _, err := NewPlan(c, Options{ConfigDir: dir, Public: true}); err != nil {
			t.Errorf("as public data: %v", err)
		}
	}
}

// TestPublicFiles: a public file has held-out records, a reference, and results
// that can be repeated.
func TestPublicFiles(t *testing.T) {
	dir := privateTable(t)
	text := strings.Replace(private, "[data]",
		"[reference]\nchains = 1\nwarmup = 50\ndraws = 50\n[data]\ntest-share = 0.25", 1)
	o := Options{ConfigDir: t.TempDir(), DataDir: dir, Public: true}
	write(t, filepath.Join(o.ConfigDir, "people.toml"), read(t, filepath.Join(dir, "people.toml")))
	want := files(t, plan(t, text, o), RunOptions{Workers: 1})
	same(t, "4 workers", files(t, plan(t, text, o), RunOptions{Workers: 4}), want)
	for _, part := range []string{"private,45,laplace-approximation,", ",auc,", ",mean-error,", ",coverage,"} {
		if !strings.Contains(want["results.csv"], part) {
			t.Errorf("results.csv has no %s", part)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
