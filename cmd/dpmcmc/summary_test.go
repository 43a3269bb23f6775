package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// TestSummaryPrintsWhatSamplePrinted: of the folder, of its files, and of each unit.
func TestSummaryPrintsWhatSamplePrinted(t *testing.T) {
	csv, schema := people(t)
	for name, args := range map[string][]string{
		"a table":    {"--data", csv, "--schema", schema, "--epsilon", "3", "--delta", "1e-6", "--no-ledger"},
		"two chains": {"--data", small, "--chains", "2", "--start", "prior-mean", "--iterations", "60"},
		"not private": {"--data", small, "--insecure-seed", "4", "--warmup", "0.25", "--accept-unexplored", "--iterations",
			"60", "--start", "prior-mean"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		code, printed, errw := call(t.Context(), append([]string{"sample", "--out", dir}, args...)...)
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", name, code, errw)
		}
		files, err := filepath.Glob(filepath.Join(dir, "draws_*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range [][]string{{dir}, files} {
			_, out, errw := call(t.Context(), append([]string{"summary"}, of...)...)
			if out != printed {
				t.Errorf("%s: summary %v prints %s\n%s\nand sample printed\n%s", name, of, errw, out, printed)
			}
		}
		_, scaled, _ := call(t.Context(), "summary", dir, "--standardised")
		if !strings.Contains(scaled, "per unit of the scaled columns") || scaled == printed {
			t.Errorf("%s: --standardised prints\n%s", name, scaled)
		}
	}
}

// TestSummaryOfFilesAlone: without their folder, files have names and no units.
func TestSummaryOfFilesAlone(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sampled(t), "draws_1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "draws_1.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := call(t.Context(), "summary", path)
	if code != exitOK || !strings.HasPrefix(out, "Per unit of the scaled columns") ||
		!strings.Contains(out, "(intercept)") {
		t.Errorf("exit code %d: %s%s", code, out, errw)
	}
	if code, _, errw := call(t.Context(), "summary", path, "--draws"); code != exitUsage ||
		!strings.Contains(errw, runs.ModelFile) {
		t.Errorf("--draws without units: exit code %d: %s", code, errw)
	}
}

// TestSummaryOfAStoppedRun: a file cut off at any place has its share of warm-up, and a
// table of figures or none.
func TestSummaryOfAStoppedRun(t *testing.T) {
	dir := sampled(t)
	path := filepath.Join(dir, "draws_1.csv")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.Index(whole, []byte("\nlp__")) + 1
	head += bytes.IndexByte(whole[head:], '\n') + 1
	for draws := 0; draws < 50; draws += 7 {
		end := head
		for range draws {
			end += bytes.IndexByte(whole[end:], '\n') + 1
		}
		if err := os.WriteFile(path, whole[:end+3], 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errw := call(t.Context(), "summary", dir, "--json", "--accept-unexplored")
		var r runs.Results
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK || r.Complete {
			t.Fatalf("%d draws: exit code %d, %v: %s%s", draws, code, err, out, errw)
		}
		_, words, _ := call(t.Context(), "summary", dir)
		kept := draws - draws/2
		if few := strings.Contains(words, "Too few draws of "); few != (kept < runs.LeastDraws) ||
			!few && len(r.Summary) > 0 && r.Summary[0].Mean == nil || strings.Contains(words, "NaN") ||
			!strings.Contains(words, "The run was stopped early") {
			t.Errorf("%d draws:\n%s", draws, words)
		}
	}
}

// TestSummaryDraws: --draws are the draws of the table, in its units.
func TestSummaryDraws(t *testing.T) {
	dir := sampled(t, "--chains", "2")
	code, out, errw := call(t.Context(), "summary", dir, "--draws")
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errw)
	}
	f, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if lines[0][2] != "(intercept)" || len(lines) != 1+len(f.Draws[0])+len(f.Draws[1]) {
		t.Fatalf("%d lines, the first %q", len(lines), lines[0])
	}
	last, want := lines[len(lines)-1], f.InUnits()[1]
	for j, v := range want[len(want)-1] {
		if got, err := strconv.ParseFloat(last[2+j], 64); err != nil || got != v {
			t.Errorf("the last draw of %s is %s, not %v", lines[0][2+j], last[2+j], v)
		}
	}
}
