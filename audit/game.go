package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Game is a membership-inference game between two adjacent data sets.
type Game struct {
	// Release runs the mechanism once, on the data set with the member if present
	// is true. Required.
	Release func(present bool) (theta []float64, err error)
	// LogOdds is the attacker's log likelihood ratio of present over absent at a
	// release; the Bayes-optimal attacker has that of the two laws. Required.
	LogOdds func(theta []float64) float64
	// Threshold is the log odds from which present is guessed. Defaults to 0, which
	// is optimal for a fair coin. It must be fixed before the game; to look for an
	// ε that shows far out, choose it on releases of another game.
	Threshold float64
	// Rounds is the number of rounds. Required, at least 2.
	Rounds int
	// Coin decides who is present. Required.
	Coin *rand.Rand
}

// Play plays the game. A log odds of NaN is a guess of absent.
func Play(ctx context.Context, g Game) (Trials, error) {
	var t Trials
	if g.Release == nil || g.LogOdds == nil || g.Coin == nil {
		return t, fmt.Errorf("audit: Release, LogOdds and Coin are required")
	}
	if g.Rounds < 2 {
		return t, fmt.Errorf("audit: %d rounds: at least 2 are needed", g.Rounds)
	}
	for round := range g.Rounds {
		if err := ctx.Err(); err != nil {
			return t, fmt.Errorf("audit: stopped after %d of %d rounds: %w", round, g.Rounds, err)
		}
		present := g.Coin.Uint64()&1 == 1
		theta, err := g.Release(present)
		if err != nil {
			return t, fmt.Errorf("audit: round %d: %w", round+1, err)
		}
		t.record(present, g.LogOdds(theta) >= g.Threshold)
	}
	return t, t.check()
}

func (t *Trials) record(present, guess bool) {
	switch {
	case present:
		t.Present++
		if !guess {
			t.FalseNegatives++
		}
	default:
		t.Absent++
		if guess {
			t.FalsePositives++
		}
	}
}

// PosteriorLogOdds returns the Bayes-optimal log odds against one draw of a
// generalised posterior with weight w (Jewson et al. 2023, Remark 1, with its
// exponent whole): absent and present are the losses of the two versions of the
// record, and draws are from the posterior without the member. It estimates
//
//	w·(ℓ_absent(θ) − ℓ_present(θ)) − log E_absent exp(w·(ℓ_absent − ℓ_present)).
func PosteriorLogOdds(weight float64, absent, present func(theta []float64) float64,
	draws [][]float64) (func(theta []float64) float64, error) {
	if !(weight > 0) || len(draws) == 0 {
		return nil, fmt.Errorf("audit: weight %v and %d draws: the weight must be positive and there must be draws", weight,
			len(draws))
	}
	difference := func(theta []float64) float64 { return weight * (absent(theta) - present(theta)) }
	top, logs := math.Inf(-1), make([]float64, len(draws))
	for i, theta := range draws {
		logs[i] = difference(theta)
		top = max(top, logs[i])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	constant := top + math.Log(sum/float64(len(draws)))
	if math.IsNaN(constant) || math.IsInf(constant, 0) {
		return nil, fmt.Errorf("audit: the losses at the draws are not finite: pass draws of the posterior")
	}
	return func(theta []float64) float64 { return difference(theta) - constant }, nil
}
