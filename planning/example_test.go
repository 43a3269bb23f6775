package planning_test

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/planning"
)

// How much noise do 10 000 steps of private gradient descent on batches of 1 %
// need to be (1, 1e-5)-DP, and what would other lengths cost with that noise?
func ExampleSolve() {
	step := func(noise float64) (accountant.Event, error) {
		g, err := accountant.Gaussian(accountant.AddRemove, noise)
		if err != nil {
			return g, err
		}
		return g.PoissonSampled(0.01)
	}
	run := func(noise float64) (accountant.Event, error) {
		e, err := step(noise)
		if err != nil {
			return e, err
		}
		return e.Times(10_000)
	}
	plan, err := planning.Solve(planning.Parameter[float64]{Name: "noise multiplier", Event: run, Low: 0.1, High: 1e4},
		planning.Budget{Epsilon: 1, Delta: 1e-5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("noise multiplier %.4f: ε = %.4f at δ = %v, %v\n", plan.Value, plan.Guarantee.Epsilon, plan.Guarantee.Delta,
		plan.Guarantee.Adjacency)
	one, err := step(plan.Value)
	if err != nil {
		fmt.Println(err)
		return
	}
	curve, err := planning.EpsilonCurve("other lengths", one.Times, []int64{2_500, 5_000, 20_000}, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, n := range curve.X {
		fmt.Printf("%6.0f steps: ε = %.3f\n", n, curve.Y[i])
	}
	// Output:
	// noise multiplier 4.1253: ε = 1.0000 at δ = 1e-05, add_remove
	//   2500 steps: ε = 0.474
	//   5000 steps: ε = 0.688
	//  20000 steps: ε = 1.458
}

// The mixture experiment of Heikkilä et al. (2019): 20 000 steps on batches of
// 1 000 out of 10⁶ records, contributions clipped so that a record moves the
// log-odds by at most 1/√1000, δ = 10⁻⁶. The paper prints the first figure.
func Example_published() {
	const records, batch, steps, delta = 1_000_000, 1000, 20_000, 1e-6
	classic := accountant.Event.ClassicEpsilon
	best := accountant.Event.Epsilon
	for _, row := range []struct {
		name   string
		build  func() (accountant.Event, error)
		answer func(accountant.Event, float64) (accountant.Guarantee, error)
	}{
		{"as published", func() (accountant.Event, error) { return accountant.SubsampledBarker(batch, false) }, classic},
		{"tightened", func() (accountant.Event, error) { return accountant.SubsampledBarker(batch, true) }, classic},
		{"tightened, better conversion", func() (accountant.Event,
			error) {
			return accountant.SubsampledBarker(batch, true)
		}, best},
		{"the released bit alone", func() (accountant.Event, error) {
			return accountant.Bit{Contribution: 0.0316227766016838}.Event(accountant.Substitute)
		}, best},
	} {
		e, err := row.build()
		if err == nil {
			e, err = e.SubsetSampled(records, batch)
		}
		if err == nil {
			e, err = e.Times(steps)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		g, err := row.answer(e, delta)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-29s ε = %.4f\n", row.name, g.Epsilon)
	}
	// Output:
	// as published                  ε = 1.0004
	// tightened                     ε = 0.2390
	// tightened, better conversion  ε = 0.1758
	// the released bit alone        ε = 0.0157
}
