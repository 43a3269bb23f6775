package proptest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// checkReused evaluates other records, as many, at the same parameters into the same slice, which is how
// a curator asks: what they give is what they give elsewhere.
func checkReused(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	rng := rand64(o.Seed, 46)
	for _, f := range forms(target) {
		for _, n := range []int{1, 1, 2, 5, 64} {
			theta, next := o.state(rng, target), o.state(rng, target)
			rows := o.plausible(rng, target, n)
			dst := f.run(0, theta, next, o.plausible(rng, target, n))
			f.eval(dst, theta, next, rows)
			if elsewhere := f.run(0, theta, next, rows); !slices.EqualFunc(dst, elsewhere, same) {
				failf(t, "%s of %d records, into a slice that held those of others at the same parameters, is not what it is "+
					"elsewhere: something is kept from one call to the next, at θ = %s (Seed %d)", f.name, n, text(theta), o.Seed)
				t.FailNow()
			}
		}
	}
}
