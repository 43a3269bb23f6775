// Package planted holds targets, kernels and mechanisms with one deliberate
// defect each, in families, for the power of package proptest to be measured on,
// and right ones that it must not reject.
package planted

import (
	"cmp"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/maintain/rights"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
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

// suites are in this order.
var suites = map[string]int{"CheckTarget": 1, "CheckKernel": 2, "CheckMechanism": 3}

// kinds are the families that are named after what is wrong. Others are sets that the suites had not seen.
var kinds = []string{
	"ratio against losses", "gradient against losses", "values of the loss", "predictor against losses", "certificates",
	"prior", "state and batches",
	"invariance of walks", "invariance of Langevin steps", "steps against Transition", "scales of reversible walks",
	"leaks", "conformance", "reach", "prices",
	"noise", "dependence", "what records do", "bits",
}

// ByKind reports whether a case's family is named after what is wrong.
func (c Case) ByKind() bool { return slices.Contains(kinds, c.Family) }

// Defects lists what must be rejected, Controls what must not.
func Defects() []Case {
	all := slices.Concat(targetDefects(), kernelDefects(), mechanismDefects(), afterSixteenth(), afterSeventeenth(),
		eighteenthTargets(), eighteenthKernels(), eighteenthMechanisms(), nineteenthTargets(), nineteenthKernels(),
		nineteenthMechanisms())
	slices.SortStableFunc(all, func(a, b Case) int { return cmp.Compare(suites[a.Suite], suites[b.Suite]) })
	return explained(all)
}

// Controls lists right targets, kernels and mechanisms, in the same dress as the
// defects.
func Controls() []Case {
	return slices.Concat(targetControls(), kernelControls(), mechanismControls(),
		fourthTargetControls(), fourthKernelControls(), fourthMechanismControls(),
		ninthTargetControls(), ninthKernelControls(), ninthMechanismControls(), tenthControls(),
		eleventhTargetControls(), eleventhKernelControls(), eleventhMechanismControls(),
		twelfthTargetControls(), twelfthKernelControls(), twelfthMechanismControls(),
		thirteenthTargetControls(), thirteenthKernelControls(), thirteenthMechanismControls(),
		fourteenthKernelControls(), fifteenthTargetControls(), fifteenthKernelControls(), fifteenthMechanismControls(),
		sixteenthTargetControls(), sixteenthKernelControls(), sixteenthMechanismControls(),
		seventeenthTargetControls(), seventeenthKernelControls(), seventeenthMechanismControls(),
		afterSeventeenthControls(), eighteenthTargetControls(), eighteenthKernelControls(), eighteenthMechanismControls(),
		nineteenthTargetControls(), nineteenthKernelControls(), nineteenthMechanismControls())
}

// Library lists right targets and kernels of every package, as controls.
func Library() (all []Case) {
	for _, m := range rights.Targets() {
		robust := targets.Loss{Beta: 1.5}
		for name, loss := range map[string]targets.Loss{"log loss": {}, "β = 1.5": robust} {
			all = append(all, Case{Suite: "CheckTarget", Family: "right", Name: m.Name + ", " + name,
				Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
					target, err := m.Make(loss)
					if err != nil {
						t.Fatal(err)
					}
					o := m.Options
					o.Seed, o.Effort = seed, effort
					proptest.CheckTarget(t, target, o)
				}})
		}
	}
	for _, k := range rights.Kernels() {
		all = append(all, Case{Suite: "CheckKernel", Family: "right", Name: k.Name,
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				o := k.Options()
				o.Seed, o.Effort = seed, effort
				proptest.CheckKernel(t, k.Factory, o)
			}})
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Suite+a.Name, b.Suite+b.Name) })
	return all
}

// Rejected runs a case and reports whether it was rejected, with what was said.
func (c Case) Rejected(seed uint64, effort proptest.Effort) (bool, string) {
	report, failed := proptest.Try("Test", func(t rapid.TB) { c.Check(t, seed, effort) })
	return failed, report
}

// either is the first value where a condition holds, else the second.
func either(cond bool, then, otherwise float64) float64 {
	if cond {
		return then
	}
	return otherwise
}
