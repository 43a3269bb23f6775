package schemafile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
)

const full = `description = "a survey"
confirmed = true
records = 1_000
rows_per_person = 2
radius = 0.5
intercept = false
ignore_other = true

[[column]]
name = "age"
role = "feature"
kind = "number"
lower = 0
upper = 120.5
center = 40
scale = 15
outside = "refuse"
missing = "impute"
impute = 40
missing_tokens = ["-9", ""]

[[column]]
name = "job"
role = "feature"
kind = "category"
levels = ["none", "full time"]
reference = "full time"
missing = "level"

[[column]]
name = "note"
role = "ignore"
kind = "number" # not looked at

[[column]]
name = "ill"
role = "target"
kind = "binary"
labels = ["no", "yes"]
`

func TestParse(t *testing.T) {
	want := &data.Schema{Description: "a survey", Confirmed: true, Records: 1000, RowsPerPerson: 2, Radius: 0.5,
		NoIntercept: true, IgnoreOther: true,
		Columns: []data.Column{
			{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 120.5, Center: 40, Scale: 15,
				Outside: data.OutsideRefuse,
				Missing: data.MissingImpute, Impute: "40", MissingTokens: []string{"-9", ""}},
			{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"none", "full time"}, Reference: "full time",
				Missing: data.MissingLevel},
			{Name: "note", Role: data.Ignore, Kind: data.Number},
			{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}},
		}}
	path := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := schemafile.Read(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if _, err := schemafile.Read(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// What the file does not say has the defaults of data.Schema, and no one has
// confirmed it.
func TestParseDefaults(t *testing.T) {
	got, err := schemafile.Parse("t.toml", []byte("records = 5\n[[column]]\nname = 'x'\nrole = 'feature'\nkind = "+
		"'number'\nlower = 0\nupper = 1\n"))
	want := &data.Schema{Records: 5, Columns: []data.Column{{Name: "x", Role: data.Feature, Kind: data.Number, Upper: 1}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

// Misspelt keys, wrong types and broken TOML are refused where they stand.
func TestParseRefusesWithPosition(t *testing.T) {
	for _, test := range []struct {
		text         string
		line, column int
		want         string
	}{
		{"records = 5\nrecord = 6\n", 2, 1,
			`found an unknown key "record"; allowed: description, confirmed, records, rows_per_person, ` +
				`radius, intercept, ignore_other, interactions, intercept_prior_sd, delimiter, decimal, thousands, column; do:`},
		{"records = 5\n[[columns]]\nname = 'x'\n", 2, 3, `found an unknown key "columns"`},
		{"records = 5\n[[column]]\nname = 'x'\n  uper = 3\n", 4, 3,
			`found an unknown key "column.uper"; allowed: name, role, kind, lower, upper,`},
		{"records = 'five'\n", 1, 11, "found a TOML string for records; allowed: a whole number; do:"},
		{"records = 5.5\n", 1, 11, "found a TOML float for records; allowed: a whole number; do:"},
		{"records = 5\nconfirmed = 'yes'\n", 2, 13, "found a TOML string for confirmed; allowed: true or false; do:"},
		{"[[column]]\nlower = 'low'\n", 2, 9, "found a TOML string for column.lower; allowed: a number; do:"},
		{"[[column]]\nlevels = 3\n", 2, 10, "found a TOML integer for column.levels; allowed: a list of texts in quotes;"},
		{"records = 5\nrecords = 6\n", 2, 1, "already defined"},
		{"records = \n", 1, 11, "unexpected character"},
		{"records = 99999999999999999999\n", 1, 11, "too large"},
	} {
		_, err := schemafile.Parse("t.toml", []byte(test.text))
		var refusal *data.Error
		if !errors.As(err, &refusal) || refusal.File != "t.toml" || refusal.Line != test.line ||
			refusal.Column != test.column || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v; want %d:%d and %s", test.text, err, test.line, test.column, test.want)
		}
	}
}

// Each change of one line makes the full schema invalid. Zero is not taken for a
// setting that is absent.
func TestParseRefusesSettings(t *testing.T) {
	for _, test := range []struct{ line, instead, want string }{
		{"records = 1_000", "", "records is not stated"},
		{"records = 1_000", "records = 0", "records = 0"},
		{"rows_per_person = 2", "rows_per_person = 0", "rows_per_person = 0"},
		{"radius = 0.5", "radius = 0.0", "radius = 0"},
		{"radius = 0.5", "radius = nan", "radius = NaN"},
		{"lower = 0", "", `column "age": a number without both bounds`},
		{"upper = 120.5", "", `column "age": a number without both bounds`},
		{"upper = 120.5", "upper = inf", "bounds [0, +Inf]"},
		{"center = 40", "", `column "age": one of center and scale without the other`},
		{"scale = 15", "", `column "age": one of center and scale without the other`},
		{"scale = 15", "scale = 0", `column "age": scale = 0`},
		{"impute = 40", "impute = 40.5e3", `impute = "40500"`},
		{"impute = 40", "impute = true", "quote a label"},
		{"impute = 40", `impute = ""`, `impute = ""`},
		{`outside = "refuse"`, `outside = "drop"`, `outside = "drop"`},
		{`outside = "refuse"`, "degree = 0", "degree = 0"},
		{`outside = "refuse"`, "prior_sd = 0", "prior_sd = 0"},
		{`outside = "refuse"`, `transform = "log"`, "raise the lower bound"},
		{"radius = 0.5", `delimiter = ""`, `delimiter = ""`},
		{"radius = 0.5", "intercept_prior_sd = 0.0", "intercept_prior_sd = 0"},
		{"radius = 0.5", `interactions = ["age:age"]`, "a column with itself"},
		{`levels = ["none", "full time"]`, "levels = []", "0 levels"},
		{`role = "target"`, `role = "response"`, `column "ill": role = "response"`},
	} {
		text := strings.Replace(full, "\n"+test.line+"\n", "\n"+test.instead+"\n", 1)
		if text == full {
			t.Fatalf("no line %q", test.line)
		}
		if _, err := schemafile.Parse("t.toml", []byte(text)); err == nil ||
			!strings.HasPrefix(err.Error(), "schemafile: t.toml: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s instead of %s: %v; want it to say %s", test.instead, test.line, err, test.want)
		}
	}
}

// Whatever the text, Parse returns a valid schema or an error.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add("")
	f.Add("records = 1\n[[column]]\nname = \"\\u0000\"\nrole='ignore'")
	f.Fuzz(func(t *testing.T, text string) {
		schema, err := schemafile.Parse("t.toml", []byte(text))
		if err == nil {
			err = schema.Validate()
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

func ExampleParse() {
	_, err := schemafile.Parse("survey.toml", []byte("records = 100\n\n[[column]]\nname = \"age\"\nuper = 98\n"))
	var refusal *data.Error
	if errors.As(err, &refusal) {
		fmt.Printf("%s, line %d: %s\n", refusal.File, refusal.Line, refusal.Found)
	}
	// Output:
	// survey.toml, line 5: an unknown key "column.uper"
}

// The documentation's example is a schema, and its tables list every key.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```toml\n")
	example, prose, found := strings.Cut(rest, "```\n")
	for _, mark := range []string{"", "\ufeff"} {
		if _, err := schemafile.Parse("docs/schema.md", []byte(mark+example)); err != nil || !found {
			t.Errorf("example: %v", err)
		}
	}
	for _, wrong := range []string{"wrong = 1", "[[column]]\nwrong = 1"} {
		_, err := schemafile.Parse("t.toml", []byte(wrong))
		var refusal *data.Error
		if !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		for key := range strings.SplitSeq(refusal.Allowed, ", ") {
			if !strings.Contains(prose, "`"+key+"`") && !strings.Contains(prose, "`[["+key+"]]`") {
				t.Errorf("docs/schema.md does not explain %s", key)
			}
		}
	}
}
