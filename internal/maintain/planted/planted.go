// Package planted holds targets, kernels and mechanisms with one deliberate
// defect each, in families, for the power of package proptest to be measured on,
// and right ones that it must not reject.
//
// Files begin with the suite: target, kernel or mechanism. targetlinear.go, targetown.go,
// kernelchain.go, kernelmade.go, mechanismsum.go and mechanismanswers.go have what cases are made of.
// Others are named after what is wrong or, with sets, after the sets that they list. families.go lists all
// families in the order of the tables.
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
	// Suite is "CheckTarget", "CheckKernel" or "CheckMechanism". It and the family are those of the list
	// that a case is in.
	Suite, Family, Name string
	// ByKind is whether the family is named after what is wrong, or is a set that the suites had not seen.
	ByKind bool
	// Effect says how large the defect is.
	Effect string
	// Check runs the suite. It is called many times, and plants afresh each time.
	Check func(t rapid.TB, seed uint64, effort proptest.Effort)
	// Survivor says why a defect may pass; empty for those that must not.
	Survivor string
}

// Defects lists what must be rejected.
func Defects() (all []Case) {
	for _, s := range suites {
		for i, f := range slices.Concat(s.kinds, s.sets) {
			for _, c := range f.defects() {
				c.Suite, c.Family, c.ByKind, c.Survivor = s.name, f.name, i < len(s.kinds), survivors[c.Name]
				all = append(all, c)
			}
		}
	}
	return all
}

// Controls lists right targets, kernels and mechanisms, in the same dress as the
// defects.
func Controls() (all []Case) {
	for _, s := range suites {
		right := s.right()
		for _, f := range slices.Concat(s.kinds, s.sets) {
			if f.controls != nil {
				right = append(right, f.controls()...)
			}
		}
		for _, c := range right {
			c.Suite, c.Family = s.name, "right"
			all = append(all, c)
		}
	}
	return all
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
