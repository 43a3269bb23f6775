package surrogates

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// BenchmarkDensity is one gradient for 20 features, of each kind of link.
func BenchmarkDensity(b *testing.B) {
	for _, c := range []struct {
		name string
		link Link
	}{{"logistic", Logistic}, {"halved", halved{}}, {"probit", binary{probit, 1}}, {"cloglog", binary{cLogLog, 1}},
		{"Poisson", counts{2, 20, 0}},
		{"negative binomial", counts{2, 20, 0.5}}} {
		b.Run(c.name, func(b *testing.B) { benchmarkDensity(b, c.link) })
	}
}

func benchmarkDensity(b *testing.B, link Link) {
	const d = 20
	rng := rand.New(rand.NewPCG(1, 2))
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 9, Ridge: 2,
		Moment: make([]float64, d*d), MomentSD: 5, Records: 2000, Radius: 1}
	for j := range d {
		s.Anchor[j] = rng.NormFloat64()
		s.Score[j] = -2 * s.Anchor[j]
		s.Moment[j*d+j] = 100
	}
	p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 3}})
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

// BenchmarkClasses is one gradient for three classes of 20 features.
func BenchmarkClasses(b *testing.B) {
	c, _ := simulatedClasses(rand.New(rand.NewPCG(1, 2)), 20, 2000, 9, 1)
	p, err := NewClasses(c)
	if err != nil {
		b.Fatal(err)
	}
	f := p.Density()
	grad := make([]float64, p.dim)
	b.ReportAllocs()
	for b.Loop() {
		f.LogDensityGrad(grad, p.mean)
	}
}
