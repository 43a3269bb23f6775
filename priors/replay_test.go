package priors_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// withHyper is a kernel that draws hyperparameters between its steps, from the
// chain's public stream.
type withHyper struct {
	kernels.Kernel
	prior *priors.NormalScale
}

func (k withHyper) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	info, err := k.Kernel.Step(rng, s)
	if err == nil {
		k.prior.Hyper(s.Theta, rng)
	}
	return info, err
}

// TestHyperparametersSeeNoRecord is tape replay: releases of a chain that draws its
// prior's scale in every step, replayed over other records, give the same chain.
func TestHyperparametersSeeNoRecord(t *testing.T) {
	prior, err := priors.NewNormalScale(priors.NormalScaleConfig{Groups: []int{-1, 0, 0}, FixedSD: 3,
		Scale: priors.HalfCauchy{Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	target, err := targets.New(targets.RegressionConfig{Features: 3, Prior: prior})
	if err != nil {
		t.Fatal(err)
	}
	factory := func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := barker.New(barker.Config{Target: target, Proposal: curator.Proposal{Scale: 0.2}, Iterations: steps},
			records)
		return withHyper{k, prior}, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	from := curator.Records{Features: 3, Radius: 1}
	to := from
	for i := range 40 {
		for range 3 {
			from.X, to.X = append(from.X, rng.Float64()/2), append(to.X, -rng.Float64()/2)
		}
		from.Y, to.Y = append(from.Y, float64(i%2)), append(to.Y, 1)
	}
	proptest.CheckReplay(t, factory, from, to, proptest.KernelOptions{
		Records: from, Adjacency: accountant.Substitute, Start: []float64{0.1, 0.2, -0.3}, Steps: 60, Effort: proptest.Quick,
	})
}
