package dpsgld

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest/posteriors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// BenchmarkStep times a step on logistic regression with 10 features: the
// full data of 10⁵ records, and Poisson batches of 1000 out of 10⁶.
func BenchmarkStep(b *testing.B) {
	logistic := posteriors.Must(targets.NewLogistic(targets.RegressionConfig{Features: 10,
		Prior: targets.Gaussian{SD: 3}}))
	for _, bc := range []struct {
		name  string
		n     int
		batch curator.Batch
	}{{"full/N=1e5", 100_000, curator.FullData()}, {"poisson/N=1e6/b=1000", 1_000_000, curator.Poisson(0.001)}} {
		c := Config{Target: logistic, Step: kernels.Constant(1e-9), NoiseMultiplier: 10, Batch: bc.batch}
		b.Run(bc.name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, posteriors.Simulated(bc.n, 10), make([]float64, 10), factory(c))
		})
	}
}
