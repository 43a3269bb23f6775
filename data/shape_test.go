package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSimulatedRowsHaveTheSchemasShape draws rows of a number with a scale, a category
// with three levels, a binary column and the intercept, of five sources with the
// response's aside. Frequencies are held to 6 standard deviations.
func TestSimulatedRowsHaveTheSchemasShape(t *testing.T) {
	spread := 2.0 // √4: intercept and three features
	s := &Shape{Records: 20_000, Radius: 10, Spread: spread, Terms: []Term{
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

// TestDerivedTerms: transforms, powers and interactions are what they say of every
// record, within their stated ranges, and rows within bounds need no projection.
func TestDerivedTerms(t *testing.T) {
	schema := &Schema{Confirmed: true, Records: 3, InterceptPriorSD: 10, Interactions: []string{"age:sex", "income:job"},
		Columns: []Column{
			{Name: "age", Role: Feature, Kind: Number, Lower: 0, Upper: 100, Degree: 3, PriorSD: 0.5},
			{Name: "income", Role: Feature, Kind: Number, Lower: 1, Upper: 1e4, Transform: TransformLog},
			{Name: "sex", Role: Feature, Kind: Binary, Labels: []string{"f", "m"}},
			{Name: "job", Role: Feature, Kind: Category, Levels: []string{"none", "part", "full"}, PriorGroup: "job"},
		}}
	table, err := Read(t.Context(), strings.NewReader("age,income,sex,job\n75,100,f,full\n0,1,m,none\n100,10000,m,part\n"),
		"t.csv", schema)
	if err != nil {
		t.Fatal(err)
	}
	k := math.Sqrt(9) // intercept, four columns, two powers, two interactions
	names := []string{Intercept, "age", "log(income)", "sex=m", "job=part", "job=full", "age^2", "age^3", "age:sex=m",
		"log(income):job=part", "log(income):job=full"}
	want := [][]float64{
		{1, 0.5, 0, -1, 0, 1, 0.25, 0.125, -0.5, 0, 0},
		{1, -1, -1, 1, 0, 0, 1, -1, -1, 0, 0},
		{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0},
	}
	for i, w := range want {
		row := table.Row(i)
		for j, v := range w {
			term := &table.Terms[j]
			if term.Name != names[j] || math.Abs(row[j]*k-v) > 1e-13 {
				t.Errorf("record %d: %s = %v, want %s = %v", i, term.Name, row[j]*k, names[j], v)
			}
			if low, high := term.At(term.Lower)*k, term.At(term.Upper)*k; v < low-1e-12 || v > high+1e-12 || high > 1+1e-12 {
				t.Errorf("%s = %v is outside [%v, %v]", term.Name, v, low, high)
			}
		}
	}
	if s := table.Shape; s.Terms[0].PriorSD != 10 || s.Terms[6].PriorSD != 0.5 || s.Terms[5].PriorGroup != "job" ||
		s.Spread != k {
		t.Errorf("priors and spread of %+v", s)
	}
	// Simulated rows obey the same products.
	simulated := table.Simulate(rand.New(rand.NewPCG(1, 2)), nil, nil)
	row := simulated.Row(0)
	if math.Abs(row[6]-row[1]*row[1]*k) > 1e-15 || math.Abs(row[8]-row[1]*row[3]*k) > 1e-15 {
		t.Errorf("simulated row %v", row)
	}
}

// TestDerivedTermsAreRefused where they make no sense.
func TestDerivedTermsAreRefused(t *testing.T) {
	for want, edit := range map[string]func(*Schema){
		"two features of the schema":             func(s *Schema) { s.Interactions = []string{"age:size"} },
		"a column with itself":                   func(s *Schema) { s.Interactions = []string{"age:age"} },
		"stated twice":                           func(s *Schema) { s.Interactions = []string{"age:sex", "sex:age"} },
		"raise the lower bound above 0":          func(s *Schema) { s.Columns[0].Transform = TransformLog },
		"choose \"log\" or \"log1p\"":            func(s *Schema) { s.Columns[0].Transform = "sqrt" },
		"a degree from 1 to 9":                   func(s *Schema) { s.Columns[0].Degree = 10 },
		"transform or degree with kind":          func(s *Schema) { s.Columns[1].Degree = 2 },
		"give one of them":                       func(s *Schema) { s.Columns[0].PriorSD, s.Columns[0].PriorGroup = 1, "g" },
		"a prior of a column that is no feature": func(s *Schema) { s.Columns[2].PriorSD = 1 },
		"intercept_prior_sd":                     func(s *Schema) { s.InterceptPriorSD, s.NoIntercept = 1, true },
		"reaches beyond 1e+100": func(s *Schema) {
			s.Columns[0].Scale, s.Columns[0].Degree = 1e-30, 9
		},
		"delimiter = \"|\"":              func(s *Schema) { s.Delimiter = "|" },
		"decimal = \";\"":                func(s *Schema) { s.Decimal = ";" },
		"thousands = \"x\"":              func(s *Schema) { s.Thousands = "x" },
		"thousands and decimal are both": func(s *Schema) { s.Thousands = "." },
	} {
		s := &Schema{Records: 3, Columns: []Column{
			{Name: "age", Role: Feature, Kind: Number, Lower: 0, Upper: 100},
			{Name: "sex", Role: Feature, Kind: Binary, Labels: []string{"f", "m"}},
			{Name: "y", Role: Target, Kind: Binary, Labels: []string{"0", "1"}},
		}}
		edit(s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want it to say %s", err, want)
		}
	}
}

// TestIndicates: numbers within whole numbers one apart are likely to be one of these, and nothing else is.
func TestIndicates(t *testing.T) {
	for _, c := range []struct {
		term Term
		want bool
	}{
		{Term{Column: "a", Lower: 0, Upper: 1}, true},
		{Term{Column: "a", Lower: -2, Upper: -1}, true},
		{Term{Column: "a", Lower: 0, Upper: 2}, false},
		{Term{Column: "a", Lower: 0.5, Upper: 1.5}, false},
		{Term{Column: "a", Level: "x", Lower: 0, Upper: 1}, false},
		{Term{Column: "a", Lower: 0, Upper: 1, Of: [2]int{2, 3}}, false},
		{Term{Name: Intercept, Lower: 0, Upper: 1}, false},
	} {
		if got := c.term.Indicates(); got != c.want {
			t.Errorf("%+v: %v", c.term, got)
		}
	}
}

// TestUneven: of a shape's uneven one, a number without a scale has a standard deviation between
// an eighth and a half of half the distance of its bounds, one with a scale has it, levels are
// not alike, one between whole numbers one apart is one of them, and the shape itself stays as it
// is. Frequencies are held to 6 standard deviations.
func TestUneven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spread := 2.0
		s := &Shape{Records: 4000, Radius: 10, Spread: spread, Terms: []Term{
			{Name: Intercept, Unit: spread, Lower: 1, Upper: 1},
			{Name: "age", Column: "age", Center: 40, Unit: 10 * spread, Lower: 0, Upper: 120},
			{Name: "stay", Column: "stay", Center: 50, Unit: 50 * spread, Upper: 100},
			{Name: "job=b", Column: "job", Level: "b", Unit: spread, Upper: 1},
			{Name: "job=c", Column: "job", Level: "c", Unit: spread, Upper: 1},
			{Name: "owner", Column: "owner", Center: 1.5, Unit: spread / 2, Lower: 1, Upper: 2},
		}}
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		uneven := s.Uneven(rng)
		if s.sources != nil {
			t.Fatal("the shape itself was changed")
		}
		shares := uneven.sources[3].upTo
		if len(shares) != 2 || !(0 < shares[0] && shares[0] < shares[1] && shares[1] < 1) {
			t.Fatalf("cumulated shares %v", shares)
		}
		lower := uneven.sources[4].upTo
		if len(lower) != 1 || !(lower[0] > 0.02-1e-9 && lower[0] < 0.98+1e-9) {
			t.Fatalf("a share %v of owners", lower)
		}
		var age, stay, b, c, first float64
		table := uneven.Simulate(rng, nil, nil)
		n := float64(s.Records)
		for i := range s.Records {
			row := table.Row(i)
			age += row[1] * row[1] / n
			stay += row[2] * row[2] / n
			b += row[3] * spread / n
			c += row[4] * spread / n
			if at := row[5] * spread; math.Abs(math.Abs(at)-1) > 1e-9 {
				t.Fatalf("a number within 1 and 2 is %v of half their distance from the middle", at)
			}
			first += (1 - row[5]*spread) / 2 / n
		}
		if sd := math.Sqrt(stay) * spread; !(sd > 0.125*(1-6/math.Sqrt(2*n)) && sd < 0.5*(1+6/math.Sqrt(2*n))) {
			t.Fatalf("a number without a scale has standard deviation %v of half its bounds", sd)
		}
		if off := math.Abs(age - 0.25); off > 6*0.36/math.Sqrt(n) {
			t.Fatalf("a number with a scale has mean square %v", age)
		}
		most := 6 * 0.5 / math.Sqrt(n)
		if math.Abs(first-lower[0]) > most {
			t.Fatalf("the share of a lower bound is %v, of %v", first, lower[0])
		}
		if math.Abs(b-shares[0]) > most || math.Abs(c-(shares[1]-shares[0])) > most {
			t.Fatalf("levels %v and %v with shares %v", b, c, shares)
		}
	})
}
