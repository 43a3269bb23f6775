package tune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/models"
)

// logisticConfig is that of a logistic model on n records with d features.
func logisticConfig(t *testing.T, n, d int) Config {
	t.Helper()
	shape, err := models.StandardShape("logistic", n, d)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("logistic", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Config{
		Adjacency: accountant.Substitute,
		Models:    []*models.Model{model}, Epsilon: 1, Delta: 1e-6, CoefficientSD: 1,
	}.filled()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClimbsToAKnownOptimum starts from a step that is 64 times too short. A Langevin
// chain of a given length mixes the better the longer its steps, up to the limit that
// its noise sets and that the default comes within a tenth of: the search must come
// within a factor of 4 of it. The mutant with the objective's sign flipped must not.
func TestClimbsToAKnownOptimum(t *testing.T) {
	c := logisticConfig(t, 500, 1)
	c.Kernels, c.Work = []string{"dpsgld"}, 1e8
	c.Fixed.Iterations = 400
	stages, err := c.stages(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	climb := func(from float64, beats func(score, than float64) bool) *search {
		s := c.searches(stages)[0]
		s.from.Step, s.beats = from, beats
		if err := s.run(t.Context()); err != nil || s.skipped != nil {
			t.Fatal(err, s.skipped)
		}
		return s
	}
	limit := climb(0, ESS.beats).defaults.Settings.Step
	found := climb(limit/64, ESS.beats).best
	if found.Settings.Step < limit/4 {
		t.Errorf("from a step of %v the search came to %v; the best is near %v", limit/64, found.Settings.Step, limit)
	}
	flipped := climb(limit/64, func(score, than float64) bool { return ESS.beats(than, score) }).best
	if flipped.Settings.Step >= limit/4 || !(flipped.Score < found.Score) {
		t.Errorf("with the objective's sign flipped the search still came to %v", flipped.Settings.Step)
	}
}

// TestAutocorrelationTimes measures first-order autoregressions, for which it is
// (1+ρ)/(1−ρ), from a fast one to one that hardly moves in the time that is given:
// there the draws' own spread would put it far too low. The estimate of a chain of
// 1e5 steps is within 40%: at the largest lag there are 32 windows, whose mean square
// has a relative standard deviation below 0.21 even if they overlapped by nothing, and
// the mean over 40 chains is held to 25%, over 7 standard deviations (1e-6 a run).
func TestAutocorrelationTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	chain := func(rho float64) []float64 {
		x := make([]float64, 100_000)
		for i := range x {
			if i == 0 {
				x[i] = rng.NormFloat64()
				continue
			}
			x[i] = rho*x[i-1] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		}
		return x
	}
	for _, rho := range []float64{0.3, 0.9, 0.999, 0.999999} {
		want, sum := (1+rho)/(1-rho), 0.0
		const chains = 40
		for range chains {
			sum += 1 / autocorrelationTime(chain(rho), 1)
		}
		if got := chains / sum; math.Abs(math.Log(got/want)) > math.Log(1.25) {
			t.Errorf("ρ = %v: autocorrelation time %v, want %v", rho, got, want)
		}
	}
	// The mutant that takes the draws' own spread for the posterior's must fail.
	x := chain(0.999999)
	_, sd := moments(x)
	if got := autocorrelationTime(x, sd); got > 0.5*(1+0.999999)/(1-0.999999) {
		t.Errorf("with its own spread a chain that hardly moves has time %v: the test cannot tell", got)
	}
	if got := autocorrelationTime(make([]float64, 100), 1); !math.IsInf(got, 1) {
		t.Errorf("a chain that stands still has time %v", got)
	}
}
