package curator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

var (
	centre = []float64{1, -2}
	lower  = []float64{0.5, 0, 0.3, 0.8}
)

// TestIndependentDraws: distances of draws follow the t distribution, LogRatio is the
// logarithm of its density's ratio, and nothing depends on the state. In two dimensions
// P(‖z‖² > q) = (1 + q/ν)^(−ν/2): counts of 10⁵ draws are within 6 standard deviations
// (false alarm below 10⁻⁷) at three levels, which a normal's would not be.
func TestIndependentDraws(t *testing.T) {
	const n, nu = 100_000, 5.0
	p := curator.Proposal{Mean: centre, Factor: lower, Freedom: nu}
	rng := rand.New(rand.NewPCG(3, 4))
	next := make([]float64, 2)
	counts := map[float64]int{1: 0, 4: 0, 20: 0}
	for range n {
		p.Propose(rng, next, []float64{9, 9})
		z0 := (next[0] - centre[0]) / 0.5
		z1 := (next[1] - centre[1] - 0.3*z0) / 0.8
		for q := range counts {
			if z0*z0+z1*z1 > q {
				counts[q]++
			}
		}
	}
	for q, got := range counts {
		chance := math.Pow(1+q/nu, -nu/2)
		if math.Abs(float64(got)-n*chance) > 6*math.Sqrt(n*chance*(1-chance)) {
			t.Errorf("%d of %d draws are beyond %v, want about %v", got, n, q, n*chance)
		}
	}
	log := func(theta []float64) float64 {
		z0 := (theta[0] - centre[0]) / 0.5
		z1 := (theta[1] - centre[1] - 0.3*z0) / 0.8
		return -(nu + 2) / 2 * math.Log(1+(z0*z0+z1*z1)/nu)
	}
	a, b := []float64{1.2, -1}, []float64{-3, 0.5}
	if got, want := p.LogRatio(b, a, make([]float64, 2)), log(a)-log(b); math.Abs(got-want) > 1e-12 {
		t.Errorf("LogRatio is %v, want %v", got, want)
	}
}

func TestApproximationRefusals(t *testing.T) {
	for name, p := range map[string]curator.Proposal{
		"mean":    {Mean: []float64{1}, Factor: lower, Freedom: 5},
		"factor":  {Mean: centre, Factor: lower[:3], Freedom: 5},
		"freedom": {Mean: centre, Factor: lower, Freedom: 0.5},
	} {
		if p.Check(2) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := (curator.Proposal{Mean: centre, Factor: lower, Freedom: 5}).Check(2); err != nil {
		t.Error(err)
	}
}

func TestProposals(t *testing.T) {
	const n = 200_000
	theta := []float64{1, -2, 3}
	next := make([]float64, 3)
	for _, p := range []curator.Proposal{{Scale: 0.5}, {Scale: 0.5, OneComponent: true}, {Scale: 0.5, Radius: 1}} {
		if err := p.Check(3); err != nil {
			t.Fatal(err)
		}
		rng := kernels.Stream(1, 0)
		var sum, squares, longest float64
		moved := 0
		for range n {
			p.Propose(rng, next, theta)
			length := 0.0
			for j := range next {
				d := next[j] - theta[j]
				if d != 0 {
					moved++
				}
				sum += d
				length += d * d
			}
			squares += length
			longest = max(longest, math.Sqrt(length))
		}
		// Deterministic seed; the bounds are 6 standard errors of the mean and of
		// the mean square for a fresh one (false-alarm rate 4·10⁻⁹).
		if se := 0.5 * math.Sqrt(3*n); math.Abs(sum) > 6*se {
			t.Errorf("%v: moves sum to %v, more than 6 standard errors of %v", p, sum, se)
		}
		mean := squares / n
		switch {
		case p.OneComponent:
			if moved != n || math.Abs(mean-0.25) > 6*0.25*math.Sqrt(2.0/n) {
				t.Errorf("%v: %d coordinates moved in %d moves, mean square %v, want 0.25", p, moved, n, mean)
			}
		case math.IsInf(p.LongestMove(), 1):
			if math.Abs(mean-0.75) > 6*0.25*math.Sqrt(6.0/n) {
				t.Errorf("%v: mean square length %v, want 0.75", p, mean)
			}
		default:
			// E[X | X ≤ 4]·0.25 for X ~ χ²(3): 0.25·3·F₅(4)/F₃(4) = 0.25·3·0.450584/0.738536.
			if want := 0.25 * 3 * 0.45058404 / 0.73853587; math.Abs(mean-want) > 0.004 || longest > 1 {
				t.Errorf("%v: mean square length %v, want %v; longest %v", p, mean, want, longest)
			}
		}
	}
}

func TestProposalRefusals(t *testing.T) {
	for _, p := range []curator.Proposal{
		{}, {Scale: -1}, {Scale: math.NaN()}, {Scale: math.Inf(1)},
		{OneComponent: true}, {Scale: 1, OneComponent: true, Radius: 9}, {Scale: 1, Radius: math.NaN()},
		{Scale: 1, Radius: 1.5},
		{Radius: 1}, {Scale: 1, Mean: make([]float64, 3), Factor: make([]float64, 9), Freedom: 5},
	} {
		if p.Check(3) == nil {
			t.Errorf("%v was accepted", p)
		}
	}
}
