//go:build slow

package barker_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestExactAtAMillion holds a million steps of every kernel of this package that
// claims exactness to exact posteriors: mean and standard deviation within 4 Monte
// Carlo standard errors, and further from the posteriors of miscounted records.
// False-alarm rate of a fresh seed: 2.5·10⁻⁴ for each of twelve chains; the seeds
// are fixed.
func TestExactAtAMillion(t *testing.T) {
	const steps = 1_000_000
	scale := map[string]float64{"Gaussian mean": 0.6, "logistic": 1, "mixture": 0.8}
	banana := posteriors.Bent(1)
	banana.Wrong = posteriors.All()[0].Wrong
	for _, p := range append(posteriors.All(), banana) {
		h := scale[p.Name]
		if h == 0 {
			h = 0.35
		}
		clip, given := map[string]float64{"logistic": 0, "mixture": 10}[p.Name] // a logistic target is certified
		if !given {
			clip = 60
		}
		t.Run("bit, "+p.Name, func(t *testing.T) {
			p.Check(t, steps, 4, factory(barker.Config{Target: p.Target, Temperature: p.Temperature,
				Proposal: curator.Proposal{Scale: h}, Clip: clip}))
		})
		t.Run("corrected, "+p.Name, func(t *testing.T) {
			p.Check(t, steps, 4, factory(barker.Config{
				Target: p.Target, Temperature: p.Temperature, Proposal: curator.Proposal{Scale: h}, Clip: clip,
				Test: curator.Test{Corrected: 1},
			}))
		})
		t.Run("adjusted dynamics, "+p.Name, func(t *testing.T) {
			c := barkerdynamics.Config{Target: p.Target, Temperature: p.Temperature, Scale: h, Clip: clip, Adjusted: true}
			p.Check(t, steps, 4, func(sealed *curator.Curator, steps int64) (kernels.Kernel, error) {
				c.Iterations = steps
				return barkerdynamics.New(c, sealed)
			})
		})
	}
}
