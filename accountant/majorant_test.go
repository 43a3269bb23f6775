package accountant

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// TestMajorantCoversAndIsConvex for sums of a square and of a wave that grows and
// is concave in places, by a known amount: between its nodes too, and beyond the
// last against a line that continues the square.
func TestMajorantCoversAndIsConvex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		square := rapid.Float64Range(0, 2).Draw(t, "square")
		wave, rate := rapid.Float64Range(0, 3).Draw(t, "wave"), rapid.Float64Range(0.1, 4).Draw(t, "rate")
		f := func(z float64) float64 { return square*z*z + wave*(rate*z-math.Sin(rate*z)) + 1e-3*z }
		concave := wave * rate * rate // at most
		m := majorant{}
		m.add(0, math.Inf(-1))
		for range 30 {
			w := rapid.Float64Range(0.05, 0.6).Draw(t, "cell")
			z := m.at[len(m.at)-1] + w
			m.add(z, math.Log(f(z)))
			m.cover(math.Log(concave * w * w / 8))
		}
		end := m.at[len(m.at)-1]
		touch := rapid.Float64Range(0.01, 100).Draw(t, "touch")
		m.touch(math.Log(f(end)), math.Log(touch))
		m.straighten()
		slope := 0.0
		for i := 1; i < len(m.at); i++ {
			a, b := math.Exp(m.above[i-1]), math.Exp(m.above[i])
			rise := (b - a) / (m.at[i] - m.at[i-1])
			if rise < slope*(1-1e-9)-1e-12 {
				t.Fatalf("slopes fall from %v to %v at %v", slope, rise, m.at[i])
			}
			slope = rise
			for s := 0.0; s <= 1; s += 0.125 {
				z := m.at[i-1] + s*(m.at[i]-m.at[i-1])
				if got := a + s*(b-a); got < max(f(z), f(end)+touch*(z-end))*(1-1e-12)-1e-12 {
					t.Fatalf("%v at %v, the function is %v, the line %v", got, z, f(z), f(end)+touch*(z-end))
				}
			}
		}
	})
}

// TestMajorantMean against a sum over |Z|, the last chord going on: never below,
// and above by no more than the cells of the sum explain.
func TestMajorantMean(t *testing.T) {
	m := majorant{}
	for _, z := range []float64{0, 0.5, 1, 2, 3.5, 6} {
		m.add(z, math.Log(z*z+0.1))
	}
	s := newLogSum()
	m.addMean(&s)
	want := halfNormal(func(z float64) float64 {
		i := min(max(1, slices.IndexFunc(m.at, func(a float64) bool { return a >= z })), len(m.at)-1)
		if z > 6 {
			i = len(m.at) - 1
		}
		a, b := math.Exp(m.above[i-1]), math.Exp(m.above[i])
		return a + (b-a)*(z-m.at[i-1])/(m.at[i]-m.at[i-1])
	})
	if got := math.Exp(s.log()); math.Abs(got/want-1) > 1e-4 {
		t.Errorf("mean %v, by a sum %v", got, want)
	}
}

// TestRowsOfSeveralDirections: two rows of one person, in directions at any angle,
// contribute scale·|Z₁| and scale·|Z₂| to a bit on a Poisson batch. The price of
// one row of twice the scale covers the mean of the suprema.
func TestRowsOfSeveralDirections(t *testing.T) {
	const q, scale, order, step = 0.3, 0.5, 8.0, 0.1
	for _, up := range []bool{true, false} {
		var moments []float64 // of contributions in steps of 0.1
		x := 0.0
		for c := 0.0; c < 8; c += step {
			s := newBitPair(q, c, up, !up).search(order, x, 1e-3)
			moments, x = append(moments, math.Expm1(math.Exp(s.top.v))), s.top.x
		}
		moments[0] = 0
		m := &sampledIsotropicBit{q: q, scale: 2 * scale, adj: AddRemove, whole: isotropicBit{scale}}
		claimed := math.Exp(m.logExcess(up, order))
		for _, correlation := range []float64{0, 0.6, 0.95} {
			const h = 0.15
			sum := 0.0
			for z := -5.0; z < 5; z += h {
				for y := -5.0; y < 5; y += h {
					other := correlation*z + math.Sqrt(1-correlation*correlation)*y
					c := scale * (math.Abs(z) + math.Abs(other)) / step
					i := int(c)
					sum += h * h * normal.Density(z) * normal.Density(y) * (moments[i] + (c-float64(i))*(moments[i+1]-moments[i]))
				}
			}
			if sum > claimed {
				t.Errorf("up %v, correlation %v: %v, claimed %v", up, correlation, sum, claimed)
			}
		}
	}
}
