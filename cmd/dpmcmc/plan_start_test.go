package main

import (
	"math"
	"strings"
	"testing"
)

// TestPlanCountsTheStart: a run of no steps costs what its start may, within a
// thousandth, and a start makes the longest step that a budget covers shorter, as
// sample finds it.
func TestPlanCountsTheStart(t *testing.T) {
	const run = "--kernel barker --model logistic --radius 1 --dimension 3 --records 2000 --delta 1e-6 --full"
	for _, start := range []string{"optimum", "gradient"} {
		if p := plan(t, run+" --solve epsilon --iterations 0 --step 0.01 --start "+start+
			" --start-epsilon 0.5"); math.Abs(p.Epsilon-0.5) > 1e-3 {
			t.Errorf("the start %s alone costs ε = %v, want 0.5", start, p.Epsilon)
		}
	}
	free := plan(t, run+" --solve step --iterations 1000 --epsilon 1").Value
	charged := plan(t, run+" --solve step --iterations 1000 --epsilon 1 --start optimum --start-epsilon 0.5").Value
	c := certified(t, "--data", small, "--iterations", "1000", "--full", "--epsilon", "1", "--start-share", "0.5")
	if charged >= 0.95*free || math.Abs(charged/c.Settings.Step-1) > 2e-3 {
		t.Errorf("steps of %v without a start, %v with one, sample takes %v", free, charged, c.Settings.Step)
	}
}

func TestPlanStartRefusals(t *testing.T) {
	const run = "plan --kernel dpsgld --records 2000 --iterations 10 "
	for args, want := range map[string]string{
		"--solve epsilon --noise 50 --delta 1e-6 --start prior-mean --start-epsilon 1": "are for starts that are charged",
		"--solve epsilon --noise 50 --delta 1e-6 --start gradient": "--start gradient needs " +
			"--start-epsilon",
		"--solve epsilon --noise 50 --delta 1e-6 --start-epsilon 1":                 "go with --start",
		"--solve delta --noise 50 --epsilon 1 --start gradient --start-epsilon 0.5": "give that too",
		"--solve epsilon --noise 50 --delta 1e-6 --start optimum --start-epsilon 1": "is for logistic regression",
	} {
		if code, _, errw := call(t.Context(), strings.Fields(run+args)...); code == exitOK || !strings.Contains(errw, want) {
			t.Errorf("%s: exit code %d: %s", args, code, errw)
		}
	}
}
