package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// pair are canaries' scores by their coin: what a release says of each, taken for normal
// with one variance and two means (Agrawal et al. 2026, "Let's Ask Gauss").
type pair [2][]float64

// distance is that of the means in standard deviations, and its standard error.
func (p pair) distance() (d, se float64, err error) {
	n0, n1 := float64(len(p[0])), float64(len(p[1]))
	if n0 < 2 || n1 < 2 {
		return 0, 0, fmt.Errorf("audit: %v and %v canaries on the two sides: at least 2 are needed on each", n0, n1)
	}
	m0, v0 := stat.MeanVariance(p[0], nil)
	m1, v1 := stat.MeanVariance(p[1], nil)
	sd := math.Sqrt(((n0-1)*v0 + (n1-1)*v1) / (n0 + n1 - 2))
	if !(sd > 0) {
		return 0, 0, fmt.Errorf("audit: the canaries' scores on a side are all alike: nothing was released")
	}
	d = (m1 - m0) / sd
	return d, distanceError(d, n0, n1), nil
}

// distanceError is the standard error of a distance, for large numbers.
func distanceError(d, n0, n1 float64) float64 { return math.Sqrt(1/n0 + 1/n1 + d*d/(2*(n0+n1))) }

// lower is the ε at delta of the Gaussian release that the scores show, at a one-sided
// confidence of 1 − falseAlarm for many canaries: asymptotic, and so never a refutation.
// claimed is what canaries that leak all of a claim would show.
func (p pair) lower(claimed, delta, falseAlarm float64) (lower, most float64, err error) {
	d, se, err := p.distance()
	if err != nil {
		return 0, 0, err
	}
	z := math.Sqrt2 * math.Erfcinv(2*falseAlarm)
	if lower, err = gaussianEpsilon(d-z*se, delta); err != nil {
		return 0, 0, err
	}
	all, err := bisect(64, func(mu float64) (bool, error) {
		e, err := gaussianEpsilon(mu, delta)
		return e <= claimed, err
	})
	if err != nil {
		return 0, 0, err
	}
	most, err = gaussianEpsilon(all-z*distanceError(all, float64(len(p[0])), float64(len(p[1]))), delta)
	return lower, most, err
}

// gaussianEpsilon is the ε at delta of a Gaussian release whose two worlds are mu standard
// deviations apart.
func gaussianEpsilon(mu, delta float64) (float64, error) {
	if !(mu > 1e-6) {
		return 0, nil
	}
	e, err := accountant.Gaussian(accountant.Substitute, 1/mu)
	if err != nil {
		return 0, err
	}
	g, err := e.Epsilon(delta)
	return g.Epsilon, err
}
