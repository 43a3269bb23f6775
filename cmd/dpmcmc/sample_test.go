package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"time"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// call runs the command and returns its exit code and output.
func call(ctx context.Context, args ...string) (code int, out, errw string) {
	var o, e bytes.Buffer
	args = accepting(args)
	code = run(ctx, args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// accepting lets sample run what is too short for a posterior, as most tests want; those
// of forecasts use run.
func accepting(args []string) []string {
	if len(args) > 0 && args[0] == "sample" && !slices.Contains(args, "--accept-unexplored") {
		return append(slices.Clone(args), "--accept-unexplored")
	}
	return args
}

const small = "builtin:logistic?n=2000&d=2"

func TestSampleWritesDrawsCertificateAndSummary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errw := call(t.Context(), "sample", "--data", small, "--kernel", "barker", "--iterations", "2000",
		"--chains", "2", "--out", dir)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	for _, want := range []string{"(intercept)", "unconditional", "δ = 1e-06", "substitution", "rhat", "Canonne"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	for _, line := range []string{"Iteration: 4000 / 4000 [100%]"} {
		if !strings.Contains(errw, line) {
			t.Errorf("the progress lacks %q:\n%s", line, errw)
		}
	}
	var c chains.Certificate
	readJSON(t, filepath.Join(dir, runs.CertificateFile), &c)
	if c.Guarantee != "unconditional" || c.Epsilon > 1 || c.Epsilon < 0.99 || c.Records != 2000 || c.Draws != 4000 ||
		c.Insecure {
		t.Errorf("certificate: %+v", c)
	}
	repriced := reprice(t, filepath.Join(dir, runs.CertificateFile), c.Delta)
	if repriced != c.Epsilon {
		t.Errorf("the certificate's events cost ε = %v, it says %v", repriced, c.Epsilon)
	}
	for _, name := range []string{"draws_1.csv", "draws_2.csv", runs.SummaryFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".csv") && !strings.Contains(string(text), "dp_guarantee = unconditional") {
			t.Errorf("%s has no privacy label", name)
		}
	}
	if code, out, _ := call(t.Context(), "summary", filepath.Join(dir, "draws_1.csv"),
		filepath.Join(dir, "draws_2.csv")); code != exitOK || !strings.Contains(out, "\nx2 ") {
		t.Errorf("summary of the run: exit code %d\n%s", code, out)
	}
	if code, _, errw := call(t.Context(), "sample", "--data", small, "--kernel", "barker", "--iterations", "2000", "--out",
		dir); code != exitUsage || !strings.Contains(errw, "never overwritten") {
		t.Errorf("a second run into the same folder: exit code %d, %s", code, errw)
	}
}

// reprice gives the certificate's events to account.
func reprice(t *testing.T, path string, delta float64) float64 {
	t.Helper()
	var raw struct {
		Adjacency string            `json:"adjacency"`
		Events    []json.RawMessage `json:"events"`
	}
	readJSON(t, path, &raw)
	document, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(events, document, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := call(t.Context(), "account", "--events", events, "--delta",
		strconv.FormatFloat(delta, 'g', -1, 64), "--json")
	var answer struct{ Epsilon float64 }
	if code != exitOK || json.Unmarshal([]byte(out), &answer) != nil {
		t.Fatalf("account: exit code %d: %s", code, errw)
	}
	return answer.Epsilon
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestSampleJSONIsOneObject(t *testing.T) {
	code, out, errw := call(t.Context(), "sample", "--data", small, "--iterations", "500", "--json", "--model", "logistic",
		"--loss", "beta", "--beta", "1.5")
	if code != exitOK || errw != "" {
		t.Fatalf("exit code %d, stderr %q", code, errw)
	}
	var v struct {
		Certificate chains.Certificate
		Complete    bool
		Summary     []runs.Row
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !v.Complete || len(v.Summary) != 3 || v.Certificate.Beta != 1.5 {
		t.Errorf("%+v", v)
	}
}

func TestEveryModelSamples(t *testing.T) {
	for _, args := range [][]string{
		{"--data", "builtin:linear?n=500&d=2"},
		{"--data", "builtin:linear?n=500&d=2", "--loss", "beta", "--beta", "1.5"},
		{"--data", "builtin:linear?n=500&d=2", "--degrees-of-freedom", "4"},
		{"--data", small, "--model", "probit"},
		{"--data", small, "--model", "cloglog", "--loss", "beta", "--beta", "1.5"},
		{"--data", "builtin:mixture?n=5000"},
		{"--data", "builtin:mixture?n=5000", "--test", "corrected:1", "--batch", "500", "--clip", "1e-4", "--step", "0.05",
			"--temperature", "0.01"},
		{"--data", "builtin:mixture?n=5000", "--model", "mean"},
		{"--data", small, "--proposal", "truncated:4"},
		{"--data", small, "--proposal", "one-component", "--batch", "100"},
		{"--data", small, "--fixed-batch", "--batch", "100"},
		{"--data", small, "--adjacency", "add_remove", "--rate", "0.1"},
		{"--data", small, "--test", "corrected:2", "--fixed-batch", "--batch", "100", "--clip", "1e-5", "--step", "0.001",
			"--accounting", "tightened", "--epsilon", "9"},
	} {
		if code, out, errw := call(t.Context(), append([]string{"sample", "--iterations", "300"}, args...)...); code !=
			exitOK || !strings.Contains(out, "unconditional") {
			t.Errorf("%v: exit code %d: %s", args, code, errw)
		}
	}
}

// TestCountsSample: models of counts read a target that the schema leaves as it is.
func TestCountsSample(t *testing.T) {
	dir := t.TempDir()
	csv, schema := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml")
	var rows strings.Builder
	rows.WriteString("age,visits\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,%d\n", 20+i%60, i%5)
	}
	number := "[[column]]\nname = %q\nrole = %q\nkind = \"number\"\nlower = 0\nupper = 120\n"
	text := "confirmed = true\nrecords = 400\n" + fmt.Sprintf(number, "age", "feature") +
		fmt.Sprintf(number, "visits", "target") + "center = 0\nscale = 1\n"
	for path, content := range map[string]string{csv: rows.String(), schema: text} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"--model", "poisson"},
		{"--model", "poisson", "--loss", "beta", "--beta", "2"},
		{"--model", "negative-binomial", "--dispersion", "3"},
		{"--model", "negative-binomial", "--dispersion", "3", "--loss", "beta", "--beta", "1.5"},
	} {
		args = append([]string{"sample", "--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
			"--iterations", "300", "--json"}, args...)
		code, out, errw := call(t.Context(), args...)
		var v struct{ Certificate chains.Certificate }
		if code != exitOK {
			t.Errorf("%v: exit code %d: %s", args, code, errw)
		} else if err := json.Unmarshal([]byte(out), &v); err != nil || v.Certificate.Guarantee != "unconditional" ||
			(v.Certificate.Dispersion == 3) != slices.Contains(args, "--dispersion") {
			t.Errorf("%v: %v, %+v", args, err, v.Certificate)
		}
	}
}

func TestInsecureSeedRepeatsAndIsMarked(t *testing.T) {
	var files [][]byte
	for range 2 {
		dir := t.TempDir()
		code, out, errw := call(t.Context(), "sample", "--data", small, "--iterations", "400", "--insecure-seed", "5",
			"--out", dir)
		if code != exitOK || !strings.Contains(out, "NOT PRIVATE") {
			t.Fatalf("exit code %d: %s%s", code, out, errw)
		}
		text, err := os.ReadFile(filepath.Join(dir, "draws_1.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("dp_insecure = true")) || !bytes.Contains(text, []byte("dp_guarantee = none")) {
			t.Error("the draws file does not say that it is not private")
		}
		for _, path := range []string{dir, filepath.Join(dir, "draws_1.csv")} {
			if code, out, errw := call(t.Context(), "summary", path); code != exitOK || !strings.Contains(out, "NOT PRIVATE") {
				t.Errorf("summary %s: exit code %d, and no mark: %s%s", path, code, out, errw)
			}
		}
		lines := slices.DeleteFunc(bytes.Split(text, []byte("\n")),
			func(l []byte) bool { return bytes.Contains(l, []byte("start_datetime")) })
		files = append(files, bytes.Join(lines, []byte("\n")))
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two runs with one insecure seed differ")
	}
}

func TestInterruptKeepsWhatWasReleased(t *testing.T) {
	dir := t.TempDir()
	interrupted, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // when the first draws are in their file
		for interrupted.Err() == nil {
			chain, err := runs.ReadChain(filepath.Join(dir, "draws_1.csv"))
			if err == nil && len(chain.Warmup)+len(chain.Draws) > 0 {
				stop()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	code, out, errw := call(interrupted, "sample", "--data", small, "--kernel", "barker", "--iterations", "50000000",
		"--thin", "100", "--epsilon", "4", "--out", dir)
	if code != exitInterrupted || !strings.Contains(errw, "interrupted") || !strings.Contains(out, "stopped early") {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errw)
	}
	var c chains.Certificate
	readJSON(t, filepath.Join(dir, runs.CertificateFile), &c)
	if c.Epsilon < 3.9 {
		t.Errorf("an interrupted run is certified at ε = %v; all its steps were charged", c.Epsilon)
	}
	chain, err := runs.ReadChain(filepath.Join(dir, "draws_1.csv"))
	if err != nil || chain.Finished || len(chain.Warmup)+len(chain.Draws) == 0 {
		t.Errorf("the draws of an interrupted run: %v, error %v", chain, err)
	}
}

// TestSampleRefusals types in a user's mistakes. Each must end with exit code 2
// (3 for a budget), nothing written, and a message that names the flag.
func TestSampleRefusals(t *testing.T) {
	dir := t.TempDir()
	csv, schema, config := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml"), filepath.Join(dir, "c.toml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(csv, "age,sick\n30,yes\n41,no\n")
	write(schema, "confirmed = false\nrecords = 2\n[[column]]\nname = \"age\"\nrole = \"feature\"\nkind = "+
		"\"number\"\nlower = 0\nupper = 120\n[[column]]\nname = \"sick\"\nrole = \"target\"\nkind = \"binary\"\nlabels = "+
		"[\"no\", \"yes\"]\n")
	write(config, "iterations = 10\nepsilom = 1\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--schema, --epsilon, --delta are required", []string{"--data", csv}},
		{exitUsage, "--delta is required", []string{"--data", csv, "--schema", schema, "--epsilon", "1"}},
		{exitUsage, "confirmed", []string{"--data", csv, "--schema", schema, "--epsilon", "1", "--delta", "1e-6"}},
		{exitUsage, "no such file", []string{"--data", csv, "--schema", filepath.Join(dir, "none.toml"), "--epsilon", "1",
			"--delta", "1e-6"}},
		{exitUsage, "builtin:nothing", []string{"--data", "builtin:nothing"}},
		{exitUsage, "unknown flag", []string{"--epsilonn", "1"}},
		{exitUsage, "invalid argument", []string{"--epsilon", "one"}},
		{exitUsage, "a whole number from 0 on", []string{"--seed", "-1"}},
		{exitUsage, `"` + small + `" was given before`, []string{"--data", small, "--data", "builtin:linear"}},
		{exitUsage, "it is empty", []string{"--data", ""}},
		{exitUsage, "it is empty", []string{"--data", small, "--out", ""}},
		{exitUsage, "--iterations is 9.22", []string{"--data", small, "--iterations", "9223372036854775807"}},
		{exitUsage, "--epsilon is", []string{"--data", small, "--epsilon", "-1"}},
		{exitUsage, "--epsilon is", []string{"--data", small, "--epsilon", "NaN"}},
		{exitUsage, "--delta is", []string{"--data", small, "--delta", "1.5"}},
		{exitUsage, "adjacency", []string{"--data", small, "--adjacency", "swap"}},
		{exitUsage, "--model", []string{"--data", small, "--model", "probit2"}},
		{exitUsage, "--model linear needs a numeric target", []string{"--data", small, "--model", "linear"}},
		{exitUsage, "--model poisson needs a target column of counts",
			[]string{"--data", "builtin:linear?n=500", "--model", "poisson"}},
		{exitUsage, "needs --dispersion", []string{"--data", "builtin:linear?n=500", "--model", "negative-binomial"}},
		{exitUsage, "--dispersion is for", []string{"--data", small, "--dispersion", "2"}},
		{exitUsage, "--degrees-of-freedom is for", []string{"--data", small, "--degrees-of-freedom", "2"}},
		{exitUsage, "--loss", []string{"--data", small, "--loss", "gamma"}},
		{exitUsage, "--beta", []string{"--data", small, "--loss", "beta"}},
		{exitUsage, "beta", []string{"--data", small, "--loss", "beta", "--beta", "0.5"}},
		{exitUsage, "--beta", []string{"--data", small, "--beta", "1.5"}},
		{exitUsage, "temperature", []string{"--data", small, "--temperature", "2"}},
		{exitUsage, "--iterations", []string{"--data", small, "--iterations", "0"}},
		{exitUsage, "--chains", []string{"--data", small, "--chains", "0"}},
		{exitUsage, "--thin", []string{"--data", small, "--iterations", "10", "--thin", "11"}},
		{exitUsage, "--warmup", []string{"--data", small, "--warmup", "1"}},
		{exitUsage, "--batch", []string{"--data", small, "--batch", "2001"}},
		{exitUsage, "exclude one another", []string{"--data", small, "--batch", "10", "--rate", "0.1"}},
		{exitUsage, "rate", []string{"--data", small, "--rate", "1.5"}},
		{exitUsage, "--test", []string{"--data", small, "--test", "corrected"}},
		{exitUsage, "--proposal", []string{"--data", small, "--proposal", "levy"}},
		{exitUsage, "--kernel", []string{"--data", small, "--kernel", "gibbs"}},
		{exitUsage, "--accounting", []string{"--data", small, "--accounting", "hope"}},
		{exitUsage, "--prior-sd", []string{"--data", small, "--prior-sd", "0"}},
		{exitUsage, `"epsilom"`, []string{"--data", small, "--config", config}},
		{exitUsage, "there is no command", nil},
		{exitRefused, "budget exceeded", []string{"--data", small, "--iterations", "1000", "--step", "0.5"}},
	} {
		args := append([]string{"sample"}, c.args...)
		if c.args == nil {
			args = []string{"sampel"}
		}
		out := filepath.Join(dir, "out")
		if len(c.args) > 0 {
			args = append(args, "--out", out)
		}
		code, _, errw := call(t.Context(), args...)
		if code != c.code || !strings.Contains(errw, c.want) {
			t.Errorf("%v: exit code %d, want %d; the message must contain %q:\n%s", c.args, code, c.code, c.want, errw)
		}
		if _, err := os.Stat(filepath.Join(out, "draws_1.csv")); err == nil {
			t.Errorf("%v: a refused run wrote draws", c.args)
		}
	}
}

func TestConfigFileSetsFlagsAndTheCommandLineWins(t *testing.T) {
	config := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(config, []byte("data = \""+small+"\"\niterations = 300\nepsilon = 0.5\nchains = 2\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := call(t.Context(), "sample", "--config", config, "--chains", "1", "--json")
	var v struct{ Certificate chains.Certificate }
	if code != exitOK || json.Unmarshal([]byte(out), &v) != nil {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	if c := v.Certificate; c.Chains != 1 || c.Iterations != 300 || c.Epsilon > 0.5 || c.Epsilon < 0.49 {
		t.Errorf("certificate: %+v", c)
	}
}

func TestSchemaDraftsAndRefusesToOverwrite(t *testing.T) {
	dir := t.TempDir()
	csv, toml := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.toml")
	if err := os.WriteFile(csv, []byte("age,sick\n30,yes\n41,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errw := call(t.Context(), "schema", "--data", csv, "--out", toml); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	if code, _, errw := call(t.Context(), "sample", "--data", csv, "--schema", toml, "--epsilon", "1", "--delta",
		"1e-6"); code != exitUsage || !strings.Contains(errw, "confirm") {
		t.Errorf("a drafted schema was used unconfirmed: exit code %d, %s", code, errw)
	}
	if code, _, errw := call(t.Context(), "schema", "--data", csv, "--out", toml); code != exitUsage ||
		!strings.Contains(errw, "exists") {
		t.Errorf("a schema was overwritten: exit code %d, %s", code, errw)
	}
	if code, _, errw := call(t.Context(), "schema"); code != exitUsage || !strings.Contains(errw, "--data") {
		t.Errorf("no data: exit code %d, %s", code, errw)
	}
}

func TestSummaryRefusals(t *testing.T) {
	for _, args := range [][]string{{"summary"}, {"summary", "none.csv"}, {"summary", "--warmup", "2", "none.csv"}} {
		if code, _, errw := call(t.Context(), args...); code != exitUsage || errw == "" {
			t.Errorf("%v: exit code %d, %s", args, code, errw)
		}
	}
}
