package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
)

// smokers is a folder with a table of people, people.csv, that becomes the working one.
func smokers(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(4, 2))
	var b strings.Builder
	b.WriteString("id,age,smoker,region\n")
	for i := range 1500 {
		age := 18 + rng.IntN(60)
		smoker := "no"
		if rng.Float64() < float64(age)/90 {
			smoker = "yes"
		}
		fmt.Fprintf(&b, "p%d,%d,%s,%s\n", i, age, smoker, []string{"north", "south", "west"}[rng.IntN(3)])
	}
	if err := os.WriteFile("people.csv", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGuideTranscript is a first run by piped answers: a line each, two of them bad, one
// empty where there is no default. It plans, spends nothing, and ends with the commands.
func TestGuideTranscript(t *testing.T) {
	smokers(t)
	answers := []string{"no.csv", "people.csv", "", "smoker", "", "100:18", "18:100", "45:20", "no:yes",
		"north:south:west", "1",
		"yes", "", "", "1", "1e-6", "", "no"}
	code, out, errw := feed(strings.Join(answers, "\n"), "start")
	if code != exitOK {
		t.Fatalf("exit %d: %s\n%s", code, errw, out)
	}
	rest := out
	for _, want := range []string{
		"Which table? A CSV file with a header line.\n> no.csv\n", "no such file", "> people.csv\n",
		"Where is its schema, or shall it be written?\n[people.toml] > \n",
		"The file cannot tell", "Columns: id, age, smoker, region\n",
		"Which column is to be explained? none, for a file without one.\n", "> smoker\n",
		"Which columns are left out?", "[id] > \n",
		"age: the least and the largest value", "> 100:18\n  \"100:18\" is not LOWER:UPPER, two numbers\n> 18:100\n",
		"age: a typical value", "[middle] > 45:20\n",
		"smoker: which values may it have?", "region: which values may it have?",
		"How many rows may one person own, at most?", "The number of records, 1500, will be public.",
		"Which model?", "[logistic] > \n",
		"How much may a person's data change", "> \n  this has no default; it is yours to say\n> 1\n",
		"How likely may that bound fail?", "> 1e-6\n",
		"$ dpmcmc plan --schema people.toml --epsilon 1 --delta 1e-06 --model logistic\n", "Enough to use",
		"A folder for the draws", "[run] > \n", "Run it now, and spend that budget? yes or no\n[no] > no\n",
		"Nothing was spent. To run it:\n\ndpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-06 " +
			"\\\n    " +
			"--model logistic --out run\n",
		"dpmcmc predict run --data NEW.csv\n",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q, in its place, in\n%s", want, out)
		}
		rest = after
	}
	for line := range strings.SplitSeq(out, "\n") {
		if len([]rune(line)) > typeset.Columns+8 { // a prompt's default is beside its answer
			t.Errorf("long: %s", line)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) != 2 {
		t.Errorf("the folder has %v", left)
	}
	text, err := os.ReadFile("people.toml")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemafile.Parse("people.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	if table, err := data.Load(t.Context(), "people.csv", schema); err != nil || table.Features() != 4 ||
		schema.Columns[1].Lower != 18 || schema.Columns[1].Scale != 20 {
		t.Errorf("%v, %s", err, text)
	}
}

// TestGuideByFlags: with every flag nothing is asked, and the run is made.
func TestGuideByFlags(t *testing.T) {
	smokers(t)
	args := []string{"start", "--data", "people.csv", "--schema", "s.toml", "--target", "smoker", "--ignore", "id,region",
		"--bounds", "age=18:100", "--scales", "age=45:20", "--levels", "smoker=no:yes", "--rows-per-person", "1",
		"--confirmed",
		"yes", "--model", "logistic", "--epsilon", "2", "--delta", "1e-6", "--out", "run", "--run", "yes"}
	code, out, errw := feed("", args...)
	if code != exitOK || strings.Contains(out, "> ") || !strings.Contains(out, "What was run, to run again") {
		t.Fatalf("exit %d: %s\n%s", code, errw, out)
	}
	for _, name := range []string{"run/report.html", "run/certificate.json", "people.csv.ledger"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	// Beside its own schema the second start asks for nothing but what is missing.
	code, out, errw = feed("", "start", "--data", "people.csv", "--schema", "s.toml", "--model", "logistic")
	if code != exitUsage || !strings.Contains(errw, "give --epsilon") || !strings.Contains(errw, "give --delta") ||
		strings.Contains(errw, "--bounds") {
		t.Errorf("exit %d: %s\n%s", code, errw, out)
	}
}

// TestGuideDoesNotVouch: without a person's word the schema is written unconfirmed, and
// nothing is planned; answers that cannot be are refused.
func TestGuideDoesNotVouch(t *testing.T) {
	smokers(t)
	flags := []string{"start", "--data", "people.csv", "--target", "smoker", "--ignore", "id,region", "--bounds",
		"age=18:100",
		"--scales", "age=45:20", "--levels", "smoker=no:yes", "--rows-per-person", "1", "--schema"}
	code, out, _ := feed("", append(flags, "s.toml", "--confirmed", "no")...)
	text, err := os.ReadFile("s.toml")
	if code != exitOK || err != nil || !strings.Contains(out, "is not confirmed") ||
		strings.Contains(string(text), "confirmed") {
		t.Errorf("exit %d: %s%s", code, out, text)
	}
	for given, want := range map[string]string{
		"--target height": "no column", "--ignore none": "leave it out", "--bounds age=9": "LOWER:UPPER",
		"--scales age=4:0": "scale above 0", "--levels smoker=no:never": "also has \"yes\"",
		"--rows-per-person 0": "whole number from 1",
	} {
		flag, value, _ := strings.Cut(given, " ")
		wrong := append(slices.Clone(flags), "t.toml", "--confirmed", "yes")
		wrong[slices.Index(wrong, flag)+1] = value
		if code, _, errw := feed("", wrong...); code != exitUsage || !strings.Contains(errw, want) {
			t.Errorf("%s: exit %d: %s", given, code, errw)
		}
	}
}
