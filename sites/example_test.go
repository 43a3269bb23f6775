package sites_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Three hospitals, each with its own records and budget.
func Example() {
	model, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		log.Fatal(err)
	}
	var places []sites.Site
	for i := range uint64(3) {
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6,
			Adjacency: accountant.Substitute})
		if err != nil {
			log.Fatal(err)
		}
		people := simulate(3000, []float64{0.5, -2}, rand.New(rand.NewPCG(i, 1)))
		records, err := curator.Seal(people, budget, curator.InsecureSeed(i))
		if err != nil {
			log.Fatal(err)
		}
		c, err := sites.Afford(sites.Config{Target: model}, records.Facts(), 1, 1e-6)
		if err != nil {
			log.Fatal(err)
		}
		site, err := sites.Open(c, records) // charged now; sites.Handler serves it elsewhere
		if err != nil {
			log.Fatal(err)
		}
		places = append(places, site)
	}
	r, err := sites.Fit(context.Background(), sites.FitConfig{Target: model,
		Sample: surrogates.SampleConfig{Seed: 1}}, places...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("explored %v, %d records, privacy widened the intervals ×%.1f and ×%.1f\n", r.Draws.Explored,
		r.Statistics.Records, r.Widening[0], r.Widening[1])
	// Output: explored true, 9000 records, privacy widened the intervals ×1.2 and ×1.5
}

// Sixteen sites fit a linear regression with noise of their own, and then once more with
// the one noise of an aggregator that they all trust.
func ExampleFitLinear() {
	model, err := targets.New(targets.LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 2}, MinScale: 0.2,
		ScalePrior: priors.HalfNormal{SD: 1}})
	if err != nil {
		log.Fatal(err)
	}
	const k = 16
	all := simulateLinear(16_000, model, []float64{1, -2, 0}, rand.New(rand.NewPCG(1, 1)))
	c := sites.LinearConfig{Target: model, Response: 8}
	budget := func() *accountant.Budget {
		b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
		if err != nil {
			log.Fatal(err)
		}
		return b
	}
	whole := curator.Facts{Records: 16_000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	if c, err = sites.AffordLinear(c, whole, 1, 1e-6); err != nil { // the same at every site
		log.Fatal(err)
	}
	var apart []sites.LinearSums
	var exact [][]int64
	for i := range k {
		people := part(all, i, k)
		records, err := curator.Seal(people, budget(), curator.InsecureSeed(uint64(i)))
		if err != nil {
			log.Fatal(err)
		}
		released, err := sites.ReleaseLinear(c, records) // what a site publishes
		if err != nil {
			log.Fatal(err)
		}
		handed, err := sites.ExactLinear(c, whole, people) // what it hands to an aggregator
		if err != nil {
			log.Fatal(err)
		}
		apart, exact = append(apart, released), append(exact, handed)
	}
	pooled, err := sites.PoolLinear(c, whole, budget(), exact, curator.InsecureSeed(k))
	if err != nil {
		log.Fatal(err)
	}
	for _, places := range [][]sites.LinearSums{apart, {pooled}} {
		r, err := sites.FitLinear(context.Background(), sites.FitLinearConfig{Target: model,
			Sample: surrogates.SampleConfig{Seed: 1}}, places...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d noises: explored %v, privacy widened the intervals ×%.1f and ×%.1f\n", len(places), r.Draws.Explored,
			r.Widening[0], r.Widening[1])
	}
	// Output:
	// 16 noises: explored true, privacy widened the intervals ×3.3 and ×5.3
	// 1 noises: explored true, privacy widened the intervals ×1.2 and ×1.6
}
