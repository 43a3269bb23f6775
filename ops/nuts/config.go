package nuts

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
)

// MetricKind says which matrix scales the momentum.
type MetricKind int

// The kinds of metric.
const (
	// Diagonal estimates a variance for every coordinate. The default.
	Diagonal MetricKind = iota
	// Dense estimates the covariance matrix: for strongly correlated targets of
	// up to a few hundred coordinates.
	Dense
	// Unit keeps the identity.
	Unit
)

// Config says how to sample. The zero value is valid.
type Config struct {
	// Chains is the number of chains. Defaults to 4.
	Chains int
	// Warmup is the number of adaptation iterations, whose draws are dropped.
	// Defaults to 1000; at least 20, or the metric stays the identity.
	Warmup int
	// Draws is the number of draws kept per chain. Defaults to 1000.
	Draws int
	// Metric defaults to Diagonal.
	Metric MetricKind
	// TargetAccept is the average acceptance statistic that the step size is
	// adapted to, in (0, 1). Defaults to 0.8; larger for fewer divergences.
	TargetAccept float64
	// MaxTreeDepth bounds a trajectory at 2^MaxTreeDepth - 1 leapfrog steps.
	// Defaults to 10; at most 20.
	MaxTreeDepth int
	// MaxGradients ends sampling with ErrGradients once a chain has evaluated the target so
	// often, at the end of a transition. Defaults to no bound.
	MaxGradients int
	// Init holds a starting point per chain. Defaults to independent uniforms on
	// [-2, 2] per coordinate.
	Init [][]float64
	// Seed chooses the random streams. Any value.
	Seed uint64
	// Workers bounds the chains sampled at the same time. Defaults to GOMAXPROCS.
	// It does not change any draw.
	Workers int
}

// withDefaults returns c with its zero fields filled in, or why it is not valid
// for targets of dim coordinates.
func (c Config) withDefaults(dim int) (Config, error) {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&c.Chains, 4)
	fill(&c.Warmup, 1000)
	fill(&c.Draws, 1000)
	fill(&c.MaxTreeDepth, 10)
	fill(&c.Workers, runtime.GOMAXPROCS(0))
	c.TargetAccept = cmp.Or(c.TargetAccept, 0.8)
	switch {
	case dim < 1:
		return c, fmt.Errorf("nuts: the target has %d coordinates; at least 1 is needed", dim)
	case c.Chains < 0 || c.Warmup < 0 || c.Draws < 0 || c.Workers < 0:
		return c, fmt.Errorf("nuts: Chains %d, Warmup %d, Draws %d, Workers %d: none can be negative", c.Chains, c.Warmup,
			c.Draws, c.Workers)
	case c.Metric < Diagonal || c.Metric > Unit:
		return c, fmt.Errorf("nuts: Metric %d is not one of Diagonal, Dense and Unit", c.Metric)
	case !(c.TargetAccept > 0 && c.TargetAccept < 1):
		return c, fmt.Errorf("nuts: TargetAccept %v must be above 0 and below 1", c.TargetAccept)
	case c.MaxGradients < 0:
		return c, fmt.Errorf("nuts: MaxGradients %d must be positive, or 0 for no bound", c.MaxGradients)
	case c.MaxTreeDepth < 0 || c.MaxTreeDepth > 20:
		return c, fmt.Errorf("nuts: MaxTreeDepth %d must be from 1 to 20", c.MaxTreeDepth)
	case c.Init != nil && len(c.Init) != c.Chains:
		return c, fmt.Errorf("nuts: Init has %d starting points for %d chains; give one per chain", len(c.Init), c.Chains)
	}
	for chain, theta := range c.Init {
		if len(theta) != dim {
			return c, fmt.Errorf("nuts: Init[%d] has %d values for a target of %d coordinates", chain, len(theta), dim)
		}
		for i, v := range theta {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return c, fmt.Errorf("nuts: Init[%d][%d] is %v; starting points must be finite", chain, i, v)
			}
		}
	}
	return c, nil
}
