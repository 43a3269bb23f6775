package planted

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestMain keeps rapid from writing files about failures that are provoked.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "100ms"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestControlsPass: what is right passes, in the same dress as the defects.
// Without it their rejection would show nothing.
func TestControlsPass(t *testing.T) {
	for _, c := range Controls() {
		t.Run(c.Suite+" "+c.Name, func(t *testing.T) {
			if rejected, report := c.Rejected(1, proptest.Quick); rejected {
				t.Errorf("rejected:\n%s", report)
			}
		})
	}
}

// missed are the defects that Quick missed in a run that docs/proptest.tsv holds.
func missed(t *testing.T) map[string]bool {
	t.Helper()
	table, err := os.ReadFile("../../../docs/proptest.tsv")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if f := strings.Split(line, "\t"); f[4] == "quick" && f[6] == "passed" {
			names[strings.Join(f[:4], " ")] = true
		}
	}
	return names
}

// TestDefectsAreRejected: Quick finds what it is not known to miss, or else Standard, of
// every fourth defect, with -short of every eighth. docs/proptest.md has the rates of all, at every effort.
func TestDefectsAreRejected(t *testing.T) {
	seen, subtle := map[string]bool{}, missed(t)
	every := 4
	if testing.Short() {
		every = 8
	}
	for i, c := range Defects() {
		name := fmt.Sprint(c.Suite, " ", c.Family, " ", c.Name, " ", c.Effect)
		if seen[name] {
			t.Errorf("two defects are called %s", name)
		}
		seen[name] = true
		if subtle[name] || i%every != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if c.Survivor != "" {
				return
			}
			if rejected, _ := c.Rejected(1, proptest.Quick); rejected {
				return
			}
			if rejected, report := c.Rejected(1, proptest.Standard); !rejected {
				t.Errorf("passes:\n%s", report)
			}
		})
	}
	if len(seen) < 150 {
		t.Errorf("%d defects are planted, fewer than 150", len(seen))
	}
}

// TestExactChecks: what is found without statistics, at Quick.
func TestExactChecks(t *testing.T) {
	wanted := []string{"counts one gradient for four", "−999 is no response in the gradient",
		"sums in pairs forget an odd record", "the last of odd records counts twice, additive",
		"a draw is left out for more than ten records, additive", "softplus is 0 below −12, in the ratio",
		"numbers drawn at once are left for the next step", "Left is one too few after a thousand steps",
		"Cost takes persons for rows", "Cost is that of substitution", "what follows a NaN does not count, additive",
		"the mean of none is not a number", "never crosses a slanted line", "moves on a lattice",
		"log prior of the state in a package variable", "Cost is of half the records, rounded up",
		"Iteration counts twice at step 2500 for large records", "proposals in a slice of the factory's",
		"Keep hands out the kernel's own slice", "Recall takes the caller's slice", "StepSize for a missing value",
		"StepSize by a record of a table of more than a hundred", "a second chain uses the first's grant",
		"a gradient's exponentials overflow", "an infinite feature of a parameter that is 0", "sums kept by the parameters",
		"the second parameter stands still late"}
	found := 0
	for _, c := range Defects() {
		if !slices.Contains(wanted, c.Name) {
			continue
		}
		found++
		if rejected, report := c.Rejected(1, proptest.Quick); !rejected {
			t.Errorf("%s passes:\n%s", c.Name, report)
		}
	}
	if found != len(wanted) {
		t.Errorf("%d of %d defects are there", found, len(wanted))
	}
}

// TestSuspicionsAreFollowed: a shift that so many chains make suspicious, and no more, is
// found with more of them.
func TestSuspicionsAreFollowed(t *testing.T) {
	const chains = 20_000
	records, _ := posteriors.Conjugate()
	report, failed := proptest.Try("Test", func(t rapid.TB) {
		proptest.CheckInvariance(t, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
			return newChain(c, steps, true, false, hooks{
				propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += step / 30 }})
		}, proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute, Start: []float64{1, 0},
			Exact: exactly(sd), Replicates: chains})
	})
	if !failed || !strings.Contains(report, fmt.Sprintf("over %d chains from exact draws", 8*chains)) {
		t.Errorf("failed %v:\n%s", failed, report)
	}
}
