package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
)

// TestResultsDoNotDependOnWorkers compares bytes, whether there is a journal or
// not, and checks that another seed gives other results.
func TestResultsDoNotDependOnWorkers(t *testing.T) {
	want := files(t, plan(t, small, Options{}), RunOptions{Workers: 1})
	same(t, "7 workers", files(t, plan(t, small, Options{}), RunOptions{Workers: 7, Dir: t.TempDir()}), want)
	other := files(t, plan(t, strings.Replace(small, "seed = 7", "seed = 8", 1), Options{}), RunOptions{Workers: 2})
	if other["results.csv"] == want["results.csv"] {
		t.Error("another seed gives the same results")
	}
}

// TestCellsDoNotDependOnOthers: a cell's result is the same when other methods, ε
// and repeats are not there.
func TestCellsDoNotDependOnOthers(t *testing.T) {
	all, err := plan(t, small, Options{}).Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(small, "epsilons = [0.5, 2]", "epsilons = [2]", 1)
	text = strings.Replace(text, "repeats = 3", "repeats = 1", 1)
	text = text[:strings.Index(text, "[[method]]")] +
		"[[method]]\nname = \"laplace-approximation\"\nsettings = { draws = 40 }\n"
	one, err := plan(t, text, Options{}).Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cells {
		if c.Cell != one.Cells[0].Cell {
			continue
		}
		if len(c.Metrics) < 10 {
			t.Errorf("%d metrics only", len(c.Metrics))
		}
		for name, v := range c.Metrics {
			if one.Cells[0].Metrics[name] != v {
				t.Errorf("%s: %v among others, %v alone", name, v, one.Cells[0].Metrics[name])
			}
		}
		return
	}
	t.Errorf("no cell is called %q", one.Cells[0].Cell)
}

// TestInterruptedRunsGoOn cancels a run 20 times, before a cell or when it has finished one or
// two more, in the midst of the other worker's, goes on each time, and compares with a run in
// one go. No cell is journalled twice.
func TestInterruptedRunsGoOn(t *testing.T) {
	p := plan(t, small, Options{})
	want := files(t, p, RunOptions{Workers: 2})
	dir := t.TempDir()
	interrupted, kept := 0, map[int]bool{}
	for attempt := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		last := attempt % 3
		if last == 0 {
			cancel()
		}
		_, err := p.Run(ctx, RunOptions{Dir: dir, Workers: 2, Progress: func(p Progress) {
			if kept[p.Resumed] = true; p.Done-p.Resumed >= last {
				cancel()
			}
		}})
		cancel()
		switch {
		case errors.Is(err, context.Canceled):
			interrupted++
		case err != nil:
			t.Fatal(err)
		}
	}
	same(t, "after 20 interruptions", files(t, p, RunOptions{Dir: dir, Workers: 2}), want)
	checkJournal(t, dir, p)
	if interrupted < 2 || len(kept) < 2 {
		t.Errorf("%d runs were interrupted, and runs went on from %d places: the test saw too little", interrupted, len(kept))
	}
}

// checkJournal checks that the journal has every cell once.
func checkJournal(t *testing.T, dir string, p *Plan) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), `"cell":{`); got != len(p.Cells) {
		t.Errorf("the journal has %d results, want one for each of the %d cells", got, len(p.Cells))
	}
}

// TestTornJournal cuts a finished journal at every 397th byte, which is what a kill
// in the middle of a write leaves, and goes on.
func TestTornJournal(t *testing.T) {
	text := strings.Replace(small, "repeats = 3", "repeats = 1", 1)
	text = text[:strings.Index(text, "[[method]]\nname = \"barker\"")]
	dir := t.TempDir()
	p := plan(t, text, Options{})
	want := files(t, p, RunOptions{Dir: dir})
	whole, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 397 {
		torn := t.TempDir()
		half := string(whole[:at]) + `{"cell":{"cell":"` + strings.Repeat("x", 5000)
		write(t, filepath.Join(torn, journalFile), half)
		same(t, "cut", files(t, p, RunOptions{Dir: torn}), want)
		if text := read(t, filepath.Join(torn, journalFile)); strings.Contains(text, "xxx") {
			t.Errorf("cut at byte %d, the journal still has what was cut off", at)
		}
	}
}

// TestJournalsAreNotMixed: another experiment, and other public records under the
// same name, are refused in a folder, as is a second run at the same time.
func TestJournalsAreNotMixed(t *testing.T) {
	dir := t.TempDir()
	files(t, plan(t, small, Options{}), RunOptions{Dir: dir})
	other := plan(t, strings.Replace(small, "seed = 7", "seed = 8", 1), Options{})
	if _, err := other.Run(t.Context(), RunOptions{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "another experiment") {
		t.Errorf("another seed in the same folder: %v", err)
	}

	data, out := privateTable(t), t.TempDir()
	o := Options{ConfigDir: data, Public: true}
	files(t, plan(t, private, o), RunOptions{Dir: out})
	people := filepath.Join(data, "people.csv")
	text, err := os.ReadFile(people)
	if err != nil {
		t.Fatal(err)
	}
	write(t, people, strings.Replace(string(text), "20,no", "21,no", 1))
	if _, err := plan(t, private, o).Run(t.Context(), RunOptions{Dir: out}); err == nil ||
		!strings.Contains(err.Error(), "other data") {
		t.Errorf("other records in the same folder: %v", err)
	}

	busy := t.TempDir()
	_, err = plan(t, small, Options{}).Run(t.Context(), RunOptions{Dir: busy, Workers: 1, Progress: func(p Progress) {
		if p.Done > 1 {
			return
		}
		if _, err := plan(t, small, Options{}).Run(t.Context(), RunOptions{Dir: busy}); err == nil ||
			!errors.Is(err, durable.ErrLocked) {
			t.Errorf("a second run in a busy folder: %v", err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRowsStateTheirGuarantee reads the kinds and the source of noise off the table.
func TestRowsStateTheirGuarantee(t *testing.T) {
	text := small + "\n[[method]]\nname = \"gibbs-ops\"\nsettings = { warmup = 20, thin = 1 }\n"
	got := files(t, plan(t, text, Options{}), RunOptions{})["results.csv"]
	for _, want := range []string{
		"small,150,nuts,nuts,none,none,inf,1e-05,1,rmse,",
		`small,150,laplace-approximation,laplace-approximation,unconditional,"seeded, not private",0.5,1e-05,3,coverage,`,
		`small,150,barker,barker,unconditional,"seeded, not private",2,1e-05,2,ess,`,
		`small,150,gibbs-ops,gibbs-ops,conditional on exact sampling,"seeded, not private",2,1e-05,1,rmse,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("results.csv has no row %s…", want)
		}
	}
	if strings.Contains(got, "objective-perturbation,unconditional,\"seeded, not private\",2,1e-05,1,coverage") {
		t.Error("an estimate has no interval, but its coverage is stated")
	}
}

// TestFailuresAreResults: a method that fails gives a row with its error, and the
// others theirs.
func TestFailuresAreResults(t *testing.T) {
	text := small + "\n[[method]]\nname = \"dp-sgd\"\nlabel = \"diverges\"\nsettings = { learning-rate = 1e300, steps = " +
		"20, clip = 1e10 }\n"
	r, err := plan(t, text, Options{}).Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		if failed := c.Label == "diverges"; failed != (c.Error != "") || failed != (len(c.Metrics) == 0) {
			t.Errorf("%s: error %q and %d metrics", c.Cell, c.Error, len(c.Metrics))
		}
	}
	if !strings.Contains(written(t, r)["results.csv"], ",error,") {
		t.Error("results.csv does not have the failures")
	}
}

// TestProgress: every cell is counted, and there is time left until the last.
func TestProgress(t *testing.T) {
	p := plan(t, small, Options{})
	last := 0
	_, err := p.Run(t.Context(), RunOptions{Workers: 3, Progress: func(at Progress) {
		if at.Done != last+1 || at.Total != len(p.Cells) || at.Resumed != 0 || (at.Left > 0) != (at.Done < at.Total) {
			t.Errorf("after %d cells: %+v", last, at)
		}
		last = at.Done
	}})
	if err != nil || last != len(p.Cells) {
		t.Errorf("%d of %d cells were counted, error %v", last, len(p.Cells), err)
	}
}

// TestReferenceIsShared: the non-private posterior is sampled once a repeat, and
// only for metrics that look at it.
func TestReferenceIsShared(t *testing.T) {
	r, err := plan(t, small, Options{}).Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.References) != 3 {
		t.Errorf("%d references for 3 repeats", len(r.References))
	}
	for _, ref := range r.References {
		if ref.Draws != 60 || !(ref.ESS > 5) || !(ref.RHat > 0.9 && ref.RHat < 1.3) {
			t.Errorf("%+v", ref)
		}
	}
	r, err = plan(t, "metrics = [\"rmse\", \"auc\"]\n"+small, Options{}).Run(t.Context(), RunOptions{})
	if err != nil || len(r.References) != 0 {
		t.Errorf("%d references for metrics that know the truth, error %v", len(r.References), err)
	}
}

// TestReferenceHasTheRunsPrior: beside chains whose columns are fitted the non-private posterior has
// their prior, and beside others that of standardized columns. A repeat has each once.
func TestReferenceHasTheRunsPrior(t *testing.T) {
	head, _, _ := strings.Cut(small, "[[method]]")
	more := head + "\n[model]\nprior = \"standardized\"\n"
	for _, fit := range []string{"no", "yes"} {
		more += fmt.Sprintf("\n[[method]]\nname = \"anchored\"\nlabel = \"fit %s\"\nsettings = { iterations = 50, "+
			"anchor-fit = %q, aim = \"score\", ess = 1 }\n", fit, fit)
	}
	r, err := plan(t, more, Options{}).Run(t.Context(), RunOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	fitted := 0
	for _, ref := range r.References {
		if ref.Fitted {
			fitted++
		}
	}
	if fitted != 3 || len(r.References) != 6 {
		t.Errorf("%d references, %d of them of fitted columns, for 3 repeats", len(r.References), fitted)
	}
	for _, c := range r.Cells {
		if _, known := c.Metrics["mean-error"]; !known && c.Method == "anchored" {
			t.Errorf("%s was not held against a posterior: %v", c.Cell, c)
		}
	}
}

// TestGuaranteeOfAll is the weakest of the methods'.
func TestGuaranteeOfAll(t *testing.T) {
	for text, want := range map[string]methods.Kind{
		small: methods.None,
		small[:strings.Index(small, "[[method]]")] +
			"[[method]]\nname = \"gibbs-ops\"\n[[method]]\nname = \"barker\"\n": methods.Conditional,
		small[:strings.Index(small, "[[method]]")] + "[[method]]\nname = \"dp-sgd\"\n": methods.Unconditional,
	} {
		if got := plan(t, text, Options{}).Guarantee(); got != want {
			t.Errorf("guarantee %q, want %q", got, want)
		}
	}
}
