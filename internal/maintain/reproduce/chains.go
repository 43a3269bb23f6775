package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/planning"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// chainOf is a kernel with all its settings but the number of iterations.
type chainOf struct {
	// price is that of a chain of n iterations.
	price func(n int64, f curator.Facts) (accountant.Event, error)
	build func(n int64, sealed *curator.Curator) (kernels.Kernel, error)
}

// perStep is a chain whose price is n times that of a step of config, in which n is the
// number of iterations.
func perStep[C any, K kernels.Kernel](config *C, n *int64, step func(C, curator.Facts) (accountant.Event, error),
	build func(C, *curator.Curator) (K, error)) chainOf {
	*n = 1
	return chainOf{
		price: func(count int64, f curator.Facts) (accountant.Event, error) {
			e, err := step(*config, f)
			if err != nil {
				return e, err
			}
			return e.Times(count)
		},
		build: func(count int64, s *curator.Curator) (kernels.Kernel, error) { *n = count; return build(*config, s) },
	}
}

func barkerChain(c barker.Config) chainOf {
	return perStep(&c, &c.Iterations, barker.Cost, barker.New)
}

func dynamicsChain(c barkerdynamics.Config) chainOf {
	return perStep(&c, &c.Iterations, barkerdynamics.Cost, barkerdynamics.New)
}

func penaltyChain(c penalty.Config) chainOf {
	return perStep(&c, &c.Iterations, penalty.Cost, penalty.New)
}

func tunamhChain(c tunamh.Config) chainOf {
	return perStep(&c, &c.Iterations, tunamh.Cost, tunamh.New)
}

func sgldChain(c dpsgld.Config) chainOf {
	return perStep(&c, &c.Iterations, dpsgld.Cost, dpsgld.New)
}

func thermostatChain(c sgnht.Config) chainOf {
	return perStep(&c, &c.Iterations, sgnht.Cost, sgnht.New)
}

func hmcChain(c dphmc.Config) chainOf {
	return chainOf{
		price: func(n int64, f curator.Facts) (accountant.Event, error) {
			c.Iterations = n
			return dphmc.ChainCost(c, f)
		},
		build: func(n int64, s *curator.Curator) (kernels.Kernel, error) { c.Iterations = n; return dphmc.New(c, s) },
	}
}

// mostIterations bounds what is searched for, and so a chain's running time.
const mostIterations = 20_000_000

// affordable is the largest number of iterations of each of several chains that
// share a budget.
func (c chainOf) affordable(chains int64, f curator.Facts, budget planning.Budget) (int64, error) {
	plan, err := planning.Solve(planning.Parameter[int64]{
		Name: "iterations", Low: 1, High: mostIterations,
		Event: func(n int64) (accountant.Event, error) {
			e, err := c.price(n, f)
			if err != nil {
				return e, err
			}
			return e.Times(chains)
		},
	}, budget)
	return plan.Value, err
}

// runOf is what several chains drew.
type runOf struct {
	iterations int64
	draws      [][][]float64 // chain × kept draw × parameter
	accepted   float64       // share of all steps
	spent      accountant.Guarantee
	elapsed    time.Duration
}

// kept is the number of draws kept of each chain.
const kept = 1000

// run spends a budget on chains from the given starts: as many iterations of each as
// it covers.
func (c chainOf) run(ctx context.Context, r curator.Records, budget planning.Budget, starts [][]float64,
	seed uint64) (runOf, error) {
	f := curator.Facts{Records: int64(len(r.X) / r.Features), Features: r.Features, Response: r.Y != nil, Radius: r.Radius,
		RowsPerPerson: 1, Adjacency: accountant.Substitute}
	n, err := c.affordable(int64(len(starts)), f, budget)
	if err != nil {
		return runOf{}, err
	}
	return c.runFor(ctx, n, r, budget, starts, seed)
}

// runFor makes n iterations of chains from the given starts, with repeatable and
// therefore not private noise; records are sealed afresh. Each chain keeps about
// `kept` evenly spaced states.
func (c chainOf) runFor(ctx context.Context, n int64, r curator.Records, budget planning.Budget, starts [][]float64,
	seed uint64) (runOf, error) {
	out := runOf{iterations: n}
	sealed, err := seal(r, budget.Epsilon, budget.Delta, curator.InsecureSeed(seed))
	if err != nil {
		return out, err
	}
	began := time.Now()
	for i, start := range starts {
		k, err := c.build(n, sealed)
		if err != nil {
			return out, err
		}
		draws, accepted, err := walk(ctx, k, start, n, kernels.Stream(seed, i))
		if err != nil {
			return out, err
		}
		out.draws = append(out.draws, draws)
		out.accepted += accepted / float64(len(starts))
	}
	out.elapsed = time.Since(began)
	out.spent, err = sealed.Budget().Spent()
	return out, err
}

// seal makes a curator with a budget of its own, under substitution.
func seal(r curator.Records, epsilon, delta float64, options ...curator.Option) (*curator.Curator, error) {
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return nil, err
	}
	return curator.Seal(r, b, options...)
}

// session is one of a plan on records of their own, whose noise and streams have seeds and
// are not private. The problem's facts and budget are filled in.
func session(r curator.Records, epsilon, delta float64, set chains.Settings, p chains.Problem,
	noise, stream uint64) (*chains.Session, error) {
	sealed, err := seal(r, epsilon, delta, curator.InsecureSeed(noise))
	if err != nil {
		return nil, err
	}
	p.Facts, p.Epsilon, p.Delta = sealed.Facts(), epsilon, delta
	plan, err := chains.Choose(set, p)
	if err != nil {
		return nil, err
	}
	return plan.Open(sealed, stream)
}

// walk makes n steps and returns the start of a kernel's life: about `kept`
// states, evenly spaced, and the share of accepted moves.
func walk(ctx context.Context, k kernels.Kernel, start []float64, n int64, rng *rand.Rand) ([][]float64,
	float64, error) {
	s, err := k.Init(start)
	if err != nil {
		return nil, 0, err
	}
	thin := max(1, n/kept)
	var draws [][]float64
	accepted := 0
	for step := range n {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		info, err := k.Step(rng, s)
		if err != nil && !errors.Is(err, curator.ErrSpent) {
			return nil, 0, fmt.Errorf("step %d: %w", step+1, err)
		}
		if info.Accepted {
			accepted++
		}
		if (step+1)%thin == 0 {
			draws = append(draws, append([]float64(nil), s.Theta...))
		}
	}
	return draws, float64(accepted) / float64(n), nil
}

// eachRepeat runs f for every repeat, as many at a time as there are processors to
// use. What a repeat draws depends on its number alone.
func eachRepeat(n int, f func(repeat int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			errs[i] = f(i)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// secondHalves pools what the chains drew after their first halves, as the
// published experiments do.
func (r runOf) secondHalves() [][]float64 {
	var pool [][]float64
	for _, chain := range r.draws {
		pool = append(pool, chain[len(chain)/2:]...)
	}
	return pool
}
