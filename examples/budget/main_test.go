package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestRun reads the plan: running twice costs more than once and less than the sum,
// and half the step buys at least about four times the steps.
func TestRun(t *testing.T) {
	var out strings.Builder
	const steps = 1000
	if err := run(&out, 10_000, steps); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4:\n%s", len(lines), out.String())
	}
	var count, left int64
	var twice, spent float64
	if _, err := fmt.Sscanf(lines[1], "with moves half as long: %d steps", &count); err != nil || count < 3.5*steps ||
		count > 8*steps {
		t.Errorf("%s (%v); want 4 times %d, or more where batches are small", lines[1], err, steps)
	}
	if _, err := fmt.Sscanf(lines[2], "the same chain, run twice: ε = %f,", &twice); err != nil ||
		!(twice > 1.2 && twice < 1.8) {
		t.Errorf("%s (%v); want about √2", lines[2], err)
	}
	var done int64
	if _, err := fmt.Sscanf(lines[3], "after %d such steps, ε = %f of 2 is spent, and %d more are covered", &done, &spent,
		&left); err != nil || done != steps || !(spent < 1) || left < count {
		t.Errorf("%s (%v)", lines[3], err)
	}
}
