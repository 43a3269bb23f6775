package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// TestForecastsAreGivenUp: what takes too much work to forecast ends a plan, and not a run.
func TestForecastsAreGivenUp(t *testing.T) {
	defer func(most int64) { forecasts.Reference = most }(forecasts.Reference)
	forecasts.Reference = 1
	const said = "takes too much work to simulate"
	code, out, errw := plainly(t, "plan", "--records", "2000", "--features", "2", "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker")
	if code == exitOK || !strings.Contains(errw, said) {
		t.Errorf("exit %d: %s%s", code, out, errw)
	}
	code, out, errw = plainly(t, "sample", "--data", "builtin:logistic?n=2000&d=2", "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker")
	if code != exitOK || !strings.Contains(errw, "No forecast: ") || !strings.Contains(errw, said) {
		t.Errorf("exit %d: %s%s", code, out, errw)
	}
}

// plainly runs a command as a person does.
func plainly(t *testing.T, args ...string) (code int, out, errw string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// TestSampleForeseesWhatPlanDoes: given the same public facts, plan and sample predict the same widening.
func TestSampleForeseesWhatPlanDoes(t *testing.T) {
	csv, schema := people(t)
	asked := []string{"--schema", schema, "--epsilon", "1", "--delta", "1e-6"}
	_, plan, _ := plainly(t, append([]string{"plan"}, asked...)...)
	_, _, errw := plainly(t, append([]string{"sample", "--data", csv}, asked...)...)
	planned := regexp.MustCompile(`this budget +1 +(×[0-9.]+)`).FindStringSubmatch(plan)
	foreseen := regexp.MustCompile(`intervals (×[0-9.]+)`).FindStringSubmatch(errw)
	if planned == nil || foreseen == nil || planned[1] != foreseen[1] {
		t.Errorf("plan predicts %v, and sample %v", planned, foreseen)
	}
}

// TestSampleRefusesWhatShowsNothing: a run that is predicted to show no posterior is
// refused before anything is spent or written, and made when that is accepted; then the
// table has no spreads.
func TestSampleRefusesWhatShowsNothing(t *testing.T) {
	csv, schema := people(t)
	dir := filepath.Join(t.TempDir(), "run")
	args := []string{"sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
		"--kernel", "barker",
		"--iterations", "500", "--out", dir}
	code, out, errw := plainly(t, args...)
	if code != exitRefused || out != "" || !strings.Contains(errw, "Predicted: ESS ") ||
		!strings.Contains(errw, "Nothing was spent") || !strings.Contains(errw, "--temperature auto") {
		t.Errorf("exit %d: %s%s", code, out, errw)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a refused run made its folder")
	}
	if text, err := os.ReadFile(csv + ".ledger"); err == nil && bytes.Contains(text, []byte("gaussian")) {
		t.Errorf("the ledger was charged: %s", text)
	}
	code, out, errw = plainly(t, append(args, "--accept-unexplored")...)
	if code != exitOK || !strings.HasPrefix(out, "Not a posterior: do not use standard deviations or intervals") ||
		!strings.Contains(out, "withheld") {
		t.Errorf("accepted: exit %d: %s%s", code, out, errw)
	}
}

// TestSampleTempers: with --temperature auto the same kernel shows a posterior, of which
// the certificate says at which temperature it is.
func TestSampleTempers(t *testing.T) {
	code, out, errw := plainly(t, "sample", "--data", "builtin:logistic?n=3000&d=1", "--epsilon", "3", "--delta", "1e-6",
		"--kernel", "barker", "--iterations", "20000", "--temperature", "auto", "--ess", "400", "--start", "prior-mean",
		"--json", "--insecure-seed", "5")
	var r runs.Results
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errw)
	}
	c := r.Certificate
	if c.Target != "tempered" || !(c.Temperature < 1) || !strings.Contains(c.Sampled, "temperature") ||
		!strings.Contains(c.SettingsFrom, "simulated") {
		t.Errorf("certified: %s, temperature %v, %q, settings from %s", c.Target, c.Temperature, c.Sampled, c.SettingsFrom)
	}
	if !r.Verdict.Usable {
		t.Errorf("the verdict is %+v", r.Verdict)
	}
	for _, row := range r.Summary {
		if row.ESSBulk == nil || *row.ESSBulk < chains.LeastESS {
			t.Errorf("an ESS of %v", row.ESSBulk)
		}
	}
}

// TestSampleForesees: the bare command is not tempered, and says before it draws what its
// draws will be worth.
func TestSampleForesees(t *testing.T) {
	code, out, errw := plainly(t, "sample", "--json")
	var r runs.Results
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errw)
	}
	if !strings.HasPrefix(errw, "Predicted: ESS ") || !strings.Contains(errw, "as wide as without privacy") {
		t.Errorf("said %s", errw)
	}
	if r.Certificate.Temperature != 1 || r.Certificate.Target != "noise-aware" || !r.Verdict.Usable {
		t.Errorf("%s at temperature %v; %s", r.Certificate.Target, r.Certificate.Temperature, r.Verdict.Headline)
	}
}

// TestClipsAreSaidBeforehand: sample and plan say by how much a narrow clip moves the
// posterior before anything is spent, and nothing of the kind where no clip is.
func TestClipsAreSaidBeforehand(t *testing.T) {
	dir := t.TempDir()
	csv, schema := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml")
	writeText(t, csv, "x,y\n"+strings.Repeat("1,2\n0,0\n2,1\n", 200))
	writeText(t, schema, "confirmed = true\nrecords = 600\n"+
		"[[column]]\nname = \"x\"\nrole = \"feature\"\nkind = \"number\"\nlower = 0\nupper = 2\n"+
		"[[column]]\nname = \"y\"\nrole = \"target\"\nkind = \"number\"\nlower = 0\nupper = 2\n")
	for kernel, said := range map[string]bool{"dpsgld": true, "anchored": false} {
		public := []string{"--schema", schema, "--epsilon", "30", "--delta", "1e-6", "--model", "linear", "--kernel", kernel}
		if said {
			public = append(public, "--clip", "0.5")
		}
		_, out, errw := plainly(t, append([]string{"plan"}, public...)...)
		if strings.Contains(out, "The clip moves a parameter by") != said {
			t.Errorf("plan %s: %s%s", kernel, out, errw)
		}
		private := []string{"sample", "--data", csv, "--out", filepath.Join(dir, kernel)}
		_, out, errw = plainly(t, append(private, public...)...)
		if !strings.Contains(errw, "Predicted: ") || strings.Contains(errw, "the clip moves a parameter by") != said {
			t.Errorf("sample %s: %s%s", kernel, out, errw)
		}
	}
}

// TestFirstOrderIsForeseen: anchors of order 1 are refused where they are predicted to show
// nothing, and otherwise run with a verdict of their own.
func TestFirstOrderIsForeseen(t *testing.T) {
	foreseeShortly(t)
	public := []string{"sample", "--kernel", "anchored", "--delta", "1e-6", "--insecure-seed", "5", "--epsilon"}
	code, out, errw := plainly(t, append(public, "0.5", "--data", "builtin:mixture?n=300")...)
	if code != exitRefused || !strings.Contains(errw, "Nothing was spent") {
		t.Errorf("exit %d: %s%s", code, out, errw)
	}
	code, out, errw = plainly(t, "sample", "--data", "builtin:mixture?n=20000", "--kernel", "barker", "--epsilon", "1",
		"--delta", "1e-6")
	if code != exitRefused || !strings.Contains(errw, "\n  --kernel anchored, which pays once") {
		t.Errorf("another kernel: exit %d: %s%s", code, out, errw)
	}
	code, out, errw = plainly(t, append(public, "10", "--data", "builtin:mixture?n=10000")...)
	if code != exitOK || !strings.Contains(out, "Usable for one mode") || !strings.Contains(errw, "Predicted: ESS ") {
		t.Errorf("exit %d: %s%s", code, out, errw)
	}
}
