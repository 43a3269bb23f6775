package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

func init() {
	figures["anchored-ablation"] = figure{
		"what parts of an anchored chain do, and a chain without anchors at the same budget", anchoredAblation}
}

// ablated are the draws of one method on one data set.
type ablated struct {
	method string
	chains [][][]float64
}

// anchoredAblation compares, on the same records and at the same budget, anchored chains
// with what is left of them without bits, without the prior, and without an anchor.
func anchoredAblation(ctx context.Context, s settings) error {
	repeats := s.count(10)
	out := newTable("n", "d", "epsilon", "method", "sets", "coverage", "rmse", "least_ess")
	for _, cell := range []anchoredCell{{2000, 3, 1}, {10_000, 6, 1}, {30_000, 6, 1}} {
		tallies := map[string]*tally{}
		var order []string
		for k := range repeats {
			seed := s.seed*1000 + uint64(k)
			methods, truth, err := ablate(ctx, cell, seed)
			if err != nil {
				return fmt.Errorf("%+v: %w", cell, err)
			}
			for _, m := range methods {
				if tallies[m.method] == nil {
					tallies[m.method] = newTally()
					order = append(order, m.method)
				}
				tallies[m.method].add(m.chains, truth)
			}
		}
		for _, method := range order {
			t := tallies[method]
			slices.Sort(t.errors)
			out.add(cell.n, cell.d, cell.epsilon, method, repeats, t.held/t.count, t.errors[len(t.errors)/2], t.ess)
			if _, err := fmt.Fprintln(s.log, out.rows[len(out.rows)-1]); err != nil {
				return err
			}
		}
	}
	return s.save("anchored-ablation", out, 0)
}

// tally is what intervals held, and how well chains moved, over data sets.
type tally struct {
	held, count, ess, rhat float64
	errors                 []float64
}

func newTally() *tally { return &tally{ess: math.Inf(1), rhat: 1} }

func (t *tally) add(draws [][][]float64, truth []float64) {
	means := make([]float64, len(truth))
	for j, at := range truth {
		column := make([][]float64, len(draws))
		for c, chain := range draws {
			for _, draw := range chain {
				column[c] = append(column[c], draw[j])
			}
		}
		sum := diag.Summarize(column)
		if sum.Q5 <= at && at <= sum.Q95 {
			t.held++
		}
		t.count++
		means[j] = sum.Mean
		if math.IsNaN(sum.ESSBulk) { // a chain that never moved
			sum.ESSBulk = 0
		}
		t.ess, t.rhat = min(t.ess, sum.ESSBulk), max(t.rhat, sum.RHat)
	}
	t.errors = append(t.errors, rootMeanSquare(means, truth))
}

// ablate runs every method on one data set.
func ablate(ctx context.Context, cell anchoredCell, seed uint64) (methods []ablated, truth []float64, err error) {
	for _, aim := range []anchors.Aim{anchors.Score, anchors.Remainder, anchors.Perturbed} {
		r, _, err := anchoredOnce(ctx, cell, aim, 2, seed)
		if err != nil {
			return nil, nil, err
		}
		methods, truth = append(methods, ablated{aim.String(), r.chains}), r.truth
		if aim != anchors.Remainder {
			continue
		}
		for _, withPrior := range []bool{true, false} {
			draws, err := quadraticDraws(r.release.Statistics, withPrior, seed)
			if err != nil {
				return nil, nil, err
			}
			name := "quadratic alone"
			if withPrior {
				name = "quadratic and prior"
			}
			methods = append(methods, ablated{name, draws})
		}
	}
	first, _, err := anchoredOnce(ctx, cell, anchors.Remainder, 1, seed)
	if err != nil {
		return nil, nil, err
	}
	methods = append(methods, ablated{"remainder, order 1", first.chains})
	plain, err := plainChain(ctx, cell, seed)
	return append(methods, ablated{"plain chain", plain}), truth, err
}

// quadraticDraws are draws of the normal approximation of a release, times the prior
// N(0, 3²) or alone: an anchored chain that leaves the remainder out.
func quadraticDraws(s surrogates.Statistics, withPrior bool, seed uint64) ([][][]float64, error) {
	g, err := surrogates.FirstOrder(s)
	if err != nil {
		return nil, err
	}
	d := len(g.Mean)
	var chol mat.Cholesky
	precision, cov := mat.NewSymDense(d, nil), mat.NewSymDense(d, g.Cov)
	if !chol.Factorize(cov) {
		return nil, fmt.Errorf("the covariance of a release is not positive definite")
	}
	if err := chol.InverseTo(precision); err != nil {
		return nil, err
	}
	var pulled mat.VecDense
	pulled.MulVec(precision, mat.NewVecDense(d, g.Mean))
	for j := range d {
		if withPrior {
			precision.SetSym(j, j, precision.At(j, j)+1.0/9)
		}
	}
	if !chol.Factorize(precision) {
		return nil, fmt.Errorf("the precision of a release is not positive definite")
	}
	var mean mat.VecDense
	if err := chol.SolveVecTo(&mean, &pulled); err != nil {
		return nil, err
	}
	if err := chol.InverseTo(cov); err != nil {
		return nil, err
	}
	chol.Factorize(cov)
	var lower mat.TriDense
	chol.LTo(&lower)
	rng := rand.New(rand.NewPCG(seed, 0xab1a))
	out := make([][][]float64, anchoredChains)
	for c := range out {
		for range anchoredSteps {
			z := mat.NewVecDense(d, nil)
			for j := range d {
				z.SetVec(j, rng.NormFloat64())
			}
			var draw mat.VecDense
			draw.MulVec(&lower, z)
			draw.AddVec(&draw, &mean)
			out[c] = append(out[c], draw.RawVector().Data)
		}
	}
	return out, nil
}

// plainChain is kernel barker with the defaults of a run, which buys likelihood ratios
// step by step, from its own private start.
func plainChain(ctx context.Context, cell anchoredCell, seed uint64) ([][][]float64, error) {
	records, _, target, err := cell.simulate(seed)
	if err != nil {
		return nil, err
	}
	model, err := models.Custom("logistic", target)
	if err != nil {
		return nil, err
	}
	problem := chains.ProblemOf(model, curator.Facts{}, 0, 0)
	problem.Logistic = true // so that it can start at a private optimum
	opened, err := session(records, cell.epsilon, anchoredDelta,
		chains.Settings{Kernel: "barker", Chains: anchoredChains, Iterations: anchoredSteps}, problem, seed, seed)
	if err != nil {
		return nil, err
	}
	result, err := opened.Run(ctx, model, chains.Options{Warmup: 0.1})
	if err != nil {
		return nil, err
	}
	return result.Draws, nil
}
