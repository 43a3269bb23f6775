package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/audit"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
)

// TestLatticeIsThePosterior: the point of an index has that index; the attacker's
// score is the difference of the losses up to a constant; and, since the two data
// sets mirror each other, the constant is 0 and the largest score is within a step of
// what the loss allows, half of the claim.
func TestLatticeIsThePosterior(t *testing.T) {
	for _, i := range []int{0, 1, latticeSide - 1, latticeSide, latticeSide*latticeSide - 1} {
		if got := latticeIndex(latticePoint(i)); got != i {
			t.Errorf("point %d has index %d", i, got)
		}
	}
	const claimed = 2.0
	m, err := attackPosterior("β-OPS", 2, claimed)
	if err != nil {
		t.Fatal(err)
	}
	o, err := latticeOpponent(m)
	if err != nil {
		t.Fatal(err)
	}
	// β = 2 at ε = 2: the loss of p is −p + (p² + (1−p)²)/2 up to a constant.
	loss := func(eta float64) float64 {
		p := 1 / (1 + math.Exp(-eta))
		return -p + (p*p+(1-p)*(1-p))/2
	}
	for _, theta := range [][]float64{{0, 0}, {1, 0.5}, {-3, 2}, {7, -1}} {
		want := loss(theta[1]+theta[0]) - loss(theta[1]-theta[0])
		if got := o.odds(theta); math.Abs(got-want) > 1e-9 {
			t.Errorf("score at %v is %v, want %v", theta, got, want)
		}
	}
	if o.pair > claimed/2+1e-9 || o.pair < 0.98*claimed/2 {
		t.Errorf("the pair shows ε = %v, want nearly %v", o.pair, claimed/2)
	}
}

// TestLowerBoundsOfACoin: the published denominators find ε > 1 in guesses; rates
// within their class find nothing.
func TestLowerBoundsOfACoin(t *testing.T) {
	correct, published, err := lowerBounds(audit.Trials{Absent: 5000, Present: 5000, FalsePositives: 2500,
		FalseNegatives: 2500}, 0)
	if err != nil || correct != 0 || published < 1 || published > math.Log(3) {
		t.Errorf("a coin flip: ε ≥ %v, published %v (%v)", correct, published, err)
	}
}

// TestThresholdIsOfAnotherGame: against noise of N(±½, 1) the chosen threshold lies in
// a tail, where the bound is larger than at 0, and the release that decides it is not
// used again. With 40 000 simulated rounds the bound found is near that of the best of
// all thresholds, 1.3 or more; a run in which it is not has a probability below 1e-6.
func TestThresholdIsOfAnotherGame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	o := opponent{
		release: func(rng *rand.Rand, present bool) []float64 {
			mean := -0.5
			if present {
				mean = 0.5
			}
			return []float64{mean + rng.NormFloat64()}
		},
		odds: func(theta []float64) float64 { return theta[0] },
	}
	at := o.threshold(rng, 4*attackRounds, 0)
	tail, err := o.play(context.Background(), rng, at)
	if err != nil {
		t.Fatal(err)
	}
	middle, err := o.play(context.Background(), rng, 0)
	if err != nil {
		t.Fatal(err)
	}
	chosen, _, err := lowerBounds(tail, 0)
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := lowerBounds(middle, 0)
	if err != nil {
		t.Fatal(err)
	}
	if chosen < plain+0.1 || plain < 0.6 || plain > 0.81 {
		t.Errorf("threshold %v shows ε ≥ %v, 0 shows %v; want more than 0.1 above about 0.75", at, chosen, plain)
	}
}

// TestLearntOdds recovers the log odds of two laws on the line, of squares of side ½:
// 0.5 and −0.5 away from the middle of N(±½, 1), within the error of 1e5 simulations.
func TestLearntOdds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	odds, err := learnOdds(100_000, func(present bool) []float64 {
		mean := -0.5
		if present {
			mean = 0.5
		}
		return []float64{mean + rng.NormFloat64(), 0}
	})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]float64{0.7: 0.74, -0.7: -0.74, 1.2: 1.23, 60: 0} {
		if got := odds([]float64{x, 0}); math.Abs(got-want) > 0.15 { // 6 standard errors in the cell with the fewest
			t.Errorf("log odds %v at %v, want %v", got, x, want)
		}
	}
	if _, err := learnOdds(10, nil); err == nil {
		t.Error("ten simulations were enough")
	}
}

// TestOptimum: climb ends where the gradient vanishes.
func TestOptimum(t *testing.T) {
	m, err := attackPosterior("β-OPS", 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	var p posterior.LogDensity
	if p, err = m.Density(attackPair[0]); err != nil {
		t.Fatal(err)
	}
	theta, grad := climb(p), make([]float64, 2)
	p.LogDensityGrad(grad, theta)
	if distance(grad, make([]float64, 2)) > 1e-6 || theta[0] <= 0 {
		t.Errorf("optimum %v with gradient %v", theta, grad)
	}
}
