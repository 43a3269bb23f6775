package penalty_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// BenchmarkStep is a step on logistic regression with d = 10: on all of N = 10⁵
// records, and on Poisson batches of 1000 out of 10⁶. Allocations must be 0.
func BenchmarkStep(b *testing.B) {
	target := posteriors.Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}}))
	full := penalty.Config{Target: target, Proposal: curator.Proposal{Scale: 1e-4}, Noise: penalty.Fixed(1)}
	published := full
	published.Noise, published.Accounting = penalty.Scaled(100), "published"
	guided := full
	guided.Proposal, guided.Guided = curator.Proposal{Scale: 1e-4, OneComponent: true}, true
	batch := full
	batch.Noise, batch.Batch = penalty.Fixed(4), curator.Batch{Rate: 1e-3}
	for _, c := range []struct {
		name   string
		n      int
		config penalty.Config
	}{{"full", 100_000, full}, {"full/guided", 100_000, guided}, {"full/published", 100_000, published},
		{"minibatch", 1_000_000, batch}} {
		b.Run(c.name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, posteriors.Simulated(c.n, 10), make([]float64, 10), factory(c.config))
		})
	}
}
