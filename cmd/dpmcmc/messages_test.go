package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// sampled is the folder of a short run.
func sampled(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	code, _, errw := call(t.Context(), append([]string{"sample", "--data", small, "--iterations", "60", "--start",
		"prior-mean", "--out", dir}, args...)...)
	if code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, errw)
	}
	return dir
}

// TestAccountAddsCertificatesUp: a run's certificate is an events document, two are
// added up, and one of an insecure run is refused.
func TestAccountAddsCertificatesUp(t *testing.T) {
	path := filepath.Join(sampled(t), runs.CertificateFile)
	var c chains.Certificate
	readJSON(t, path, &c)
	cost := func(args ...string) float64 {
		t.Helper()
		code, out, errw := call(t.Context(), append([]string{"account", "--json", "--delta", "1e-6"}, args...)...)
		var r struct{ Epsilon float64 }
		if err := json.Unmarshal([]byte(out), &r); code != exitOK || err != nil {
			t.Fatalf("%v: exit code %d: %s", args, code, errw)
		}
		return r.Epsilon
	}
	once, twice := cost("--events", path), cost("--events", path, "--events", path)
	if math.Abs(once/c.Epsilon-1) > 1e-9 || twice < 1.3*once || twice > 2*once {
		t.Errorf("one certificate costs %v, two %v; it says %v", once, twice, c.Epsilon)
	}
	insecure := filepath.Join(sampled(t, "--insecure-seed", "1"), runs.CertificateFile)
	if code, _, errw := call(t.Context(), "account", "--delta", "1e-6", "--events", insecure); code != exitUsage ||
		!strings.Contains(errw, "not private at any ε") {
		t.Errorf("an insecure certificate: exit code %d: %s", code, errw)
	}
}

// TestInsecureRunsPromiseNothing: whatever says what an insecure run is, promises no
// privacy.
func TestInsecureRunsPromiseNothing(t *testing.T) {
	dir := sampled(t, "--insecure-seed", "1")
	text, err := os.ReadFile(filepath.Join(dir, runs.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, promise := range []string{"unconditional", "It holds for every step", "bound how well",
		"One person contributes"} {
		if strings.Contains(string(text), promise) {
			t.Errorf("an insecure run says %q:\n%s", promise, text)
		}
	}
	code, out, errw := call(t.Context(), "summary", filepath.Join(dir, "draws_1.csv"))
	if code != exitOK || !strings.HasPrefix(out, "NOT PRIVATE") {
		t.Errorf("summary drops the mark: exit code %d, %s%s", code, out, errw)
	}
	_, out, _ = call(t.Context(), "summary", "--json", filepath.Join(dir, "draws_1.csv"))
	if !strings.Contains(out, `"insecure": true`) {
		t.Errorf("summary --json drops the mark: %s", out)
	}
}

// TestSummaryPoolsChainsOfOneRunOnly tells runs, kernels, budgets and repeated files
// apart, and pools them when told to.
func TestSummaryPoolsChainsOfOneRunOnly(t *testing.T) {
	run := sampled(t, "--chains", "2")
	first, second := filepath.Join(run, "draws_1.csv"), filepath.Join(run, "draws_2.csv")
	if code, _, errw := call(t.Context(), "summary", first, second); code != exitOK {
		t.Errorf("two chains of a run: exit code %d: %s", code, errw)
	}
	for want, pair := range map[string][2]string{
		"chain 1 was given before": {first, first},
		"its algorithm is":         {first, filepath.Join(sampled(t, "--kernel", "tunamh"), "draws_1.csv")},
		"its dp_epsilon is": {
			filepath.Join(sampled(t, "--step", "0.0001"), "draws_1.csv"),
			filepath.Join(sampled(t, "--step", "0.0001", "--rate", "0.5"), "draws_1.csv"),
		},
	} {
		if code, _, errw := call(t.Context(), "summary", pair[0], pair[1]); code != exitUsage ||
			!strings.Contains(errw, want) || !strings.Contains(errw, "--pool") {
			t.Errorf("%s: exit code %d: %s", want, code, errw)
		}
		if code, _, errw := call(t.Context(), "summary", "--pool", pair[0], pair[1]); code != exitOK {
			t.Errorf("--pool: exit code %d: %s", code, errw)
		}
	}
}

// TestSmallMessages: what is asked for is said where it is missing or wrong.
func TestSmallMessages(t *testing.T) {
	for _, c := range []struct {
		code       int
		args, want string
	}{
		{exitRefused, "sample --data " + small + " --delta 0 --iterations 10",
			"--delta is 0, which asks that nothing ever leaks beyond ε"},
		{exitUsage, "sample --data " + small + " --iterations 1.5", `"1.5" is not a whole number`},
		{exitOK, "sample --data " + small + " --iterations 1e2 --start prior-mean", ""},
		{exitOK, "sample --data " + small + " --delta 0.4 --iterations 10", "Warning: δ = 0.4 is above 1/N"},
		{exitUsage, "sample --data t.csv --warmup 2 --step 0", "--schema, --epsilon, --delta are required"},
		{exitUsage, "sample --data t.csv --warmup 2 --step 0", "--warmup is 2"},
		{exitUsage, "sample --data t.csv --warmup 2 --step 0", "--step is 0"},
		{exitUsage, "plan --kernel gaussian --solve tea", "--solve is"},
		{exitUsage, "plan --kernel gaussian --solve tea", "--records is 0"},
		{exitUsage, "plan --kernel gaussian --solve tea", "--delta is required"},
		{exitUsage, "plan --records 9 --features 1e6 --epsilon 1 --delta 1e-6", "it must be a whole number in digits"},
		{exitUsage, "sample --data " + small + " --loss beta --beta 0.5", "--beta is 0.5; it must be above 1"},
		{exitUsage, "sample --data " + small + " --out main.go", "--out: main.go is a file; name a folder"},
		{exitUsage, "schema --data testdata", "data: testdata is a folder; name a CSV file"},
		{exitUsage, "schema --data nope.csv", "no such file or directory; name a CSV file"},
		{exitUsage, "plan --schema testdata --epsilon 1 --delta 1e-6", "; name a schema file"},
		{exitOK, "--version", ""},
		{exitOK, "completion bash", ""},
	} {
		code, out, errw := call(t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errw, c.want) || code == exitOK && out == "" {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, code, c.code, errw)
		}
	}
	for args, want := range map[string]string{ // before anything runs
		"compare --shard 3 --out cmp/": "dpmcmc: --shard is \"3\"",
		"compare --shard 1/2":          "dpmcmc: --out is missing",
	} {
		if code, _, errw := call(t.Context(), strings.Fields(args)...); code != exitUsage || !strings.HasPrefix(errw, want) {
			t.Errorf("%s: exit code %d: %s", args, code, errw)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errw := call(over, "sample"); code != exitInterrupted || !strings.Contains(errw, "nothing spent") {
		t.Errorf("sample, interrupted at once: exit code %d: %s", code, errw)
	}
	if _, out, _ := call(t.Context(), "__complete", "sample", "--kernel", "bark"); !strings.Contains(out,
		"barker-dynamics-adjusted") {
		t.Errorf("--kernel bark completes to %s", out)
	}
}

// TestNothingNamesNothing: every option of every command that takes a word refuses none, in the same words.
func TestNothingNamesNothing(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "string" {
				return
			}
			seen++
			if err := f.Value.Set(""); err == nil || !strings.Contains(err.Error(), "it is empty; ") {
				t.Errorf("%s --%s: %v", c.CommandPath(), f.Name, err)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(newRoot())
	if seen < 50 {
		t.Errorf("%d options were looked at", seen)
	}
}
