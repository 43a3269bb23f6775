package batch

import (
	"crypto/sha256"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// Every statistical test of this package rejects at falseAlarm, so that the
// whole package raises a false alarm with a probability below 10^-6 for a random
// seed. The seeds are fixed: a run repeats.
const falseAlarm = 1e-8

// testSource returns the insecure source of a test.
func testSource(name string) *noise.Source { return noise.NewInsecure(sha256.Sum256([]byte(name))) }

// chiSquare returns the p-value of Pearson's test, of which cells expected to hold
// fewer than 100 counts are one.
func chiSquare(counts []int, probs []float64) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	observed, expected := []float64{0}, []float64{0}
	for i, c := range counts {
		if mean := float64(total) * probs[i]; mean >= 100 {
			observed, expected = append(observed, float64(c)), append(expected, mean)
		} else {
			observed[0], expected[0] = observed[0]+float64(c), expected[0]+mean
		}
	}
	if expected[0] < 100 {
		if observed[0] > 300 {
			return 0 // a Poisson count with a mean below 100 exceeds 300 with chance < 1e-50
		}
		observed, expected = observed[1:], expected[1:]
	}
	return distuv.ChiSquared{K: float64(len(observed) - 1)}.Survival(stat.ChiSquare(observed, expected))
}
