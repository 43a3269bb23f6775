package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/starts"
)

// TestChargedStarts: by default a logistic regression starts at a private optimum
// for a quarter of ε, which the certificate itemises, events and value, and the draws'
// header names; the events are among the run's, as account reads them.
func TestChargedStarts(t *testing.T) {
	dir := t.TempDir()
	c := certified(t, "--kernel", "barker", "--data", small, "--iterations", "100", "--out", dir)
	if c.Start.Kind != "optimum" || c.Start.Share != starts.DefaultShare ||
		math.Abs(c.Start.Epsilon-starts.DefaultShare) > 1e-3 || len(c.Start.Value) != len(c.Columns) {
		t.Errorf("the start is %+v", c.Start)
	}
	if c.Epsilon > 1 || c.Epsilon < 0.99 {
		t.Errorf("ε = %v of 1 is charged", c.Epsilon)
	}
	document, err := json.Marshal(map[string]any{"adjacency": c.Adjacency, "events": c.Events})
	if err != nil {
		t.Fatal(err)
	}
	var all accountant.Event
	if err := json.Unmarshal(document, &all); err != nil {
		t.Fatal(err)
	}
	if g, err := all.Epsilon(c.Delta); err != nil || math.Abs(g.Epsilon/c.Epsilon-1) > 1e-9 {
		t.Errorf("the events cost ε = %v, the certificate says %v (%v)", g.Epsilon, c.Epsilon, err)
	}
	for _, e := range c.Start.Events {
		if !slices.ContainsFunc(c.Events, func(o json.RawMessage) bool {
			return bytes.Equal(squeezed(t, o), squeezed(t, e))
		}) {
			t.Errorf("%s is not among the run's events", e)
		}
	}
	draws, err := os.ReadFile(filepath.Join(dir, "draws_1.csv"))
	if err != nil || !strings.Contains(string(draws), "init = optimum") {
		t.Errorf("the header does not name the start (%v)", err)
	}
	written, err := os.ReadFile(filepath.Join(dir, runs.CertificateFile))
	if err != nil || !strings.Contains(string(written), `"value"`) {
		t.Errorf("the written certificate lacks the start's value (%v)", err)
	}
}

func squeezed(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// onSmall are flags, of the small table where they name none.
func onSmall(args string) []string {
	if !strings.Contains(args, "--data") {
		args += " --data " + small
	}
	return strings.Fields(args)
}

// TestOtherStarts: every word that --start takes, and values.
func TestOtherStarts(t *testing.T) {
	for args, want := range map[string]chains.CertifiedStart{
		"--start gradient --start-share 0.3":                       {Kind: "gradient", Epsilon: 0.3},
		"--start prior-mean":                                       {Kind: "prior-mean"},
		"--start prior-draw":                                       {Kind: "prior-draw"},
		"--start 0.5,1,-1":                                         {Kind: "given"},
		"--loss beta --beta 1.5":                                   {Kind: "optimum", Epsilon: 0.25},
		"--data builtin:mixture?n=500":                             {Kind: "prior-mean"},
		"--data builtin:linear?n=500&d=2 --loss beta --beta 1.5":   {Kind: "prior-mean"},
		"--model probit --loss beta --beta 1.5":                    {Kind: "gradient", Epsilon: 0.25},
		"--data builtin:linear?n=500&d=2 --kernel dpsgld --clip 2": {Kind: "gradient", Epsilon: 0.25},
	} {
		given := []string{"--iterations", "50", "--kernel", "barker"}
		c := certified(t, append(given, onSmall(args)...)...)
		if c.Start.Kind != want.Kind || math.Abs(c.Start.Epsilon-want.Epsilon) > 1e-3 || c.Epsilon > 1 ||
			len(c.Start.Value) != len(c.Columns) {
			t.Errorf("%s: ε = %v, start %+v, want %+v", args, c.Epsilon, c.Start, want)
		}
		if args == "--start 0.5,1,-1" && !slices.Equal(c.Start.Value, []float64{0.5, 1, -1}) {
			t.Errorf("%s: starts at %v", args, c.Start.Value)
		}
	}
}

func TestStartFlagsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--start middle": "--start is \"middle\"; it must be one of auto",
		"--start optimum --data builtin:linear?n=99": "--start optimum is for logistic regression",
		"--start prior-mean --start-share 0.5":       "are for starts that are charged",
		"--start optimum --start-share 1":            "--start-share is 1; it must be in (0, 1)",
		"--start-share 0":                            "--start-share is 0",
		"--start 1,2":                                "--start has 2 values",
	} {
		var out, errw bytes.Buffer
		code := run(context.Background(), append([]string{"sample"}, onSmall(args)...), nil, &out, &errw)
		if code == exitOK || !strings.Contains(errw.String(), want) {
			t.Errorf("%s: exit code %d: %s", args, code, errw.String())
		}
	}
}
