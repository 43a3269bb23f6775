package proptest

import (
	"fmt"
	"math"
)

// Audit is what a distinguisher learned about a mechanism.
type Audit struct {
	// Lower is a lower confidence bound on the mechanism's ε at δ, and Claimed
	// is the accountant's ε.
	Lower, Claimed, Delta float64
	// LowerRDP is a lower confidence bound on its Rényi divergence of the given
	// order, and ClaimedRDP is the accountant's.
	LowerRDP, ClaimedRDP, Order float64
	// From says what LowerRDP was computed from.
	From string
	// Event describes the set of releases that was counted.
	Event string
	// Sampling error: successes on A and B out of Trials.
	OnA, OnB, Trials int
	// World is the strongest evidence against the rest of the claim's privacy
	// curve, where most of the releases are.
	World World

	promise, near float64 // how much more releases may show, by divergences and by sets
}

// Violated reports whether a lower bound exceeds its claim.
func (a Audit) Violated() bool {
	return a.Lower > a.Claimed || a.LowerRDP > a.ClaimedRDP || a.World.Excess > 0
}

// String describes the audit in one line.
func (a Audit) String() string {
	said := fmt.Sprintf("ε ≥ %.4g at δ = %g, claimed %.4g; %s; from %s", a.Lower, a.Delta, a.Claimed, a.renyi(),
		a.counted())
	if a.From != "" && a.From != a.counted() {
		said += ", the divergence from " + a.From
	}
	if a.World.Excess > 0 {
		said += "; " + a.World.String()
	}
	return said
}

func (a Audit) renyi() string {
	return fmt.Sprintf("Rényi divergence of order %.3g ≥ %.4g, claimed %.4g", a.Order, a.LowerRDP, a.ClaimedRDP)
}

func (a Audit) counted() string {
	return fmt.Sprintf("the event {%s}, seen %d times on A and %d on B in %d releases each", a.Event, a.OnA,
		a.OnB, a.Trials)
}

// violations are the claims that do not hold, below each other, and what the releases look
// like.
func (a Audit) violations(onA, onB [][]float64) (lines string) {
	add := func(format string, args ...any) { lines += "\n  " + fmt.Sprintf(format, args...) }
	if a.Lower > a.Claimed {
		add("ε ≥ %.4g at δ = %g, claimed %.4g, from %s", a.Lower, a.Delta, a.Claimed, a.counted())
	}
	if a.LowerRDP > a.ClaimedRDP {
		add("%s, from %s", a.renyi(), a.From)
	}
	if a.World.Excess > 0 {
		add("%v", a.World)
	}
	for _, j := range telling(onA, onB) {
		v, w := column(onA, j), column(onB, j)
		add("coordinate %d has %s on A, and %s on B%s", j, summary(v), summary(w), unlikeWidths(v, w))
	}
	return lines
}

// unlikeWidths says that releases of two data sets spread differently, if they do.
func unlikeWidths(v, w []float64) string {
	a, b := spread{}, spread{}
	for i := range v {
		if finite(v[i]) && finite(w[i]) {
			a.add(v[i])
			b.add(w[i])
		}
	}
	_, onA := a.moments()
	_, onB := b.moments()
	if by := math.Abs(math.Log(onA / onB)); by > 0.03 && by*by*a.n > 50 {
		return ": the size of the noise depends on the records, or on their number"
	}
	return ""
}

// summary is the mean and the standard deviation of the finite numbers, with the share of
// others.
func summary(v []float64) string {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, x := range v {
		if finite(x) {
			n, sum, squares = n+1, sum+x, squares+x*x
		}
	}
	said := fmt.Sprintf("mean %.3g, standard deviation %.3g", sum/n, math.Sqrt(max(0, squares/n-sum/n*sum/n)))
	if others := float64(len(v)) - n; others == float64(len(v)) {
		return "no finite number (say what a record of NaN or ±Inf counts for)"
	} else if others > 0 {
		said += fmt.Sprintf(" and %.3g%% of NaN or ±Inf", 100*others/float64(len(v)))
	}
	return said
}

// World is the strongest evidence against a claim's privacy curve.
type World struct {
	// Excess is by how much a lower bound on δ at Epsilon exceeds Delta, the
	// claim's; negative if it does not.
	Excess, Epsilon, Delta float64
	// Set says what the releases that were counted have in common, and OnA and OnB
	// how many of Trials there were.
	Set              string
	OnA, OnB, Trials int
}

// String describes the evidence in one line.
func (w World) String() string {
	return fmt.Sprintf("at ε = %v, δ ≥ %.4g, claimed %.4g, from a set of values of {%s}, seen %d times on A and "+
		"%d on B in %d releases each", w.Epsilon, w.Delta+w.Excess, w.Delta, w.Set, w.OnA, w.OnB, w.Trials)
}
