package nuts

import (
	"math"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/maintain/processor"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// benchmarkModel samples one chain of 1000 draws after 1000 of warm-up and
// reports the smallest bulk ESS per second of processor time, warm-up included, the time per
// gradient and the gradients per effective draw.
func benchmarkModel(b *testing.B, m model, metric MetricKind) {
	var ess, gradients, elapsed float64
	var seed uint64
	for b.Loop() {
		seed++
		start := processor.Seconds()
		chains, err := Sample(b.Context(), func() LogDensity { return m }, Config{Chains: 1, Metric: metric, Seed: seed})
		if err != nil {
			b.Fatal(err)
		}
		elapsed += processor.Seconds() - start
		smallest := math.Inf(1)
		for _, s := range diag.SummarizeAll(make([]string, m.Dim()), drawsOf(chains)) {
			smallest = min(smallest, s.ESSBulk)
		}
		ess += smallest
		gradients += float64(chains[0].Gradients)
	}
	b.ReportMetric(ess/elapsed, "ESS/core-s")
	b.ReportMetric(1e9*elapsed/gradients, "ns/gradient")
	b.ReportMetric(gradients/ess, "gradients/ESS")
}

func BenchmarkWellsInteraction(b *testing.B) { benchmarkModel(b, wellsInteraction(b), Diagonal) }
func BenchmarkWellsTarget(b *testing.B)      { benchmarkModel(b, wellsTarget(b), Diagonal) }
func BenchmarkSblrcDiagonal(b *testing.B)    { benchmarkModel(b, blr(b), Diagonal) }
func BenchmarkSblrcDense(b *testing.B)       { benchmarkModel(b, blr(b), Dense) }

// wellsTarget is the same posterior through package targets, in one pass.
func wellsTarget(t testing.TB) model {
	x, y := wellsDesign(t)
	_, p := x.Dims()
	target, err := targets.New(targets.RegressionConfig{Features: p, Prior: priors.Gaussian{SD: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	return model{Posterior(target, targets.Rows{X: x.RawMatrix().Data, P: p, Y: y}, 1), slices.Clone[[]float64]}
}

// BenchmarkStep is a transition of about 15 leapfrog steps on an independent
// normal law of 100 coordinates, whose density costs next to nothing.
func BenchmarkStep(b *testing.B) {
	target := Func(100, func(grad, theta []float64) float64 {
		var sum float64
		for i, v := range theta {
			grad[i] = -v
			sum += v * v
		}
		return -sum / 2
	})
	tr := fixedStep(target, 0.5, 1)
	var steps float64
	b.ReportAllocs()
	for b.Loop() {
		steps += float64(tr.step(0.2).Leapfrogs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/steps, "ns/leapfrog")
}
