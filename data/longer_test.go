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

// TestTighten: the radius falls to about that of typical rows where records are few, whatever
// the number of columns. It is not below it with 1000 records and few columns, falls never with more
// records, and stays where they are many. It is a twentieth that holds, and stated radii stay, as do
// those of rows that do not tell their weight.
func TestTighten(t *testing.T) {
	for _, columns := range []int{1, 4, 15, 60} {
		s := StandardShape(0, columns)
		s.Inside, s.Usual = false, true
		last := 0.0
		for _, s.Records = range []int{30, 1000, 30_000, 1_000_000_000} {
			s.Radius = s.usualRadius()
			tight := s.Tighten()
			if tight.Radius < last || tight.Radius > s.Radius || math.Round(20*tight.Radius)/20 != tight.Radius {
				t.Errorf("%d columns, %d records: %v, before %v, usually %v", columns, s.Records, tight.Radius, last, s.Radius)
			}
			if tight.Usual || tight.Tighten() != tight {
				t.Errorf("a tight radius of %v became %v", tight.Radius, tight.Tighten().Radius)
			}
			last = tight.Radius
			if s.Records == 30 && (last < 0.8 || last > 1.2) || s.Records == 1000 && columns < 60 && last < 1 {
				t.Errorf("%d columns, %d records: %v", columns, s.Records, last)
			}
		}
		if last < 0.9*s.Radius {
			t.Errorf("%d columns, %d records: %v, not about %v", columns, s.Records, last, s.Radius)
		}
		for name, change := range map[string]func(*Shape){
			"stated":       func(s *Shape) { s.Usual = false },
			"inside":       func(s *Shape) { s.Inside = true },
			"no intercept": func(s *Shape) { s.Terms = s.Terms[1:] },
		} {
			other := *s
			if change(&other); other.Tighten() != &other {
				t.Errorf("%s: %v became %v", name, other.Radius, other.Tighten().Radius)
			}
		}
	}
}

// TestWeight: of one normal number beside the intercept the mean weight is an integral over
// the normal law, to five standard errors of 4096 rows whose weights spread by at most ½
// (false alarm 10⁻⁶).
func TestWeight(t *testing.T) {
	s := StandardShape(100, 1)
	for _, s.Radius = range []float64{0.75, 1, 1.5, 100} {
		const step = 1e-3
		want := 0.0
		for z := -8.0; z < 8; z += step { // a row's square is (1 + z²)/2
			want += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * min(1, 2*s.Radius*s.Radius/(1+z*z))
		}
		if got := s.Weight(); math.Abs(got-want) > 2.5/math.Sqrt(longerRows) {
			t.Errorf("radius %v: %v, want %v", s.Radius, got, want)
		}
	}
}

// normalTail is the square of the number that a standard normal one is farther from 0 than
// with probability p.
func normalTail(p float64) float64 { return 2 * math.Pow(math.Erfinv(1-p), 2) }
