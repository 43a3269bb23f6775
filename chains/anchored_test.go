package chains_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestAnchoredChainsTakeThePenaltyTest, with a variance only where it is asked for.
func TestAnchoredChainsTakeThePenaltyTest(t *testing.T) {
	simulated, err := data.Builtin("builtin:logistic?n=400&d=2")
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("logistic", &simulated.Table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 3, Delta: 1e-5, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	records, err := chains.Seal(model, simulated.Table, budget, curator.InsecureSeed(3))
	if err != nil {
		t.Fatal(err)
	}
	problem := chains.ProblemOn(model, records)
	plain, err := chains.Choose(chains.Settings{Kernel: "anchored", Aim: "remainder", Iterations: 50}, problem)
	if err != nil || plain.Settings.Variance != 0 {
		t.Fatalf("Barker's test has variance %v (%v)", plain.Settings.Variance, err)
	}
	if _, err := chains.Choose(chains.Settings{Kernel: "anchored", Variance: 1}, problem); err == nil {
		t.Error("a variance of Barker's test was taken")
	}
	plan, err := chains.Choose(chains.Settings{Kernel: "anchored", Acceptance: "penalty", Iterations: 50}, problem)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Settings.Aim != "remainder" || plan.Settings.Variance != 0.25 || !strings.HasPrefix(plan.Test, "penalty") {
		t.Errorf("aim %v, variance %v, test %q", plan.Settings.Aim, plan.Settings.Variance, plan.Test)
	}
	session, err := plan.Open(records, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Run(context.Background(), model, chains.Options{}); err != nil {
		t.Fatal(err)
	}
	if spent, err := budget.Spent(); err != nil || spent.Epsilon > 3 || spent.Epsilon < 2.99 {
		t.Errorf("spent ε = %v of 3 (%v)", spent.Epsilon, err)
	}
}

// TestAnchorsOfOrder1: chains of models with gradients alone spend what was asked for and
// no more, say what they are of, and, of models with several modes, that they show one.
// They are what is taken by default. All of it is seeded.
func TestAnchorsOfOrder1(t *testing.T) {
	for _, c := range []struct {
		model, headline string
		options         models.Options
		epsilon         float64
		aim             string
	}{
		{"mixture", "Usable for one mode", models.Options{PriorSD: 1}, 30, "auto"},
		{"softmax", "Usable", models.Options{PriorSD: 1}, 8, "auto"},
		{"softmax", "Usable if the prior is believed", models.Options{PriorSD: 2}, 0.03, "auto"},
		{"softmax", "Usable if the prior is believed", models.Options{PriorSD: 0.3}, 1, "remainder"},
		{"linear", "Usable", models.Options{PriorSD: 1, Loss: "beta", Beta: 1.5}, 8, "auto"},
		{"heteroscedastic", "Not usable as it stands: noise hides", models.Options{PriorSD: 1}, 0.1, "auto"},
	} {
		shape, err := models.StandardShape(c.model, 4000, 1)
		if err != nil {
			t.Fatal(err)
		}
		model, err := models.New(c.model, shape, c.options)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		theta, values := make([]float64, model.Target.Dim()), make([]float64, len(model.Parameters))
		for j := range theta {
			theta[j] = 1 - 0.3*float64(j)
		}
		model.Output(values, theta)
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: c.epsilon, Delta: 1e-5,
			Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		records, err := chains.Seal(model, model.Simulate(values, rng), budget, curator.InsecureSeed(3))
		if err != nil {
			t.Fatal(err)
		}
		problem := chains.ProblemOn(model, records)
		if plain, err := chains.Choose(chains.Settings{Iterations: 100}, problem); err != nil ||
			plain.Settings.Kernel != "anchored" {
			t.Errorf("%s: by default %s (%v)", c.model, plain.Settings.Kernel, err)
		}
		plan, err := chains.Choose(chains.Settings{Kernel: "anchored", Iterations: 300, Aim: c.aim}, problem)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := chains.Choose(plan.Settings, problem); err != nil || again.Settings != plan.Settings {
			t.Errorf("%s: complete settings were changed: %+v (%v)", c.model, again.Settings, err)
		}
		session, err := plan.Open(records, 1)
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.Run(context.Background(), model, chains.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if spent, err := budget.Spent(); err != nil || spent.Epsilon > c.epsilon || spent.Epsilon < 0.99*c.epsilon {
			t.Errorf("%s: spent ε = %v of %v (%v)", c.model, spent.Epsilon, c.epsilon, err)
		}
		certificate := result.Certificate
		hidden := strings.Contains(c.headline, "hides") // and so is by how much intervals are wider
		bits := plan.Settings.Aim != "score"
		if bits == (c.model == "softmax" && c.aim == "auto") || bits != strings.Contains(certificate.Test, "order 1") ||
			certificate.Target != "noise-aware" ||
			hidden != (certificate.Widening == 0) || !hidden && certificate.Widening < 1 {
			t.Errorf("%s: certified %q, %q, widened by %v", c.model, certificate.Test, certificate.Target,
				certificate.Widening)
		}
		headline := "Usable"
		if len(certificate.Doubts) > 0 {
			headline = certificate.Doubts[0].Headline
		}
		if !strings.HasPrefix(headline, c.headline) {
			t.Errorf("%s: %q, want %q", c.model, headline, c.headline)
		}
	}
}

// TestScalesMakeCurvatures of products of gradients, cut: on other records than those that
// scales are of, products between them are second differences of losses to an eighth. Bare
// products are a third off and more. All of it is seeded.
func TestScalesMakeCurvatures(t *testing.T) {
	for name, options := range map[string]models.Options{"linear": {PriorSD: 1, Loss: "beta", Beta: 1.5},
		"heteroscedastic": {PriorSD: 1}} {
		shape, err := models.StandardShape(name, 40_000, 2)
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.New(name, shape, options)
		if err != nil {
			t.Fatal(err)
		}
		d := m.Target.Dim()
		theta, values := make([]float64, d), make([]float64, d)
		for j := range theta {
			theta[j] = 0.5 - 0.3*float64(j)
		}
		m.Output(values, theta)
		table := m.Simulate(values, rand.New(rand.NewPCG(8, 8)))
		n, rows := table.Records, targets.Rows{X: table.X, P: table.Features(), Y: table.Y}
		problem := chains.ProblemOf(m, chains.Facts(shape, accountant.Substitute), 1, 1e-6)
		cut, scales := problem.Lengths(theta).Products, problem.Scales(theta)
		gradients, losses := make([]float64, n*d), make([]float64, n)
		m.Target.(targets.GradTarget).LossGrad(gradients, theta, rows)
		sum := func(theta []float64) (total float64) {
			m.Target.Loss(losses, theta, rows)
			for _, v := range losses {
				total += v
			}
			return total
		}
		worst, bare, middle := 1.0, 1.0, sum(theta)
		for j := range d {
			const h = 0.01
			products := 0.0
			for i := range n {
				g := gradients[i*d : (i+1)*d]
				by := g[j] * min(1, cut/floats.Norm(g, 2))
				products += by * by
			}
			at := slices.Clone(theta)
			at[j] += h
			up := sum(at)
			at[j] -= 2 * h
			ratio := products * h * h / (up - 2*middle + sum(at))
			bare = max(bare, ratio, 1/ratio)
			ratio *= scales[j] * scales[j]
			worst = max(worst, ratio, 1/ratio)
		}
		if worst > 1.125 || bare < 4.0/3 {
			t.Errorf("%s: products between scales are off by a factor of %v, bare ones by %v", name, worst, bare)
		}
	}
}

// TestEveryModelIsAnchored: the default kernel is anchored for every model of the registry,
// under losses and errors too that leave no curvature to release. It is not where a
// temperature is given, a setting of another kernel is, the model is another's, or it has
// more parameters than order 1 takes.
func TestEveryModelIsAnchored(t *testing.T) {
	kernel := func(s chains.Settings, name string, features int, o models.Options) string {
		t.Helper()
		shape, err := models.StandardShape(name, 1000, features)
		if err != nil {
			t.Fatal(err)
		}
		if name == "negative-binomial" {
			o.Dispersion = 2
		}
		m, err := models.New(name, shape, o)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := chains.Choose(s, chains.ProblemOf(m, chains.Facts(shape, accountant.Substitute), 1, 1e-6))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return plan.Settings.Kernel
	}
	beta := models.Options{Loss: "beta", Beta: 1.5}
	for _, name := range models.Names() {
		if k := kernel(chains.Settings{}, name, 1, models.Options{}); k != "anchored" {
			t.Errorf("%s runs %s", name, k)
		}
	}
	for _, name := range []string{"logistic", "probit", "poisson", "linear", "heteroscedastic"} {
		if k := kernel(chains.Settings{}, name, 1, beta); k != "anchored" {
			t.Errorf("%s with a beta loss runs %s", name, k)
		}
	}
	if k := kernel(chains.Settings{}, "linear", 1, models.Options{DegreesOfFreedom: 4}); k != "anchored" {
		t.Errorf("linear with Student-t errors runs %s", k)
	}
	for why, k := range map[string]string{
		"a temperature":   kernel(chains.Settings{Temperature: 0.5}, "softmax", 1, models.Options{}),
		"a step":          kernel(chains.Settings{Step: 0.1}, "softmax", 1, models.Options{}),
		"many parameters": kernel(chains.Settings{}, "logistic", 70, beta),
	} {
		if k != "barker" {
			t.Errorf("with %s it runs %s", why, k)
		}
	}
}

// TestScaledColumnsAreFittedForSums: a schema that states scales leaves fitted sums to the number of
// records, and fitted columns of labels to who asks for them.
func TestScaledColumnsAreFittedForSums(t *testing.T) {
	for _, want := range []struct {
		model   string
		records int
		fit     string
	}{{"linear", 400, "no"}, {"linear", 40_000, "yes"}, {"logistic", 40_000, "no"}} {
		shape, err := models.StandardShape(want.model, want.records, 4)
		if err != nil {
			t.Fatal(err)
		}
		if shape.Loose() {
			t.Fatal("the shape states no scales")
		}
		m, err := models.New(want.model, shape, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		facts := curator.Facts{Records: int64(want.records), Features: shape.Features(), Response: true,
			Radius: m.Shape.Radius, RowsPerPerson: 1, Adjacency: accountant.Substitute}
		plan, err := chains.Choose(chains.Settings{Kernel: "anchored", Iterations: 50},
			chains.ProblemOf(m, facts, 1, 1e-5))
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Settings.AnchorFit; got != want.fit {
			t.Errorf("%s, %d records: anchor-fit is %q, not %q", want.model, want.records, got, want.fit)
		}
	}
}
