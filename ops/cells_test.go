package ops_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/laplaceapprox"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// cell is what a series of data sets says of the Laplace approximation.
type cell struct {
	held          int // coefficients within their intervals of 90%
	count         int
	mean, optimum float64   // sums of squared errors
	worse         []float64 // by which those of Mean exceed Optimum's, of each data set
}

// BenchmarkCells reports, over data sets whose coefficients come from the prior, how often
// intervals of 90% hold the truth, the root-mean-square errors of Mean and Optimum, and how
// many standard errors of the data sets' differences Mean is the worse by: the table of
// docs/ops.md.
func BenchmarkCells(b *testing.B) {
	for _, n := range []int{500, 2000, 10_000} {
		for _, d := range []int{2, 3, 6} {
			for _, epsilon := range []float64{0.2, 1, 5} {
				b.Run(fmt.Sprintf("n=%d/d=%d/ε=%v", n, d, epsilon), func(b *testing.B) {
					m, err := laplace(n, d, epsilon)
					if err != nil {
						b.Fatal(err)
					}
					var c cell
					for b.Loop() {
						if err := c.add(b, m, n, d); err != nil {
							b.Fatal(err)
						}
					}
					c.report(b)
				})
			}
		}
	}
}

// add makes one data set, releases and draws.
func (c *cell) add(b *testing.B, m *laplaceapprox.Mechanism, n, d int) error {
	run := len(c.worse)
	theta, rows := simulate(rand.New(rand.NewPCG(uint64(run), 7)), n, d, 1/math.Sqrt(2*float64(d)))
	r, err := m.Release(ops.NewInsecureSource(sha256.Sum256(fmt.Append(nil, run))), rows)
	if err != nil {
		return err
	}
	draws, err := surrogates.Sample(b.Context(), r.Posterior,
		surrogates.SampleConfig{Chains: 2, Draws: 300, LeastESS: 100, MostRHat: 1.05, Workers: 1})
	if err != nil {
		return err
	}
	all := slices.Concat(draws.Chains...)
	mean, optimum := 0.0, 0.0
	for j, t := range theta {
		slices.SortFunc(all, func(a, b []float64) int { return cmp.Compare(a[j], b[j]) })
		if c.count++; all[len(all)/20][j] <= t && t <= all[len(all)*19/20][j] {
			c.held++
		}
		mean += (r.Mean[j] - t) * (r.Mean[j] - t)
		optimum += (r.Optimum[j] - t) * (r.Optimum[j] - t)
	}
	c.mean, c.optimum, c.worse = c.mean+mean, c.optimum+optimum, append(c.worse, mean-optimum)
	return nil
}

func (c *cell) report(b *testing.B) {
	count := float64(c.count)
	b.ReportMetric(float64(c.held)/count, "held")
	b.ReportMetric(math.Sqrt(c.mean/count), "rmse-mean")
	b.ReportMetric(math.Sqrt(c.optimum/count), "rmse-optimum")
	average, sd := stat.MeanStdDev(c.worse, nil)
	b.ReportMetric(average/sd*math.Sqrt(float64(len(c.worse))), "worse-by-se")
}
