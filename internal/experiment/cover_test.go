package experiment

import (
	"errors"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
)

// TestCoverIsTheSmallestKnownBound: cells that only numerical composition fits are
// covered at that ε, and refused a hair below it, with what Rényi's curves say.
func TestCoverIsTheSmallestKnownBound(t *testing.T) {
	laplace, err := accountant.Laplace(accountant.Substitute, 4)
	if err != nil {
		t.Fatal(err)
	}
	m := &Mechanism{Mechanism: &methods.Mechanism{Cost: laplace}}
	cells := make([]Cell, 20)
	for i := range cells {
		cells[i].Mechanism = m
	}
	total, err := composed(cells)
	if err != nil {
		t.Fatal(err)
	}
	const delta = 1e-6
	renyi, err1 := total.Epsilon(delta)
	smallest, err2 := total.LeastEpsilon(delta)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !(smallest.Epsilon < 0.99*renyi.Epsilon) {
		t.Fatalf("numerical composition gives %v, Rényi's curves %v: nothing is tested", smallest.Epsilon, renyi.Epsilon)
	}
	for factor, fits := range map[float64]bool{1 + 1e-9: true, 1 - 1e-9: false} {
		r := &runner{o: RunOptions{Epsilon: smallest.Epsilon * factor, Delta: delta}}
		err := r.cover(cells)
		var exceeded *accountant.ExceededError
		if fits && err != nil || !fits && !errors.As(err, &exceeded) {
			t.Errorf("a budget of %v times what the cells cost: %v", factor, err)
		}
	}
}
