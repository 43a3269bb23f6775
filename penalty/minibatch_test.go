package penalty_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// minibatch reads half of the records in each step, with batch variances of
// log-odds around 0.5.
func minibatch(p posteriors.Problem, noise penalty.Noise) penalty.Config {
	return penalty.Config{Target: p.Target, Temperature: p.Temperature, Proposal: curator.Proposal{Scale: 0.5},
		Noise: noise,
		Clip:  0.6, Batch: curator.Batch{Rate: 0.5}}
}

// TestMinibatchConforms puts the minibatch form, which claims no exactness,
// through the conformance suite and tape replay.
func TestMinibatchConforms(t *testing.T) {
	p := posteriors.All()[2]
	proptest.CheckKernel(t, factory(minibatch(p, penalty.Fixed(4))), proptest.KernelOptions{
		Records: p.Records, Adjacency: options().Adjacency, Start: p.Start, Steps: 20, Effort: proptest.Quick})
}

// TestMinibatchAbsorbsBatchNoise measures the bias of the minibatch form on the
// tempered mixture: within 5 Monte Carlo standard errors, also
// at a million steps (tag slow).
func TestMinibatchAbsorbsBatchNoise(t *testing.T) {
	p := posteriors.All()[2]
	p.Check(t, steps, 5, factory(minibatch(p, penalty.Fixed(4))))
}
