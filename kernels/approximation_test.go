package kernels_test

import (
	"math"
	"math/rand/v2"
	"testing"

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
	p := kernels.Independent(centre, lower, nu)
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
	for name, p := range map[string]kernels.Proposal{
		"mean":    kernels.Independent([]float64{1}, lower, 5),
		"factor":  kernels.Independent(centre, lower[:3], 5),
		"freedom": kernels.Independent(centre, lower, 0.5),
	} {
		if p.Check(2) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := kernels.Independent(centre, lower, 5).Check(2); err != nil {
		t.Error(err)
	}
}
