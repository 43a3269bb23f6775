package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSimulatedRowsHaveTheSchemasShape draws rows of a number with a scale, a category
// with three levels, a binary column and the intercept, of five sources with the
// response's aside. Frequencies are held to 6 standard deviations.
func TestSimulatedRowsHaveTheSchemasShape(t *testing.T) {
	spread := 2.0 // √4: intercept and three features
	s := &Shape{Records: 20_000, Radius: 10, Terms: []Term{
		{Name: Intercept, Unit: spread, Lower: 1, Upper: 1},
		{Name: "age", Column: "age", Center: 40, Unit: 10 * spread, Lower: 0, Upper: 120},
		{Name: "job=b", Column: "job", Level: "b", Unit: spread, Upper: 1},
		{Name: "job=c", Column: "job", Level: "c", Unit: spread, Upper: 1},
		{Name: "sick=yes", Column: "sick", Level: "yes", Center: 0.5, Unit: spread / 2, Upper: 1},
	}}
	rng := rand.New(rand.NewPCG(3, 4))
	n := float64(s.Records)
	var sumAge, squareAge, b, both, yes float64
	table := s.Simulate(rng, nil, nil)
	for i := range s.Records {
		row := table.Row(i)
		if row[0] != 0.5 || row[4] != 0.5 && row[4] != -0.5 {
			t.Fatalf("row %v", row)
		}
		sumAge, squareAge = sumAge+row[1], squareAge+row[1]*row[1]
		b += row[2] * spread
		both += row[2] * row[3]
		yes += row[4] + 0.5
	}
	for name, c := range map[string]struct{ got, want, sd float64 }{
		"mean of the number":   {sumAge / n, 0, 0.5},
		"square of the number": {squareAge / n, 0.25, 0.36},
		"a level":              {b / n, 1. / 3, 0.48},
		"a label":              {yes / n, 0.5, 0.5},
	} {
		if math.Abs(c.got-c.want) > 6*c.sd/math.Sqrt(n) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if both != 0 {
		t.Error("a category had two levels at once")
	}
}

// TestTargetsOfLabels: a category as the target is coded in the order of its levels,
// and a response needs no features.
func TestTargetsOfLabels(t *testing.T) {
	schema := &Schema{Confirmed: true, Records: 5000, NoIntercept: true, Columns: []Column{
		{Name: "party", Role: Target, Kind: Category, Levels: []string{"red", "green", "blue"}},
	}}
	shape, err := schema.Shape()
	if err != nil || shape.Classes() != 3 || shape.Features() != 0 || !shape.HasTarget() {
		t.Fatalf("%+v, %v", shape, err)
	}
	lines := strings.Repeat("blue\nred\ngreen\ngreen\nblue\n", 1000)
	table, err := Read(t.Context(), strings.NewReader("party\n"+lines), "t.csv", schema)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Y) != 5000 || !slices.Equal(table.Y[4995:], []float64{2, 0, 1, 1, 2}) || len(table.X) != 0 {
		t.Errorf("%d responses, the last %v; %d entries", len(table.Y), table.Y[4995:], len(table.X))
	}
}
