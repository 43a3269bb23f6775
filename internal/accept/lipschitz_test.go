package accept

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// found returns the steepest finite differences of the log-odds on a grid that
// goes beyond the limit.
func found(t Test) (perLogOdds, perVariance float64) {
	const h, points = 1e-5, 1200
	reach, most := t.limit()+1, t.VarianceLimit()
	for i := range points + 1 {
		u := -reach + 2*reach*float64(i)/points
		for j := range 9 {
			v := (most - h) * float64(j) / 8
			perLogOdds = max(perLogOdds, math.Abs(logitAt(t, u+h, v)-logitAt(t, u-h, v))/(2*h))
			if most > 0 {
				perVariance = max(perVariance, math.Abs(logitAt(t, u, v+h)-logitAt(t, u, v))/h)
			}
			if most == 0 {
				break
			}
		}
	}
	return perLogOdds, perVariance
}

// understated reports constants that slopes of the test exceed.
func understated(t Test, perLogOdds, perVariance float64) bool {
	u, v := found(t)
	const differencing = 1 + 1e-6 // rounding of the differences, and their curvature
	return u > perLogOdds*differencing || v > perVariance*differencing
}

func TestLipschitzConstants(t *testing.T) {
	tests := someTests()
	tests["penalty C=2"] = must(NewPenalty(2, 1, 3))
	tests["penalty C=¼"] = must(NewPenalty(0.25, 0, 4))
	tests["corrected C=1.5"] = must(NewCorrected(1.5, 1, 8))
	for name, test := range tests {
		perLogOdds, perVariance := test.Lipschitz()
		u, v := found(test)
		t.Logf("%s: Λ = %.4f (%.4f attained), Λv = %.4f (%.4f attained)", name, perLogOdds, u/perLogOdds, perVariance,
			v/perVariance)
		if understated(test, perLogOdds, perVariance) {
			t.Errorf("%s: slopes of %v and %v exceed %v and %v", name, u, v, perLogOdds, perVariance)
		}
		if u < 0.98*perLogOdds || v < 0.98*perVariance {
			t.Errorf("%s: slopes of %v and %v do not nearly attain %v and %v", name, u, v, perLogOdds, perVariance)
		}
		// Constants understated by 5 % must not pass.
		if !understated(test, 0.95*perLogOdds, perVariance) {
			t.Errorf("%s: Λ understated by 5%% is not noticed", name)
		}
		if perVariance > 0 && !understated(test, perLogOdds, 0.95*perVariance) {
			t.Errorf("%s: Λv understated by 5%% is not noticed", name)
		}
	}
}

// The values that theory 2.6 gives at U = 8: 1.00 at v = 0 and 1.18 up to v = ½.
func TestLipschitzOfTheory(t *testing.T) {
	for want, test := range map[float64]Test{1.00: full1(), 1.18: corrected1()} {
		if got, _ := test.Lipschitz(); math.Abs(got-want) > 0.005 {
			t.Errorf("Λ = %v, want %v", got, want)
		}
	}
}

func TestLipschitzBetweenAnyTwoPoints(t *testing.T) {
	for name, test := range someTests() {
		perLogOdds, perVariance := test.Lipschitz()
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				u0, u1 := rapid.Float64Range(-20, 20).Draw(t, "u0"), rapid.Float64Range(-20, 20).Draw(t, "u1")
				v0, v1 := rapid.Float64Range(0, 1).Draw(t, "v0"), rapid.Float64Range(0, 1).Draw(t, "v1")
				got := math.Abs(logitAt(test, u1, v1) - logitAt(test, u0, v0))
				if bound := perLogOdds*math.Abs(u1-u0) + perVariance*math.Abs(v1-v0) + rounding; got > bound {
					t.Fatalf("the log-odds differ by %v, more than %v", got, bound)
				}
			})
		})
	}
}

// Every enclosure must hold at points of its cell.
func TestEnclosures(t *testing.T) {
	for name, test := range someTests() {
		limit, most := test.limit(), test.VarianceLimit()
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				width := math.Exp2(rapid.Float64Range(-8, 2).Draw(t, "width"))
				u0 := rapid.Float64Range(-limit, limit-0.1).Draw(t, "u0")
				v0 := rapid.Float64Range(0, most).Draw(t, "v0")
				c := cell{u0, min(limit, u0+width), v0, min(most, v0+width/4)}
				e := test.bound(c)
				at := rapid.Float64Range(0, 1)
				u, v := c.u0+at.Draw(t, "u")*(c.u1-c.u0), c.v0+at.Draw(t, "v")*(c.v1-c.v0)
				point := test.bound(cell{u, u, v, v})
				tail, upper := test.Accept(u, v)
				accept, reject := tail, 1-tail
				if upper {
					accept, reject = reject, tail
				}
				const slack = 1 + 1e-9
				if tail > MinTail && (e.accept > accept*slack || e.reject > reject*slack) {
					t.Fatalf("%+v: a = %v, 1−a = %v at (%v, %v) are below %+v", c, accept, reject, u, v, e)
				}
				if point.slope > e.slope*slack || point.drift > e.drift*slack+1e-12 {
					t.Fatalf("%+v: slopes %+v at (%v, %v) exceed %+v", c, point, u, v, e)
				}
			})
		})
	}
}
