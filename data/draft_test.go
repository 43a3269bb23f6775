package data_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
)

// draft drafts a schema for text.
func draft(text string) (string, error) {
	toml, err := data.DraftReader(context.Background(), strings.NewReader(text), "t.csv", "")
	return string(toml), err
}

func TestDraft(t *testing.T) {
	got, err := draft("name,age,colour,\"a \"\"b\"\"\",only,wage,income\n" +
		"Ann,31,red,1,x,NA,no\nBo,-2.5,?,0,x,3e9,yes\nCy,66.5,green,1,x,1,no\nDi,40,blue,,x,2,yes\n" +
		strings.Join([]string{"E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U"},
			",40,red,1,x,2,no\n") + ",40,red,1,x,2,no\n")
	if err != nil {
		t.Fatal(err)
	}
	_, body, found := strings.Cut(got, "confirmed = true.\n")
	const want = `
description = "drafted from t.csv"
confirmed = false
records = 21  # read off the data; public under substitution
rows_per_person = 1  # the largest number of rows one person may own; the file cannot tell
intercept = true

[[column]]
name = "name"
role = "ignore"  # more than 20 different texts: names, notes or identifiers

[[column]]
name = "age"
role = "feature"
kind = "number"
lower = -2.5  # read off the data
upper = 66.5  # read off the data
outside = "clamp"
# center = 45
# scale = 20  # common values for the age of adults in years; keep them if they suit
missing = "refuse"

[[column]]
name = "colour"
role = "feature"
kind = "category"
levels = ["blue", "green", "red"]  # read off the data
reference = "blue"
missing = "level"

[[column]]
name = "a \"b\""
role = "feature"
kind = "binary"
labels = ["0", "1"]  # negative, positive; read off the data
missing = "impute"
impute = "0"  # read off the data

[[column]]
name = "only"
role = "ignore"  # it holds one value only

[[column]]
name = "wage"
role = "feature"
kind = "number"
lower = 1  # read off the data
upper = 3e+09  # read off the data
outside = "clamp"
# center = a typical value, scale = a typical deviation, known from elsewhere: they are worth much privacy
missing = "impute"
impute = 1.5000000005e+09  # read off the data

[[column]]
name = "income"
role = "target"
kind = "binary"
labels = ["no", "yes"]  # negative, positive; read off the data
missing = "refuse"
`
	if !found || body != want || !strings.HasPrefix(got, "# WARNING: DRAFT READ OFF THE DATA") {
		t.Errorf("draft\n%s\nwant the warning and\n%s", got, want)
	}
}

func TestDraftTarget(t *testing.T) {
	for text, want := range map[string]string{
		"a,Class,b\n1,x,2\n3,y,4\n":       "name = \"Class\"\nrole = \"target\"",
		"a,class,b\n1,x,2\n3,?,4\n5,y,6":  "name = \"b\"\nrole = \"target\"",
		"a,b\n1,x\n2,y\n3,z\n":            "role = \"target\"\nkind = \"category\"\nlevels = [\"x\", \"y\", \"z\"]",
		"a,b\n1,\n2,y\n3,z\n":             "# No column looks like a response",
		"a,visits,y\n1,0,0\n3,4,4\n2,7,9": "# scale = 1  # for a model of counts",
	} {
		if got, err := draft(text); err != nil || !strings.Contains(got, want) {
			t.Errorf("%q: %v, draft\n%s\nwant %q", text, err, got, want)
		}
	}
}

// TestDraftOfNamedTarget: the column that is named is the response, and only it. One that cannot be is
// refused with the reason.
func TestDraftOfNamedTarget(t *testing.T) {
	const text = "id,left,y,free,dated,gap,same\n" +
		"1,yes,2,seven,2024-01-01,1,3\n2,no,3,x,2024-01-02,,3\n3,no,4,x,2024-01-03,2,3\n"
	for target, want := range map[string]string{
		"left":  "name = \"left\"\nrole = \"target\"\nkind = \"binary\"",
		"id":    "name = \"id\"\nrole = \"target\"",
		"lef":   "t.csv:1:1: found no column \"lef\"",
		"gap":   "t.csv:3:1: found a missing response in column \"gap\"",
		"dated": "found no response, since dates: write them as numbers first",
		"same":  "found no response, since it holds one value only",
	} {
		got, err := data.DraftReader(context.Background(), strings.NewReader(text), "t.csv", target)
		said := string(got)
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || err == nil && strings.Count(said, "role = \"target\"") != 1 {
			t.Errorf("%s: %q lacks %q, or has not one target", target, said, want)
		}
	}
}

// TestDraftSaysWhatIsOdd: other customs of writing numbers are recognised, and columns
// that no analysis can use are left out with the reason.
func TestDraftSaysWhatIsOdd(t *testing.T) {
	lines := []string{"id;day;wage;grade;class"}
	for i := range 200 {
		grade, class := strconv.Itoa(i%7), "yes"
		if i == 150 {
			grade = "seven"
		}
		if i == 9 {
			class = ""
		}
		lines = append(lines, fmt.Sprintf("%d;2024-03-%02d;1.%03d,5;%s;%s", i+100, i%28+1, i, grade, class))
	}
	lines[2] = strings.Replace(lines[2], "yes", "no", 1)
	text := strings.Join(lines, "\n")
	got, err := draft(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"delimiter = \";\"\ndecimal = \",\"\nthousands = \".\"\n",
		"name = \"id\"\nrole = \"ignore\"  # it counts up from record to record",
		"name = \"day\"\nrole = \"ignore\"  # dates:",
		"name = \"wage\"\nrole = \"feature\"\nkind = \"number\"\nlower = 1000.5  # read off the data\nupper = 1199.5",
		"# Line 152 holds \"seven\", which is no number: correct it, or let it count as missing.\nmissing_tokens = [\"\", " +
			"\"NA\", \"?\", \"seven\"]",
		"# It looks like a response, but line 11 has none: fill it in, then role = \"target\".",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the draft lacks %q:\n%s", want, got)
		}
	}
	draftLoads(t, text)
}

func TestDraftRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                "data: t.csv:1:1: found an empty file",
		"a,b\n":           "data: t.csv:2:1: found a header without records",
		"a,b\n1\n":        "data: t.csv:2:1: found a record that ends after 1 cells",
		"a,b\n1,\"2\n":    "data: t.csv:2:3: found a quote that nothing closes",
		"a,b, a\n1,2,3\n": `data: t.csv:1:6: found "a"`,
		"a,,b\n1,2,3\n":   `data: t.csv:1:3: found ""`,
		"a,\xe9\n1,2\n":   `data: t.csv:1:3: found "\xe9"`,
	} {
		if got, err := draft(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %q; want %s", text, err, got, want)
		}
	}
	_, err := data.Draft(context.Background(), filepath.Join(t.TempDir(), "none"), "")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// draftLoads checks that a draft is a schema, that it is refused until it is
// confirmed, and that then the file loads under it.
func draftLoads(t interface{ Fatalf(string, ...any) }, text string) {
	toml, err := draft(text)
	if err != nil {
		var refusal *data.Error
		if !errors.As(err, &refusal) {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	schema, err := schemafile.Parse("t.toml", []byte(toml))
	if err != nil {
		t.Fatalf("%q: %v in draft\n%s", text, err, toml)
	}
	if _, err := data.Read(context.Background(), strings.NewReader(text), "t.csv", schema); !errors.Is(err,
		data.ErrUnconfirmed) {
		t.Fatalf("%q: loading under a draft: %v", text, err)
	}
	schema.Confirmed = true
	if _, err := data.Read(context.Background(), strings.NewReader(text), "t.csv", schema); err != nil {
		t.Fatalf("%q: %v under the confirmed draft\n%s", text, err, toml)
	}
}

func TestDraftsLoad(t *testing.T) {
	cell := rapid.OneOf(rapid.SampledFrom([]string{"", "NA", "0", "1", "x", `"y, ""z"""`, "\"a\nb\"", "(missing)",
		"-1e300", "5e-324", "1e99"}),
		rapid.StringMatching(`-?[0-9]{1,22}(\.[0-9]{1,3})?`), rapid.StringMatching(`[a-c\\]`))
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		lines := []string{strings.Join([]string{"a", "b", "c", "target"}[:columns], ",")}
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			cells := rapid.SliceOfN(cell, columns, columns).Draw(t, "cells")
			lines = append(lines, strings.Join(cells, ","))
		}
		draftLoads(t, strings.Join(lines, "\n"))
	})
}

func FuzzDraft(f *testing.F) {
	for _, seed := range []string{"", "a,b\n1,2\n", "a,b\n1,x\n2,y\nNA,z\n", "\"a\x00\\\",\x7f\n1,\u2028\n2,\"\r\n\"",
		"a\n1e99\n-1e99\n0", "a\n(missing)\n?\nx\ny"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { draftLoads(t, text) })
}

// TestDraftKnowsCommonScales: common values are offered where the cells reach so far, and not
// for the age of a car.
func TestDraftKnowsCommonScales(t *testing.T) {
	const cells = "18,3\n66,12\n40,1\n31,0\n"
	for header, want := range map[string]int{"age,car_age\n": 1, "car_age,age_years\n": 1, "size,years\n": 0} {
		got, err := draft(header + cells)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got, "# center = 45"); n != want {
			t.Errorf("%q: %d columns have the common values of an age, not %d:\n%s", header, n, want, got)
		}
	}
}
