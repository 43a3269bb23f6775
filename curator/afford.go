package curator

import "github.com/dpmcmc/dpmcmc/accountant"

// LeastNoise is the least noise multiplier up to MostNoise whose price is within
// (epsilon, delta), to 1e-7 relative; price must fall with it. It charges nothing.
// Errors: those of price; an *accountant.UnreachableError when no noise is enough.
func LeastNoise(price func(noise float64) (accountant.Event, error), epsilon, delta float64) (float64, error) {
	const least = 1e-3
	noise, _, err := accountant.SolveParameter(price, least, MostNoise, epsilon, delta, false)
	return noise, err
}
