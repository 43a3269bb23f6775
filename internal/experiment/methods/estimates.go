package methods

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/chaudhuri"
	"github.com/dpmcmc/dpmcmc/ops/dpsgd"
	"github.com/dpmcmc/dpmcmc/ops/laplaceapprox"
	"github.com/dpmcmc/dpmcmc/targets"
)

var _ = register(
	perturbation("output-perturbation", chaudhuri.Output,
		"noise on the minimum of the regularised loss (Chaudhuri et al. 2011, Algorithm 1)",
		Setting{"lambda", "ridge λ of the mean loss; 0 for 1/(prior variance·√n)", 0.0},
		func(variance, n float64) float64 { return 1 / (variance * math.Sqrt(n)) }),
	perturbation("objective-perturbation", chaudhuri.Objective,
		"noise in the regularised loss (Chaudhuri et al. 2011, Algorithm 2)",
		Setting{"lambda", "ridge λ of the mean loss; 0 for the prior's, 1/(prior variance·n)", 0.0},
		func(variance, n float64) float64 { return 1 / (variance * n) }),
	&Method{
		Name: "laplace-approximation", Kind: Unconditional, Models: []string{"logistic"},
		About: "noise-aware Laplace approximation: draws from a Gaussian posterior that knows of its noise",
		Settings: []Setting{
			{"draws", "draws from the released Gaussian, which cost nothing", int64(1000)},
			{"hessian-share", "part of the budget for the Hessian", 0.15},
		},
		build: buildLaplace,
	},
	&Method{
		Name: "dp-sgd", Kind: Unconditional,
		About: "stochastic gradient descent with clipped, noised gradients (Abadi et al. 2016); an estimate",
		Settings: []Setting{
			{"rate", "probability that a record is in a batch", 0.05},
			{"steps", "number of updates", int64(400)},
			{"clip", "bound on a record's gradient", 1.0},
			{"learning-rate", "multiplies the gradient of the mean loss", 2.0},
			{"average", "part of the last iterates that is averaged", 0.5},
		},
		build: buildSGD,
	},
)

func perturbation(name string, method chaudhuri.Method, about string, lambda Setting,
	standard func(variance, n float64) float64) *Method {
	build := func(p Problem, b Budget, s settings) (*Mechanism, error) {
		if err := onePerson(p); err != nil {
			return nil, err
		}
		ridge := s.float("lambda")
		if ridge == 0 {
			ridge = standard(p.Options.PriorSD*p.Options.PriorSD, float64(p.Facts.Records))
		}
		m, err := chaudhuri.New(chaudhuri.Config{
			Method: method, Features: p.Facts.Features, Records: int(p.Facts.Records), Radius: p.Facts.Radius, Lambda: ridge,
			Epsilon: b.Epsilon,
		})
		if err != nil {
			return nil, err
		}
		cost, err := m.Cost()
		if err != nil {
			return nil, err
		}
		return estimate(cost, func(_ context.Context, src *ops.Source, rows targets.Rows) ([]float64, error) {
			return m.Release(src, rows)
		}), nil
	}
	return &Method{Name: name, Kind: Unconditional, Models: []string{"logistic"}, About: about + "; an estimate",
		Settings: []Setting{lambda}, build: build}
}

func buildLaplace(p Problem, b Budget, s settings) (*Mechanism, error) {
	if err := onePerson(p); err != nil {
		return nil, err
	}
	draws := s.int("draws")
	if draws < 1 {
		return nil, errors.New("draws must be at least 1")
	}
	m, err := laplaceapprox.New(laplaceapprox.Config{
		Features: p.Facts.Features, Records: int(p.Facts.Records), Radius: p.Facts.Radius, PriorSD: p.Options.PriorSD,
		Epsilon: b.Epsilon, Delta: b.Delta, HessianShare: s.float("hessian-share"),
		Columns: chains.Columns(p.Shape, false),
	})
	if err != nil {
		return nil, err
	}
	cost, err := m.Cost()
	if err != nil {
		return nil, err
	}
	return guaranteed(cost, &Mechanism{Run: func(_ context.Context, rows targets.Rows, n Noise) (Release, error) {
		src, err := n.source()
		if err != nil {
			return Release{}, err
		}
		r, err := m.Release(src, rows)
		if err != nil {
			return Release{}, err
		}
		out, err := gaussianDraws(n, int(draws), r.Mean, r.Cov)
		return independent(out), err
	}}), nil
}

// gaussianDraws are draws from a released Gaussian.
func gaussianDraws(n Noise, draws int, mean []float64, cov *mat.SymDense) ([][]float64, error) {
	var root mat.Cholesky
	if !root.Factorize(cov) {
		return nil, errors.New("the released covariance is not positive definite")
	}
	var lower mat.TriDense
	root.LTo(&lower)
	rng := n.rand()
	out := make([][]float64, draws)
	z := make([]float64, len(mean))
	for i := range out {
		for j := range z {
			z[j] = rng.NormFloat64()
		}
		out[i] = make([]float64, len(mean))
		for j := range out[i] {
			out[i][j] = mean[j]
			for k := range j + 1 {
				out[i][j] += lower.At(j, k) * z[k]
			}
		}
	}
	return out, nil
}

func buildSGD(p Problem, b Budget, s settings) (*Mechanism, error) {
	if err := onePerson(p); err != nil {
		return nil, err
	}
	m, err := dpsgd.New(dpsgd.Config{
		Target: p.target(), Records: int(p.Facts.Records), Rate: s.float("rate"), Steps: int(s.int("steps")),
		Clip:         s.float("clip"),
		LearningRate: s.float("learning-rate"), Average: s.float("average"), Epsilon: b.Epsilon, Delta: b.Delta,
		Start: make([]float64, p.Target.Dim()),
	})
	if err != nil {
		return nil, err
	}
	return estimate(m.Cost(), func(_ context.Context, src *ops.Source, rows targets.Rows) ([]float64, error) {
		return m.Release(src, rows)
	}), nil
}

// estimate is a mechanism that releases one vector of parameters.
func estimate(cost ops.Guarantee,
	release func(ctx context.Context, src *ops.Source, rows targets.Rows) ([]float64, error)) *Mechanism {
	return guaranteed(cost, &Mechanism{Run: func(ctx context.Context, rows targets.Rows, n Noise) (Release, error) {
		src, err := n.source()
		if err != nil {
			return Release{}, err
		}
		theta, err := release(ctx, src, rows)
		return point(theta), err
	}})
}
