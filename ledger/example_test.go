package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// Two runs on the same people, in one program or in two, spend from one file.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv.ledger")
	limit := ledger.Limit{Adjacency: accountant.Substitute, Epsilon: 1, Delta: 1e-5}
	if _, err := ledger.Create(path, limit, ledger.Note{Who: "ada"}, ledger.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	for run := 1; run <= 3; run++ {
		if err := look(path); err != nil {
			var exceeded *accountant.ExceededError
			fmt.Printf("run %d: refused: %v\n", run, errors.As(err, &exceeded))
			continue
		}
		fmt.Printf("run %d: charged\n", run)
	}
	// Output:
	// run 1: charged
	// run 2: charged
	// run 3: refused: true
}

// look releases one noisy second moment of the people's records.
func look(path string) error {
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		return err
	}
	budget, err := l.Budget(accountant.BudgetConfig{Epsilon: 0.9, Delta: 1e-6, Adjacency: accountant.Substitute},
		ledger.Note{Who: "ada"})
	if err != nil {
		return err
	}
	people, err := curator.Seal(curator.Records{X: []float64{1, 2, 3, 4}, Features: 1, Radius: 4}, budget)
	if err != nil {
		return err
	}
	moments, err := curator.Charge(people, curator.SecondMoment{NoiseMultiplier: 6}, 1)
	if err != nil {
		return err
	}
	return moments.Release(make([]float64, 1), nil)
}
