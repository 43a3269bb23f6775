package dpsgld

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func BenchmarkStep(b *testing.B) {
	posteriors.BenchmarkGradients(b, func(target targets.GradTarget, batch curator.Batch) posteriors.Factory {
		return factory(Config{Driven: kernels.Driven{Target: target, Step: kernels.Constant(1e-9), NoiseMultiplier: 10,
			Batch: batch}})
	})
}
