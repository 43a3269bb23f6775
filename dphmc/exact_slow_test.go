//go:build slow

package dphmc

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
)

// TestExactAtAMillion holds a million trajectories with noisy gradients, under
// both tests, to exact posteriors: mean and standard deviation within 4 Monte Carlo
// standard errors, and further from the posteriors of miscounted records.
// False-alarm rate of a fresh seed: 2.5·10⁻⁴ for each of eight chains; the seeds
// are fixed.
func TestExactAtAMillion(t *testing.T) {
	const steps = 1_000_000
	size := map[string]float64{"Gaussian mean": 0.3, "logistic": 0.5, "mixture": 0.4}
	banana := posteriors.Bent(1)
	banana.Wrong = posteriors.All()[0].Wrong
	for _, p := range append(posteriors.All(), banana) {
		c := Config{
			Target: p.Target, Temperature: p.Temperature, Steps: 3, StepSize: size[p.Name], GradientClip: 1.5,
			GradientNoise: 0.5, RatioClip: 20, MaxMove: 3,
		}
		if c.StepSize == 0 {
			c.StepSize = 0.15
		}
		t.Run("bit, "+p.Name, func(t *testing.T) { p.Check(t, steps, 4, factory(c)) })
		c.Acceptance, c.MaxMove, c.RatioClip, c.RatioNoise = PublishedPenalty, 0, 15, 0.05
		t.Run("ratio, "+p.Name, func(t *testing.T) { p.Check(t, steps, 4, factory(c)) })
	}
}
