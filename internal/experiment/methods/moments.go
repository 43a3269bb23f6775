package methods

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/ops/suffstat"
	"github.com/dpmcmc/dpmcmc/targets"
)

var _ = register(&Method{
	Name: "noisy-moments", Kind: Unconditional, Models: []string{"linear"},
	About: "noisy second moments, and draws from the conjugate posterior that takes them for exact (Foulds et al. 2016)",
	Settings: []Setting{
		{"draws", "draws from the posterior given the noisy moments, which cost nothing", int64(1000)},
		{"law", "laplace or gaussian", "gaussian"},
		{"variance", "prior variance of a coefficient over that of the errors", 100.0},
		{"shape", "shape of the error variance's inverse gamma prior", 2.0},
		{"rate", "its rate", 0.1},
	},
	build: buildMoments,
})

func buildMoments(p Problem, b Budget, s settings) (*Mechanism, error) {
	if err := onePerson(p); err != nil {
		return nil, err
	}
	privacy, err := noiseLaw(b, s.text("law"))
	if err != nil {
		return nil, err
	}
	draws := s.int("draws")
	if draws < 1 {
		return nil, fmt.Errorf("draws = %d: it must be at least 1", draws)
	}
	m, err := suffstat.NewMoments(suffstat.MomentsConfig{
		Features: p.Facts.Features, Records: int(p.Facts.Records), Radius: p.Facts.Radius, Bound: p.bound(), Privacy: privacy,
	})
	if err != nil {
		return nil, err
	}
	prior := suffstat.NormalPrior{Variance: s.float("variance"), Shape: s.float("shape"), Rate: s.float("rate")}
	return guaranteed(m.Cost(), &Mechanism{Run: func(_ context.Context, rows targets.Rows, n Noise) (Release, error) {
		src, err := n.source()
		if err != nil {
			return Release{}, err
		}
		noisy, err := m.Release(src, rows)
		if err != nil {
			return Release{}, err
		}
		law, err := m.PlugIn(noisy, prior)
		if err != nil {
			return Release{}, err
		}
		out, err := linearDraws(law, int(draws), p.Options.MinScale, n)
		return independent(out), err
	}}), nil
}

// noiseLaw reads the setting law.
func noiseLaw(b Budget, law string) (suffstat.Privacy, error) {
	switch law {
	case "gaussian":
		return suffstat.Privacy{Law: suffstat.Gaussian, Epsilon: b.Epsilon, Delta: b.Delta}, nil
	case "laplace":
		return suffstat.Privacy{Law: suffstat.Laplace, Epsilon: b.Epsilon}, nil
	}
	return suffstat.Privacy{}, fmt.Errorf("law = %q: it must be laplace or gaussian", law)
}

// linearDraws are draws of the coefficients and of ω = log(σ − s), the parameters
// of the linear model. A σ at or below s, which that model excludes, becomes
// 1.0001·s.
func linearDraws(law *suffstat.NormalPosterior, draws int, least float64, n Noise) ([][]float64, error) {
	d := law.Mean.Len()
	unscaled, err := gaussianDraws(n, draws, make([]float64, d), law.Scale)
	if err != nil {
		return nil, err
	}
	variance := distuv.InverseGamma{Alpha: law.Shape, Beta: law.Rate, Src: n.rand()}
	for i, z := range unscaled {
		sigma := math.Sqrt(variance.Rand())
		for j := range z {
			z[j] = law.Mean.AtVec(j) + sigma*z[j]
		}
		unscaled[i] = append(z, math.Log(max(sigma-least, 1e-4*least)))
	}
	return unscaled, nil
}
