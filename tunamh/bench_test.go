package tunamh_test

import (
	"fmt"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// BenchmarkStep is a step on logistic regression with d = 10: batches of about 100, 300 and
// 1000 records, and of half of N = 10⁵. Allocations must be 0. -short leaves out the tables
// beyond 10⁶ records.
func BenchmarkStep(b *testing.B) {
	target := posteriors.Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}}))
	step := func(b *testing.B, name string, records curator.Records, scale, rate float64) {
		b.Run(name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, records, make([]float64, 10),
				factory(tunamh.Config{Target: target, Proposal: curator.Proposal{Scale: scale}, Rate: rate}))
		})
	}
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		if testing.Short() && n > 1_000_000 {
			return
		}
		records := posteriors.Simulated(n, 10)
		for _, batch := range []float64{100, 300, 1000} {
			rate := batch / float64(n)
			step(b, fmt.Sprintf("N=%d/batch of %v", n, batch), records, rate/50, rate)
		}
		if n == 100_000 {
			step(b, "half", records, 1e-3, 0.5)
		}
	}
}
