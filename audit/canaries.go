package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Canaries attacks whole runs, each with many canaries at once: records along one
// feature each, whose response is one of two by a coin. The other records have no features.
// A run that learns anything of a canary moves that feature's coefficient to its side. A
// median regression whose two responses are far apart gives away most: its canaries pull
// by all of the bound that is paid for, to either side and wherever the chain is.
type Canaries struct {
	// Name says what is attacked.
	Name string
	// Run draws from a regression on the table, of so many features, and returns the
	// states. Everything that it releases together costs Claim. Required.
	Run func(ctx context.Context, table targets.Rows, run int) ([][]float64, error)
	// Claim is what one run is said to cost, under substitution. Required.
	Claim accountant.Event
	// Records is the number of records of a run, Each that of canaries among them,
	// and so of features; Runs is the number of runs. Required.
	Records, Each, Runs int
	// Responses are the two that a canary may have, the smaller first. Required.
	Responses [2]float64
	// Delta is the δ at which ε is compared. Required.
	Delta float64
	// FalseAlarm bounds the probability that a true claim is called violated. Required.
	FalseAlarm float64
	// Coin decides the canaries' responses. Required.
	Coin *rand.Rand
}

// The part of the canaries that a guess is made of: those of which the attacker is
// surest. Curves see further out than one (ε, δ) does.
const guessed, guessedByCurve = 0.5, 0.2

// Attack makes the runs, and tests the claim three ways on what they say of the canaries.
// Runs are about separate people, so that their canaries count together.
//
//   - Guesses against (ε, δ) (Steinke, Nasr and Jagielski 2023, OneRun.LowerEpsilon).
//   - Guesses against the claim at all δ together, and against Gaussian releases for a
//     figure (Mahloujifar, Melis and Chaudhuri 2025, OneRun.Refutes, LowerGaussian).
//   - The canaries' scores, which guesses throw away, taken for two normal laws (Agrawal et
//     al. 2026): an estimate.
//
// The first two have half of FalseAlarm each.
func (c Canaries) Attack(ctx context.Context) ([]Finding, error) {
	if c.Run == nil || c.Coin == nil || c.Each < 1 || c.Records < c.Each || c.Runs < 1 ||
		!(c.Responses[0] < c.Responses[1]) {
		return nil, fmt.Errorf("audit: %s: Run, Coin, two Responses and at least one run with one canary among its records "+
			"are required", c.Name)
	}
	if err := checkFalseAlarm(c.FalseAlarm); err != nil {
		return nil, err
	}
	claim, err := c.Claim.Epsilon(c.Delta)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", c.Name, err)
	}
	scores, err := c.play(ctx)
	if err != nil {
		return nil, err
	}
	o, outer := scores.guess(guessed), scores.guess(guessedByCurve)
	finding := Finding{Name: c.Name, Claimed: claim.Epsilon, Delta: c.Delta, FalseAlarm: c.FalseAlarm / 2,
		Rounds: o.Canaries}
	each := []func(*Finding) error{
		func(f *Finding) (err error) {
			f.Method = fmt.Sprintf("one-run audit, %d of %d guesses right", o.Correct, o.Guesses)
			if f.Lower, err = o.LowerEpsilon(c.Delta, f.FalseAlarm); err == nil {
				f.Most, err = o.Most(c.Delta, f.FalseAlarm)
			}
			return err
		},
		func(f *Finding) error {
			f.Method = fmt.Sprintf("its whole curve, %d of %d guesses right; the figure is a Gaussian run's", outer.Correct,
				outer.Guesses)
			var errs [3]error
			f.Estimate = true
			f.Refuted, errs[0] = outer.Refutes(c.Claim, f.FalseAlarm)
			f.Lower, errs[1] = outer.LowerGaussian(c.Delta, f.FalseAlarm)
			f.Most, errs[2] = OneRun{outer.Canaries, outer.Guesses, outer.Guesses}.LowerGaussian(c.Delta, f.FalseAlarm)
			return errors.Join(errs[:]...)
		},
		func(f *Finding) (err error) {
			f.Method, f.Estimate = "the canaries' scores, as two normal laws", true
			f.Lower, f.Most, err = pair(scores).lower(f.Claimed, c.Delta, f.FalseAlarm)
			return err
		},
	}
	var findings []Finding
	for _, fill := range each {
		f := finding
		if err := fill(&f); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, c.Name)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// play makes the runs, and scores each canary.
func (c Canaries) play(ctx context.Context) (s scores, err error) {
	for run := range c.Runs {
		table, sides := c.table()
		states, err := c.Run(ctx, table, run)
		if err != nil {
			return s, fmt.Errorf("audit: %s: run %d: %w", c.Name, run+1, err)
		}
		for i, score := range aligned(states, c.Each) {
			s[sides[i]] = append(s[sides[i]], score)
		}
	}
	return s, nil
}

// aligned is what a path says of each canary: the sum of its coefficient's moves that
// where it was does not explain, by a regression that all canaries share. That is the
// signal along the canary, step by step, less what the prior pulls. Of a path of one
// state it is the state.
func aligned(states [][]float64, canaries int) []float64 {
	last := len(states) - 1
	out := slices.Clone(states[last][:canaries])
	if last == 0 {
		return out
	}
	var square, product float64 // of coefficients, and of them with their moves
	sums := make([]float64, canaries)
	for n, theta := range states[:last] {
		for i, v := range theta[:canaries] {
			sums[i] += v
			square += v * v
			product += v * (states[n+1][i] - v)
		}
	}
	pull := 0.0
	if square > 0 {
		pull = product / square
	}
	for i := range out {
		out[i] -= states[0][i] + pull*sums[i]
	}
	return out
}

// guess takes the sides of a share of the canaries, those that lie furthest out.
func (s scores) guess(share float64) OneRun {
	type guess struct {
		right    bool
		strength float64
	}
	var all []guess
	for side, values := range s {
		for _, v := range values {
			all = append(all, guess{v > 0 == (side == 1), max(v, -v)})
		}
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.strength, a.strength) })
	o := OneRun{Canaries: len(all), Guesses: max(1, int(share*float64(len(all))))}
	for _, g := range all[:o.Guesses] {
		if g.right {
			o.Correct++
		}
	}
	return o
}

// table draws the canaries' coins.
func (c Canaries) table() (t targets.Rows, sides []int) {
	t = targets.Rows{X: make([]float64, c.Records*c.Each), P: c.Each, Y: make([]float64, c.Records)}
	sides = make([]int, c.Each)
	for i := range c.Records {
		side := i & 1
		if i < c.Each {
			t.X[i*c.Each+i] = 1
			side = int(c.Coin.Uint64() & 1)
			sides[i] = side
		}
		t.Y[i] = c.Responses[side]
	}
	return t, sides
}
