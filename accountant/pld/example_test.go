package pld_test

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant/pld"
)

// Ten thousand noisy gradients over 1% Poisson batches and one noisy count.
func Example() {
	noise, err := pld.Gaussian(1)
	if err != nil {
		panic(err)
	}
	gradient, err := pld.PoissonAddRemove(0.01, noise)
	if err != nil {
		panic(err)
	}
	count, err := pld.Gaussian(20)
	if err != nil {
		panic(err)
	}
	r, err := pld.Compose([]pld.Part{{Mechanism: gradient, Count: 10_000}, {Mechanism: count, Count: 1}},
		pld.AtDelta(1e-5))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f ≤ ε ≤ %.3f\n", r.LowerEpsilon(1e-5), r.Epsilon(1e-5))
	// Output: 6.193 ≤ ε ≤ 6.193
}
