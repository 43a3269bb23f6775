package posteriors

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Moments are the means and standard deviations of a posterior's parameters.
type Moments struct{ Mean, SD []float64 }

// Box bounds two parameters: lowest and highest of the first, then of the second.
type Box [4]float64

// grid returns n points a side, and the box's corners among them.
func (b Box) grid(n int) [][]float64 {
	points := make([][]float64, 0, n*n)
	for i := range n {
		for j := range n {
			u, v := float64(i)/float64(n-1), float64(j)/float64(n-1)
			points = append(points, []float64{b[0] + (b[1]-b[0])*u, b[2] + (b[3]-b[2])*v})
		}
	}
	return points
}

// side is the number of quadrature points along a parameter. The trapezoidal rule
// converges faster than any power of its step where a density vanishes at the
// edges: exp(−2π²σ²/h²) for a Gaussian, nothing at a step h below σ.
const side = 160

// Quadrature integrates a posterior of two parameters on n² points of a box,
// beyond which there is nothing.
func Quadrature(box Box, n int, logDensity func(theta []float64) float64) Moments {
	points := box.grid(n)
	log := make([]float64, len(points))
	for k, theta := range points {
		log[k] = logDensity(theta)
	}
	return integrate(points, log)
}

// integrate returns the moments of weights e^log at the points.
func integrate(points [][]float64, log []float64) Moments {
	top := math.Inf(-1)
	for _, l := range log {
		top = max(top, l)
	}
	weights := make([]float64, len(log))
	for k, l := range log {
		weights[k] = math.Exp(l - top)
	}
	m := Moments{make([]float64, 2), make([]float64, 2)}
	x := make([]float64, len(points))
	for j := range m.Mean {
		for k, theta := range points {
			x[k] = theta[j]
		}
		m.Mean[j], m.SD[j] = stat.PopMeanStdDev(x, weights)
	}
	return m
}

// Powered gives the exact moments of a posterior in which the prior and the
// likelihood are raised to powers; (1, 1) is the posterior itself.
type Powered func(prior, likelihood float64) Moments

// Integrated evaluates a problem's posterior on its box once, for all powers.
func (p Problem) Integrated() Powered {
	rows := targets.Rows{X: p.Records.X, P: p.Records.Features, Y: p.Records.Y}
	loss := make([]float64, rows.Len())
	points := p.Box.grid(side)
	priors, likelihoods := make([]float64, len(points)), make([]float64, len(points))
	for k, theta := range points {
		priors[k] = p.Target.LogPrior(theta)
		p.Target.Loss(loss, theta, rows)
		for _, l := range loss {
			likelihoods[k] -= l * p.Temperature
		}
	}
	return func(prior, likelihood float64) Moments {
		log := make([]float64, len(points))
		for k := range log {
			log[k] = prior*priors[k] + likelihood*likelihoods[k]
		}
		return integrate(points, log)
	}
}

// Off is the largest distance of the draws' means and standard deviations from
// the exact ones, in Monte Carlo standard errors; bias exact standard deviations
// are taken off each distance first. Draws come by parameter.
func (m Moments) Off(draws [][]float64, bias float64) float64 {
	worst := 0.0
	for j, x := range draws {
		chain := [][]float64{x}
		mean, sd := stat.MeanStdDev(x, nil)
		worst = max(worst, (math.Abs(mean-m.Mean[j])-bias*m.SD[j])/diag.MCSEMean(chain),
			(math.Abs(sd-m.SD[j])-bias*m.SD[j])/diag.MCSESD(chain))
	}
	return worst
}

// Agree reports, and logs, whether the draws are within z of Off. False-alarm
// rate for each figure of a fresh seed, in normal approximation: 6·10⁻⁵ at z = 4,
// 6·10⁻⁷ at 5.
func (m Moments) Agree(t testing.TB, what string, draws [][]float64, z, bias float64) bool {
	t.Helper()
	worst := m.Off(draws, bias)
	t.Logf("%s: the worst figure is %.2f Monte Carlo standard errors from the exact one, biases of %v allowed", what,
		worst, bias)
	return worst <= z
}
