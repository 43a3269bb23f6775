package proptest

import "strconv"

// Effort is how much work a check does, as a multiple of the standard amount.
// docs/proptest.md says what each setting detects. False-alarm rates do not
// depend on it.
type Effort float64

const (
	// Quick takes a second or less: for suites with many targets or kernels.
	Quick Effort = 0.05
	// Standard is the default: about ten seconds.
	Standard Effort = 1
	// Thorough takes minutes, and sees effects a third as large as Standard does.
	Thorough Effort = 10
)

// passes are the settings that a check goes through: all begin with Quick, so that
// what Quick finds costs no more than Quick.
func (e Effort) passes() []Effort {
	if e <= Quick {
		return []Effort{e}
	}
	return []Effort{Quick, e}
}

// times scales an amount of work, which stays at least least.
func (e Effort) times(amount, least int) int { return max(least, int(float64(e)*float64(amount))) }

// either is fine for the standard amount and more, and coarse for less.
func (e Effort) either(fine, coarse float64) float64 {
	if e < Standard {
		return coarse
	}
	return fine
}

// source writes an effort as Go source.
func (e Effort) source() string {
	switch e {
	case Quick:
		return "proptest.Quick"
	case Standard:
		return "proptest.Standard"
	case Thorough:
		return "proptest.Thorough"
	}
	return strconv.FormatFloat(float64(e), 'g', -1, 64)
}
