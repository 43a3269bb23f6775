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
	bounds.Columns[0].Center, bounds.Columns[0].Scale = 40, 15
	if shape, err = bounds.Shape(); err != nil {
		t.Fatal(err)
	}
	share, possible := shape.Longer()
	table := shape.Simulate(rand.New(rand.NewPCG(5, 6)), nil, nil)
	if !possible || share < 0.1 || share > 0.9 || table.Features() != shape.Features() {
		t.Errorf("a scale of 15 years: %v, %v", share, possible)
	}
}
