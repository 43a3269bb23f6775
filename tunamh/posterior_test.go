package tunamh_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// TestPosteriors holds chains that leave out much of the data to exact
// posteriors: mean and standard deviation within 4 Monte Carlo standard errors. Nothing is
// clipped: moves are certified along the predictor, or limited one by one.
func TestPosteriors(t *testing.T) {
	banana := posteriors.Bent(1)
	banana.Name, banana.Wrong, banana.Records.Radius = "banana", posteriors.All()[0].Wrong, 3
	for i, x := range banana.Records.X {
		banana.Records.X[i] = max(-2, min(2, x)) // inside the radius, so that sealing changes nothing
	}
	banana.Exact = banana.Integrated()
	for _, p := range append(posteriors.All(), banana) {
		c := map[string]tunamh.Config{
			"Gaussian mean": {Proposal: curator.Proposal{Scale: 0.1}, Limit: 0.6, Rate: 0.72},
			"logistic":      {Proposal: curator.Proposal{Scale: 0.14}, Rate: 0.8},
			"mixture":       {Proposal: curator.Proposal{Scale: 0.3}, Limit: 0.6, Rate: 0.72},
			"banana":        {Proposal: curator.Proposal{Scale: 0.1}, Limit: 0.9, Rate: 0.84},
		}[p.Name]
		t.Run(p.Name, func(t *testing.T) {
			c.Target, c.Temperature = p.Target, p.Temperature
			p.Check(t, steps, 4, factory(c))
		})
	}
}
