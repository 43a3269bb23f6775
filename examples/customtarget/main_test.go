package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestRun: the program runs, keeps to its budget and says so.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), &out, 400, 200); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"intercept", "slope", "accept/reject bit", "δ = 1e-06, unconditional",
		"(substitution; "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not say %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "ε = 1.0") {
		t.Errorf("more than the budget was spent:\n%s", out.String())
	}
}

// TestTarget puts the target through the suite that every target passes: no record
// exceeds its certificate, and some attain 9/10 of it.
func TestTarget(t *testing.T) {
	proptest.CheckTarget(t, medianRegression{2}, proptest.TargetOptions{Tightness: 0.9, Effort: proptest.Quick})
}

// TestTargetIsShort: what has to be written is at most 25 lines.
func TestTargetIsShort(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "type medianRegression struct")
	code, _, _ = strings.Cut(code, "func main()")
	lines := 0
	for line := range strings.Lines(code) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
			lines++
		}
	}
	if lines > 25 || lines < 15 {
		t.Errorf("the target has %d lines", lines)
	}
}
