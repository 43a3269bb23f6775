package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/forecasts"
)

// tuneArgs are quick settings of tune.
var tuneArgs = strings.Fields("tune --records 400 --features 2 --model logistic --epsilon 1 --delta 1e-6 " +
	"--coefficient-sd 1 --kernels barker,dpsgld --work 1e7")

func TestTuneFindsSettingsThatSampleTakes(t *testing.T) {
	config := filepath.Join(t.TempDir(), "tuned.toml")
	code, out, errw := call(t.Context(), append(tuneArgs, "--out", config)...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	for _, want := range []string{"No private record was read", "kernel", "least ESS", "defaults:", "barker", "dpsgld",
		"The winner is in", "not to show a posterior", "sample refuses it"} {
		if !strings.Contains(out, want) {
			t.Errorf("the answer lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "sample another posterior") {
		t.Errorf("one temperature and one loss are said to be several:\n%s", out)
	}
	c := certified(t, "--config", config, "--data", "builtin:logistic?n=400&d=2")
	if c.Epsilon > 1 || c.Epsilon < 0.5 {
		t.Errorf("the tuned run costs ε = %v of 1", c.Epsilon)
	}
	if code, _, errw := call(t.Context(), append(tuneArgs, "--out", config)...); code != exitUsage ||
		!strings.Contains(errw, "not overwritten") {
		t.Errorf("a second run over the same file: exit code %d, %s", code, errw)
	}
}

func TestTuneJSONComparesTheGivenLossesAndTemperatures(t *testing.T) {
	code, out, errw := call(t.Context(), strings.Fields("tune --records 200 --features 2 --model logistic --epsilon 1 "+
		"--delta 1e-6 --coefficient-sd 1 --kernels barker "+
		"--work 1e6 --iterations 500 --start prior-mean --temperatures 1,0.3 --betas 1,1.5 --json")...)
	var v struct {
		Simulated  bool `json:"simulated_data_only"`
		Candidates []forecasts.Row
		Config     string
	}
	if code != exitOK || json.Unmarshal([]byte(out), &v) != nil {
		t.Fatalf("exit code %d: %s\n%s", code, errw, out)
	}
	seen := map[string]bool{}
	for _, c := range v.Candidates {
		key, _ := json.Marshal([]any{c.Loss, c.Beta, c.Temperature})
		seen[string(key)] = true
		if c.Epsilon > 1 || len(c.ESSBulk) != 3 || c.ESS == nil || c.Settings.Kernel != "barker" {
			t.Errorf("candidate %+v", c)
		}
	}
	for _, want := range []string{`["log",0,1]`, `["log",0,0.3]`, `["beta",1.5,1]`, `["beta",1.5,0.3]`} {
		if !seen[want] {
			t.Errorf("%s was not compared: %v", want, seen)
		}
	}
	if len(seen) != 4 || !v.Simulated || !strings.Contains(v.Config, "kernel = \"barker\"") {
		t.Errorf("compared: %v; config:\n%s", seen, v.Config)
	}
}

const tuneSchema = `confirmed = true
records = 300
[[column]]
name = "age, in years"
role = "feature"
kind = "number"
lower = 0
upper = 120
[[column]]
name = "job"
role = "feature"
kind = "category"
levels = ["a", "b \"c\"", "d"]
[[column]]
name = "sick"
role = "target"
kind = "binary"
labels = ["no", "yes"]
`

func TestTuneReadsASchema(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(schema, []byte(tuneSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := call(t.Context(), "tune", "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--kernels",
		"dpsgld", "--work", "1e7", "--json")
	var v struct {
		Records    int64
		Candidates []forecasts.Row
	}
	if code != exitOK || json.Unmarshal([]byte(out), &v) != nil {
		t.Fatalf("exit code %d: %s", code, errw)
	}
	// The intercept, the number, and two of the three levels.
	if v.Records != 300 || len(v.Candidates) == 0 || len(v.Candidates[0].ESSBulk) != 4 {
		t.Errorf("%+v", v)
	}
}

func TestTuneRefusals(t *testing.T) {
	dir := t.TempDir()
	schema, unconfirmed := filepath.Join(dir, "t.toml"), filepath.Join(dir, "u.toml")
	for path, text := range map[string]string{schema: tuneSchema,
		unconfirmed: strings.Replace(tuneSchema, "confirmed = true", "confirmed = false", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const facts = "--records 400 --features 2 --model logistic --epsilon 1 --delta 1e-6 --work 1e6 "
	for _, c := range []struct {
		code       int
		want, args string
	}{
		{exitUsage, "--epsilon is required", "--records 400 --features 2 --model logistic --delta 1e-6"},
		{exitUsage, "--delta is required", "--records 400 --features 2 --model logistic --epsilon 1"},
		{exitUsage, "--records, --features, --model are required; --schema can stand", "--epsilon 1 --delta 1e-6"},
		{exitUsage, "--model is required", "--records 400 --features 2 --epsilon 1 --delta 1e-6"},
		{exitUsage, "--records is 0", "--records 0 --features 2 --model logistic --epsilon 1 --delta 1e-6"},
		{exitUsage, "--model is \"probitt\"", "--records 400 --features 2 --model probitt --epsilon 1 --delta 1e-6"},
		{exitUsage, "--records is what --schema states", "--schema " + schema + " --records 3 --epsilon 1 --delta 1e-6"},
		{exitUsage, "confirmed", "--schema " + unconfirmed + " --epsilon 1 --delta 1e-6"},
		{exitUsage, "no such file", "--schema none.toml --epsilon 1 --delta 1e-6"},
		{exitUsage, "--epsilon is -1", strings.Replace(facts, "--epsilon 1 ", "--epsilon -1 ", 1)},
		{exitUsage, "gibbs", facts + "--kernels gibbs"},
		{exitUsage, "temperature is 2", facts + "--temperatures 2"},
		{exitUsage, "beta", facts + "--betas 0.5"},
		{exitUsage, "--betas has 1.5 twice", facts + "--betas 1.5,1.5"},
		{exitUsage, "Objective is \"speed\"", facts + "--objective speed"},
		{exitUsage, "--work is 0", facts + "--work 0"},
		{exitUsage, "--iterations is 0", facts + "--iterations 0"},
		{exitUsage, "--batch has no meaning for --kernel tunamh", facts + "--batch 3 --kernels tunamh"},
		{exitUsage, "unknown flag", facts + "--data people.csv"},
		{exitRefused, "no --step fits the budget", facts + "--kernels barker --start prior-mean --iterations 1000000000000"},
	} {
		out := filepath.Join(dir, "out.toml")
		code, _, errw := call(t.Context(), append([]string{"tune", "--out", out}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errw, c.want) {
			t.Errorf("%s: exit code %d, want %d; the message must contain %q:\n%s", c.args, code, c.code, c.want, errw)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a refused call wrote a file", c.args)
		}
	}
}

// TestSampleTunesOnSimulatedDataOnly: two tables with the same public facts get the
// same settings, and the certificate says where they come from.
func TestSampleTunesOnSimulatedDataOnly(t *testing.T) {
	args := []string{"--tune", "--kernel", "dpsgld", "--iterations", "300"}
	first := certified(t, append(args, "--data", "builtin:logistic?n=300&d=1&seed=1")...)
	second := certified(t, append(args, "--data", "builtin:logistic?n=300&d=1&seed=2")...)
	if a, b := string(first.JSON()), string(second.JSON()); a != b {
		t.Errorf("two tables with the same public facts:\n%s\n%s", a, b)
	}
	if first.SettingsFrom != "public facts and data simulated from them" || first.Epsilon > 1 || first.Iterations != 300 ||
		first.Kernel != "dpsgld" {
		t.Errorf("certificate %+v", first)
	}
	if plain := certified(t, "--kernel", "dpsgld", "--iterations", "300", "--data",
		"builtin:logistic?n=300&d=1"); plain.SettingsFrom != "public facts" {
		t.Errorf("without --tune: settings from %s", plain.SettingsFrom)
	}
	if code, _, errw := call(t.Context(), "sample", "--tune", "--data", "builtin:mixture?n=300"); code != exitUsage ||
		!strings.Contains(errw, "the simulated posterior is too hard") {
		t.Errorf("a mixture: exit code %d, %s", code, errw)
	}
}
