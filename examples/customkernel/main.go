// Command customkernel writes a sampler that the library does not have: a scan that
// moves one coordinate after the other by at most a public width, and lets the curator
// decide with one private bit. A kernel is three methods on a frame, about twenty lines. It never
// sees a record: all that it learns of them is its bits, which were charged before the
// first step.
//
//	go run ./examples/customkernel
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// scan changes coordinate after coordinate by at most width.
type scan struct {
	kernels.Frame // Dim and Init
	target        targets.Target
	width         float64
	bits          *curator.Bits
	next          []float64
}

func (k *scan) Name() string { return "scan" }
func (k *scan) Left() int64  { return k.bits.Left() }

func (k *scan) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	copy(k.next, s.Theta)
	k.next[s.Iteration%int64(len(k.next))] += k.width * (2*rng.Float64() - 1)
	accepted, err := k.bits.Accept(k.next, s.Theta, k.target.LogPrior(k.next)-k.target.LogPrior(s.Theta))
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, k.next)
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: k.width}, nil
}

func main() {
	if err := run(context.Background(), os.Stdout, 20_000, 20_000); err != nil {
		log.Fatal(err)
	}
}

// newScan charges a chain of the given length, whose bits are all that it releases.
func newScan(target targets.Target, width float64, iterations int64, records *curator.Curator) (*scan, error) {
	bit := curator.AcceptanceBit{Target: target, Temperature: 0.1, Proposal: curator.Proposal{Radius: width}}
	bits, err := curator.Charge(records, bit, iterations)
	if err != nil {
		return nil, err
	}
	return &scan{Frame: kernels.NewFrame("scan", target), target: target, width: width, bits: bits,
		next: make([]float64, target.Dim())}, nil
}

// run scans a simulated table of n records.
func run(ctx context.Context, out io.Writer, n int, iterations int64) error {
	simulated, err := data.Builtin(fmt.Sprintf("builtin:logistic?n=%d&d=2", n))
	if err != nil {
		return err
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 2, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	records, err := chains.Seal(nil, simulated.Table, budget)
	if err != nil {
		return err
	}
	target, err := targets.New(targets.RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		return err
	}
	kernel, err := newScan(target, 0.025, iterations, records)
	if err != nil {
		return err
	}
	draws := kernels.NewMemory(1)
	chain := []kernels.Chain{{Kernel: kernel, Start: make([]float64, 3)}}
	if err := kernels.Run(ctx, chain, kernels.Options{Iterations: iterations, Sink: draws}); err != nil {
		return err
	}
	spent, err := budget.Spent()
	if err != nil {
		return err
	}
	kept := draws.Draws(0)[iterations/2:]
	_, err = fmt.Fprintf(out, "%vunconditional ε = %.3f at δ = %g (%v)\n",
		diag.SummarizeAll([]string{"intercept", "x1", "x2"},
			[][][]float64{kept}), spent.Epsilon, spent.Delta, spent.Adjacency)
	return err
}
