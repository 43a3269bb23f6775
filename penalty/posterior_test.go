package penalty_test

import (
	"fmt"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/penalty"
)

// TestPosteriors holds both releases, and every kind of noise and walk, to exact
// posteriors: mean and standard deviation within 4 Monte Carlo standard errors.
func TestPosteriors(t *testing.T) {
	scale := map[string]float64{"Gaussian mean": 0.5, "logistic": 1, "mixture": 0.7, "banana": 0.35}
	banana := posteriors.Bent(1)
	banana.Name, banana.Wrong = "banana", posteriors.All()[0].Wrong
	for _, p := range append(posteriors.All(), banana) {
		h := scale[p.Name]
		for _, c := range []penalty.Config{
			{Proposal: curator.Proposal{Scale: h}, Noise: penalty.Fixed(1)},
			{Proposal: curator.Proposal{Scale: 1.4 * h, OneComponent: true}, Guided: true, Noise: penalty.Fixed(2)},
			{Proposal: curator.Proposal{Scale: h}, Noise: penalty.Scaled(0.02), Accounting: "published"},
		} {
			t.Run(fmt.Sprintf("%s, %v, %v, %v", p.Name, c.Proposal, c.Noise, c.Accounting), func(t *testing.T) {
				c.Target, c.Temperature, c.Clip = p.Target, p.Temperature, 50
				p.Check(t, steps, 4, factory(c))
			})
		}
	}
}

// TestCertificatesReplaceClips: with a certified target nothing is clipped and
// the chain is exact without a Clip; the bit is priced by the average move.
func TestCertificatesReplaceClips(t *testing.T) {
	for _, p := range posteriors.All()[1:] { // logistic: linear; mixture: moves
		c := penalty.Config{Target: p.Target, Temperature: p.Temperature, Proposal: curator.Proposal{Scale: 0.6},
			Noise: penalty.Scaled(0.3), Accounting: "published"}
		t.Run(p.Name, func(t *testing.T) { p.Check(t, steps, 4, factory(c)) })
	}
	logistic := posteriors.All()[1]
	c := penalty.Config{Target: logistic.Target, Proposal: curator.Proposal{Scale: 0.6}, Noise: penalty.Fixed(1)}
	t.Run("bit", func(t *testing.T) { logistic.Check(t, steps, 4, factory(c)) })
}
