package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/accounts"
)

// succeed runs the command and returns what it printed.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errw := call(t.Context(), args...)
	if code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, errw)
	}
	return out
}

// packable writes a table with its schema.
func packable(t *testing.T) (csv, schema string) {
	t.Helper()
	dir := t.TempDir()
	csv, schema = filepath.Join(dir, "people.csv"), filepath.Join(dir, "people.toml")
	var b strings.Builder
	b.WriteString("age,ill\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,%s\n", 20+i%60, []string{"no", "yes"}[i/7%2])
	}
	text := "confirmed = true\nrecords = 3000\n[[column]]\nname = \"age\"\nrole = \"feature\"\nkind = \"number\"\n" +
		"lower = 18\nupper = 98\n[[column]]\nname = \"ill\"\nrole = \"target\"\nkind = \"binary\"\nlabels = [\"no\", " +
		"\"yes\"]\n"
	for path, content := range map[string]string{csv: b.String(), schema: text} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return csv, schema
}

// TestPackedRunsAreThoseOfTheCSV: the same draws with the same seed, whatever the file.
func TestPackedRunsAreThoseOfTheCSV(t *testing.T) {
	csv, schema := packable(t)
	succeed(t, "pack", csv, "--schema", schema)
	dpm := strings.TrimSuffix(csv, ".csv") + ".dpm"
	var results [2]string
	for i, path := range []string{csv, dpm} {
		out := filepath.Join(t.TempDir(), "run")
		succeed(t, "sample", "--data", path, "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--kernel", "barker",
			"--iterations", "200", "--insecure-seed", "3", "--no-ledger", "--out", out)
		text, err := os.ReadFile(filepath.Join(out, "draws_1.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				results[i] += line
			}
		}
	}
	if results[0] != results[1] || len(results[0]) < 1000 {
		t.Errorf("other draws of the packed table:\n%.300s\n%.300s", results[0], results[1])
	}
}

// TestAccountsFollowThePeople: a packed table is charged to the ledger of the file it was
// packed from, also where that file is gone.
func TestAccountsFollowThePeople(t *testing.T) {
	csv, schema := packable(t)
	dpm := filepath.Join(t.TempDir(), "elsewhere.dpm")
	sample := []string{"sample", "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--json", "--data"}
	succeed(t, append(sample, csv)...)
	var packed packReport
	if err := json.Unmarshal([]byte(succeed(t, "pack", csv, "--schema", schema, "--out", dpm, "--shred", "--json")),
		&packed); err != nil || !packed.Shredded || packed.Records != 3000 {
		t.Fatalf("%v: %+v", err, packed)
	}
	if _, err := os.Stat(csv); !os.IsNotExist(err) {
		t.Fatalf("the CSV file is still there: %v", err)
	}
	succeed(t, append(sample, dpm)...)
	if _, err := os.Stat(dpm + accounts.Suffix); !os.IsNotExist(err) {
		t.Errorf("the packed table has a ledger of its own: %v", err)
	}
	if got := succeed(t, "ledger", "show", csv+accounts.Suffix); !strings.Contains(got, "in 2 charges") {
		t.Errorf("the ledger of the CSV file does not show both runs:\n%s", got)
	}
}

func TestPackedTablesAreRefused(t *testing.T) {
	csv, schema := packable(t)
	dpm := filepath.Join(t.TempDir(), "people.dpm")
	succeed(t, "pack", csv, "--schema", schema, "--out", dpm)
	text, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, []byte(strings.Replace(string(text), "upper = 98", "upper = 99", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"packed under another schema": {"sample", "--data", dpm, "--schema", schema, "--epsilon", "1", "--delta", "1e-6"},
		"is not overwritten":          {"pack", csv, "--schema", schema, "--out", dpm},
		"must end in .dpm":            {"pack", csv, "--schema", schema, "--out", dpm + "x"},
		"no ordinary file":            {"pack", link(t, csv), "--schema", schema, "--out", dpm + ".dpm", "--shred"},
	} {
		if code, _, message := call(t.Context(), args...); code != exitUsage || !strings.Contains(message, want) {
			t.Errorf("%v: exit code %d: %s", args, code, message)
		}
	}
}

// link is a symbolic link to a file.
func link(t *testing.T, path string) string {
	t.Helper()
	l := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Symlink(path, l); err != nil {
		t.Fatal(err)
	}
	return l
}
