package diag

import (
	"fmt"
	"math"
)

// Thresholds of the warnings [Vehtari et al. 2021, §4].
const (
	// MaxRHat is the largest R-hat that raises no warning.
	MaxRHat = 1.01
	// MinESSPerChain is the smallest bulk or tail ESS per chain that raises no
	// warning; below it the ESS and R-hat themselves are unreliable.
	MinESSPerChain = 100
	// MinDraws is the smallest number of draws per chain with an ESS.
	MinDraws = 6
)

// Kind says what a [Warning] is about.
type Kind string

// The kinds of warning.
const (
	NotFinite Kind = "not finite" // a NaN or an infinity among the draws
	TooShort  Kind = "too short"  // fewer than MinDraws draws per chain
	Constant  Kind = "constant"   // all draws equal
	Uneven    Kind = "uneven"     // chains of different lengths
	HighRHat  Kind = "high R-hat" // above MaxRHat
	LowESS    Kind = "low ESS"    // below MinESSPerChain for each chain
	Undefined Kind = "undefined"  // R-hat or ESS do not exist for another reason
)

// Warning is something a reader of a summary must know.
type Warning struct {
	// Name is the parameter's, or empty for a bare Summary.
	Name string
	Kind Kind
	// Text is one sentence without the name: what was found and what to do.
	Text string
}

// String returns the warning as one line.
func (w Warning) String() string {
	if w.Name == "" {
		return w.Text
	}
	return w.Name + ": " + w.Text
}

// Warnings returns what is wrong with the draws, or nil.
func (s Summary) Warnings() []Warning {
	var found []Warning
	warn := func(kind Kind, format string, args ...any) {
		found = append(found, Warning{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if s.Ignored > 0 {
		warn(Uneven,
			"the chains differ in length: %d draws were left out to make each %d long; finish or drop the short chain",
			s.Ignored, s.Draws)
	}
	needed := float64(MinESSPerChain * s.Chains)
	smallest := min(s.ESSBulk, s.ESSTail)
	switch {
	case s.NotFinite:
		warn(NotFinite, "a draw is NaN or infinite: no figure exists; find where the chain left the numbers")
	case s.Draws < MinDraws:
		warn(TooShort, "%d draws per chain are too few: at least %d are needed for any diagnostic; run longer",
			s.Draws, MinDraws)
	case s.Constant:
		warn(Constant, "all draws are equal: the chain never moved, or the quantity is fixed; if it is not fixed, take "+
			"smaller steps")
	case math.IsNaN(s.RHat) || math.IsNaN(smallest):
		warn(Undefined, "the draws take so few values that R-hat or an ESS does not exist; judge the chain by another "+
			"quantity")
	}
	if s.RHat > MaxRHat {
		warn(HighRHat, "R-hat is %.3f, above %.2f: the chains, or the two halves of one, disagree; run longer",
			s.RHat, MaxRHat)
	}
	if smallest < needed {
		warn(LowESS, "the effective sample size is %.0f (bulk) and %.0f (tail), below %d per chain: figures are "+
			"unreliable; run longer",
			math.Floor(s.ESSBulk), math.Floor(s.ESSTail), MinESSPerChain)
	}
	return found
}

// Warnings returns the warnings of all rows, each with its parameter's name.
func (t Table) Warnings() []Warning {
	var found []Warning
	for _, row := range t {
		for _, w := range row.Summary.Warnings() {
			w.Name = row.Name
			found = append(found, w)
		}
	}
	return found
}
