package data

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// near: rows of a table are drawn inside their radius by a few roundings, new ones are not.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-15 }

func newRowsSchema() *Schema {
	return &Schema{Confirmed: true, Records: 3, Columns: []Column{
		{Name: "age", Role: Feature, Kind: Number, Lower: 0, Upper: 100},
		{Name: "id", Role: Ignore},
		{Name: "sick", Role: Target, Kind: Binary, Labels: []string{"no", "yes"}},
	}}
}

// TestNewRowsAreReadAsTheTableWas: a row to predict becomes the design row that it
// would have been in the table, whatever the number of rows and without responses.
func TestNewRowsAreReadAsTheTableWas(t *testing.T) {
	schema := newRowsSchema()
	table, err := Read(context.Background(), strings.NewReader("age,id,sick\n10,a,no\n250,b,yes\n70,c,no\n"), "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"features only":      "age\n10\n250\n70\n",
		"everything":         "sick,age,id\nno,10,a\nyes,250,b\nno,70,c\n",
		"a target unread":    "age,sick\n10,?\n250,never heard of\n70,no\n",
		"no line at the end": "id,age\n,10\n,250\n,70",
	} {
		rows, err := ReadNew(context.Background(), strings.NewReader(text), "new", schema)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if rows.Records != 3 || !slices.EqualFunc(rows.X, table.X, near) || rows.Y != nil || rows.HasTarget() {
			t.Errorf("%s: %d rows %v with responses %v; want %v", name, rows.Records, rows.X, rows.Y, table.X)
		}
	}
	long := "age\n" + strings.Repeat("50\n", 10_000)
	if rows, err := ReadNew(context.Background(), strings.NewReader(long), "new", schema); err != nil ||
		rows.Records != 10_000 || len(rows.X) != 20_000 {
		t.Errorf("10000 rows: %v", err)
	}
	if schema.Records != 3 || schema.Columns[2].Role != Target {
		t.Error("the schema was changed")
	}
}

func TestNewRowsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"id\na\n":            `no column "age"`,
		"age,other\n1,2\n":   "a column \"other\"",
		"age\n1\nfifty\n":    "new:3:1",
		"age,age\n1,2\n":     "a second column",
		"age,sick\n1,no,3\n": "new:2",
	} {
		_, err := ReadNew(context.Background(), strings.NewReader(text), "new", newRowsSchema())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	unconfirmed := newRowsSchema()
	unconfirmed.Confirmed = false
	if _, err := ReadNew(context.Background(), strings.NewReader("age\n1\n"), "new", unconfirmed); err == nil {
		t.Error("an unconfirmed schema was taken")
	}
}
