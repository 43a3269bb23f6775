package chains

import (
	"errors"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestLargestSpendsTheBudget solves for lengths whose price is known: a Gaussian
// of noise 1/x, and one that has no price beyond a limit.
func TestLargestSpendsTheBudget(t *testing.T) {
	for _, limit := range []float64{math.Inf(1), 0.01} {
		for _, epsilon := range []float64{1e-3, 0.1, 1, 30} {
			price := func(x float64) (accountant.Event, error) {
				if x > limit {
					return accountant.Event{}, errors.New("too long")
				}
				return accountant.Gaussian(accountant.Substitute, 1/x)
			}
			x, err := largest(price, epsilon, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			event, err := price(x)
			if err != nil {
				t.Fatal(err)
			}
			g, err := event.Epsilon(1e-6)
			if err != nil || g.Epsilon > epsilon {
				t.Errorf("limit %v: length %v costs ε = %v of %v, error %v", limit, x, g.Epsilon, epsilon, err)
			}
			if g.Epsilon < 0.998*epsilon && x < 0.999*min(limit, maxStep) {
				t.Errorf("limit %v: length %v leaves a part of ε = %v unspent: %v", limit, x, epsilon, g.Epsilon)
			}
		}
	}
	if _, err := largest(func(x float64) (accountant.Event,
		error) {
		return accountant.Gaussian(accountant.Substitute, 1)
	}, 0.1, 1e-6); err == nil {
		t.Error("a length was found that the budget does not cover")
	}
}
