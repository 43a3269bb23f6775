package curator

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/internal/tape"
)

// momentSums are the integer sums of a table's matrices.
func momentSums(t rapid.TB, x []float64, dim int, radius float64) []int64 {
	n := len(x) / dim
	o, err := newMoments(SecondMoment{NoiseMultiplier: 1},
		Facts{Records: int64(n), Features: dim, Radius: radius, RowsPerPerson: 1, Adjacency: accountant.Substitute},
		record.New(x, dim, nil, n, radius))
	if err != nil {
		t.Fatal(err)
	}
	o.sum(nil)
	return o.sums
}

func distance(a, b []int64) float64 {
	square := 0.0
	for i := range a {
		d := float64(a[i] - b[i])
		square += d * d
	}
	return math.Sqrt(square)
}

// TestSecondMomentSensitivity is exact, in integers, whatever the rows are:
// replacing one moves the sums by √2 of the longest at most, but for rounding that
// the noise has room for, and leaving one out by the longest at most.
func TestSecondMomentSensitivity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const dim = 3
		n := rapid.IntRange(1, 8).Draw(rt, "n")
		x := rapid.SliceOfN(wild(), n*dim, n*dim).Draw(rt, "x")
		y := slices.Clone(x)
		copy(y, rapid.SliceOfN(wild(), dim, dim).Draw(rt, "substitute"))
		radius := rapid.SampledFrom([]float64{1e-90, 0.3, 1, 7, 1e90}).Draw(rt, "radius")
		a, b := momentSums(rt, x, dim, radius), momentSums(rt, y, dim, radius)
		top := room.ExactGrid(radius * radius).Top
		// One noise multiplier is the sensitivity that is charged.
		charged := SecondMoment{NoiseMultiplier: 1}.steps(Facts{Features: dim}, room.ExactGrid(radius*radius))
		if moved := distance(a, b); moved > charged {
			rt.Fatalf("substituting a record moved the sums by %v steps, charged are %v", moved, charged)
		}
		if n > 1 {
			if moved := distance(a, momentSums(rt, x[dim:], dim, radius)); moved > top {
				rt.Fatalf("removing a record moved the sums by %v steps, more than %v", moved, top)
			}
		}
	})
}

// TestSecondMomentSensitivityIsAttained: orthogonal rows are √2 apart, so a noise
// made for less would not do.
func TestSecondMomentSensitivityIsAttained(t *testing.T) {
	a, b := momentSums(t, []float64{2, 0}, 2, 2), momentSums(t, []float64{math.Sqrt2, -math.Sqrt2}, 2, 2)
	c := momentSums(t, []float64{0, -2}, 2, 2)
	top := room.ExactGrid(4).Top
	if far := distance(a, c); far < math.Sqrt2*top*(1-1e-6) {
		t.Errorf("orthogonal rows are %v of the top apart, want √2", far/top)
	}
	if near := distance(a, b); math.Abs(near/top-1) > 1e-6 {
		t.Errorf("rows at 45° are %v of the top apart, want 1", near/top)
	}
}

// TestSecondMomentIsExact compares integer sums with exact rational ones: off by
// half a step for each record and the margin of clipping, and the same in any order.
func TestSecondMomentIsExact(t *testing.T) {
	const n, dim, radius = 500, 3, 2.0
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = rng.Float64() - 0.5
	}
	sums := momentSums(t, x, dim, radius)
	step := room.ExactGrid(radius * radius).Step
	i := 0
	for j := range dim {
		for k := j; k < dim; k++ {
			want := new(big.Rat)
			for r := range n {
				a, b := new(big.Rat).SetFloat64(x[r*dim+j]), new(big.Rat).SetFloat64(x[r*dim+k])
				want.Add(want, a.Mul(a, b))
			}
			w, _ := want.Float64()
			if j != k {
				w *= math.Sqrt2
			}
			if off := math.Abs(float64(sums[i]) - w/step); off > n*0.51 {
				t.Errorf("entry %d,%d is off by %v steps", j, k, off)
			}
			i++
		}
	}
	shuffled := slices.Clone(x)
	rng.Shuffle(n, func(a, b int) {
		for j := range dim {
			shuffled[a*dim+j], shuffled[b*dim+j] = shuffled[b*dim+j], shuffled[a*dim+j]
		}
	})
	if !slices.Equal(sums, momentSums(t, shuffled, dim, radius)) {
		t.Error("the sums depend on the order of records")
	}
}

// TestSecondMomentNoise: releases are symmetric, centred on Σxxᵀ, and their noise
// has NoiseSD on the diagonal and 1/√2 of it off: 3000 squared noises of each kind
// within 6 standard errors (false alarm 10⁻⁸), which 0.9 or √2 times would not be.
func TestSecondMomentNoise(t *testing.T) {
	m := SecondMoment{NoiseMultiplier: 3}
	c := seal(t, Records{X: []float64{1, 0.5, -0.5, 1}, Features: 2, Radius: 2})
	const n = 1500
	o, err := Charge(c, m, 2*n)
	if err != nil {
		t.Fatal(err)
	}
	sd, err := m.NoiseSD(c.Facts())
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * math.Sqrt2 * 4; sd < want || sd > want*(1+1e-6) {
		t.Errorf("NoiseSD is %v, want %v", sd, want)
	}
	var diagonal, off float64
	dst := make([]float64, 4)
	for range 2 * n {
		if err := o.Release(dst, nil); err != nil {
			t.Fatal(err)
		}
		if dst[1] != dst[2] {
			t.Fatalf("%v is not symmetric", dst)
		}
		diagonal += (dst[0] - 1.25) * (dst[0] - 1.25) / (sd * sd)
		off += dst[1] * dst[1] / (sd * sd / 2)
	}
	for name, got := range map[string]float64{"on": diagonal, "off": off} {
		if math.Abs(got-2*n) > 6*math.Sqrt(2*2*n) {
			t.Errorf("%s the diagonal, %d squared noises add up to %v", name, 2*n, got)
		}
	}
	if err := o.Release(dst, nil); !errors.Is(err, ErrSpent) {
		t.Errorf("one release too many: %v", err)
	}
}

func TestSecondMomentPrice(t *testing.T) {
	for adj, multiplier := range map[accountant.Adjacency]float64{accountant.Substitute: 2,
		accountant.AddRemove: 2 * math.Sqrt2} {
		e, err := SecondMoment{NoiseMultiplier: 6}.Event(Facts{Records: 10, Features: 3, Radius: 2, RowsPerPerson: 3,
			Adjacency: adj})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.RDP(8), 8/(2*multiplier*multiplier); got < want || got > want*(1+1e-7) {
			t.Errorf("%v: %v, want %v", adj, got, want)
		}
	}
	c := seal(t, Records{X: []float64{1, 2}, Features: 2})
	if _, err := Charge(c, SecondMoment{NoiseMultiplier: 1}, 1); err == nil {
		t.Error("granted without a radius")
	}
	c = seal(t, Records{X: []float64{1, 2}, Features: 2, Radius: 1})
	for _, noise := range []float64{0, -1, math.NaN(), 513} {
		if _, err := Charge(c, SecondMoment{NoiseMultiplier: noise}, 1); err == nil {
			t.Errorf("granted with noise %v", noise)
		}
	}
	o, err := Charge(c, SecondMoment{NoiseMultiplier: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Release(make([]float64, 3), nil); err == nil || o.Left() != 1 {
		t.Errorf("three values for a matrix of four: error %v, %d left", err, o.Left())
	}
}

// TestMomentsReplay: a release depends on the records through the tape alone.
func TestMomentsReplay(t *testing.T) {
	recorded := tape.New()
	release := func(x []float64, k *tape.Tape) []float64 {
		o, err := Charge(seal(t, Records{X: x, Features: 2, Radius: 1},
			tape.Option(k).(Option)), SecondMoment{NoiseMultiplier: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, 4)
		if err := o.Release(dst, nil); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	want := release([]float64{1, 0, 0, 1}, recorded)
	if got := release([]float64{0.5, 0.5, math.NaN(), 1}, recorded.Rewind()); !slices.Equal(got, want) {
		t.Errorf("replayed over other records: %v, recorded %v", got, want)
	}
}
