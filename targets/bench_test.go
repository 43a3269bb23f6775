package targets

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// benchRows returns n records of p features in [−1, 1] and binary responses.
func benchRows(n, p int) Rows {
	rng := rand.New(rand.NewPCG(5, 6))
	r := Rows{X: make([]float64, n*p), P: p, Y: make([]float64, n)}
	for i := range r.X {
		r.X[i] = 2*rng.Float64() - 1
	}
	for i := range r.Y {
		r.Y[i] = float64(rng.IntN(2))
	}
	return r
}

// BenchmarkLogisticPass is one pass over 10⁶ records of 10 features.
func BenchmarkLogisticPass(b *testing.B) {
	rows := benchRows(1_000_000, 10)
	theta, dst := make([]float64, 10), make([]float64, rows.Len())
	for i := range theta {
		theta[i] = 0.3 * float64(i%3)
	}
	beta := Loss{Beta: 1.5}
	for _, loss := range []Loss{{}, beta} {
		m, err := New(RegressionConfig{Features: 10, Loss: loss, Prior: priors.Gaussian{SD: 3}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(loss.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for lo := 0; lo < rows.Len(); lo += 1000 {
					m.Loss(dst[lo:lo+1000], theta, rows.Slice(lo, lo+1000))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows.Len()), "ns/record")
		})
	}
}

// BenchmarkRatio1000 is the log ratio of 1000 records, a minibatch step's work.
func BenchmarkRatio1000(b *testing.B) {
	for _, l := range []Loss{{}, betaLoss(b, 1.5)} {
		for _, c := range modelCases(b, l) {
			rng := newRNG()
			theta, next, rows := c.draw(rng), c.draw(rng), c.sample(rng, 1000)
			dst := make([]float64, rows.Len())
			b.Run(c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.target.(RatioTarget).LossRatio(dst, theta, next, rows)
				}
			})
		}
	}
}
