package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestRun: the program runs, keeps to its budget and says so.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, 2000, 200); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"intercept", "x2", "unconditional ε = ", "at δ = 1e-06 (substitute)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not say %q:\n%s", want, out.String())
		}
	}
}

// TestKernel puts the kernel through the suite that every kernel passes.
func TestKernel(t *testing.T) {
	target, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	records := curator.Records{Features: 2, Radius: 1}
	for i := range 40 {
		s, c := math.Sincos(float64(i))
		records.X, records.Y = append(records.X, s, c), append(records.Y, float64(i%2))
	}
	proptest.CheckKernel(t, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newScan(target, 0.1, steps, records)
	}, proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{0, 0}})
}

// TestKernelIsShort: what has to be written is at most 25 lines.
func TestKernelIsShort(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "type scan struct {\n")
	code, _, _ = strings.Cut(code, "func main()")
	lines := 1
	for line := range strings.Lines(code) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
			lines++
		}
	}
	if lines > 25 || lines < 15 {
		t.Errorf("the kernel has %d lines", lines)
	}
}
