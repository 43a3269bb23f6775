package proptest_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// A user's own event: twenty Laplace releases and one zCDP release, priced
// together.
func ExampleCheckAccountant() {
	laplace, err := accountant.Laplace(accountant.Substitute, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	twenty, err := laplace.Times(20)
	if err != nil {
		fmt.Println(err)
		return
	}
	other, err := accountant.ZCDP(accountant.Substitute, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	mine, err := accountant.Compose(twenty, other)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, failed := proptest.Try("TestMyEvent", func(t rapid.TB) { proptest.CheckAccountant(t, mine) })
	fmt.Println("failed", failed)
	// Output: failed false
}

// TestEveryKindOfEvent puts one event of every constructor through the laws.
func TestEveryKindOfEvent(t *testing.T) {
	must := event(t)
	for _, adj := range []accountant.Adjacency{accountant.Substitute, accountant.AddRemove} {
		all := map[string]accountant.Event{
			"gaussian":      must(accountant.Gaussian(adj, 2)),
			"discrete":      must(accountant.DiscreteGaussian(adj, 2)),
			"bit":           must(accountant.Bit{Contribution: 0.2}.Event(adj)),
			"bounded range": must(accountant.BoundedRange(adj, 0.5)),
			"laplace":       must(accountant.Laplace(adj, 3)),
			"pure":          must(accountant.Pure(adj, 0.3)),
			"zcdp":          must(accountant.ZCDP(adj, 0.05)),
			"gdp":           must(accountant.GaussianDP(adj, 0.4)),
			"response":      must(accountant.RandomizedResponse(adj, 0.6, 2)),
			"k-ary":         must(accountant.RandomizedResponse(adj, 0.6, 5)),
			"optimum": must(accountant.Perturbation{NoiseMultiplier: 5, Curvature: 0.3, Logistic: true,
				Coordinates: 1}.Event(adj)),
			"convex": must(accountant.Perturbation{NoiseMultiplier: 5, Curvature: 0.3, Coordinates: 1}.Event(adj)),
			"free":   must(accountant.Pure(adj, 0)),
		}
		if adj == accountant.Substitute {
			all["isotropic"] = must(accountant.Bit{Contribution: 0.1, Isotropic: true}.Event(adj))
			all["costly"] = must(accountant.Gaussian(adj, 0.05))
		}
		all["sampled bit"] = must(all["bit"].PoissonSampled(0.01))
		all["sampled gaussian"] = must(all["gaussian"].PoissonSampled(0.01))
		for name, e := range all {
			t.Run(fmt.Sprint(adj, " ", name), func(t *testing.T) { proptest.CheckAccountant(t, e) })
		}
	}
	mustReject(t, "zero value", func(t rapid.TB) { proptest.CheckAccountant(t, accountant.Event{}) })
}
