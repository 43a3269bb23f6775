package chains_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestWideningFallsWithTheBudget: certificates say by how much privacy widened the
// intervals. It is above 1, and less where the budget is larger.
func TestWideningFallsWithTheBudget(t *testing.T) {
	simulated, err := data.Builtin("builtin:logistic?n=2000&d=2")
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("logistic", &simulated.Table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var widened []float64
	for _, epsilon := range []float64{0.2, 5} {
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-5,
			Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		result, err := chains.Run(context.Background(), simulated.Table, model, chains.Settings{}, budget)
		if err != nil {
			t.Fatal(err)
		}
		c := result.Certificate
		if !strings.Contains(c.Words(true), "Privacy widened them by ×") {
			t.Errorf("the certificate does not say it:\n%s", c)
		}
		widened = append(widened, c.Widening)
	}
	if !(widened[0] > 2 && widened[1] >= 1 && widened[1] < widened[0]/2) {
		t.Errorf("widened by %v at ε = 0.2 and %v at ε = 5", widened[0], widened[1])
	}
}
