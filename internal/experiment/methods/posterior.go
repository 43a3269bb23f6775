package methods

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/targets"
)

// drawSettings are those of mechanisms that release posterior draws.
func drawSettings(more ...Setting) []Setting {
	return append([]Setting{
		{"draws", "posterior draws released; the budget is shared among them", int64(1)},
		{"warmup", "NUTS iterations before the first draw", int64(300)},
		{"thin", "NUTS iterations from one draw to the next", int64(10)},
	}, more...)
}

var _ = register(
	&Method{
		Name: "nuts", Kind: None,
		About: "the non-private posterior, by NUTS: the yardstick",
		Settings: []Setting{
			{"draws", "draws of each chain", int64(500)},
			{"warmup", "iterations of adaptation", int64(500)},
			{"chains", "number of chains", int64(2)},
		},
		build: buildNUTS,
	},
	&Method{
		Name: "beta-ops", Kind: Conditional, Models: []string{"logistic", "linear"},
		About:    "one-posterior sampling from the β-divergence posterior, β solved for ε (Jewson et al. 2023)",
		Settings: drawSettings(),
		build: func(p Problem, b Budget, s settings) (*Mechanism, error) {
			return posteriorDraws(p, b, s, func(epsilon float64) (*posterior.Mechanism, error) {
				bound := posterior.Mass()
				if p.Name == "linear" {
					bound = posterior.Normal(p.Options.MinScale)
				}
				beta, err := posterior.SolveBeta(epsilon, bound)
				if err != nil {
					return nil, err
				}
				return betaPosterior(p, beta, epsilon)
			})
		},
	},
	&Method{
		Name: "gibbs-ops", Kind: Conditional,
		About:    "one-posterior sampling from a β-divergence posterior of fixed β, weighted for ε",
		Settings: drawSettings(Setting{"beta", "β above 1", 1.5}),
		build: func(p Problem, b Budget, s settings) (*Mechanism, error) {
			return posteriorDraws(p, b, s, func(epsilon float64) (*posterior.Mechanism, error) {
				return betaPosterior(p, s.float("beta"), epsilon)
			})
		},
	},
	&Method{
		Name: "ball-ops", Kind: Conditional, Models: []string{"logistic"},
		About: "one-posterior sampling with the prior cut off outside a ball (Wang et al. 2015)",
		Settings: drawSettings(Setting{"ball", "radius of the ball of coefficients; 0 for three prior standard deviations",
			0.0}),
		build: func(p Problem, b Budget, s settings) (*Mechanism, error) {
			ball := s.float("ball")
			ball = cmp.Or(ball, 3*p.Options.PriorSD)
			return posteriorDraws(p, b, s, func(epsilon float64) (*posterior.Mechanism, error) {
				return posterior.NewBall(posterior.BallConfig{
					Features: p.Facts.Features, Radius: p.Facts.Radius, Ball: ball, PriorSD: p.Options.PriorSD, Epsilon: epsilon,
				})
			})
		},
	},
	lipschitz("minami-ops", posterior.Minami,
		"one-posterior sampling by strong convexity, published weight (Minami et al. 2016)"),
	lipschitz("lipschitz-ops", posterior.Gaussian,
		"one-posterior sampling by strong convexity, largest known weight (Gopi et al. 2022)"),
)

func betaPosterior(p Problem, beta, epsilon float64) (*posterior.Mechanism, error) {
	loss := targets.Loss{Beta: beta}
	target, err := p.withLoss(loss)
	if err != nil {
		return nil, err
	}
	return posterior.NewBounded(posterior.Config{Target: target, Epsilon: epsilon})
}

func lipschitz(name string, rule posterior.Rule, about string) *Method {
	return &Method{
		Name: name, Kind: Conditional, Models: []string{"logistic"}, About: about, Settings: drawSettings(),
		build: func(p Problem, b Budget, s settings) (*Mechanism, error) {
			return posteriorDraws(p, b, s, func(epsilon float64) (*posterior.Mechanism, error) {
				return posterior.NewLipschitz(posterior.LipschitzConfig{
					Features: p.Facts.Features, Radius: p.Facts.Radius, PriorSD: p.Options.PriorSD,
					Rule: rule, Epsilon: epsilon, Delta: b.Delta,
				})
			})
		},
	}
}

// posteriorDraws makes a mechanism whose draws together cost at most the budget,
// from one of a single draw's ε.
func posteriorDraws(p Problem, b Budget, s settings, one func(epsilon float64) (*posterior.Mechanism,
	error)) (*Mechanism, error) {
	if err := onePerson(p); err != nil {
		return nil, err
	}
	draws, warmup, thin := s.int("draws"), s.int("warmup"), s.int("thin")
	if draws < 1 || warmup < 1 || thin < 1 {
		return nil, errors.New("draws, warmup and thin must be at least 1")
	}
	epsilon := b.Epsilon
	if draws > 1 {
		var err error
		epsilon, _, err = accountant.SolveParameter(func(x float64) (accountant.Event, error) {
			m, err := one(x)
			if err != nil {
				return accountant.Event{}, err
			}
			return m.Cost().Event.Times(draws)
		}, b.Epsilon/float64(draws), b.Epsilon, b.Epsilon, b.Delta, true)
		if err != nil {
			return nil, fmt.Errorf("%d draws: %w", draws, err)
		}
	}
	m, err := one(epsilon)
	if err != nil {
		return nil, err
	}
	cost, err := m.Cost().Times(draws)
	if err != nil {
		return nil, err
	}
	return guaranteed(cost, &Mechanism{
		Choice: fmt.Sprintf("weight %.3g", m.Weight()),
		Run: func(_ context.Context, rows targets.Rows, n Noise) (Release, error) {
			src, err := n.source()
			if err != nil {
				return Release{}, err
			}
			out, err := m.Release(src, rows, int(draws), posterior.NUTS(int(warmup), int(thin)))
			return independent(out), err
		},
	}), nil
}

func buildNUTS(p Problem, _ Budget, s settings) (*Mechanism, error) {
	draws, warmup, chains := s.int("draws"), s.int("warmup"), s.int("chains")
	if draws < 1 || warmup < 1 || chains < 1 {
		return nil, errors.New("draws, warmup and chains must be at least 1")
	}
	return &Mechanism{Run: func(ctx context.Context, rows targets.Rows, n Noise) (Release, error) {
		sampled, err := SamplePosterior(ctx, p.Model, rows, false, nuts.Config{
			Chains: int(chains), Warmup: int(warmup), Draws: int(draws), Seed: n.public(), Workers: 1,
		})
		if err != nil {
			return Release{}, err
		}
		var r Release
		for _, c := range sampled {
			r.Chains = append(r.Chains, c.Draws)
		}
		return r, nil
	}}, nil
}
