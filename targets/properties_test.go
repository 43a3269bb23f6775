package targets

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

// wild draws ordinary numbers and the ones that break things.
func wild() *rapid.Generator[float64] {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1 << 53, -(1 << 53), 1e8,
		-1e8, 1e300, 0.5}
	return rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-3, 3), rapid.SampledFrom(special))
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// TestLinearTargetsGoThroughThePredictor: the loss is LossAt of X·θ and the
// gradient SlopeAt times the row, in every bit and for every record; dst may be
// eta.
func TestLinearTargetsGoThroughThePredictor(t *testing.T) {
	for _, l := range []Loss{{}, betaLoss(t, 1.5)} {
		for _, c := range modelCases(t, l) {
			m, ok := c.target.(LinearTarget)
			if !ok {
				continue
			}
			rapid.Check(t, func(t *rapid.T) {
				p, n := m.Dim(), rapid.IntRange(1, 6).Draw(t, "n")
				theta := rapid.SliceOfN(rapid.Float64Range(-3, 3), p, p).Draw(t, "theta")
				rows := Rows{X: rapid.SliceOfN(wild(), n*p, n*p).Draw(t, "x"), P: p, Y: rapid.SliceOfN(wild(), n, n).Draw(t, "y")}
				eta, at := make([]float64, n), make([]float64, n)
				for i := range n {
					eta[i] = dense.Dot(theta, rows.Row(i))
				}
				m.LossAt(at, eta, rows.Y)
				if got := lossOf(m, theta, rows); !same(got, at) {
					t.Fatalf("Loss %v, LossAt %v", got, at)
				}
				slope, grad := slices.Clone(eta), make([]float64, n*p)
				m.SlopeAt(slope, slope, rows.Y)
				m.(GradTarget).LossGrad(grad, theta, rows)
				for i, s := range slope {
					for j, x := range rows.Row(i) {
						if want := s * x; s != 0 && !same(grad[i*p+j:i*p+j+1], []float64{want}) {
							t.Fatalf("record %d: gradient %v, slope %v of feature %v", i, grad[i*p+j], s, x)
						}
					}
				}
			})
		}
	}
}

// TestRatioBoundsHold: no record inside the radius exceeds the bound of a move,
// whatever its response.
func TestRatioBoundsHold(t *testing.T) {
	for _, l := range []Loss{{}, betaLoss(t, 1.1), betaLoss(t, 2)} {
		for _, c := range modelCases(t, l) {
			rapid.Check(t, func(t *rapid.T) {
				p, response := c.target.Shape()
				d := c.target.Dim()
				theta := rapid.SliceOfN(rapid.Float64Range(-3, 3), d, d).Draw(t, "theta")
				next := rapid.SliceOfN(rapid.Float64Range(-3, 3), d, d).Draw(t, "next")
				rows := Rows{X: rapid.SliceOfN(rapid.Float64Range(-1, 1), p, p).Draw(t, "x"), P: p}
				if response {
					rows.Y = []float64{wild().Draw(t, "y")}
				}
				ratio := make([]float64, 1)
				c.target.(RatioTarget).LossRatio(ratio, theta, next, rows)
				bound := c.target.(RatioCertificate).RatioBound(theta, next, math.Sqrt(float64(p)))
				if math.Abs(ratio[0]) > bound*(1+1e-9)+1e-12 {
					t.Fatalf("%s: ratio %v, bound %v", c.name, ratio[0], bound)
				}
			})
		}
	}
}

// TestRowsSlice: a slice of a slice is the slice, with or without features or
// responses.
func TestRowsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(0, 9).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "p")
		r := Rows{X: rapid.SliceOfN(rapid.Float64(), n*p, n*p).Draw(t, "x"), P: p}
		if p == 0 || rapid.Bool().Draw(t, "response") {
			r.Y = rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "y")
		}
		if r.Len() != n {
			t.Fatalf("%d records, want %d", r.Len(), n)
		}
		lo := rapid.IntRange(0, n).Draw(t, "lo")
		hi := rapid.IntRange(lo, n).Draw(t, "hi")
		s := r.Slice(lo, hi)
		if s.Len() != hi-lo || (s.Y == nil) != (r.Y == nil) {
			t.Fatalf("slice of %d records, responses %v", s.Len(), s.Y != nil)
		}
		for i := range s.Len() {
			if !same(s.Row(i), r.Row(lo+i)) || r.Y != nil && s.Y[i] != r.Y[lo+i] {
				t.Fatalf("record %d of the slice differs", i)
			}
		}
	})
}
