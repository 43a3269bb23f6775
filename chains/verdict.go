package chains

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/diag"
)

// Verdict says whether a run's draws can stand for their posterior. It follows from the
// draws alone, so it costs no privacy; and it cannot see what a chain has never visited.
type Verdict struct {
	// Usable says that means and intervals of the draws estimate the posterior's.
	Usable bool `json:"usable"`
	// Headline is the verdict in one sentence: "Usable: …" or "Not a posterior: …".
	Headline string `json:"headline"`
	// Reasons say why, and Advice what to do.
	Reasons []string `json:"reasons,omitempty"`
	Advice  []string `json:"advice,omitempty"`
}

// The limits of usable draws, per parameter. An ESS of 50 puts the Monte Carlo error of a mean at a
// seventh of the posterior's standard deviation, and that of a 5% quantile at a third.
const (
	LeastESS    = 50
	largestRHat = 1.05
)

// The headlines.
const (
	usable       = "Usable: the draws can stand for the posterior."
	notPosterior = "Not a posterior: do not use standard deviations or intervals of these draws."
)

// Judge is the verdict on draws that a table summarises, of a run with the certificate.
func Judge(t diag.Table, c *Certificate) Verdict {
	var slow, apart, undefined []string
	for _, r := range t {
		switch {
		case r.NotFinite || r.Constant || r.Chains == 0 || r.Draws < leastDraws:
			undefined = append(undefined, r.Name)
		case !(r.RHat <= largestRHat):
			apart = append(apart, r.Name)
		case !(min(r.ESSBulk, r.ESSTail) >= LeastESS):
			slow = append(slow, r.Name)
		}
	}
	v := Verdict{Usable: true, Headline: usable}
	because := func(names []string, format string, args ...any) {
		if len(names) > 0 {
			v.Usable, v.Headline = false, notPosterior
			v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)+": "+listed(names)+".")
		}
	}
	because(undefined, "Too few draws that differ")
	because(apart, "The chain was still on its way: R-hat is above %v", largestRHat)
	because(slow, "The chain explored too slowly: its effective sample size is below %d", LeastESS)
	if c.Caveat != "" {
		v.Usable, v.Headline = false, notPosterior
		v.Reasons = append(v.Reasons, c.Caveat)
		return v
	}
	if !v.Usable {
		v.Advice = []string{
			"Spend more: a larger ε lets the chain move farther.",
			"Widen the posterior: a lower temperature, or the β loss, needs less of the budget.",
			"Ask for less: fewer parameters, or columns on a public scale of their own.",
			"Compare kernels and settings with dpmcmc tune, which costs no privacy.",
		}
	}
	if d := Gravest(c.Doubts); d != nil && v.Usable {
		v.Usable, v.Headline = d.Conditional, d.Headline
	}
	for _, d := range c.Doubts {
		v.Reasons = append(v.Reasons, d.Reason)
		if !slices.Contains(v.Advice, d.Advice) { // two doubts may have one remedy
			v.Advice = append(v.Advice, d.Advice)
		}
		if d.Known != "" {
			v.Reasons = append(v.Reasons, d.Known)
		}
	}
	return v
}

// listed names parameters, whose names may have commas, and the first few of many.
func listed(names []string) string {
	const most = 6
	if left := len(names) - most; left > 1 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", left))
	}
	return strings.Join(names, "; ")
}

// leastDraws of a chain have an effective sample size.
const leastDraws = 4
