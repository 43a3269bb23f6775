package audit

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Canaries attacks whole runs, each with many canaries at once: records along one
// feature each, whose response is a coin's. The other records have no features. A run
// that learns anything of a canary moves that feature's coefficient to its side.
type Canaries struct {
	// Name says what is attacked.
	Name string
	// Run draws from a logistic model of the table, of so many features, and returns
	// the states. Everything that it releases together costs Claim. Required.
	Run func(ctx context.Context, table targets.Rows, run int) ([][]float64, error)
	// Claim is what one run is said to cost, under substitution. Required.
	Claim accountant.Event
	// Records is the number of records of a run, Each that of canaries among them,
	// and so of features; Runs is the number of runs. Required.
	Records, Each, Runs int
	// Delta is the δ at which ε is compared. Required.
	Delta float64
	// FalseAlarm bounds the probability that a true claim is called violated. Required.
	FalseAlarm float64
	// Coin decides the canaries' responses. Required.
	Coin *rand.Rand
}

// guess is an attacker's opinion on one canary.
type guess struct {
	right    bool
	strength float64
}

// guessed is the part of the canaries that a guess is made of: those of which the
// attacker is surest.
const guessed = 0.5

// Attack makes the runs and guesses. Runs are about separate people, so that their
// canaries count together.
func (c Canaries) Attack(ctx context.Context) (Finding, error) {
	if c.Run == nil || c.Coin == nil || c.Each < 1 || c.Records < c.Each || c.Runs < 1 {
		return Finding{}, fmt.Errorf("audit: %s: Run, Coin and at least one run with one canary among its records are "+
			"required", c.Name)
	}
	claim, err := c.Claim.Epsilon(c.Delta)
	if err != nil {
		return Finding{}, fmt.Errorf("audit: %s: %w", c.Name, err)
	}
	var all []guess
	for run := range c.Runs {
		table := c.table()
		states, err := c.Run(ctx, table, run)
		if err != nil {
			return Finding{}, fmt.Errorf("audit: %s: run %d: %w", c.Name, run+1, err)
		}
		all = append(all, c.guesses(table, states)...)
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.strength, a.strength) })
	o := OneRun{Canaries: len(all), Guesses: max(1, int(guessed*float64(len(all))))}
	for _, g := range all[:o.Guesses] {
		if g.right {
			o.Correct++
		}
	}
	lower, err := o.LowerEpsilon(c.Delta, c.FalseAlarm)
	if err != nil {
		return Finding{}, err
	}
	most, err := o.Most(c.Delta, c.FalseAlarm)
	method := fmt.Sprintf("one-run audit, %d of %d guesses right", o.Correct, o.Guesses)
	return Finding{c.Name, lower, claim.Epsilon, c.Delta, c.FalseAlarm, most, method, len(all)}, err
}

// table draws the canaries' coins.
func (c Canaries) table() targets.Rows {
	t := targets.Rows{X: make([]float64, c.Records*c.Each), P: c.Each, Y: make([]float64, c.Records)}
	for i := range c.Records {
		if i < c.Each {
			t.X[i*c.Each+i] = 1
			t.Y[i] = float64(c.Coin.Uint64() & 1)
		} else {
			t.Y[i] = float64(i & 1)
		}
	}
	return t
}

// guesses takes the side on which each coefficient was on average.
func (c Canaries) guesses(t targets.Rows, states [][]float64) []guess {
	out := make([]guess, c.Each)
	for i := range out {
		mean := 0.0
		for _, theta := range states {
			mean += theta[i] / float64(len(states))
		}
		out[i] = guess{right: mean > 0 == (t.Y[i] == 1), strength: max(mean, -mean)}
	}
	return out
}
