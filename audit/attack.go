package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Attack is a likelihood-ratio test of a mechanism on two neighbouring data sets, run
// many times.
type Attack struct {
	// Name says what is attacked.
	Name string
	// Release runs the mechanism once, on the data set with the member if present is
	// true. Required.
	Release func(present bool) ([]float64, error)
	// Score is larger the likelier a release makes present. The log likelihood ratio,
	// or anything that grows with it, is best. Required.
	Score func(release []float64) float64
	// Claim is what one release is said to cost. Required.
	Claim accountant.Event
	// Rounds is the number of releases, of which half choose what is tested. At least
	// 100. Required.
	Rounds int
	// FalseAlarm bounds the probability that a true claim is called violated. Required.
	FalseAlarm float64
	// Coin decides who is present. Required.
	Coin *rand.Rand
}

// Finding is a lower bound on ε beside the claim.
type Finding struct {
	Name string `json:"name"`
	// Lower is at most ε at Delta with confidence 1 − FalseAlarm; Claimed is the claim.
	Lower      float64 `json:"epsilon_lower"`
	Claimed    float64 `json:"epsilon_claimed"`
	Delta      float64 `json:"delta"`
	FalseAlarm float64 `json:"false_alarm"`
	// Most is the largest Lower that as many rounds or canaries could show: the power.
	Most float64 `json:"epsilon_most"`
	// Method says how; Rounds is the number of releases, or of canaries.
	Method string `json:"method"`
	Rounds int    `json:"rounds"`
	// Estimate says that Lower assumes more than the claim does: above it, it is a reason
	// to look, and refutes nothing. Refuted says that a test of another kind refuted it.
	Estimate bool `json:"estimate,omitempty"`
	Refuted  bool `json:"refuted,omitempty"`
}

// Violated reports whether the claim is refuted.
func (f Finding) Violated() bool { return f.Refuted || f.Lower > f.Claimed && !f.Estimate }

// Tightness is the share of the claim that was shown, 0 for a claim of nothing.
func (f Finding) Tightness() float64 {
	if f.Claimed == 0 {
		return 0
	}
	return f.Lower / f.Claimed
}

// String describes the finding in one line.
func (f Finding) String() string {
	verdict := "holds"
	switch {
	case f.Violated():
		verdict = "VIOLATED"
	case f.Estimate:
		verdict = "not refuted"
	}
	return fmt.Sprintf("%s: %s: ε ≥ %.4g, claimed %.4g at δ = %.3g (%s, %d; it could show %.3g at most)",
		f.Name, verdict, f.Lower, f.Claimed, f.Delta, f.Method, f.Rounds, f.Most)
}

// deltas are where ε is compared: a claim holds at each of them, and how well a test
// sees it differs.
var deltas = []float64{0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2}

// thresholds is how many thresholds are tried on the first half.
const thresholds = 64

// Run plays the attack. On the first half of the releases it chooses a threshold and a
// δ; on the second half it counts.
func (a Attack) Run(ctx context.Context) (Finding, error) {
	if a.Release == nil || a.Score == nil || a.Coin == nil || a.Rounds < 100 {
		return Finding{}, fmt.Errorf("audit: %s: Release, Score, Coin and at least 100 Rounds are required", a.Name)
	}
	if err := checkFalseAlarm(a.FalseAlarm); err != nil {
		return Finding{}, fmt.Errorf("%w (%s)", err, a.Name)
	}
	claims := make([]float64, len(deltas))
	for i, d := range deltas {
		g, err := a.Claim.Epsilon(d)
		if err != nil {
			return Finding{}, fmt.Errorf("audit: %s: %w", a.Name, err)
		}
		claims[i] = g.Epsilon
	}
	learned, err := a.play(ctx, a.Rounds/2)
	if err != nil {
		return Finding{}, err
	}
	at, threshold, err := a.choose(learned, claims)
	if err != nil {
		return Finding{}, err
	}
	tested, err := a.play(ctx, a.Rounds-a.Rounds/2)
	if err != nil {
		return Finding{}, err
	}
	t := tested.at(threshold)
	lower, err := t.LowerEpsilon(deltas[at], a.FalseAlarm)
	if err != nil {
		return Finding{}, err
	}
	most, err := Trials{Absent: t.Absent, Present: t.Present}.LowerEpsilon(deltas[at], a.FalseAlarm)
	return Finding{Name: a.Name, Lower: lower, Claimed: claims[at], Delta: deltas[at], FalseAlarm: a.FalseAlarm,
		Most:   most,
		Method: "likelihood-ratio test", Rounds: a.Rounds}, err
}

// scores are an attacker's of releases with the member (true) and without, sorted.
type scores [2][]float64

func (a Attack) play(ctx context.Context, rounds int) (scores, error) {
	var s scores
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return s, fmt.Errorf("audit: %s: stopped after %d of %d rounds: %w", a.Name, round, rounds, err)
		}
		class := int(a.Coin.Uint64() & 1)
		release, err := a.Release(class == 1)
		if err != nil {
			return s, fmt.Errorf("audit: %s: round %d: %w", a.Name, round+1, err)
		}
		v := a.Score(release)
		if math.IsNaN(v) {
			v = math.Inf(-1)
		}
		s[class] = append(s[class], v)
	}
	for _, v := range s {
		if len(v) == 0 {
			return s, fmt.Errorf("audit: %s: the coin never fell on one side in %d rounds", a.Name, rounds)
		}
		slices.Sort(v)
	}
	return s, nil
}

// at counts the guesses of present for scores from a threshold on.
func (s scores) at(threshold float64) Trials {
	below := func(v []float64) int { i, _ := slices.BinarySearch(v, threshold); return i }
	return Trials{
		Absent: len(s[0]), Present: len(s[1]),
		FalsePositives: len(s[0]) - below(s[0]), FalseNegatives: below(s[1]),
	}
}

// choose returns the δ and the threshold at which most of the claim is shown.
func (a Attack) choose(s scores, claims []float64) (at int, threshold float64, err error) {
	all := slices.Concat(s[0], s[1])
	slices.Sort(all)
	best := math.Inf(-1)
	for k := range thresholds {
		candidate := all[(k+1)*len(all)/(thresholds+1)]
		t := s.at(candidate)
		for i, d := range deltas {
			if math.IsInf(claims[i], 1) || claims[i] == 0 && i > 0 {
				continue
			}
			lower, err := t.LowerEpsilon(d, a.FalseAlarm)
			if err != nil {
				return 0, 0, err
			}
			if share := lower / max(claims[i], 1e-300); share > best {
				best, at, threshold = share, i, candidate
			}
		}
	}
	return at, threshold, nil
}
