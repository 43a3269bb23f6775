package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// firstOrder measures anchored chains of order 1 on tables of the model's standard shape
// with parameters from its prior, by their verdicts: how often 90% intervals hold the
// truth, the least effective sample size, and by how much privacy is said to widen them. Of a
// mixture the truth is the nearer of the two that exchange the components.
func firstOrder(name string) error {
	type group struct {
		releases       int
		held           float64
		ess, widenings []float64
	}
	byVerdict := map[string]*group{}
	for i := range *sets {
		result, values, err := oneFirst(name, uint64(i))
		if err != nil {
			return err
		}
		g := byVerdict[result.Verdict.Headline]
		if g == nil {
			g = new(group)
			byVerdict[result.Verdict.Headline] = g
		}
		g.releases++
		if name == "mixture" { // whose components may be exchanged
			mirror := []float64{values[0] + values[1], -values[1]}
			if mean := result.Summary()[1].Mean; math.Abs(mirror[1]-mean) < math.Abs(values[1]-mean) {
				values = mirror
			}
		}
		least := math.Inf(1)
		for j, row := range result.Summary() {
			least = min(least, row.ESSBulk)
			if values[j] >= row.Q5 && values[j] <= row.Q95 {
				g.held += 1 / float64(len(values))
			}
		}
		g.ess, g.widenings = append(g.ess, least), append(g.widenings, result.Certificate.Widening)
	}
	for headline, g := range byVerdict {
		slices.Sort(g.ess)
		slices.Sort(g.widenings)
		fmt.Printf("%s N %d d %d ε %v: %3d of %d, hold the truth %.3f, ESS %.0f (least %.0f), widened ×%.3g: %s\n", name,
			*records, *features, *epsilon, g.releases, *sets, g.held/float64(g.releases), g.ess[len(g.ess)/2], g.ess[0],
			g.widenings[len(g.widenings)/2], headline)
	}
	return nil
}

// oneFirst is a run on a simulated table, and the parameters that it was simulated with.
func oneFirst(name string, i uint64) (*chains.Result, []float64, error) {
	shape, err := models.StandardShape(name, *records, *features)
	if err != nil {
		return nil, nil, err
	}
	options := models.Options{PriorSD: *priorSD}
	if *effect > 0 {
		options.Prior = "standardized"
	}
	if name == "network" {
		options.Hidden = 2
	}
	if *betaLoss > 1 {
		options.Loss, options.Beta = "beta", *betaLoss
	}
	m, err := models.New(name, shape, options)
	if err != nil {
		return nil, nil, err
	}
	prior, ok := m.Target.(targets.PriorSampler)
	if !ok {
		return nil, nil, fmt.Errorf("the prior of %s cannot be drawn from", name)
	}
	rng := rand.New(rand.NewPCG(*seed, i))
	theta, values := make([]float64, m.Target.Dim()), make([]float64, len(m.Parameters))
	prior.SamplePrior(theta, rng)
	m.Output(values, theta)
	table := m.Simulate(values, rng)
	run, err := session(table, m, chains.Settings{Kernel: "anchored", Iterations: int64(*draws)}, *seed<<32+i)
	if err != nil {
		return nil, nil, err
	}
	result, err := run.Run(context.Background(), m, chains.Options{Thin: 1, Warmup: 0.1})
	return result, values, err
}
