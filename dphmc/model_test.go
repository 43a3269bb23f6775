package dphmc

import (
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// model is a posterior with the trajectories and bounds of a chain, without noise.
type model struct {
	posteriors.Problem
	settings Config
}

// gaussian is a Gaussian mean or a banana. Its gradient clip binds on purpose:
// that must not matter.
func gaussian(curvature float64) model {
	return model{posteriors.Bent(curvature), Config{Steps: 4, StepSize: 0.15, GradientClip: 1.5, MaxMove: 1.5,
		RatioClip: 20}}
}

// logistic is a logistic regression whose certificates bound everything.
func logistic() model {
	return model{posteriors.Circle(), Config{Steps: 4, StepSize: 0.6, MaxMove: 3}}
}

// config is a chain of n trajectories with noisy gradients.
func (m model) config(n int64, noise float64) Config {
	c := m.settings
	c.Target, c.Iterations, c.GradientNoise = m.Target, n, noise
	return c
}

func factory(c Config) posteriors.Factory {
	return func(sealed *curator.Curator, steps int64) (kernels.Kernel, error) {
		c.Iterations = steps
		return New(c, sealed)
	}
}
