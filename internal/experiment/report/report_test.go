package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

const config = `
name = "tiny"
title = "A <tiny> experiment"
epsilons = [0.5, 8]
delta = 1e-5
repeats = 2
[data]
simulate = "logistic"
records = [100, 200]
features = 1
test-records = 40
[reference]
chains = 1
warmup = 40
draws = 40
[[method]]
name = "nuts"
settings = { chains = 1, warmup = 40, draws = 40 }
[[method]]
name = "objective-perturbation"
label = "estimate & noise"
[[method]]
name = "laplace-approximation"
settings = { draws = 30 }
[[method]]
name = "dp-sgd"
label = "diverges"
settings = { learning-rate = 1e300, steps = 10, clip = 1e10 }
`

func results(t *testing.T) *experiment.Results {
	t.Helper()
	c, err := experiment.Parse("tiny.toml", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiment.NewPlan(c, experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), experiment.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReport writes a report and reads it back: it needs no network and nothing
// beside it, escapes what the configuration says, and shows every metric and
// method with its guarantee.
func TestReport(t *testing.T) {
	r, dir := results(t), t.TempDir()
	names, err := Write(r, dir)
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, filepath.Join(dir, "report.html"))
	outside := regexp.MustCompile(`(?i)https?:|//[a-z]|src=|href=|@import|url\(|<script|<link|<iframe`)
	if found := outside.FindString(page); found != "" {
		t.Errorf("the page refers to something outside: %q", found)
	}
	for _, want := range []string{
		"A &lt;tiny&gt; experiment", "estimate &amp; noise", "unconditional", "<td class=\"t\">none</td>",
		"nothing here is private",
		"8 of 28 runs have no result", "Wall time", "non-private posterior", "ε = 0.5", "ε = 8",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if got := strings.Count(page, "<svg "); got != len(names)-1 || got < 10 {
		t.Errorf("%d charts in the page, %d files", got, len(names)-1)
	}
	for _, name := range names[:len(names)-1] {
		text := read(t, filepath.Join(dir, name))
		wellFormed(t, name, text)
		if !strings.Contains(page, strings.TrimSuffix(name, ".svg")) {
			t.Errorf("the page has no section on %s", name)
		}
	}
	rmse := read(t, filepath.Join(dir, "rmse.svg"))
	for _, want := range []string{"estimate &amp; noise", "100 records", "200 records"} {
		if !strings.Contains(rmse, want) {
			t.Errorf("the chart of rmse does not say %q", want)
		}
	}
	if coverage := read(t, filepath.Join(dir, "coverage.svg")); strings.Contains(coverage, "estimate") {
		t.Error("an estimate has no coverage, but its chart shows one")
	}
}

// TestAdvantageHasALimit: the chart of attacks shows what (ε, δ) allows.
func TestAdvantageHasALimit(t *testing.T) {
	r := results(t)
	m, err := metrics.ByName("membership")
	if err != nil {
		t.Fatal(err)
	}
	l := limit(r, m)
	if len(l) != 1 || !l[0].Dashed {
		t.Fatalf("%+v", l)
	}
	last := len(l[0].X) - 1
	for i, e := range map[int]float64{0: 0.5, last: 8} {
		want := (math.Exp(e) - 1 + 2e-5) / (math.Exp(e) + 1)
		if l[0].X[i] != e || math.Abs(l[0].Y[i]-want) > 1e-12 {
			t.Errorf("at ε = %v the limit is %v, want %v", l[0].X[i], l[0].Y[i], want)
		}
	}
	if other, err := metrics.ByName("auc"); err != nil || limit(r, other) != nil {
		t.Errorf("auc has a limit (%v)", err)
	}
}

// TestReportsRepeat: charts and text are the same for the same results, and the
// page but for its wall times.
func TestReportsRepeat(t *testing.T) {
	page := [2]string{}
	text := [2]string{}
	chart := [2]string{}
	for i := range 2 {
		r, dir := results(t), t.TempDir()
		if _, err := Write(r, dir); err != nil {
			t.Fatal(err)
		}
		before, _, found := strings.Cut(read(t, filepath.Join(dir, "report.html")), "<h2>Wall time</h2>")
		if !found {
			t.Error("the page has no wall times")
		}
		page[i], text[i], chart[i] = before, Text(r), read(t, filepath.Join(dir, "rmse.svg"))
	}
	if page[0] != page[1] || text[0] != text[1] || chart[0] != chart[1] {
		t.Error("two reports of the same results differ")
	}
}

// TestText: a table for each metric, columns aligned, with the guarantees.
func TestText(t *testing.T) {
	text := Text(results(t))
	for _, want := range []string{"RMSE of the parameters", "  nuts, 100 records", "unconditional",
		"8 of 28 runs have no result"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	blocks := strings.Split(text, "\n\n")
	if !strings.HasPrefix(blocks[1], "laplace-approximation has the least RMSE") &&
		!strings.HasPrefix(blocks[1], "estimate & noise has the least RMSE") || strings.Count(blocks[1], "\n  ε = ") != 4 {
		t.Errorf("the verdict is\n%s", blocks[1])
	}
	block := blocks[3]
	width := 0
	for _, line := range strings.Split(strings.TrimSuffix(block, "\n"), "\n") {
		if n := len([]rune(line)); width != 0 && n != width {
			t.Errorf("the last column is not aligned:\n%s", block)
			break
		} else {
			width = n
		}
	}
}

// TestSpent: what was spent on private data is said first.
func TestSpent(t *testing.T) {
	r := results(t)
	r.Spent = &experiment.Spent{Epsilon: 2.5, Delta: 1e-4, Adjacency: "substitute",
		Guarantee: "conditional on exact sampling", Theorem: "some theorem", Releases: 8}
	dir := t.TempDir()
	if _, err := Write(r, dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"text": Text(r), "page": read(t, filepath.Join(dir, "report.html"))} {
		for _, want := range []string{"ε = 2.5 at δ = 0.0001", "conditional on exact sampling; some theorem", "8 releases"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not say %q", name, want)
			}
		}
		if strings.Contains(text, "Wall time") {
			t.Errorf("the %s has wall times, which depend on the records", name)
		}
	}
}

func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
