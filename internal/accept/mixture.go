package accept

// Proof: docs/proofs/acceptance.md.

import (
	"fmt"
	"math"
	"strings"
)

//go:generate go run ../maintain/acceptfit -o table.go

// Atom is a pair of point masses at ±Mean, of probability Weight together.
type Atom struct{ Mean, Weight float64 }

// Mixture is the law of a symmetric correction V such that N(0, C) + V is close
// to Logistic(0, 1). Its components are point masses: smoother components are
// themselves mixtures of those, so they could not come closer. No V is exact,
// since the characteristic function πt/sinh(πt)·e^{Ct²/2} it would need is
// unbounded (theory 2.6).
type Mixture struct {
	C     float64 // the variance of the Gaussian part
	Atoms []Atom  // by increasing Mean ≥ 0; weights positive, adding up to 1
}

// Correction returns the stored mixture for Gaussian variance c. The table was
// fitted by internal/maintain/acceptfit. Its largest errors as a distribution
// function are below 10⁻⁶ at c = 0.5 and 1, 10⁻⁴ at 1.5 and 7·10⁻⁴ at 2; other
// variances are an error.
func Correction(c float64) (Mixture, error) {
	known := make([]string, len(corrections))
	for i, m := range corrections {
		if m.C == c {
			return m, nil
		}
		known[i] = fmt.Sprint(m.C)
	}
	return Mixture{}, fmt.Errorf("accept: there is no fitted correction for noise variance %v; use one of %s", c,
		strings.Join(known, ", "))
}

// Tail returns P(N(0, variance) + V > u), for variance > 0.
func (m Mixture) Tail(u, variance float64) float64 {
	// Beyond 12 standard deviations a term is below 2⁻¹⁰⁸ of its weight.
	const negligible = 12 / math.Sqrt2
	inverse := 1 / (math.Sqrt2 * math.Sqrt(variance))
	sum := 0.0
	for _, a := range m.Atoms {
		if z := (u - a.Mean) * inverse; z < negligible {
			sum += a.Weight * math.Erfc(z)
		}
		if z := (u + a.Mean) * inverse; z < negligible {
			sum += a.Weight * math.Erfc(z)
		}
	}
	return sum / 4
}

// SupError returns an upper bound of sup |P(N(0, C) + V ≤ x) − 1/(1+e^−x)|, tight
// to 10⁻⁷ for C ≥ ½: the error on a grid of step h, plus h²/8 times a bound of its
// second derivative, and the two tails beyond the grid.
func (m Mixture) SupError() float64 {
	const (
		step, end = 0x1p-10, 40
		// The largest slopes of a normal density of variance 1 and of the
		// logistic density.
		normalSlope, logisticSlope = 0.24198, 0.09623
	)
	worst := m.Tail(end, m.C) + 1/(1+math.Exp(end))
	for i := range int(end/step) + 1 {
		x := float64(i) * step
		worst = max(worst, math.Abs(m.Tail(x, m.C)-1/(1+math.Exp(x))))
	}
	return worst + step*step/8*(normalSlope/m.C+logisticSlope)
}
