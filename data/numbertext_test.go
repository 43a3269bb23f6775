package data

import (
	"errors"
	"strings"
	"testing"
)

// TestNumbersOfOtherCustoms: separators are read where the schema states them, in groups
// of three, and named with what to write where it does not.
func TestNumbersOfOtherCustoms(t *testing.T) {
	for _, c := range []struct {
		thousands, decimal string
		text               string
		want               float64
		ok                 bool
	}{
		{",", ".", "1,234,567.5", 1234567.5, true},
		{".", ",", "-1.234,5", -1234.5, true},
		{"'", ".", "12'345", 12345, true},
		{" ", ",", "1 234,25", 1234.25, true},
		{".", ",", "12,5e3", 12500, true},
		{",", ".", "999", 999, true},
		{",", ".", "12,34", 0, false},
		{",", ".", "1,2345", 0, false},
		{",", ".", "1234,567", 0, false},
		{",", ".", ",123", 0, false},
		{",", ".", "1,234.5,678", 0, false},
		{".", ",", "1.5", 0, false},
		{"", ",", "1.5", 0, false},
		{"", "", "1,5", 0, false},
	} {
		n := numberText{}
		if c.thousands != "" {
			n.thousands = c.thousands[0]
		}
		if c.decimal == "," {
			n.decimal = ','
		}
		if got, ok := n.parse([]byte(c.text)); ok != c.ok || got != c.want {
			t.Errorf("%q with thousands %q and decimal %q: %v, %t; want %v, %t", c.text, c.thousands, c.decimal, got, ok,
				c.want, c.ok)
		}
	}
	for text, want := range map[string]string{
		"1,234.5":    `write thousands = ","`,
		"1.234.567":  `write thousands = "."`,
		"3,14":       `write decimal = ","`,
		"1,234":      `write thousands = "," at the top of the schema if it separates thousands, or write decimal = ","`,
		"2024-02-29": "write the date as a number",
		"abc":        "",
		"12a":        "",
	} {
		if got := (numberText{}).hint([]byte(text)); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDelimiters: semicolons and tabs are recognised by the header, or stated.
func TestDelimiters(t *testing.T) {
	schema := func() *Schema {
		return &Schema{Confirmed: true, Records: 2, Decimal: ",", Columns: []Column{
			{Name: "a", Role: Feature, Kind: Number, Lower: 0, Upper: 10},
			{Name: "b c", Role: Feature, Kind: Binary, Labels: []string{"x, y", "z"}},
		}}
	}
	for text, delimiter := range map[string]string{
		"\na;b c\n2,5;\"x, y\"\n10;z\n":       "",
		"a\tb c\r\n2,5\tx, y\r\n10\t z\n":     "",
		"a,\"b c\"\n\"2,5\",\"x, y\"\n10,z\n": "",
		"a;\"b c\"\n 2,5 ;x, y\n10;z":         ";",
	} {
		s := schema()
		s.Delimiter = delimiter
		table, err := Read(t.Context(), strings.NewReader(text), "t.csv", s)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if x := table.Row(0)[1] * table.Spread; x != -0.5 || table.Row(1)[2] <= 0 {
			t.Errorf("%q: %v", text, table.X)
		}
	}
	_, err := Read(t.Context(), strings.NewReader("a;b c\n2,5;z;1\n1;z\n"), "t.csv", schema())
	var where *Error
	if !errors.As(err, &where) || where.Line != 2 || !strings.Contains(err.Error(), "a semicolon after 2 cells") {
		t.Errorf("%v", err)
	}
}
