package curator_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Sealed records answer only what was paid for. Samplers make these calls; an
// analyst seals, and hands the curator to a sampler.
func Example() {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	records, err := curator.Seal(curator.Records{
		X: []float64{0.1, -0.9, 0.4, 0.7}, Features: 1, Y: []float64{0, 0, 1, 1}, Radius: 1,
	}, budget)
	if err != nil {
		log.Fatal(err)
	}
	model, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	bit := curator.AcceptanceBit{Target: model, Proposal: curator.Proposal{Scale: 0.01}}

	bits, err := curator.Charge(records, bit, 100) // charged now
	if err != nil {
		log.Fatal(err)
	}
	next := make([]float64, 1)
	if _, err := bits.Move(next, []float64{0}, func([]float64) float64 { return 0 }); err != nil {
		log.Fatal(err)
	}
	spent, err := budget.Spent()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bits left, ε = %.2f spent\n", bits.Left(), spent.Epsilon)

	var exceeded *accountant.ExceededError
	_, err = curator.Charge(records, bit, 1_000_000)
	fmt.Println("a million more:", errors.As(err, &exceeded))
	// Output:
	// 99 bits left, ε = 0.44 spent
	// a million more: true
}
