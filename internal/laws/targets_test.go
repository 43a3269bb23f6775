package laws

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// everyKernel makes a chain of every kernel over sealed records; a target without
// gradients has fewer.
func everyKernel(target targets.Target, c *curator.Curator) map[string]func() (kernels.Kernel, error) {
	const n = 20
	move := curator.Proposal{Scale: 0.05}
	all := map[string]func() (kernels.Kernel, error){
		"barker": func() (kernels.Kernel, error) {
			return barker.New(barker.Config{Target: target, Proposal: move, Iterations: n, Clip: 1}, c)
		},
		"barker on batches": func() (kernels.Kernel, error) {
			return barker.New(barker.Config{Target: target, Proposal: move, Iterations: n, Clip: 0.01,
				Batch: curator.Batch{Rate: 0.5}, Test: curator.Test{Corrected: 1}}, c)
		},
		"penalty": func() (kernels.Kernel, error) {
			return penalty.New(penalty.Config{Target: target, Proposal: move, Noise: penalty.Fixed(1), Iterations: n,
				Clip: 1}, c)
		},
		"published penalty": func() (kernels.Kernel, error) {
			return penalty.New(penalty.Config{Target: target, Proposal: move, Noise: penalty.Scaled(1), Iterations: n, Clip: 5,
				Accounting: "published"}, c)
		},
		"tunamh": func() (kernels.Kernel, error) {
			return tunamh.New(tunamh.Config{Target: target, Proposal: move, Iterations: n, Clip: 0.5, Rate: 0.9}, c)
		},
	}
	g, ok := target.(targets.GradTarget)
	if !ok {
		return all
	}
	all["dynamics"] = func() (kernels.Kernel, error) {
		return barkerdynamics.New(barkerdynamics.Config{Target: g, Scale: 0.05, Iterations: n, Clip: 5, Adjusted: true}, c)
	}
	all["dpsgld"] = func() (kernels.Kernel, error) {
		return dpsgld.New(dpsgld.Config{Driven: kernels.Driven{Target: g, Iterations: n, Step: kernels.Constant(1e-4),
			NoiseMultiplier: 1, Clip: 5}}, c)
	}
	all["thermostat"] = func() (kernels.Kernel, error) {
		return sgnht.New(sgnht.Config{Driven: kernels.Driven{Target: g, Iterations: n, Step: kernels.Constant(1e-3),
			NoiseMultiplier: 1, Clip: 5}, Friction: 1}, c)
	}
	all["dphmc"] = func() (kernels.Kernel, error) {
		return dphmc.New(dphmc.Config{Target: g, Iterations: n, Steps: 3, StepSize: 0.01, GradientNoise: 1, GradientClip: 5,
			RatioClip: 5, MaxMove: 1}, c)
	}
	return all
}

// TestEveryModelRunsUnderEveryKernel: each model of the registry can be sealed, paid for
// and sampled by each kernel, those of a response without features included.
func TestEveryModelRunsUnderEveryKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, name := range models.Names() {
		shape, err := models.StandardShape(name, 40, 2)
		if err != nil {
			t.Fatal(err)
		}
		options := models.Options{}
		if name == "negative-binomial" {
			options.Dispersion = 2
		}
		model, err := models.New(name, shape, options)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		features, response := model.Target.Shape()
		r := curator.Records{Features: features}
		for range 40 {
			for range features {
				r.X = append(r.X, rng.Float64()-0.5)
			}
			if response {
				r.Y = append(r.Y, float64(rng.IntN(2)))
			}
		}
		if features > 0 {
			r.Radius = 2
		}
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e9, Delta: 1e-6,
			Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		c, err := curator.Seal(r, budget, curator.InsecureSeed(1))
		if err != nil {
			t.Errorf("%s cannot be sealed: %v", name, err)
			continue
		}
		for kernel, open := range everyKernel(model.Target, c) {
			tried++
			if err := runs(open, model.Target); err != nil {
				t.Errorf("%s under %s: %v", name, kernel, err)
			}
		}
	}
	if tried < 9*len(models.Names()) {
		t.Errorf("only %d pairs of %d models were tried", tried, len(models.Names()))
	}
}

// runs takes the steps of a chain from a draw of the prior, or from 0.
func runs(open func() (kernels.Kernel, error), target targets.Target) error {
	k, err := open()
	if err != nil {
		return err
	}
	theta := make([]float64, target.Dim())
	if p, ok := target.(targets.PriorSampler); ok {
		p.SamplePrior(theta, rand.New(rand.NewPCG(3, 4)))
	}
	s, err := k.Init(theta)
	if err != nil {
		return err
	}
	rng := kernels.Stream(1, 0)
	for i := range 20 {
		if _, err := k.Step(rng, s); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}
