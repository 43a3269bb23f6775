package curator_test

import (
	"errors"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// TestLeastNoise: what it finds is within the budget, and a hair less is not.
func TestLeastNoise(t *testing.T) {
	const epsilon, delta = 0.7, 1e-6
	price := func(noise float64) (accountant.Event, error) {
		return accountant.Gaussian(accountant.Substitute, noise)
	}
	cost := func(noise float64) float64 {
		event, err := price(noise)
		if err != nil {
			t.Fatal(err)
		}
		g, err := event.Epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		return g.Epsilon
	}
	noise, err := curator.LeastNoise(price, epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	if cost(noise) > epsilon || cost(noise*(1-1e-6)) <= epsilon {
		t.Errorf("noise %v costs %v, and a hair less %v", noise, cost(noise), cost(noise*(1-1e-6)))
	}
	var none *accountant.UnreachableError
	if noise, err := curator.LeastNoise(price, 1e-9, delta); !errors.As(err, &none) || none.Nearest != curator.MostNoise {
		t.Errorf("ε of 1e-9 got noise %v (%v)", noise, err)
	}
}
