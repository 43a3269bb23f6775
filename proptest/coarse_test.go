package proptest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// wholeSum is a sum of records in −1, 0 and 1 with noise that is a whole number.
type wholeSum struct {
	claim accountant.Event
	noise func(rng *rand.Rand) float64
}

func (m wholeSum) Claim() accountant.Event { return m.claim }
func (wholeSum) Sensitivity() float64      { return 2 }
func (wholeSum) Step() float64             { return 1 }

func (m wholeSum) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	sum := 0.0
	for _, x := range r.X {
		if !math.IsNaN(x) {
			sum += math.Round(max(-1, min(x, 1)))
		}
	}
	rng, all := rand.New(rand.NewPCG(seed, 0)), make([][]float64, count)
	for i := range all {
		all[i] = []float64{sum + m.noise(rng)}
	}
	return all, nil
}

// discrete draws from a normal density on whole numbers: by rejection from twice a geometric law.
func discrete(sd float64) func(rng *rand.Rand) float64 {
	t := math.Floor(sd) + 1
	return func(rng *rand.Rand) float64 {
		for {
			v := math.Floor(t*rng.ExpFloat64()) - math.Floor(t*rng.ExpFloat64())
			d := math.Abs(v) - sd*sd/t
			// Differences of two geometric numbers have probabilities in proportion to exp(−|v|/t).
			if rng.ExpFloat64() > d*d/(2*sd*sd) {
				return v
			}
		}
	}
}

// TestCoarseGrids: noise that is rounded to whole numbers, or drawn on them, passes however coarse they are, as it
// may: the chances of cells are those between midpoints. It fails, at the suite's rate, where it is too small or of
// another shape.
func TestCoarseGrids(t *testing.T) {
	normal := event(t)(accountant.Gaussian(accountant.Substitute, 1.25))
	laplace := event(t)(accountant.Laplace(accountant.Substitute, 1.5))
	rounded := func(sd float64) func(rng *rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return math.Round(sd * rng.NormFloat64()) }
	}
	roundedLaplace := func(scale float64) func(rng *rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return math.Round(scale * (rng.ExpFloat64() - rng.ExpFloat64())) }
	}
	onWhole := event(t)(accountant.DiscreteGaussian(accountant.Substitute, 1.25))
	for name, c := range map[string]struct {
		m     wholeSum
		right bool
	}{
		"rounded":              {wholeSum{normal, rounded(2.5)}, true},
		"discrete":             {wholeSum{onWhole, discrete(2.5)}, true},
		"Laplace, rounded":     {wholeSum{laplace, roundedLaplace(3)}, true},
		"rounded, too small":   {wholeSum{normal, rounded(2.2)}, false},
		"Laplace's, too small": {wholeSum{laplace, roundedLaplace(2.5)}, false},
		"uniform": {wholeSum{normal, func(rng *rand.Rand) float64 {
			return float64(rng.IntN(15) - 7) // of more variance than stated
		}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.right {
				proptest.CheckMechanism(t, c.m, pair(0, 1))
				return
			}
			mustReject(t, "the noise is not what", func(t rapid.TB) { proptest.CheckMechanism(t, c.m, pair(0, 1)) })
		})
	}
}
