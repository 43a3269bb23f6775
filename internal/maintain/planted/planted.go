// Package planted holds targets, kernels and mechanisms with one deliberate
// defect each, in families, for the power of package proptest to be measured on,
// and right ones that it must not reject.
package planted

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// Case is a defect, or a right control, and the check that it is put through.
type Case struct {
	// Suite is "CheckTarget", "CheckKernel" or "CheckMechanism".
	Suite, Family, Name string
	// Effect says how large the defect is.
	Effect string
	// Check runs the suite. It is called many times, and plants afresh each time.
	Check func(t rapid.TB, seed uint64, effort proptest.Effort)
	// Survivor says why a defect may pass; empty for those that must not.
	Survivor string
}

// Defects lists what must be rejected, Controls what must not.
func Defects() []Case {
	return explained(slices.Concat(targetDefects(), kernelDefects(), mechanismDefects()))
}

// Controls lists right targets, kernels and mechanisms.
func Controls() []Case { return slices.Concat(targetControls(), kernelControls(), mechanismControls()) }

// Rejected runs a case and reports whether it was rejected, with what was said.
func (c Case) Rejected(seed uint64, effort proptest.Effort) (bool, string) {
	report, failed := proptest.Try("Test", func(t rapid.TB) { c.Check(t, seed, effort) })
	return failed, report
}
