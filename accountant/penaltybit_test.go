package accountant

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// penaltyAcceptance is a(u) and 1−a(u) of the penalty test by quadrature of its
// definition: accept when u + N(0,σ²) + E − σ²/2 > 0, E ~ Exp(1).
func penaltyAcceptance(u, variance float64) (accept, reject float64) {
	sd := math.Sqrt(variance)
	const h = 0x1p-9
	for e := h / 2; e < 60; e += h {
		w := math.Exp(-e) * h
		accept += w * normal.Tail(-(u+e-variance/2)/sd)
		reject += w * normal.Tail((u+e-variance/2)/sd)
	}
	return accept, reject
}

// penaltyScan is the largest divergence found by brute force over u.
func penaltyScan(variance, s, order float64) float64 {
	sd, best := math.Sqrt(variance), 0.0
	for u := -20.0; ; u += 0.01 {
		a, r := penaltyLogs(u, sd)
		b, q := penaltyLogs(u+s, sd)
		if u > sd*(9.2+sd/2) { // where no bit can be told from another
			break
		}
		best = max(best, logMoment(order, a-r, b-a+r-q), logMoment(order, q-b, b-a+r-q))
	}
	return best / (order - 1)
}

func TestPenaltyLogs(t *testing.T) {
	for _, variance := range []float64{0.25, 1, 4, 9} {
		for _, u := range []float64{-6, -1, 0, 0.5, 2, 5} {
			a, r := penaltyLogs(u, math.Sqrt(variance))
			accept, reject := penaltyAcceptance(u, variance)
			// The midpoint rule's error: h²/24 of a second derivative below 20.
			if math.Abs(math.Exp(a)-accept) > 4e-6 || math.Abs(math.Exp(r)-reject) > 4e-6 {
				t.Errorf("σ²=%v, u=%v: a = %v, 1−a = %v; quadrature %v, %v", variance, u, math.Exp(a), math.Exp(r), accept, reject)
			}
		}
	}
}

// TestPenaltyBitRatiosOfTheory holds the bit's cost over the Gaussian release's
// to theory §2.4: s = 0.05 under substitution, α = 2.
func TestPenaltyBitRatiosOfTheory(t *testing.T) {
	for _, c := range []struct{ variance, want float64 }{{0.5, 0.335}, {1, 0.406}, {2, 0.475}, {4, 0.532}} {
		e, err := penalty(Substitute, c.variance, 0.025)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.RDP(2) / gaussianRDP(2, 0.05/math.Sqrt(c.variance)); math.Abs(got-c.want) > 6e-4 {
			t.Errorf("σ²=%v: bit over Gaussian %.4f, want %v", c.variance, got, c.want)
		}
	}
}

// TestPenaltyBitIsTheSupremum compares the proven supremum with a dense scan:
// never below, at most 0.15 % above (the scan's own step) unless a closed form is smaller still.
func TestPenaltyBitIsTheSupremum(t *testing.T) {
	for _, variance := range []float64{0.25, 1, 2, 9} {
		for _, s := range []float64{0.001, 0.05, 0.7, 3} {
			for _, order := range []float64{1.1, 2, 16, 60} {
				want := penaltyScan(variance, s, order)
				got := penaltyBit{variance, s}.rdp(AddRemove, order)
				limit := min(gaussianRDP(order, s/math.Sqrt(variance)), mostPenaltyRange)
				if got < want*(1-1e-9) && got < limit*(1-1e-9) || got > want*1.0015+1e-10 && got < limit*(1-1e-9) {
					t.Errorf("σ²=%v s=%v α=%v: %v, scan %v, Gaussian %v", variance, s, order, got, want, limit)
				}
			}
		}
	}
}

// bends is how far a penalty pair's values at x bend downwards, and what sag says of it.
func bends(p *penaltyPair, order, x float64) (bend, sag float64) {
	const h = 0.01
	s := bitSearch{pair: p, order: order}
	lo, mid, hi := s.edge(x-h), s.edge(x), s.edge(x+h)
	return (2*mid.v - lo.v - hi.v) / (h * h), p.sag(x-h, x+h, order, lo.above+hi.below)
}

// TestPenaltyValuesBendNoMoreThanSag: second differences respect the bound of docs/proofs/penalty.md, §3.
func TestPenaltyValuesBendNoMoreThanSag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(0.5, 3).Draw(t, "σ")
		move := math.Exp(rapid.Float64Range(-5, 1.8).Draw(t, "log move"))
		order := 1 + math.Exp(rapid.Float64Range(-3, 5).Draw(t, "log (α−1)"))
		p := newPenaltyPair(sd, move, rapid.Bool().Draw(t, "down"), largestPenaltyMove)
		x := rapid.Float64Range(-25, sd*(5+sd/2)).Draw(t, "x")
		if p.down {
			x = -x
		}
		if bend, sag := bends(p, order, x); bend > sag+1e-4 { // differences have ten digits
			t.Fatalf("bends by %v, the bound is %v", bend, sag)
		}
	})
}

// TestLooseSagIsCaught is the mutant: a hundredth of the bound does not hold, nor one beyond the clamp.
func TestLooseSagIsCaught(t *testing.T) {
	p := newPenaltyPair(1.8, 0.0017, true, largestPenaltyMove)
	if bend, sag := bends(p, 5, -1.3); bend <= sag/100 {
		t.Errorf("values bend by %v, a hundredth of the bound is %v", bend, sag/100)
	}
	if sag := p.sag(-p.low-0.1, -p.low+0.1, 5, 0.001); !math.IsInf(sag, 1) {
		t.Errorf("a bound of %v holds across the end of the domain", sag)
	}
}

// TestUnderpricedPenaltyBitIsCaught is the mutant: the cost of half the
// contribution does not cover the scan.
func TestUnderpricedPenaltyBitIsCaught(t *testing.T) {
	if (penaltyBit{1, 0.05}).rdp(AddRemove, 4) >= penaltyScan(1, 0.1, 4) {
		t.Error("half the contribution pays for the whole")
	}
}

// TestIsotropicPenaltyBitAverages compares with quadrature over |Z| of the
// scanned suprema.
func TestIsotropicPenaltyBitAverages(t *testing.T) {
	for _, variance := range []float64{0.5, 2} {
		for _, scale := range []float64{0.01, 0.1} {
			for _, order := range []float64{1.5, 4} {
				const h = 0.1
				sum := 0.0
				for z := h / 2; z < 7; z += h {
					sum += 2 * normal.Density(z) * h * math.Expm1((order-1)*penaltyScan(variance, scale*z, order))
				}
				want := math.Log1p(sum) / (order - 1)
				got := isotropicPenaltyBit{variance, scale}.rdp(AddRemove, order)
				if got < want*(1-1e-3) || got > want*1.01 {
					t.Errorf("σ²=%v scale=%v α=%v: %v, quadrature %v", variance, scale, order, got, want)
				}
			}
		}
	}
}

// TestIsotropicPenaltyBitCoversTwoDirections: the records of a replacement move
// the log-odds by scale·|Z₁| and scale·|Z₂|, normals of any correlation. The
// price is that of the worst, equal ones, because what is averaged is convex; the
// numbers that it averages are so to the last, and above scanned moments at and
// between the values of |Z| where they are computed.
func TestIsotropicPenaltyBitCoversTwoDirections(t *testing.T) {
	const variance, scale, order = 1.0, 0.15, 2.0
	scan := func(move, order float64) float64 { return math.Expm1((order - 1) * penaltyScan(variance, move, order)) }
	for _, c := range []struct{ s, order float64 }{{2 * scale, order}, {2, 1.05}, {0.02, 16}} {
		gain := c.order * (c.order - 1) * c.s * c.s / variance
		k := penaltyMajorant(1, c.s, c.order, gain)
		at, above := k.at, k.above
		for i, v := range above {
			above[i] = math.Exp(v)
		}
		slope := 0.0
		for i := 1; i < len(at); i++ {
			rise := (above[i] - above[i-1]) / (at[i] - at[i-1])
			if rise < slope*(1-1e-9) {
				t.Errorf("s=%v α=%v: slopes fall from %v to %v at |Z| = %v", c.s, c.order, slope, rise, at[i])
			}
			slope = rise
			middle := c.s * (at[i-1] + at[i]) / 2
			if i%7 != 0 || middle > 3 { // where the scan's own tails underflow
				continue
			}
			if got, want := (above[i-1]+above[i])/2, scan(middle, c.order); got < want*(1-1e-9) {
				t.Errorf("s=%v α=%v: %v for a move of %v, scan %v", c.s, c.order, got, middle, want)
			}
		}
	}
	var moments []float64 // of moves in steps of 0.05
	for move := 0.0; move < 3; move += 0.05 {
		moments = append(moments, scan(move, order))
	}
	claimed := isotropicPenaltyBit{variance, scale}.rdp(Substitute, order)
	for _, correlation := range []float64{0, 0.7, 0.97} {
		const h = 0.2
		sum := 0.0
		for z := -4.9; z < 5; z += h {
			for y := -4.9; y < 5; y += h {
				other := correlation*z + math.Sqrt(1-correlation*correlation)*y
				move := scale * (math.Abs(z) + math.Abs(other)) / 0.05
				i := int(move)
				sum += h * h * normal.Density(z) * normal.Density(y) * (moments[i] + (move-float64(i))*(moments[i+1]-moments[i]))
			}
		}
		if got := math.Log1p(sum) / (order - 1); got > claimed {
			t.Errorf("correlation %v: %v, claimed %v", correlation, got, claimed)
		}
	}
}

func TestPenaltyBitEdges(t *testing.T) {
	for _, bad := range []struct{ variance, c float64 }{
		{0, 1}, {0.2, 1}, {9.1, 1}, {math.NaN(), 1}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)},
	} {
		if _, err := penalty(Substitute, bad.variance, bad.c); err == nil {
			t.Errorf("PenaltyBit(%v, %v) was accepted", bad.variance, bad.c)
		}
		if _, err := isotropicPenalty(Substitute, bad.variance, bad.c); err == nil {
			t.Errorf("IsotropicPenaltyBit(%v, %v) was accepted", bad.variance, bad.c)
		}
	}
	for _, build := range []func(Adjacency, float64, float64) (Event, error){penalty, isotropicPenalty} {
		e, err := build(Substitute, 2, 0.03)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(e) {
			t.Errorf("%s does not come back: %v", text, err)
		}
		if zero, _ := build(Substitute, 2, 0); zero.RDP(4) != 0 {
			t.Errorf("%v costs %v", zero, zero.RDP(4))
		}
		// The cost rises with the order, and stays above nothing.
		last := 0.0
		for order := 1.01; order < 1e4; order *= 1.7 {
			v := e.RDP(order)
			if !(v >= last*(1-1e-3)) {
				t.Errorf("%v: cost falls from %v to %v at order %v", e, last, v, order)
			}
			last = v
		}
	}
}

func BenchmarkPenaltyBit(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		penaltyBit{2, 0.02}.rdp(Substitute, 20)
	}
}

func BenchmarkIsotropicPenaltyBit(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		isotropicPenaltyBit{2, 0.02}.rdp(Substitute, 20)
	}
}

// TestPenaltyRatiosOfTheory is theory 2.4: the bit's cost over that of the Gaussian
// release, order·s²/(2σ²).
func TestPenaltyRatiosOfTheory(t *testing.T) {
	for variance, want := range map[float64]float64{0.5: 0.335, 1: 0.406, 2: 0.475, 4: 0.532} {
		const s, order = 0.05, 2
		event, err := penalty(AddRemove, variance, s)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := event.RDP(order) / (order * s * s / (2 * variance)); math.Abs(ratio-want) > 0.002 {
			t.Errorf("σ² = %v: ratio %v, want %v", variance, ratio, want)
		}
	}
}
