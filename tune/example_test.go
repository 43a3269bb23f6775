package tune_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// What would ε = 0.5 and ε = 2 buy on 5000 records with three features? No record is needed.
func ExampleForesee() {
	shape, err := models.StandardShape("logistic", 5000, 3)
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.New("logistic", shape, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	config := tune.Config{Models: []*models.Model{model}, Adjacency: accountant.Substitute, Delta: 1e-6,
		Repeats: 1, Seed: 1}
	forecasts, err := tune.Foresee(context.Background(), config, chains.Settings{Iterations: 200}, 0.5, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range forecasts {
		fmt.Printf("ε = %v: %s chains, intervals ×%.2f\n", f.Epsilon, f.Settings.Kernel, f.Widening)
	}
	// Output:
	// ε = 0.5: anchored chains, intervals ×1.47
	// ε = 2: anchored chains, intervals ×1.04
}
