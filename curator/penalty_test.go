package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestPenaltyBitDivergence holds the price of a penalty bit against its true
// divergence: never above, and as close as 0.2 % at the worst public part.
func TestPenaltyBitDivergence(t *testing.T) {
	const clip = 0.1
	facts := Facts{Records: 2, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for _, variance := range []float64{0.25, 1, 4, 9} {
		m := AcceptanceBit{Target: newToy(1), Clip: clip, Test: Test{Penalty: variance}}
		event, err := m.Event(facts)
		if err != nil {
			t.Fatal(err)
		}
		for _, alpha := range []float64{1.5, 4, 8} {
			price, best := event.RDP(alpha), 0.0
			for public := -6.0; public < 8; public += 0.02 {
				p, q := acceptProbability(t, []float64{clip, 0}, m, public), acceptProbability(t, []float64{-clip, 0}, m, public)
				if p < 1-1e-9 { // beyond, 1−p is lost in p
					best = max(best, rdpOfBits(alpha, p, q))
				}
			}
			if best > price*(1+1e-9) || best < price*0.998 {
				t.Errorf("σ²=%v, α=%v: the worst divergence is %.5f of the price", variance, alpha, best/price)
			}
		}
	}
}

// TestPenaltyBitCostsLessThanItsLipschitzConstant is why the event exists.
func TestPenaltyBitCostsLessThanItsLipschitzConstant(t *testing.T) {
	facts := Facts{Records: 100, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	event, err := AcceptanceBit{Target: newToy(1), Clip: 0.05, Test: Test{Penalty: 1}}.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	test, _ := Test{Penalty: 1}.build(Batch{})
	slope, _ := test.Lipschitz()
	steep, _ := accountant.Bit{Contribution: slope * 0.05}.Event(facts.Adjacency)
	if ratio := event.RDP(4) / steep.RDP(4); ratio > 0.05 {
		t.Errorf("the bit costs %v of what its steepest log-odds would", ratio)
	}
}

// TestMoveAlong checks directions, the law of lengths and the refusals.
func TestMoveAlong(t *testing.T) {
	const n = 20_000
	c := seal(t, Records{X: []float64{0.1, 0.2}, Features: 2})
	m := AcceptanceBit{Target: newToy(2), Clip: 1, Test: Test{Penalty: 1},
		Proposal: Proposal{Scale: 0.5, OneComponent: true}}
	b := grantBits(t, c, m, n)
	theta, next, direction := []float64{1, -2}, make([]float64, 2), []float64{1, -1}
	flat := func([]float64) float64 { return 0 }
	moved, square := [2]int{}, 0.0
	for range n {
		if _, err := b.MoveAlong(next, theta, direction, flat); err != nil {
			t.Fatal(err)
		}
		for j := range next {
			d := (next[j] - theta[j]) * direction[j]
			if d < 0 {
				t.Fatalf("coordinate %d moved by %v against its direction", j, next[j]-theta[j])
			}
			if d > 0 {
				moved[j]++
			}
			square += d * d
		}
	}
	// 6 standard errors: false-alarm rate 4·10⁻⁹.
	if moved[0]+moved[1] != n || math.Abs(float64(moved[0])-n/2) > 3*math.Sqrt(n) ||
		math.Abs(square/n-0.25) > 6*0.25*math.Sqrt(2.0/n) {
		t.Errorf("%v moves of each coordinate, mean square %v, want %d in all and 0.25", moved, square/n, n)
	}
	if _, err := b.MoveAlong(next, theta, direction, flat); err != ErrSpent {
		t.Errorf("after the last release: %v", err)
	}
	if _, err := b.MoveAlong(next, theta, direction[:1], flat); err == nil {
		t.Error("one direction for two parameters was accepted")
	}
	m.Proposal = Proposal{Scale: 0.5}
	if _, err := grantBits(t, c, m, 1).MoveAlong(next, theta, direction, flat); err == nil {
		t.Error("directions were accepted for isotropic moves")
	}
}

// TestReleaseWithin holds the noise to the clip of each move.
func TestReleaseWithin(t *testing.T) {
	const n = 4000
	c := seal(t, Records{X: []float64{0.5, -0.25}, Features: 1})
	r, err := Charge(c, NoisyRatio{Target: newToy(1), Clip: 1, NoiseMultiplier: 2}, 2*n)
	if err != nil {
		t.Fatal(err)
	}
	for _, clip := range []float64{0.1, 3} {
		var sum, square float64
		for range n {
			v, err := r.ReleaseWithin([]float64{-1}, []float64{0}, clip)
			if err != nil {
				t.Fatal(err)
			}
			sum, square = sum+v, square+v*v
		}
		sd, mean := 2*2*clip, min(0.5, clip)-min(0.25, clip)
		if math.Abs(r.NoiseSD()-sd) > 1e-12 {
			t.Errorf("clip %v: noise of %v, want %v", clip, r.NoiseSD(), sd)
		}
		// 6 standard errors of each: false-alarm rate 4·10⁻⁹.
		if math.Abs(sum/n-mean) > 6*sd/math.Sqrt(n) || math.Abs(square/n/(sd*sd+mean*mean)-1) > 6*math.Sqrt(2.0/n) {
			t.Errorf("clip %v: mean %v and mean square %v, want %v and %v", clip, sum/n, square/n, mean, sd*sd)
		}
	}
	for _, clip := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := r.ReleaseWithin([]float64{-1}, []float64{0}, clip); err == nil || r.Left() != 0 {
			t.Errorf("a clip of %v was accepted", clip)
		}
	}
}
