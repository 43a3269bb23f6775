package nuts

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// Stats describes one transition.
type Stats struct {
	// LogDensity is the target's log density at the draw.
	LogDensity float64
	// AcceptStat is the average Metropolis acceptance probability over the trajectory.
	AcceptStat float64
	// StepSize is the leapfrog step size.
	StepSize float64
	// TreeDepth counts the completed doublings, Leapfrogs the steps.
	TreeDepth, Leapfrogs int
	// Divergent says that the trajectory ended because its energy rose by more than 1000.
	Divergent bool
	// Energy is the Hamiltonian at the draw.
	Energy float64
}

// Chain holds what one chain kept after warm-up.
type Chain struct {
	// Draws has one row of Dim values per draw; Stats one entry per draw.
	Draws [][]float64
	Stats []Stats
	// StepSize is the adapted step size, InverseMetric the adapted inverse
	// metric: Dim values, or Dim² for Dense, row by row.
	StepSize      float64
	InverseMetric []float64
	// MaxTreeDepth is the bound on the tree depth that was in force.
	MaxTreeDepth int
	// WarmupDivergences counts the divergent transitions during warm-up, which do
	// no harm to the draws. Gradients counts all evaluations of the target.
	WarmupDivergences, Gradients int
}

// ErrGradients is that a chain needs more evaluations of the target than Config.MaxGradients.
var ErrGradients = errors.New("nuts: a chain needs more gradients than allowed; raise MaxGradients or lower Draws")

// Sample draws from the density that newTarget returns, which is called once per
// chain, and once more for the dimension, all before any sampling. It returns
// the chains in order. Chain c depends only on the target, cfg and c. On an error
// (of the configuration, of a starting point, or of ctx) there are no draws.
func Sample(ctx context.Context, newTarget func() LogDensity, cfg Config) ([]Chain, error) {
	dim := newTarget().Dim()
	cfg, err := cfg.withDefaults(dim)
	if err != nil {
		return nil, err
	}
	chains, errs := make([]Chain, cfg.Chains), make([]error, cfg.Chains)
	next := make(chan int, cfg.Chains)
	targets := make([]LogDensity, cfg.Chains)
	for c := range targets {
		targets[c] = newTarget()
		if got := targets[c].Dim(); got != dim {
			return nil, fmt.Errorf("nuts: the target of chain %d has %d coordinates and another has %d; newTarget must return "+
				"the same density each time", c, got, dim)
		}
		next <- c
	}
	close(next)
	var workers sync.WaitGroup
	for range min(cfg.Workers, cfg.Chains) {
		workers.Go(func() {
			for c := range next {
				chains[c], errs[c] = sampleChain(ctx, &counted{LogDensity: targets[c]}, cfg, c)
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return chains, nil
}

// counted counts gradients.
type counted struct {
	LogDensity
	gradients int
}

func (c *counted) LogDensityGrad(grad, theta []float64) float64 {
	c.gradients++
	return c.LogDensity.LogDensityGrad(grad, theta)
}

// exhausted reports whether there were more gradients than are allowed.
func (c *counted) exhausted(cfg Config) bool {
	return cfg.MaxGradients > 0 && c.gradients > cfg.MaxGradients
}

// stream returns the random stream of a chain.
func stream(seed uint64, chain int) *rand.Rand {
	key := [32]byte{16: 'n', 'u', 't', 's'}
	binary.LittleEndian.PutUint64(key[:8], seed)
	binary.LittleEndian.PutUint64(key[8:16], uint64(chain))
	return rand.New(rand.NewChaCha8(key))
}

// sampleChain runs one chain.
func sampleChain(ctx context.Context, target *counted, cfg Config, c int) (Chain, error) {
	t := newTransition(target, cfg.Metric, cfg.MaxTreeDepth, stream(cfg.Seed, c))
	if err := t.start(cfg.Init, c); err != nil {
		return Chain{}, err
	}
	eps, divergences, err := t.warmUp(ctx, target, cfg)
	if err != nil {
		return Chain{}, err
	}
	dim := target.Dim()
	out := Chain{
		Draws: make([][]float64, cfg.Draws), Stats: make([]Stats, cfg.Draws),
		StepSize: eps, InverseMetric: t.metric.inverse(), MaxTreeDepth: cfg.MaxTreeDepth, WarmupDivergences: divergences,
	}
	values := make([]float64, cfg.Draws*dim)
	for i := range out.Draws {
		if err := ctx.Err(); err != nil {
			return Chain{}, fmt.Errorf("nuts: chain %d stopped after %d draws: %w", c, i, err)
		}
		if target.exhausted(cfg) {
			return Chain{}, ErrGradients
		}
		out.Stats[i] = t.step(eps)
		out.Draws[i] = values[i*dim : (i+1)*dim : (i+1)*dim]
		copy(out.Draws[i], t.current.theta)
	}
	out.Gradients = target.gradients
	return out, nil
}

// start puts the chain at its starting point: the given one, or the first of 100
// random ones where the density and its gradient are finite.
func (t *transition) start(init [][]float64, c int) error {
	const radius, attempts = 2, 100
	if init != nil {
		copy(t.current.theta, init[c])
		if t.evaluate(&t.current.point); !t.current.usable() {
			return fmt.Errorf("nuts: chain %d cannot start at Init: the log density there is %v, or its gradient is not finite",
				c, t.current.logDensity)
		}
		return nil
	}
	for range attempts {
		for i := range t.current.theta {
			t.current.theta[i] = radius * (2*t.rng.Float64() - 1)
		}
		if t.evaluate(&t.current.point); t.current.usable() {
			return nil
		}
	}
	return fmt.Errorf("nuts: chain %d found no finite density and gradient at %d random points of [-%d, %d] per "+
		"coordinate; give Init", c, attempts, radius, radius)
}

// usable reports whether dynamics can start at the point.
func (p *point) usable() bool {
	sum := p.logDensity + floats.Sum(p.grad) - floats.Sum(p.grad) // NaN as soon as one is not finite
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// warmUp adapts the step size and the metric, and returns the step size and the
// number of divergent transitions.
func (t *transition) warmUp(ctx context.Context, target *counted, cfg Config) (eps float64, divergences int,
	err error) {
	if eps, err = t.initialStep(1); err != nil {
		return 0, 0, err
	}
	adapter := stepAdapter{target: cfg.TargetAccept}
	adapter.restart(eps)
	plan := newSchedule(cfg.Warmup)
	for i := range cfg.Warmup {
		if err := ctx.Err(); err != nil {
			return 0, 0, fmt.Errorf("nuts: a chain stopped in iteration %d of warm-up: %w", i, err)
		}
		if target.exhausted(cfg) {
			return 0, 0, ErrGradients
		}
		stats := t.step(eps)
		if stats.Divergent {
			divergences++
		}
		eps = adapter.learn(stats.AcceptStat)
		if plan.observes(i) {
			t.metric.observe(t.current.theta)
		}
		if plan.closes(i) {
			t.metric.update()
			if eps, err = t.initialStep(eps); err != nil {
				return 0, 0, err
			}
			adapter.restart(eps)
		}
	}
	return adapter.final(), divergences, nil
}
