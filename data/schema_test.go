package data

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// everything is a valid schema with a column of every sort.
func everything() *Schema {
	return &Schema{Confirmed: true, Records: 3, Columns: []Column{
		{Name: "age", Role: Feature, Kind: Number, Lower: 0, Upper: 100},
		{Name: "gain", Role: Feature, Kind: Number, Lower: 0, Upper: 1e5, Center: 1000, Scale: 5000, Missing: MissingImpute,
			Impute: "0"},
		{Name: "colour", Role: Feature, Kind: Category, Levels: []string{"red", "green", "blue"}, Reference: "green",
			Missing: MissingLevel},
		{Name: "sex", Role: Feature, Kind: Binary, Labels: []string{"f", "m"}, Missing: MissingImpute, Impute: "m"},
		{Name: "id", Role: Ignore},
		{Name: "income", Role: Target, Kind: Binary, Labels: []string{"<=50K", ">50K"}},
	}}
}

func TestTermsStateTheMap(t *testing.T) {
	p, err := compile(everything())
	if err != nil {
		t.Fatal(err)
	}
	k := math.Sqrt(5) // the intercept and four feature columns
	want := []Term{
		{Name: Intercept, Unit: k, Lower: 1, Upper: 1},
		{Name: "age", Column: "age", Center: 50, Unit: 50 * k, Upper: 100},
		{Name: "gain", Column: "gain", Center: 1000, Unit: 5000 * k, Upper: 1e5},
		{Name: "colour=red", Column: "colour", Level: "red", Unit: k, Upper: 1},
		{Name: "colour=blue", Column: "colour", Level: "blue", Unit: k, Upper: 1},
		{Name: "colour=(missing)", Column: "colour", Level: MissingTerm, Unit: k, Upper: 1},
		{Name: "sex=m", Column: "sex", Level: "m", Center: 0.5, Unit: k / 2, Upper: 1},
	}
	if !slices.Equal(p.shape.Terms, want) {
		t.Errorf("terms %+v, want %+v", p.shape.Terms, want)
	}
	if target := (Term{Name: "income", Column: "income", Level: ">50K", Unit: 1, Upper: 1}); p.shape.Target != target {
		t.Errorf("target %+v, want %+v", p.shape.Target, target)
	}
	if p.shape.Features() != len(want) || p.shape.Radius != 0.9 || p.shape.RowsPerPerson != 1 {
		t.Errorf("P = %d, radius %v, %d rows per person", p.shape.Features(), p.shape.Radius, p.shape.RowsPerPerson)
	}
}

// Every change makes the valid schema invalid, and the message says where and why.
func TestValidateRefuses(t *testing.T) {
	column := func(i int, change func(c *Column)) func(*Schema) {
		return func(s *Schema) { change(&s.Columns[i]) }
	}
	const age, gain, colour, sex, id, income = 0, 1, 2, 3, 4, 5
	for _, test := range []struct {
		change func(*Schema)
		want   string
	}{
		{func(s *Schema) { s.Records = 0 }, "records = 0"},
		{func(s *Schema) { s.Records = -4 }, "records = -4"},
		{func(s *Schema) { s.RowsPerPerson = -1 }, "rows_per_person = -1"},
		{func(s *Schema) { s.RowsPerPerson = 4 }, "rows_per_person = 4, but it must lie between 1 and records = 3"},
		{func(s *Schema) { s.Radius = -1 }, "radius = -1"},
		{func(s *Schema) { s.Radius = math.NaN() }, "radius = NaN"},
		{func(s *Schema) { s.Radius = math.Inf(1) }, "radius = +Inf"},
		{func(s *Schema) { s.Radius = 1e-101 }, "radius = 1e-101"},
		{func(s *Schema) { s.Columns, s.NoIntercept = s.Columns[id:id+1], true },
			"neither a feature, an intercept nor a target"},
		{column(age, func(c *Column) { c.Name = "" }), "column 1 has no name"},
		{column(age, func(c *Column) { c.Name = "gain" }), `column "gain": it is stated twice`},
		{column(age, func(c *Column) { c.Role = "Feature" }), `column "age": role = "Feature"`},
		{column(id, func(c *Column) { c.Role = "" }), `column "id": role = ""`},
		{column(age, func(c *Column) { c.Role = Target }), `column "income": a second target beside "age"`},
		{column(age, func(c *Column) { c.Kind = "" }), `kind = ""`},
		{column(id, func(c *Column) { c.Role, c.Kind = Feature, "text" }), `column "id": kind = "text"`},
		{column(age, func(c *Column) { c.Kind = "count" }), `kind = "count"; choose "number", "category" or "binary"`},
		{column(age, func(c *Column) { c.Lower = 100 }), "bounds [100, 100]"},
		{column(age, func(c *Column) { c.Lower = 101 }), "bounds [101, 100]"},
		{column(age, func(c *Column) { c.Lower = math.NaN() }), "bounds [NaN, 100]"},
		{column(age, func(c *Column) { c.Upper = math.Inf(1) }), "bounds [0, +Inf]"},
		{column(age, func(c *Column) { c.Upper = 1e101 }), "bounds [0, 1e+101]"},
		{column(age, func(c *Column) { c.Center = 40 }), "center = 40 without a scale"},
		{column(gain, func(c *Column) { c.Scale = -1 }), "scale = -1"},
		{column(gain, func(c *Column) { c.Scale = 1e-99 }), "scale = 1e-99"},
		{column(gain, func(c *Column) { c.Scale = math.NaN() }), "scale = NaN"},
		{column(gain, func(c *Column) { c.Scale = math.Inf(1) }), "scale = +Inf"},
		{column(gain, func(c *Column) { c.Center = math.NaN() }), "center = NaN"},
		{column(gain, func(c *Column) { c.Outside = "drop" }), `outside = "drop"`},
		{column(gain, func(c *Column) { c.Impute = "100001" }), `impute = "100001"`},
		{column(gain, func(c *Column) { c.Impute = "none" }), `impute = "none"`},
		{column(gain, func(c *Column) { c.Impute = "" }), `impute = ""`},
		{column(gain, func(c *Column) { c.Missing = "" }), `impute without missing = "impute"`},
		{column(gain, func(c *Column) { c.Missing, c.Impute = MissingLevel, "" }),
			`missing = "level" for a feature of kind number`},
		{column(gain, func(c *Column) { c.Missing, c.Impute = "drop", "" }), `missing = "drop"`},
		{column(gain, func(c *Column) { c.Levels = []string{"a"} }), `levels or reference with kind = "number"`},
		{column(gain, func(c *Column) { c.Labels = []string{"a", "b"} }), `labels with kind = "number"`},
		{column(colour, func(c *Column) { c.Upper = 1 }),
			`bounds, center, scale, outside, transform or degree with kind = "category"`},
		{column(colour, func(c *Column) { c.Levels = nil }), "0 levels"},
		{column(colour, func(c *Column) { c.Levels, c.Missing = []string{"green"}, MissingRefuse }), "1 levels"},
		{column(colour, func(c *Column) { c.Levels = []string{"green", "red", "red"} }), `level "red" twice`},
		{column(colour, func(c *Column) { c.Levels = []string{"green", "NA"} }), `"NA" is both allowed and a missing cell`},
		{column(colour, func(c *Column) { c.Reference = "violet" }), `reference = "violet"`},
		{column(colour, func(c *Column) { c.Role = Target }), `reference = "green" as the target`},
		{column(sex, func(c *Column) { c.Labels = []string{"f"} }), `labels ["f"]`},
		{column(sex, func(c *Column) { c.Labels = []string{"f", "f"} }), `labels ["f", "f"]`},
		{column(sex, func(c *Column) { c.Labels = []string{"f", "?"} }), `"?" is both allowed and a missing cell`},
		{column(sex, func(c *Column) { c.Impute = "x" }), `impute = "x"`},
		{column(income, func(c *Column) { c.Missing, c.Impute = MissingImpute, ">50K" }), `missing = "impute" for a target`},
	} {
		s := everything()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		test.change(s)
		if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), "data: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want it to say %s", err, test.want)
		}
	}
}

// A level that looks like a missing cell, such as Namibia's code, is possible with
// tokens of its own.
func TestMissingTokensOfAColumn(t *testing.T) {
	s := everything()
	s.Columns[2].Levels, s.Columns[2].Reference, s.Columns[2].MissingTokens = []string{"NA", "ZA"}, "NA", []string{"-"}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNilSchemaPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "data: the schema is nil" {
			t.Errorf("panic %v", r)
		}
	}()
	_ = (*Schema)(nil).Validate()
}
