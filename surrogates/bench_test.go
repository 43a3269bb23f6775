package surrogates

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

func BenchmarkDensity20(b *testing.B) {
	const d = 20
	rng := rand.New(rand.NewPCG(1, 2))
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 9, Ridge: 2,
		Moment: make([]float64, d*d), MomentSD: 5, Records: 2000, Radius: 1}
	for j := range d {
		s.Anchor[j] = rng.NormFloat64()
		s.Score[j] = -2 * s.Anchor[j]
		s.Moment[j*d+j] = 100
	}
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Imputations: 4})
	if err != nil {
		b.Fatal(err)
	}
	f := p.Density()
	grad := make([]float64, d)
	b.ReportAllocs()
	for b.Loop() {
		f.LogDensityGrad(grad, s.Anchor)
	}
}
