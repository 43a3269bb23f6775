package data

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// readText reads text under a schema.
func readText(text string, s *Schema) (*Table, error) {
	return Read(context.Background(), strings.NewReader(text), "t.csv", s)
}

const header = "age,gain,colour,sex,id,income\n"

func TestRead(t *testing.T) {
	k := math.Sqrt(5)
	want := [][]float64{
		{1 / k, -1 / k, -1000 / (5000 * k), 1 / k, 0, 0, -1 / k},
		{1 / k, 0, 0, 0, 0, 0, 1 / k},
		{1 / k, 1 / k, -1000 / (5000 * k), 0, 0, 1 / k, 1 / k},
	}
	for i := range want {
		record.Project(want[i], 1)
	}
	for name, text := range map[string]string{
		"plain":      header + "0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n",
		"no last LF": header + "0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K",
		"CRLF": strings.ReplaceAll(header+"0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n",
			"\n", "\r\n"),
		"BOM":         "\ufeff" + header + "0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n",
		"empty lines": "\n" + header + "\n\n0,0,red,f,1,<=50K\n\r\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n\n\n",
		"quotes": `"age","gain",colour,sex,"id","income"` +
			"\n\"0\",0,\"red\",f,\"a \"\"b\"\",\nc\",<=50K\n50,1000,green,m,2,\">50K\"\n100,\"\",?,,3,>50K\n",
		"blanks": " age, gain , colour, sex, id,\tincome\n0, 0, red, f, 1, <=50K\n50, 1000, green, m, 2, >50K \n100, " +
			"NA, ?, , 3,\">50K\" \n",
		"any order": "income,sex,age,colour,gain,id\n<=50K,f,0,red,0,1\n>50K,m,50,green,1000,2\n>50K,,100,?,NA,3\n",
		"notations": header + "-0.0,0e7,red,f,1,<=50K\n+5.0E1,1e+3,green,m,2,>50K\n.1e3,NA,?,,3,>50K\n",
		"clamped":   header + "-7,-1e308,red,f,1,<=50K\n50,1000,green,m,2,>50K\n1e300,NA,?,,3,>50K\n",
	} {
		table, err := readText(text, everything())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, row := range want {
			if !slices.Equal(table.Row(i), row) {
				t.Errorf("%s: row %d is %v, want %v", name, i, table.Row(i), row)
			}
		}
		if !slices.Equal(table.Y, []float64{0, 1, 1}) || table.Records != 3 || table.Features() != 7 || len(table.X) != 21 ||
			table.Source != "t.csv" {
			t.Errorf("%s: responses %v, N = %d, P = %d, %d entries, source %s", name, table.Y, table.Records, table.Features(),
				len(table.X), table.Source)
		}
	}
}

// The response of a regression is scaled by its bounds or by its scale, without the
// factor of features; a table without a target has no Y; without intercept the
// first column is a feature.
func TestReadNumericTarget(t *testing.T) {
	s := &Schema{Confirmed: true, Records: 2, NoIntercept: true, Columns: []Column{
		{Name: "x", Role: Feature, Kind: Number, Lower: 0, Upper: 4},
		{Name: "y", Role: Target, Kind: Number, Lower: -10, Upper: 30},
	}}
	table, err := readText("x,y\n3,20\n1,99\n", s)
	if err != nil || !slices.Equal(table.X, []float64{0.5, -0.5}) || !slices.Equal(table.Y, []float64{0.5, 1}) {
		t.Errorf("%+v, %v", table, err)
	}
	s.Columns[1].Center, s.Columns[1].Scale = 10, 5
	if table, err = readText("x,y\n3,20\n1,99\n", s); err != nil || !slices.Equal(table.Y, []float64{2, 4}) {
		t.Errorf("%+v, %v", table, err)
	}
	s.Columns[1].Role = Ignore
	if table, err = readText("x,y\n3,20\n1,99\n", s); err != nil || table.Y != nil || table.Target != (Term{}) {
		t.Errorf("%+v, %v", table, err)
	}
}

// Every refusal names the line and column that an editor would show.
func TestReadRefuses(t *testing.T) {
	const ok = "1,2,red,m,x,<=50K\n"
	refuseOutside := func(s *Schema) { s.Columns[0].Outside = OutsideRefuse }
	for _, test := range []struct {
		name, text   string
		change       func(*Schema)
		line, column int
		value, want  string
	}{
		{"empty", "", nil, 1, 1, "", "an empty file"},
		{"only a mark", "\ufeff", nil, 1, 1, "", "an empty file"},
		{"only blank lines", "\n\r\n", nil, 3, 1, "", "an empty file"},
		{"UTF-16", "\xff\xfea\x00", nil, 1, 1, "\xff\xfe", "save the file as UTF-8"},

		{"column twice", "age,gain,colour, age,id,income\n", nil, 1, 18, "age", `a second column "age"`},
		{"unknown column", "age,gain,shape,sex,id,income\n", nil, 1, 10, "shape", "ignore_other = true"},
		{"unnamed column", "age,gain,colour,sex,id,income,\n", nil, 1, 31, "", `a column "" that`},
		{"no feature", "gain,colour,sex,id,income\n", nil, 1, 1, "age", `no column "age" in the header`},
		{"no target", "age,gain,colour,sex,id,wage\n", func(s *Schema) { s.IgnoreOther = true }, 1, 1, "income",
			`no target column "income" in the header`},
		{"no ignored column", "\nage,gain,colour,sex,income\n", nil, 2, 1, "id", `no column "id"`},

		{"short record", header + ok + "1,2,red,m,x\n", nil, 3, 11, "5",
			"a record that ends after 5 cells; allowed: 6 cells"},
		{"long record", header + "1,2,red,m,x,<=50K,\n", nil, 2, 18, ",", "a comma after 6 cells; allowed: 6 cells"},
		{"shifted record", header + "1,red,m,x,<=50K\n", nil, 2, 11, "5", "a record that ends after 5 cells"},
		{"short last record", header + ok + ok + "1", nil, 4, 1, "1", "a record that ends after 1 cells"},
		{"long after a line break", header + "1,2,red,m,\"\nx\",<=50K,\n", nil, 3, 9, ",", "a comma after 6 cells"},

		{"text", header + ok + "ten,2,red,m,x,<=50K\n", nil, 3, 1, "ten",
			`found "ten" in column "age"; allowed: a finite number in [0, 100]`},
		{"NaN", header + "1,NaN,red,m,x,<=50K\n", nil, 2, 3, "NaN", "a finite number"},
		{"Inf", header + "1,-inf,red,m,x,<=50K\n", nil, 2, 3, "-inf", "a finite number"},
		{"overflow", header + "1e999,1,red,m,x,<=50K\n", nil, 2, 1, "1e999", "a finite number"},
		{"hexadecimal", header + "0x10,1,red,m,x,<=50K\n", nil, 2, 1, "0x10", "a finite number"},
		{"decimal comma", header + "\"1,5\",1,red,m,x,<=50K\n", nil, 2, 1, "1,5", "a finite number"},
		{"inner blank", header + "1 5,1,red,m,x,<=50K\n", nil, 2, 1, "1 5", "a finite number"},
		{"outside", header + ok + "100.5,2,red,m,x,<=50K\n", refuseOutside, 3, 1, "100.5",
			`a finite number in [0, 100]; do: correct the cell or the bounds, or set outside = "clamp"`},
		{"below", header + "-1e-9,2,red,m,x,<=50K\n", refuseOutside, 2, 1, "-1e-9", "a finite number in [0, 100]"},

		{"level", header + "1,2,Red,m,x,<=50K\n", nil, 2, 5, "Red",
			`found "Red" in column "colour"; allowed: "red", "green", "blue"`},
		{"the missing level itself", header + "1,2,(missing),m,x,<=50K\n", nil, 2, 5, "(missing)", `allowed: "red"`},
		{"label", header + "1,2,red, M ,x,<=50K\n", nil, 2, 10, "M", `allowed: "f", "m"`},
		{"response", header + "1,2,red,m,x,<=50K.\n", nil, 2, 13, "<=50K.", `in column "income"; allowed: "<=50K", ">50K"`},
		{"blank in quotes", header + "1,2,red,m,x,\" <=50K\"\n", nil, 2, 13, " <=50K", `allowed: "<=50K", ">50K"`},
		{"behind a line break in quotes", header + "1,2,red,m,\"a\nb\r\nc\",none\n", nil, 4, 4, "none", "income"},

		{"missing number", header + ",2,red,m,x,<=50K\n", nil, 2, 1, "", "another policy for missing cells"},
		{"missing number in CRLF", strings.ReplaceAll(header+"1,2,red,m,x,\n", "\n", "\r\n"), nil, 2, 13, "",
			"a missing response cannot be made up"},
		{"missing response", header + "1,2,red,m,x,?\n", nil, 2, 13, "?", "records cannot be dropped"},
		{"token of its own", header + "1,-9,red,m,x,NA\n", func(s *Schema) { s.Columns[1].MissingTokens = []string{"-9"} }, 2,
			14, "NA", "income"},
		{"no tokens", header + "1,,red,m,x,NA\n", func(s *Schema) { s.Columns[1].MissingTokens = []string{} }, 2, 3, "",
			"add it to missing_tokens"},

		{"quote in a cell", header + "1,2,re\"d,m,x,<=50K\n", nil, 2, 7, `"`, "quotes around a whole cell only"},
		{"text behind a quote", header + "1,2,\"red\"s,m,x,<=50K\n", nil, 2, 10, "s", "quotes around a whole cell only"},
		{"open quote", header + "1,2,\"red,m,x,<=50K\n1,2\n", nil, 2, 5, "\"red,m,x,<=50K\n1,2\n",
			"a quote that nothing closes"},

		{"no records", header, nil, 2, 1, "0", "after 0 records; allowed: exactly 3 records"},
		{"too few", header + ok + ok, nil, 4, 1, "2", "after 2 records; allowed: exactly 3 records"},
		{"too few, no last LF", header + ok + ok[:len(ok)-1], nil, 3, 18, "2", "after 2 records"},
		{"too many", header + ok + ok + "\n" + ok + " " + ok, nil, 6, 1, "4",
			"a record after 3 records; allowed: exactly 3 records"},
	} {
		s := everything()
		if test.change != nil {
			test.change(s)
		}
		_, err := readText(test.text, s)
		var refusal *Error
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if refusal.File != "t.csv" || refusal.Line != test.line || refusal.Column != test.column ||
			refusal.Value != test.value || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n  %v (value %q)\n  want %d:%d, value %q and %q", test.name, err, refusal.Value, test.line,
				test.column, test.value, test.want)
		}
	}
}

func TestErrorIsOneShortLine(t *testing.T) {
	e := &Error{File: "t.csv", Line: 3, Column: 7, Name: "age", Value: strings.Repeat("é\n\x1b", 1000),
		Allowed: "a number", Do: "correct it"}
	want := `data: t.csv:3:7: found "` + strings.Repeat(`é\n\x1b`, 15) +
		`"… in column "age"; allowed: a number; do: correct it`
	if e.Error() != want {
		t.Errorf("%s\nwant\n%s", e, want)
	}
	if list := quoteList(strings.Split(strings.Repeat("a", 25), "")); !strings.HasSuffix(list, `"a" and 5 more`) {
		t.Error(list)
	}
}

func TestUnconfirmedSchema(t *testing.T) {
	s := everything()
	s.Confirmed = false
	if _, err := readText(header, s); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("Read: %v", err)
	}
	if _, err := Load(context.Background(), "no such file", s); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("Load: %v", err)
	}
	s.Confirmed = true
	if _, err := Load(context.Background(), "no such file", s); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load: %v", err)
	}
}

func TestLoadReadsWhatReadReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	text := header + "0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(context.Background(), path, everything())
	if err != nil {
		t.Fatal(err)
	}
	read, err := readText(text, everything())
	if err != nil || !slices.Equal(loaded.X, read.X) || !slices.Equal(loaded.Y, read.Y) || loaded.Source != path {
		t.Errorf("%+v, want %+v (%v)", loaded, read, err)
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := everything()
	s.Records = 1000
	r := io.MultiReader(strings.NewReader(header+"1,2,red,m,x,<=50K\n"), cancelReader{cancel},
		iotest.ErrReader(errors.New("read on")))
	if _, err := Read(ctx, r, "t.csv", s); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// cancelReader cancels a context when it is read.
type cancelReader struct{ cancel func() }

func (c cancelReader) Read(p []byte) (int, error) {
	c.cancel()
	return copy(p, "1,2,"), io.EOF
}

// Law: one record of the file is one row of the table. Records in any order, and
// with any one replaced, give the same rows in that order, the others unchanged.
func TestOneRecordIsOneRow(t *testing.T) {
	cell := func(choices ...string) *rapid.Generator[string] { return rapid.SampledFrom(choices) }
	number := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,3})?`).Draw(t, "number")
	})
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join([]string{number.Draw(t, "age"), rapid.OneOf(number, cell("NA")).Draw(t, "gain"),
			cell("red", "green", "blue", "?").Draw(t, "colour"), cell("f", "m", "").Draw(t, "sex"), "x",
			cell("<=50K", ">50K").Draw(t, "income")}, ",")
	})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 20).Draw(t, "lines")
		s := everything()
		s.Records, s.Radius = len(lines), rapid.Float64Range(0.1, 2).Draw(t, "radius")
		together, err := readText(header+strings.Join(lines, "\n"), s)
		if err != nil {
			t.Fatal(err)
		}
		s.Records = 1
		for i, l := range lines {
			alone, err := readText(header+l, s)
			if err != nil || !slices.Equal(alone.X, together.Row(i)) || alone.Y[0] != together.Y[i] {
				t.Fatalf("record %q alone: %v, %v; in the table: %v", l, alone.X, err, together.Row(i))
			}
			if record.Norm(alone.X) > s.Radius {
				t.Fatalf("record %q has norm %v above %v", l, record.Norm(alone.X), s.Radius)
			}
		}
	})
}

// Whatever the text, Read returns a table that keeps its promises, or an *Error at
// a place in the text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", header, header + "0,0,red,f,1,<=50K\n50,1000,green,m,2,>50K\n100,NA,?,,3,>50K\n",
		header + "1e999,0,red,f,\"\"\"\n\",<=50K\n", "\ufeff" + header + "\r\n1,1", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := readText(text, everything())
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Line < 1 || refusal.Line > strings.Count(text, "\n")+1 ||
				refusal.Column < 1 || refusal.Column > len(text)+1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if table.Records != 3 || len(table.X) != 3*table.Features() || len(table.Y) != 3 {
			t.Fatalf("%q: %+v", text, table)
		}
		for i := range table.Records {
			if norm := record.Norm(table.Row(i)); !(norm > 0 && norm <= 1) || table.Y[i] != 0 && table.Y[i] != 1 {
				t.Fatalf("%q: row %v of norm %v, response %v", text, table.Row(i), norm, table.Y[i])
			}
		}
	})
}
