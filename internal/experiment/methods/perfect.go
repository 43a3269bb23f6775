package methods

import (
	"context"
	"errors"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/perfect"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

var _ = register(&Method{
	Name: "perfect-rejection", Kind: Unconditional, Models: []string{"logistic"},
	About: "one exact draw of a β posterior by rejection from the prior (Awan, Rao 2023); for tens of records",
	Settings: []Setting{
		{"beta", "β above 1", 1.5},
		{"fixed-time", "make a public number of proposals, so that the running time tells nothing", true},
	},
	build: func(p Problem, b Budget, s settings) (*Mechanism, error) {
		if err := onePerson(p); err != nil {
			return nil, err
		}
		beta := s.float("beta")
		loss := targets.Loss{Beta: beta}
		target, err := p.withLoss(loss)
		if err != nil {
			return nil, err
		}
		bounded, ok := target.(targets.RangeCertificate)
		if !ok {
			return nil, errors.New("the model's β loss has no bounded range")
		}
		delta := 0.0
		if s.bool("fixed-time") {
			delta = b.Delta
		}
		m, err := perfect.NewRejection(perfect.Config{
			Target: target, Prior: priors.Gaussian{SD: p.Options.PriorSD}, MinLoss: 0, MaxLoss: bounded.LossRange(),
			Records: int(p.Facts.Records), Epsilon: b.Epsilon,
		}, delta)
		if err != nil {
			return nil, err
		}
		cost, err := m.Cost()
		if err != nil {
			return nil, err
		}
		return estimate(cost, func(ctx context.Context, src *ops.Source, rows targets.Rows) ([]float64, error) {
			draw, err := m.Release(ctx, src, rows)
			return draw.Theta, err
		}), nil
	},
})
