package room

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func TestGridRounds(t *testing.T) {
	g := NewGrid(0.3)
	if g.Top*g.Step > 0.3 || g.Top*g.Step < 0.3*(1-1e-8) {
		t.Errorf("the top of the grid is %v, want just below 0.3", g.Top*g.Step)
	}
	for v, want := range map[float64]int64{
		math.Inf(1): int64(g.Top), math.Inf(-1): -int64(g.Top), math.NaN(): 0, 0.3: int64(g.Top), g.Step: 1, 0.4 * g.Step: 0,
		-0.6 * g.Step: -1,
	} {
		if got := g.Round(v, g.Top); got != want {
			t.Errorf("%v rounds to %d steps, want %d", v, got, want)
		}
	}
	if got := g.Round(5*g.Step, 2.7); got != 2 {
		t.Errorf("5 steps under a bound of 2.7 are clipped to %d, want 2: a bound is rounded down", got)
	}
}

// TestExactGridIsExact: the bound is 2³⁰ steps, whatever it is.
func TestExactGridIsExact(t *testing.T) {
	for _, bound := range []float64{1e-90, 0.3, 1, 7, 1e90} {
		g := ExactGrid(bound)
		if g.Top != 1<<30 || g.Round(bound, g.Top) != 1<<30 || g.Round(bound/2, g.Top) != 1<<29 ||
			math.Abs(g.Top*g.Step/bound-1) > 1e-15 {
			t.Errorf("a bound of %v on %+v", bound, g)
		}
	}
}

// TestSquaresStayInsideTheirIntegers: CoarseShift is the least with which they do.
func TestSquaresStayInsideTheirIntegers(t *testing.T) {
	largest := math.Ldexp(1, GridBits-CoarseShift)
	if sum := maxRecords * largest * largest; sum > math.MaxInt64 || 4*sum < math.MaxInt64 {
		t.Errorf("squares add up to %v, of %v", sum, float64(math.MaxInt64))
	}
}

// TestPadding: what is charged for float rounding is what docs/proofs/curator.md adds up.
func TestPadding(t *testing.T) {
	if Padded(0) != 0x1p-38 || Padded(4) != 4+0x1p-28+0x1p-38 {
		t.Errorf("contributions of 0 and 4 are charged as %v and %v", Padded(0), Padded(4))
	}
}

// TestSumsStayInsideTheirIntegers: the largest sum of contributions, 2⁶¹ steps, and any
// public part add up without overflow, and are clamped in whole steps.
func TestSumsStayInsideTheirIntegers(t *testing.T) {
	for v, want := range map[float64]int64{math.Inf(1): 1 << 62, math.Inf(-1): -1 << 62, math.NaN(): 0, 5: 2, 7: 4,
		-5: -2, 0x1p62: 1 << 61, -0x1p63: -1 << 62} {
		if got := WholeSteps(v, 2); got != want {
			t.Errorf("%v is %d whole steps of 2, want %d", v, got, want)
		}
	}
	const most = maxRecords << GridBits
	for _, c := range []struct {
		sum    int64
		public float64
		want   float64
	}{{most, math.Inf(1), 3}, {-most, math.Inf(-1), -3}, {most, math.Inf(-1), -3}, {most, -0.5 * most, 0}, {7, 0, 3},
		{-7, 0, -3}, {5, -0.5, 2}} {
		if got := StepsToLogOdds(c.sum+WholeSteps(c.public, 0.5), 0.5, 3.4); got != c.want {
			t.Errorf("%d steps and %v are log-odds of %v, want %v", c.sum, c.public, got, c.want)
		}
	}
	if got := StepsToLogOdds(math.MaxInt64, 0x1p-1000, Clamp); got != 0x1p62*0x1p-1000 {
		t.Errorf("a step that is next to nothing gives log-odds of %v", got)
	}
}

// TestFactsAreChecked at both ends of every range.
func TestFactsAreChecked(t *testing.T) {
	good := Facts{Records: 10, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.AddRemove}
	for name, c := range map[string]struct {
		change func(*Facts)
		fine   bool
	}{
		"as it is":        {func(*Facts) {}, true},
		"no record":       {func(f *Facts) { f.Records = 0 }, false},
		"one":             {func(f *Facts) { f.Records = 1 }, true},
		"the most":        {func(f *Facts) { f.Records = 1 << 31 }, true},
		"too many":        {func(f *Facts) { f.Records = 1<<31 + 1 }, false},
		"no features":     {func(f *Facts) { f.Features = 0 }, true},
		"negative":        {func(f *Facts) { f.Features = -1 }, false},
		"most features":   {func(f *Facts) { f.Features = MostParameters }, true},
		"too many too":    {func(f *Facts) { f.Features = MostParameters + 1 }, false},
		"no radius":       {func(f *Facts) { f.Radius = 0 }, true},
		"small radius":    {func(f *Facts) { f.Radius = 1e-100 }, true},
		"smaller":         {func(f *Facts) { f.Radius = 0.9e-100 }, false},
		"large radius":    {func(f *Facts) { f.Radius = 1e100 }, true},
		"larger":          {func(f *Facts) { f.Radius = 1.1e100 }, false},
		"negative radius": {func(f *Facts) { f.Radius = -1 }, false},
		"NaN radius":      {func(f *Facts) { f.Radius = math.NaN() }, false},
		"no rows":         {func(f *Facts) { f.RowsPerPerson = 0 }, false},
		"all rows":        {func(f *Facts) { f.RowsPerPerson = 10 }, true},
		"more rows":       {func(f *Facts) { f.RowsPerPerson = 11 }, false},
		"no adjacency":    {func(f *Facts) { f.Adjacency = 0 }, false},
		"substitution":    {func(f *Facts) { f.Adjacency = accountant.Substitute }, true},
	} {
		f := good
		c.change(&f)
		if err := f.Check(); c.fine != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
