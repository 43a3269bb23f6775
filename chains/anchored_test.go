package chains_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
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
	records, err := chains.Seal(simulated.Table, budget, curator.InsecureSeed(3))
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
