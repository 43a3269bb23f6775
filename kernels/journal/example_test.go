package journal_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/kernels/journal"
)

// A run announces steps 1 to 50, notes after 30 that it has made them, and is killed. The steps that
// were announced after that are forfeited: it goes on with 950.
func Example() {
	folder, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "journal")
	j, err := journal.Create(path, journal.Head{Chains: 1, Iterations: 1000, Thin: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(
		j.Mark(journal.Mark{Reserved: 30, Theta: []float64{0}}),
		j.Mark(journal.Mark{Step: 30, Used: 30, Reserved: 50, Theta: []float64{0.7}}),
		j.Close(),
	); err != nil {
		log.Fatal(err)
	}

	j, state, err := journal.Resume(path)
	if err != nil {
		log.Fatal(err)
	}
	m := state.Marks[0]
	fmt.Println("from", m.Theta, "after step", m.Step, "with", state.Iterations-m.Reserved, "steps left")
	if err := j.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: from [0.7] after step 30 with 950 steps left
}
