package barker_test

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func factory(c barker.Config) posteriors.Factory {
	return func(sealed *curator.Curator, steps int64) (kernels.Kernel, error) {
		c.Iterations = steps
		return barker.New(c, sealed)
	}
}

// BenchmarkMixtureMinibatch is a step of the published experiment: N = 10⁶,
// b = 1000. The published code makes 810 a second.
func BenchmarkMixtureMinibatch(b *testing.B) {
	records := curator.Records{X: mixtureTable(b).X, Features: 1}
	for name, test := range map[string]curator.Test{"logistic": {}, "corrected1": {Corrected: 1},
		"corrected2": {Corrected: 2}} {
		b.Run(name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, records, []float64{0.5, 0.5}, factory(barker.Config{
				Target: posteriors.Mixture(), Proposal: curator.Proposal{Scale: 0.1}, Test: test, Batch: curator.Batch{Rate: 1e-3},
				Temperature: 1e-4, Clip: math.Sqrt(1000) / 1e6,
			}))
		})
	}
}

// logistic times a step on n records with 10 features.
func logistic(b *testing.B, n int, loss targets.Loss, c barker.Config) {
	b.Helper()
	c.Target = posteriors.Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3},
		Loss: loss}))
	posteriors.BenchmarkSteps(b, posteriors.Simulated(n, 10), make([]float64, 10), factory(c))
}

// BenchmarkLogisticFullData is a step of exact Barker on all of 10⁵ records, and
// of 10⁶.
func BenchmarkLogisticFullData(b *testing.B) {
	for name, loss := range map[string]targets.Loss{"log": {},
		"beta1.5": {Beta: 1.5}} {
		for size, n := range map[string]int{"N=1e5": 100_000, "N=1e6": 1_000_000} {
			b.Run(name+"/"+size, func(b *testing.B) {
				logistic(b, n, loss, barker.Config{Proposal: curator.Proposal{Scale: 0.001}})
			})
		}
	}
}

// BenchmarkLogisticMinibatch is a step on Poisson batches of 1000 out of 10⁶.
func BenchmarkLogisticMinibatch(b *testing.B) {
	logistic(b, 1_000_000, targets.Loss{}, barker.Config{Proposal: curator.Proposal{Scale: 0.0005},
		Batch: curator.Batch{Rate: 1e-3}})
}
