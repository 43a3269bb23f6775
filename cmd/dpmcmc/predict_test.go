package main

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// finishedRun samples a small table from a file and returns the folder of the run.
func finishedRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("age,job,sick\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,%s,%s\n", 20+i%60, []string{"none", "full"}[i%2], []string{"no", "yes"}[i/7%2])
	}
	schema := `confirmed = true
records = 400
[[column]]
name = "age"
role = "feature"
kind = "number"
lower = 0
upper = 120
center = 50
scale = 20
[[column]]
name = "job"
role = "feature"
kind = "category"
levels = ["none", "full"]
[[column]]
name = "sick"
role = "target"
kind = "binary"
labels = ["no", "yes"]
`
	csv, toml, out := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml"), filepath.Join(dir, "run")
	for path, text := range map[string]string{csv: rows.String(), toml: schema} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errw := call(t.Context(), "sample", "--data", csv, "--schema", toml, "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker", "--iterations", "2000", "--accept-unexplored", "--out", out)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	// Predictions and pages need no record: what was fitted is gone.
	for _, path := range []string{csv, toml} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestPredictAndReportFromAFolder: both work from the folder alone, and the
// probabilities are those of the draws, to 10⁻¹².
func TestPredictAndReportFromAFolder(t *testing.T) {
	dir := finishedRun(t)
	fresh := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(fresh, []byte("job,age\nfull,60\nnone,40\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := call(t.Context(), "predict", dir, "--data", fresh, "--json")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	var got struct {
		Columns     []string
		Predictions []struct{ Mean, Low, High []float64 }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	f, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range [][2]float64{{60, 1}, {40, 0}} {
		want := 0.0
		for _, b := range f.InUnits()[0] {
			want += 1 / (1 + math.Exp(-b[0]-b[1]*x[0]-b[2]*x[1])) / float64(len(f.Draws[0]))
		}
		if p := got.Predictions[i]; math.Abs(p.Mean[0]-want) > 1e-12 || !(p.Low[0] < want && want < p.High[0]) {
			t.Errorf("row %d: %+v, want %v", i, p, want)
		}
	}
	if len(got.Columns) != 1 || got.Columns[0] != "P(sick = yes)" {
		t.Errorf("columns %v", got.Columns)
	}
	if code, out, _ := call(t.Context(), "predict", dir, "--data", fresh, "--draws"); code != exitOK ||
		!strings.HasPrefix(out, "row.1,row.2\n") || strings.Count(out, "\n") != 1+len(f.Draws[0]) {
		t.Errorf("exit code %d, %.60q", code, out)
	}
	page := filepath.Join(dir, runs.ReportFile)
	first, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var c chains.Certificate
	readJSON(t, filepath.Join(dir, runs.CertificateFile), &c)
	for _, said := range []string{c.Cost(), c.AtStart()} {
		if said == "" || !strings.Contains(string(first), html.EscapeString(said)) {
			t.Errorf("the page does not say %q", said)
		}
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if code, _, errw := call(t.Context(), "report", dir); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	if again, err := os.ReadFile(page); err != nil || string(again) != string(first) {
		t.Errorf("the page made again differs from the first (%v)", err)
	}
	for _, want := range []string{"ε = ", "unconditional, substitute adjacency, Rényi", "sick", "log-odds per 1 of age"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPredictRefusals(t *testing.T) {
	dir := finishedRun(t)
	fresh := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(fresh, []byte("job,age\nidle,70\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"folder of one run":  {"predict"},
		"needs --data":       {"predict", dir},
		"give one":           {"predict", dir, "--data", fresh, "--draws", "--json"},
		"new.csv:2:1":        {"predict", dir, "--data", fresh},
		"sample --out":       {"predict", t.TempDir(), "--data", fresh},
		"no such file":       {"predict", dir, "--data", fresh + "x"},
		"of dpmcmc sample -": {"report", t.TempDir()},
	} {
		code, out, errw := call(t.Context(), args...)
		if code != exitUsage || out != "" || !strings.Contains(errw, want) {
			t.Errorf("%v: exit code %d, %q; want %q", args, code, errw, want)
		}
	}
}
