package curator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/internal/view"
)

// dyadic is a table of two features whose products with the entries of skew are exact, so that
// rows mapped by hand are those of a view, bit for bit.
func dyadic(n int) Records {
	rng := rand.New(rand.NewPCG(uint64(n), 8))
	r := Records{Features: 2, Radius: 4}
	for i := range n {
		r.X = append(r.X, float64(rng.IntN(257)-128)/64, float64(rng.IntN(257)-128)/64)
		r.Y = append(r.Y, float64(i%2))
	}
	return r
}

var skew = []float64{0.5, -0.25, 0.125, 2}

// viewed are the records of a view, mapped by hand and sealed with its radius.
func viewed(r Records, matrix []float64, radius float64) Records {
	out := Records{Features: 2, Radius: radius, Y: r.Y}
	for i := range r.Y {
		x, y := r.X[2*i], r.X[2*i+1]
		a, b := matrix[0]*x+matrix[1]*y, matrix[2]*x+matrix[3]*y
		if math.Hypot(a, b) > radius {
			a, b = 0, 0
		}
		out.X = append(out.X, a, b)
	}
	return out
}

// throughViews are a mechanism of each kind, with what it releases of a table.
var throughViews = map[string]func(t testing.TB, c *Curator, v *View, do func(release func() []float64)){
	"moments":  momentsIn(SecondMoment{NoiseMultiplier: 0.1}, nil),
	"weighted": momentsIn(SecondMoment{NoiseMultiplier: 0.1, Loss: convex.Logistic()}, []float64{0.5, -1}),
	"extended": momentsIn(SecondMoment{NoiseMultiplier: 0.1, Response: 1}, nil),
	"optimum":  optimumIn(Optimum{NoiseMultiplier: 0.1, Ridge: 2}),
	"spherical optimum, halved loss": optimumIn(Optimum{NoiseMultiplier: 0.1, Ridge: 2, Spherical: true,
		Loss: convex.Halved()}),
}

func momentsIn(m SecondMoment, theta []float64) func(testing.TB, *Curator, *View, func(func() []float64)) {
	return func(t testing.TB, c *Curator, v *View, do func(func() []float64)) {
		m := m
		m.View = v
		o, err := Charge(c, m, 2)
		if err != nil {
			t.Fatal(err)
		}
		do(func() []float64 {
			d := m.Size(c.Facts())
			dst := make([]float64, d*d)
			if err := o.Release(dst, theta); err != nil {
				t.Fatal(err)
			}
			return dst
		})
	}
}

func optimumIn(m Optimum) func(testing.TB, *Curator, *View, func(func() []float64)) {
	return func(t testing.TB, c *Curator, v *View, do func(func() []float64)) {
		m := m
		m.View = v
		o := optima(t, c, m, 2)
		do(func() []float64 {
			dst := make([]float64, 2)
			if err := o.Release(dst); err != nil {
				t.Fatal(err)
			}
			return dst
		})
	}
}

// TestViewsAreMappedRecords: with the same noise, releases through a view are those of records
// that were mapped by hand and sealed with its radius, bit for bit, rows that are too long being
// the zero row. The matrix is that of each release. Another radius or matrix is seen.
func TestViewsAreMappedRecords(t *testing.T) {
	const radius = 1.75
	r, unit := dyadic(40), []float64{1, 0, 0, 1}
	if zero := viewed(r, skew, radius); !slices.Contains(zero.X, 0) || slices.Max(zero.X) == 0 {
		t.Fatalf("rows within the view and without are wanted: %v", zero.X)
	}
	for name, with := range throughViews {
		var got, want, other [2][]float64
		v := &View{Radius: radius} // its matrix comes after the grant
		with(t, seal(t, r), v, func(release func() []float64) {
			v.Matrix = slices.Clone(skew)
			got[0] = release()
			v.Matrix = unit
			got[1] = release()
		})
		for i, matrix := range [][]float64{skew, unit} {
			with(t, seal(t, viewed(r, matrix, radius)), nil, func(release func() []float64) {
				want[0] = release()
				want[1] = release()
			})
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: release %d through a view is %v, of mapped records %v", name, i, got[i], want[i])
			}
			with(t, seal(t, r), &View{Radius: radius, Matrix: []float64{0.5, 0.125, -0.25, 2}},
				func(release func() []float64) { other[0], other[1] = release(), release() })
			if slices.Equal(other[i], want[i]) {
				t.Errorf("%s: release %d through a transposed matrix is the same", name, i)
			}
		}
	}
}

// TestViewsAreCopiedAtTheGrant: what Radius becomes after the grant changes neither price nor
// release. Before the grant it changes both.
func TestViewsAreCopiedAtTheGrant(t *testing.T) {
	for name, with := range throughViews {
		released := func(before, after float64) (out []float64) {
			v := &View{Radius: before, Matrix: skew}
			c := seal(t, dyadic(40))
			with(t, c, v, func(release func() []float64) {
				v.Radius = after
				out = append(release(), c.Budget().Events().RDP(8))
			})
			return out
		}
		want := released(1.75, 1.75)
		for _, after := range []float64{0, 1e-3, 3, 1e9, math.NaN()} {
			if got := released(1.75, after); !slices.Equal(got, want) {
				t.Errorf("%s: with a radius of %v after the grant %v, want %v", name, after, got, want)
			}
		}
		if slices.Equal(released(2.5, 2.5), want) {
			t.Errorf("%s: the radius of a view changes nothing", name)
		}
	}
}

// TestViewPrices: a view's radius is all that the price and the noise of a mechanism take from it,
// in place of that of the records.
func TestViewPrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{Records: 100, Features: 2, Response: true, RowsPerPerson: rapid.IntRange(1, 3).Draw(t, "rows"),
			Adjacency: rapid.SampledFrom([]accountant.Adjacency{accountant.Substitute, accountant.AddRemove}).Draw(t, "adj"),
			Radius:    rapid.Float64Range(1e-3, 50).Draw(t, "radius")}
		v := &View{Radius: rapid.Float64Range(0.1, 10).Draw(t, "radius of the view"),
			Matrix: rapid.SliceOfN(wild(), 0, 5).Draw(t, "matrix")}
		sealed := f
		sealed.Radius = v.Radius
		noise := rapid.Float64Range(0.1, 100).Draw(t, "noise")
		moment, optimum := SecondMoment{NoiseMultiplier: noise}, Optimum{NoiseMultiplier: noise, Ridge: 20,
			Spherical: rapid.Bool().Draw(t, "spherical")}
		if rapid.Bool().Draw(t, "extended") {
			moment.Response = 3
		}
		numbers := func(f Facts, v *View) (out []float64) {
			moment, optimum := moment, optimum
			moment.View, optimum.View = v, v
			a, err := moment.Event(f)
			if err != nil {
				t.Fatal(err)
			}
			b, err := optimum.Event(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range []float64{1.5, 8, 40} {
				out = append(out, a.RDP(order), b.RDP(order))
			}
			out = append(out, moment.ResponseUnit(f))
			for _, sd := range []func(Facts) (float64, error){moment.NoiseSD, optimum.OutputSD, optimum.ScoreSD} {
				x, err := sd(f)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, x)
			}
			return out
		}
		got, want := numbers(f, v), numbers(sealed, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("prices and noise of %+v are %v, of records sealed so %v", v, got, want)
		}
		f.Radius *= 2
		if again := numbers(f, v); !slices.Equal(again, want) {
			t.Fatalf("with records of radius %v they are %v", f.Radius, again)
		}
		// Without the view the noise is another.
		if slices.Equal(numbers(f, nil), want) != (f.Radius == v.Radius) {
			t.Fatal("the records' radius changes nothing")
		}
	})
}

// TestViewRefusals: of a grant nothing is charged, of a release nothing is used up.
func TestViewRefusals(t *testing.T) {
	moment, optimum := SecondMoment{NoiseMultiplier: 1}, Optimum{NoiseMultiplier: 1, Ridge: 2}
	r := dyadic(10)
	loose := r
	loose.Radius = 0
	grant := func(r Records, v *View) []error {
		c := seal(t, r)
		moment, optimum := moment, optimum
		moment.View, optimum.View = v, v
		_, one := Charge(c, moment, 1)
		_, two := Charge(c, optimum, 1)
		if spent, err := c.Budget().Spent(); err != nil || one != nil && two != nil && spent.Epsilon != 0 {
			t.Errorf("%+v: ε = %v was charged (%v)", v, spent.Epsilon, err)
		}
		return []error{one, two}
	}
	for _, radius := range []float64{0, -1, math.NaN(), math.Inf(1), 9e-101, 2e100} {
		for _, err := range grant(r, &View{Radius: radius, Matrix: skew}) {
			if err == nil {
				t.Errorf("a view of radius %v was granted", radius)
			}
		}
	}
	for _, err := range grant(loose, &View{Radius: 1, Matrix: skew}) {
		if err == nil {
			t.Error("a view of records without a radius was granted")
		}
	}
	v := &View{Radius: 1}
	moment.View, optimum.View = v, v
	c := seal(t, r)
	m, err := Charge(c, moment, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, dst := optima(t, c, optimum, 1), []float64{7, 7, 7, 7}
	for _, matrix := range [][]float64{nil, {}, {1, 2, 3}, {1, 2, 3, 4, 5}, {1, 0, 0, math.NaN()},
		{math.Inf(-1), 0, 0, 1}} {
		v.Matrix = matrix
		one, two := m.Release(dst, nil), o.Release(dst[:2])
		if one == nil || two == nil || m.Left() != 1 || o.Left() != 1 || !slices.Equal(dst, []float64{7, 7, 7, 7}) {
			t.Errorf("matrix %v: errors %v and %v, %d and %d left, released %v", matrix, one, two, m.Left(), o.Left(), dst)
		}
	}
	v.Matrix = skew
	if one, two := m.Release(dst, nil), o.Release(dst[:2]); one != nil || two != nil || m.Left() != 0 || o.Left() != 0 {
		t.Errorf("with a matrix: errors %v and %v, %d and %d left", one, two, m.Left(), o.Left())
	}
}

// TestViewsHaveNoSums: sums that are added up elsewhere are of rows as they are.
func TestViewsHaveNoSums(t *testing.T) {
	r := dyadic(10)
	c := seal(t, r)
	m := SecondMoment{NoiseMultiplier: 1, View: &View{Radius: 1, Matrix: skew}}
	sums := make([]int64, m.SumsSize(c.Facts()))
	if err := m.AddSums(sums, c.Facts(), nil, r); err == nil || slices.Max(sums) != 0 {
		t.Errorf("sums of a view: %v, error %v", sums, err)
	}
	paid := budget(t, accountant.Substitute)
	totals, err := NewTotals(c.Facts(), paid, InsecureSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 4)
	if err := totals.Release(dst, m, sums); err == nil || slices.Max(dst) != 0 {
		t.Errorf("totals of a view: %v, error %v", dst, err)
	}
	if spent, err := paid.Spent(); err != nil || spent.Epsilon != 0 {
		t.Errorf("ε = %v was charged (%v)", spent.Epsilon, err)
	}
	m.View = nil
	if err := m.AddSums(sums, c.Facts(), nil, r); err != nil || slices.Max(sums) == 0 {
		t.Errorf("sums of no view: %v, error %v", sums, err)
	}
}

// sight is how a set is seen through a matrix.
type sight func(set *record.Set, matrix []float64, radius float64) source

func seenThrough(set *record.Set, matrix []float64, radius float64) source {
	s := view.Through(set, radius)
	s.Aim(matrix)
	return s
}

// seenUnbounded maps rows and keeps them however long they are.
func seenUnbounded(set *record.Set, matrix []float64, _ float64) source {
	x, _ := set.Block(nil, nil, 0, set.Len())
	p := set.Features()
	mapped := make([]float64, len(x))
	for i := range mapped {
		for k := range p {
			mapped[i] += matrix[i%p*p+k] * x[i/p*p+k]
		}
	}
	return record.New(mapped, p, make([]float64, set.Len()), set.Len(), 0)
}

// movesTooFar says by how much replacing the first row moves the exact sums of second moments, and
// those of gradients, in a view, where that is more than is priced.
func movesTooFar(see sight, x, substitute, matrix []float64, dim int, radius float64) error {
	const n = 4
	y := slices.Clone(x)
	copy(y, substitute)
	f := Facts{Records: n, Features: dim, Response: true, Radius: 2, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	v := &View{Radius: radius}
	m := SecondMoment{NoiseMultiplier: 1, View: v.granted(false)} // a multiplier of 1 is the sensitivity charged
	var sums [2][]int64
	gradients := make([]float64, dim)
	for i, x := range [][]float64{x, y} {
		o, err := newMoments(m, f, record.New(x, dim, make([]float64, n), n, f.Radius))
		if err != nil {
			return err
		}
		o.set = see(record.New(x, dim, make([]float64, n), n, f.Radius), matrix, radius)
		o.sum(nil)
		sums[i] = slices.Clone(o.sums)
		rows, _ := o.set.Block(make([]float64, n*dim), make([]float64, n), 0, n)
		for k, v := range rows { // at the largest slope there is
			gradients[k%dim] += float64(1-2*i) * v
		}
	}
	top := room.ExactGrid(m.largest(v.seen(f)))
	if moved, charged := distance(sums[0], sums[1]), m.steps(v.seen(f), top); moved > charged {
		return fmt.Errorf("the sums moved by %v steps, charged are %v", moved, charged)
	}
	if moved := record.Norm(gradients); !(moved <= 2*radius*(1+1e-12)) {
		return fmt.Errorf("the gradients' sum moved by %v, charged are %v", moved, 2*radius)
	}
	return nil
}

// TestViewSensitivity: whatever the rows and a finite matrix are, replacing a record moves the sums
// through a view by no more than is priced for its radius. Without the bound it does not hold.
func TestViewSensitivity(t *testing.T) {
	const dim = 2
	finite := wild().Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(wild(), 4*dim, 4*dim).Draw(t, "x")
		substitute := rapid.SliceOfN(wild(), dim, dim).Draw(t, "substitute")
		matrix := rapid.SliceOfN(finite, dim*dim, dim*dim).Draw(t, "matrix")
		radius := rapid.SampledFrom([]float64{1e-9, 0.3, 1, 7, 1e9}).Draw(t, "radius")
		if err := movesTooFar(seenThrough, x, substitute, matrix, dim, radius); err != nil {
			t.Fatal(err)
		}
	})
	x, unit := make([]float64, 4*dim), []float64{1, 0, 0, 1}
	if err := movesTooFar(seenUnbounded, x, []float64{0.5, 0.5}, unit, dim, 1); err != nil {
		t.Errorf("rows within the bound: %v", err)
	}
	if err := movesTooFar(seenUnbounded, x, []float64{0.5, 2}, unit, dim, 0.5); err == nil {
		t.Error("the gradients of rows longer than the bound are not found out")
	}
}

// TestWholeViewSensitivity: of records that are seen whole, with a row for the response, replacing one
// moves the sums by no more than is priced, whatever records and matrix are, and hardly less for some.
// Mechanisms that take responses for labels refuse such a matrix.
func TestWholeViewSensitivity(t *testing.T) {
	const n, dim = 4, 2
	entry := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 5e-324, -1e200}))
	cell := rapid.OneOf(entry, entry, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
	f := Facts{Records: n, Features: dim, Response: true, Radius: 2, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	moved := func(t rapid.TB, cut float64, matrix []float64, x, y, other []float64) (moved, charged float64) {
		v := &View{Radius: 1.5, Matrix: matrix}
		m := SecondMoment{NoiseMultiplier: 1, Response: cut, View: v.granted(true)}
		var sums [2][]int64
		for i := range sums {
			o, err := newMoments(m, f, record.New(x, dim, y, n, f.Radius))
			if err != nil {
				t.Fatal(err)
			}
			if err := m.View.aim(o.set); err != nil {
				t.Fatal(err)
			}
			o.sum(nil)
			sums[i] = slices.Clone(o.sums)
			x, y = slices.Clone(x), slices.Clone(y)
			copy(x, other[:dim])
			y[0] = other[dim]
		}
		g := room.ExactGrid(m.largest(v.seen(f)))
		return distance(sums[0], sums[1]), m.steps(v.seen(f), g)
	}
	rapid.Check(t, func(t *rapid.T) {
		matrix := rapid.SliceOfN(entry, dim*dim+dim+1, dim*dim+dim+1).Draw(t, "matrix")
		x, y := rapid.SliceOfN(cell, n*dim, n*dim).Draw(t, "x"), rapid.SliceOfN(cell, n, n).Draw(t, "y")
		other := rapid.SliceOfN(cell, dim+1, dim+1).Draw(t, "substitute")
		if moved, charged := moved(t, 1, matrix, x, y, other); moved > charged {
			t.Fatalf("the sums moved by %v steps, charged are %v", moved, charged)
		}
	})
	long := []float64{1, 0, 0, 1, 0, 0, 1}
	edge := append([]float64{2, 0}, make([]float64, (n-1)*dim)...)
	if moved, charged := moved(t, 1, long, edge, []float64{3, 0, 0, 0}, []float64{0, 2, 0}); moved < 0.8*charged {
		t.Errorf("the sums moved by %v steps, charged are %v", moved, charged)
	}
	for whole, m := range map[bool]SecondMoment{true: {NoiseMultiplier: 1, Response: 1}, false: {NoiseMultiplier: 1}} {
		m.View = &View{Radius: 1.75, Matrix: long}
		o, err := Charge(seal(t, dyadic(4)), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		d := m.Size(f)
		if err := o.Release(make([]float64, d*d), nil); (err == nil) != whole {
			t.Errorf("responses are numbers: %v, and the error is %v", whole, err)
		}
	}
	labels := &View{Radius: 1.75, Matrix: long}
	o := optima(t, seal(t, dyadic(4)), Optimum{NoiseMultiplier: 0.1, Ridge: 2, View: labels}, 1)
	if o.Release(make([]float64, 2)) == nil {
		t.Error("an optimum took a matrix with a row for labels")
	}
}
