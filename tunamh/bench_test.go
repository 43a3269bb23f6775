package tunamh_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// BenchmarkStep is a step on logistic regression with d = 10: batches of about
// 1000 out of N = 10⁶ records, and of half of N = 10⁵. Allocations must be 0.
func BenchmarkStep(b *testing.B) {
	target := posteriors.Must(targets.NewLogistic(targets.RegressionConfig{Features: 10, Prior: targets.Gaussian{SD: 3}}))
	for _, c := range []struct {
		name        string
		n           int
		scale, rate float64
	}{{"batch of 1000", 1_000_000, 2e-5, 1e-3}, {"half", 100_000, 1e-3, 0.5}} {
		b.Run(c.name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, posteriors.Simulated(c.n, 10), make([]float64, 10),
				factory(tunamh.Config{Target: target, Proposal: curator.Isotropic(c.scale), Rate: c.rate}))
		})
	}
}
