package data

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLonger: of one normal number beside the intercept the share is the tail of the
// normal law, to four standard errors of 4096 rows and more (false alarm 10⁻⁶: five); of
// a schema with bounds alone it is none.
func TestLonger(t *testing.T) {
	s := StandardShape(100, 1)
	if share, possible := s.Longer(); share != 0 || possible {
		t.Errorf("a shape whose rows are drawn inside: %v, %v", share, possible)
	}
	s.Inside = false
	for _, radius := range []float64{0.8, 1, 1.5, 2} {
		s.Radius = radius
		// (1 + z²)/2 > r² where |z| > √(2r² − 1).
		want := math.Erfc(math.Sqrt(2*radius*radius-1) / math.Sqrt2)
		got, possible := s.Longer()
		if off := math.Abs(got - want); !possible || off > 5*math.Sqrt(want*(1-want)/longerRows) {
			t.Errorf("radius %v: %v of rows, want %v (possible: %v)", radius, got, want, possible)
		}
	}
	s.Radius = 100
	if share, possible := s.Longer(); share != 0 || possible {
		t.Errorf("radius 100: %v, %v", share, possible)
	}
	bounds := &Schema{Records: 10, Columns: []Column{
		{Name: "age", Role: Feature, Kind: Number, Lower: 0, Upper: 120, Degree: 2},
		{Name: "job", Role: Feature, Kind: Category, Levels: []string{"a", "b", "c"}},
		{Name: "sick", Role: Feature, Kind: Binary, Labels: []string{"no", "yes"}},
	}, Interactions: []string{"age:job"}}
	shape, err := bounds.Shape()
	if err != nil {
		t.Fatal(err)
	}
	if share, possible := shape.Longer(); share != 0 || possible {
		t.Errorf("bounds alone: %v, %v; the longest row has %v", share, possible, shape.longest())
	}
	bounds.Columns[0].Center, bounds.Columns[0].Scale, bounds.Radius = 40, 15, 1
	if shape, err = bounds.Shape(); err != nil {
		t.Fatal(err)
	}
	share, possible := shape.Longer()
	table := shape.Simulate(rand.New(rand.NewPCG(5, 6)), nil, nil)
	if !possible || share < 0.1 || share > 0.9 || table.Features() != shape.Features() {
		t.Errorf("a scale of 15 years: %v, %v", share, possible)
	}
}

// TestUsualRadius: of a normal number beside the intercept the radius is where the normal law
// leaves the share N^-⅔, to a twentieth and the error of the quantile; a row that no bounds
// allow to be longer needs no more, and what the schema states is kept. Quantiles of 16
// exceeding rows, at least, are off by five times their standard error once in 10⁶ runs.
func TestUsualRadius(t *testing.T) {
	schema := func(records int) *Schema {
		return &Schema{Records: records, Columns: []Column{
			{Name: "x", Role: Feature, Kind: Number, Lower: -50, Upper: 50, Center: 1, Scale: 2}}}
	}
	radius := func(s *Schema) float64 {
		shape, err := s.Shape()
		if err != nil {
			t.Fatal(err)
		}
		return shape.Radius
	}
	for _, n := range []int{1, 30, 1000, 30000, 1000000, 1000000000} {
		share := min(max(math.Pow(float64(n), -2.0/3), leastShare), 0.5)
		rows := 16/share + longerRows
		off := 5*math.Sqrt(share*rows) + 1
		least := math.Sqrt((1 + normalTail(min(1, share+off/rows))) / 2)
		most := math.Sqrt((1 + normalTail(max(share-off/rows, 1e-9))) / 2)
		if got := radius(schema(n)); got < least || got > most+1.0/20 {
			t.Errorf("%d records: %v, want %v to %v", n, got, least, most+1.0/20)
		}
	}
	near := schema(1000000)
	near.Columns[0].Lower, near.Columns[0].Upper = -1.5, 3.5
	if got := radius(near); got != 1.15 { // (1 + 1.25²)/2 is the square of the longest row
		t.Errorf("bounds allow 1.13: %v", got)
	}
	near.Columns[0].Scale, near.Columns[0].Center = 0, 0
	if got := radius(near); got != 1 {
		t.Errorf("bounds alone: %v", got)
	}
	near.Columns, near.NoIntercept = []Column{{Name: "y", Role: Target, Kind: Binary, Labels: []string{"a", "b"}}}, true
	if got := radius(near); got != 1 {
		t.Errorf("no features: %v", got)
	}
	near.Radius = 0.3
	if got := radius(near); got != 0.3 {
		t.Errorf("a stated radius of 0.3 became %v", got)
	}
}

// normalTail is the square of the number that a standard normal one is farther from 0 than
// with probability p.
func normalTail(p float64) float64 { return 2 * math.Pow(math.Erfinv(1-p), 2) }
