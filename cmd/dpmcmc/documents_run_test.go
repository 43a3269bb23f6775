package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minutes are the beginnings of commands that take those: .ci/run runs what README has of
// them, tests of their own run them on less, and with -tags slow they run as they stand.
var minutes = []string{"dpmcmc tune", "dpmcmc sample --tune", "dpmcmc compare --config bundled:adult",
	"dpmcmc compare --out cmp/"}

// publicData is where public tables lie, seen before a test changes folders.
var publicData, _ = filepath.Abs("../../../shared/data")

const sweep = `name = "sweep"
epsilons = [1]
delta = 1e-6
repeats = 2
[[method]]
name = "laplace-approximation"
[data]
`

// TestDocumentsCommandsRun runs the programs of docs/*.md on a small table, those of a
// document one after another, but for the ones that take minutes.
func TestDocumentsCommandsRun(t *testing.T) {
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range paths {
		programs, _ := commandsIn(readText(t, path))
		if filepath.Base(path) == "planning.md" {
			continue // TestExamplesRun
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Chdir(t.TempDir())
			documented(t)
			for _, line := range programs {
				if startsWithAny(line, minutes) {
					continue
				}
				documentedSweep(t, line)
				if code, _, errw := call(t.Context(), strings.Fields(line)[1:]...); code != exitOK {
					t.Errorf("%s\nexit %d: %s", line, code, errw)
				}
				ran++
			}
		})
	}
	if ran < 10 {
		t.Errorf("only %d commands ran", ran)
	}
}

func startsWithAny(line string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(line, b) {
			return true
		}
	}
	return false
}

// documented makes the files that documents speak of.
func documented(t *testing.T) {
	t.Helper()
	csv, schema := people(t)
	for to, text := range map[string]string{
		"people.csv": readText(t, csv), "people.toml": readText(t, schema),
		"tuned.toml": "epsilon = 1\ndelta = 1e-6\nkernel = \"anchored\"\niterations = 400\n",
	} {
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, "pack", "people.csv", "--schema", "people.toml", "--out", "people.dpm")
}

// documentedSweep makes room for a command: no results of the one before, unless they are
// merged, and an experiment on simulated or, where a budget is given, on private records.
func documentedSweep(t *testing.T, line string) {
	t.Helper()
	records := "simulate = \"logistic\"\nrecords = [300]\nfeatures = 2\n"
	if strings.Contains(line, "--epsilon") {
		records = "file = \"people.csv\"\nschema = \"people.toml\"\n"
	}
	if err := os.WriteFile("exp.toml", []byte(sweep+records), 0o600); err != nil {
		t.Fatal(err)
	}
	remove := []string{"cmp", "run"}
	if strings.HasPrefix(line, "dpmcmc pack") {
		remove = append(remove, "people.dpm")
	}
	if strings.HasPrefix(line, "dpmcmc tune") {
		remove = append(remove, "tuned.toml")
	}
	if strings.Contains(line, "--data-dir data/") {
		if _, err := os.Stat(publicData); err != nil {
			t.Skipf("the public data are not beside this checkout: %v", err)
		}
		if err := os.Symlink(publicData, "data"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range remove {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(line, "dpmcmc compare merge") {
		for i := range 2 {
			succeed(t, "compare", "--config", "exp.toml", "--shard", fmt.Sprintf("%d/2", i+1), "--out", "cmp/")
		}
	}
}
