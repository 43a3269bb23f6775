package accountant

import (
	"encoding/json"
	"math"
	"testing"
)

// logMeanExp is log E exp(f(Z₁, Z₂)) over two standard normals, by the
// trapezoidal rule, whose error on such integrands is far below 10⁻⁶.
func logMeanExp(f func(z1, z2 float64) float64) float64 {
	const step, end = 0.1, 9.0
	sum := 0.0
	for z1 := -end; z1 <= end; z1 += step {
		for z2 := -end; z2 <= end; z2 += step {
			sum += math.Exp(f(z1, z2)-(z1*z1+z2*z2)/2) * step * step / (2 * math.Pi)
		}
	}
	return math.Log(sum)
}

// TestSignBitsCoverTheWorstDirection compares the closed form with the true
// worst case of two bits, and of two bits and a third, over all directions of
// the contribution: never above it, and close to it for small contributions.
func TestSignBitsCoverTheWorstDirection(t *testing.T) {
	for _, tc := range []struct {
		contribution, further, order, tight float64
	}{
		{0.02, 0, 4, 0.995}, {0.02, 0.05, 4, 0.995}, {0.1, 0, 8, 0.97}, {0.1, 0.05, 3, 0.97}, {0.4, 0.1, 2, 0.9},
	} {
		e, err := SignBits(AddRemove, 2, tc.contribution, tc.further)
		if err != nil {
			t.Fatal(err)
		}
		bound, worst := e.RDP(tc.order), 0.0
		for _, angle := range []float64{0, 0.2, 0.5, math.Pi / 4} {
			v1, v2 := tc.contribution*math.Cos(angle), tc.contribution*math.Sin(angle)
			worst = max(worst, logMeanExp(func(z1, z2 float64) float64 {
				return (tc.order - 1) * (boundedRangeRDP(tc.order, math.Abs(z1*v1)) + boundedRangeRDP(tc.order, math.Abs(z2*v2)) +
					boundedRangeRDP(tc.order, tc.further*math.Hypot(z1, z2)))
			})/(tc.order-1))
		}
		if worst > bound || worst < tc.tight*bound {
			t.Errorf("contribution %v, further %v, order %v: the worst case costs %v, the bound is %v", tc.contribution,
				tc.further, tc.order, worst, bound)
		}
		half, err := SignBits(AddRemove, 2, tc.contribution*0.9, tc.further*0.9)
		if err != nil {
			t.Fatal(err)
		}
		if half.RDP(tc.order) >= worst {
			t.Errorf("contribution %v: a bound for a tenth less still covers the worst case, so nothing is tested",
				tc.contribution)
		}
	}
}

func TestSignBits(t *testing.T) {
	for _, bad := range []struct {
		dim                   int64
		contribution, further float64
	}{{0, 1, 0}, {1, -1, 0}, {1, math.NaN(), 0}, {1, math.Inf(1), 0}, {1, 1, -1}, {1, 1, math.NaN()}} {
		if _, err := SignBits(Substitute, bad.dim, bad.contribution, bad.further); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	e, err := SignBits(Substitute, 3, 0.01, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	// To first order αa²/8 + dim·αb²/8 with doubled numbers.
	if got, want := e.RDP(2), 2*(0.02*0.02+3*0.04*0.04)/8; math.Abs(got/want-1) > 0.01 {
		t.Errorf("costs %v at order 2, want about %v", got, want)
	}
	if !math.IsInf(e.RDP(60), 1) || !math.IsInf(e.RDP(math.Inf(1)), 1) || math.IsInf(e.RDP(40), 1) {
		t.Errorf("costs %v, %v and %v at orders 40, 60 and ∞", e.RDP(40), e.RDP(60), e.RDP(math.Inf(1)))
	}
	document, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Event
	if err := json.Unmarshal(document, &back); err != nil || !back.Equal(e) {
		t.Errorf("%s reads back as %v (%v)", document, back, err)
	}
	if nothing, err := SignBits(Substitute, 2, 0, 0); err != nil || nothing.RDP(math.Inf(1)) != 0 {
		t.Errorf("bits that no record moves cost %v (%v)", nothing.RDP(math.Inf(1)), err)
	}
}
