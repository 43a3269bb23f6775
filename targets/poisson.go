package targets

// Proof: docs/proofs/targets-certificates.md.

import "math"

// newPoisson is the family of y ~ Poisson(e^η).
//
// Certificates: R_ℓ = 1/(β−1). Slopes are bounded for β ≥ 2 only: where e^η is
// large the counts spread over e^(η/2), and the slope of the loss grows like
// e^(η(2−β)/2).
//
// The β loss takes a table of Σf^β, built once in some tens of milliseconds.
func newPoisson(_ RegressionConfig, l loss) (family, error) {
	f, err := newCounts("poisson", l, poisson{})
	if err == nil && l.b >= 1 {
		f.lip = up(poisson{}.slopeCeiling(f))
	}
	return f, err
}

// poisson is the law of a count with mean e^η.
type poisson struct{}

// score is y − λ.
func (poisson) score(eta, y float64) float64 { return y - math.Exp(eta) }

// logMass takes large counts through the deviance (Loader 2000), which loses no
// digits to cancellation.
func (poisson) logMass(eta, y float64) float64 {
	lambda := math.Exp(eta)
	if y == 0 {
		return -lambda
	}
	if y < 16 {
		return y*eta - lambda - lgamma(y+1)
	}
	return -deviance(y, lambda, eta) - stirlingError(y) - math.Log(2*math.Pi*y)/2
}

// deviance returns y·log(y/λ) + λ − y for λ = e^η.
func deviance(y, lambda, eta float64) float64 {
	t := (lambda - y) / y
	if math.Abs(t) > 0.05 {
		return y*(math.Log(y)-eta) + (lambda - y)
	}
	// y·(t − log(1+t)) by its series.
	var sum float64
	term := t
	for k := 2; k < 16; k++ {
		term *= -t
		sum -= term / float64(k)
	}
	return y * sum
}

// logPower sums, where the counts spread far, only every m-th of them, with m a
// quarter of their standard deviation: for so smooth a summand that is exact to
// rounding.
func (p poisson) logPower(eta, beta float64) (value, slope float64) {
	lambda := math.Exp(eta)
	sd := math.Sqrt(lambda / beta)
	step := math.Max(1, math.Floor(sd/4))
	peak := p.logMass(eta, p.mode(eta)) // taken out: its power may be below all numbers
	var sum, moment float64
	for y := math.Floor(max(0, lambda-10*sd)); ; y += step {
		fb := math.Exp(beta * (p.logMass(eta, y) - peak))
		sum += fb
		moment += fb * (y - lambda)
		if y > lambda && !(fb*(1+y-lambda) >= 1e-18*sum) {
			break
		}
	}
	return beta*peak + math.Log(step*sum), beta * moment / sum
}
