package guide

import (
	"bufio"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/maintain/surveys"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
)

// lead is a first run with answers, a line each, and flags, and the commands that it ran.
func lead(t *testing.T, answers string, flags map[string]string) (out string, ran []string, err error) {
	t.Helper()
	var f pflag.FlagSet
	for _, name := range []string{"data", "schema", "target", "rows-per-person", "confirmed", "model", "epsilon", "delta",
		"out", "run"} {
		f.String(name, "", "")
	}
	for _, name := range []string{"ignore", "bounds", "scales", "levels"} {
		f.StringSlice(name, nil, "")
	}
	for name, value := range flags {
		if err := f.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	g := Guide{Flags: &f, In: bufio.NewScanner(strings.NewReader(answers)), Say: &b}
	g.Run = func(_ context.Context, name string, args []string) error {
		ran = append(ran, name+" "+strings.Join(args, " "))
		return nil
	}
	err = g.Lead(t.Context())
	return b.String(), ran, err
}

// TestGuideTranscript is a first run by piped answers: a line each, two of them bad, one
// empty where there is no default. It plans, spends nothing, and ends with the commands.
func TestGuideTranscript(t *testing.T) {
	surveys.Smokers(t)
	answers := []string{"no.csv", "people.csv", "", "smoker", "", "100:18", "18:100", "45:20", "no:yes",
		"north:south:west", "1",
		"yes", "", "", "1", "1e-6", "", "no"}
	out, ran, err := lead(t, strings.Join(answers, "\n"), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(ran) != 1 || !strings.HasPrefix(ran[0], "plan --schema people.toml --epsilon 1 ") {
		t.Errorf("it ran %q", ran)
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
		"$ dpmcmc plan --schema people.toml --epsilon 1 --delta 1e-06 --model logistic\n",
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

// TestGuideDoesNotVouch: without a person's word the schema is written unconfirmed, and
// nothing is planned; answers that cannot be are refused.
func TestGuideDoesNotVouch(t *testing.T) {
	surveys.Smokers(t)
	flags := map[string]string{"data": "people.csv", "target": "smoker", "ignore": "id,region", "bounds": "age=18:100",
		"scales": "age=45:20", "levels": "smoker=no:yes", "rows-per-person": "1", "schema": "s.toml", "confirmed": "no"}
	out, ran, err := lead(t, "", flags)
	text, unread := os.ReadFile("s.toml")
	if err != nil || unread != nil || len(ran) > 0 || !strings.Contains(out, "is not confirmed") ||
		strings.Contains(string(text), "confirmed") {
		t.Errorf("%v: it ran %q: %s%s", err, ran, out, text)
	}
	flags["confirmed"], flags["schema"] = "yes", "t.toml"
	for given, want := range map[string]string{
		"--target height": "no column", "--ignore none": "leave it out", "--bounds age=9": "LOWER:UPPER",
		"--scales age=4:0": "scale above 0", "--levels smoker=no:never": "also has \"yes\"",
		"--rows-per-person 0": "whole number from 1",
	} {
		flag, value, _ := strings.Cut(strings.TrimPrefix(given, "--"), " ")
		wrong := maps.Clone(flags)
		wrong[flag] = value
		if _, ran, err := lead(t, "", wrong); err == nil || len(ran) > 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, and it ran %q", given, err, ran)
		}
	}
}
