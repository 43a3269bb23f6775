// Package people is a table for tests: the same records as a CSV file and as values.
package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
)

// Person is a record. Age is nil where it is missing.
type Person struct {
	Age    *float64
	Income int64
	Score  int64 // in hundredths
	Job    string
	Ill    bool
}

// Columns are the names of the columns, in the order of Person.
var Columns = []string{"age", "income", "score", "job", "ill"}

// Schema is that of n people.
func Schema(n int) *data.Schema {
	crossed := []string{"age:job"}
	return &data.Schema{Confirmed: true, Records: n, IgnoreOther: true, Interactions: crossed, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 18, Upper: 98, Missing: data.MissingImpute, Impute: "50"},
		{Name: "income", Role: data.Feature, Kind: data.Number, Lower: 1, Upper: 1e6, Transform: data.TransformLog},
		{Name: "score", Role: data.Feature, Kind: data.Number, Lower: -10, Upper: 10, Outside: data.OutsideRefuse},
		{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"none", "part", "full"}},
		{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"false", "true"}},
	}}
}

// Make makes n people.
func Make(n int) []Person {
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	all := make([]Person, n)
	for i := range all {
		p := &all[i]
		p.Income, p.Score = rng.Int64N(300_000), rng.Int64N(2001)-1000
		p.Job, p.Ill = []string{"none", "part", "full"}[rng.IntN(3)], rng.IntN(2) == 1
		if rng.IntN(10) > 0 {
			age := 10 + 100*rng.Float64()
			p.Age = &age
		}
	}
	return all
}

// ScoreText is the score as a decimal.
func (p *Person) ScoreText() string {
	sign, size := "", p.Score
	if size < 0 {
		sign, size = "-", -size
	}
	return fmt.Sprintf("%s%d.%02d", sign, size/100, size%100)
}

// CSV is the table as a CSV file.
func CSV(all []Person) string {
	var b strings.Builder
	b.WriteString(strings.Join(Columns, ",") + "\n")
	for i := range all {
		p := &all[i]
		age := "NA"
		if p.Age != nil {
			age = fmt.Sprint(*p.Age)
		}
		fmt.Fprintf(&b, "%s,%d,%s,%s,%t\n", age, p.Income, p.ScoreText(), p.Job, p.Ill)
	}
	return b.String()
}

// Check checks that a source gives the very rows that the CSV file gives.
func Check(t *testing.T, source data.Source, all []Person) {
	t.Helper()
	want, err := data.Read(context.Background(), strings.NewReader(CSV(all)), "people.csv", Schema(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	var x, y []float64
	if err := source.Each(context.Background(), Schema(len(all)), func(row []float64, response float64) error {
		x, y = append(x, row...), append(y, response)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x, want.X) || !slices.Equal(y, want.Y) || len(y) != len(all) {
		t.Errorf("%s: %d records whose rows are not those of the CSV file", source.Name, len(y))
	}
}

// CheckRefusal checks that a source is refused at a cell, by its record and column.
func CheckRefusal(t *testing.T, source data.Source, n, record, column int, name string) {
	t.Helper()
	err := source.Each(context.Background(), Schema(n), func([]float64, float64) error { return nil })
	var bad *data.Error
	if !errors.As(err, &bad) || bad.Line != record || bad.Column != column || bad.Name != name {
		t.Errorf("%s: %v; want a refusal of record %d, column %d, %s", source.Name, err, record, column, name)
	}
}
