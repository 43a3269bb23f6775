package kernels_test

import (
	"context"
	"fmt"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// A run sends every kept draw to a sink, here one in memory. The kernel of this
// example reads no records; package barker has one that does.
func ExampleRun() {
	sink := kernels.NewMemory(2)
	err := kernels.Run(context.Background(), walks(2, 1000),
		kernels.Options{Iterations: 1000, Thin: 10, Seed: 1, Sink: sink})
	fmt.Println(err, len(sink.Draws(0)), len(sink.Draws(1)))
	// Output: <nil> 100 100
}
