package stancsv_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// A run is interrupted after its first draw and gone on with.
func Example() {
	if err := interruptAndResume(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2 draws of [beta[1] beta[2]]; finished: true
}

func interruptAndResume() error {
	dir, err := os.MkdirTemp("", "stancsv")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "draws_1.csv")
	h := stancsv.Header{Model: "logistic", Algorithm: "dp_barker", Engine: "mh", NumSamples: 2, StepSize: 0.1,
		ID: 1, Init: "2"}
	w, err := stancsv.Create(path, h, []string{"beta[1]", "beta[2]"})
	if err != nil {
		return err
	}
	if err := w.Write(stancsv.Draw{Accepted: true, StepSize: 0.1, Params: []float64{0.25, -1}}); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // no Finalise: the run was interrupted
		return err
	}

	w, err = stancsv.Continue(path, h, []string{"beta[1]", "beta[2]"}, 1)
	if err != nil {
		return err
	}
	if err := w.Write(stancsv.Draw{StepSize: 0.1, Params: []float64{0.25, -1}}); err != nil {
		return err
	}
	if err := w.Finalise(0, 0); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}

	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	chain, err := stancsv.Read(file)
	if err != nil {
		return err
	}
	fmt.Printf("%d draws of %v; finished: %v\n", len(chain.Draws), chain.Names, chain.Finished)
	return nil
}
