package planted

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
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

// TestControlsPass: what is right passes, in the same dress as the defects. Without it their
// rejection would show nothing. It is every twelfth one: docs/proptest.md has runs of all.
func TestControlsPass(t *testing.T) {
	for i, c := range Controls() {
		if i%12 != 0 {
			continue
		}
		t.Run(c.Suite+" "+c.Name, func(t *testing.T) {
			if rejected, report := c.Rejected(1, proptest.Quick); rejected {
				t.Errorf("rejected:\n%s", report)
			}
		})
	}
}

// TestReasons: sums, memories, starts and more are rejected for what is wrong with them, and a prior that ends is not,
// by Quick or Standard.
func TestReasons(t *testing.T) {
	all := slices.Concat(Defects(), Controls())
	for name, words := range map[string]string{
		"a compensated sum of losses makes NaN of infinity":           "SumLossGrad's loss is NaN",
		"losses are summed as the log of a product of 64 chances":     "SumLossGrad's loss is +Inf",
		"a factorial overflows":                                       "Loss is +Inf, and LossGrad is finite there",
		"factorials":                                                  "",
		"Recall refuses nothing":                                      "Recall refuses nothing",
		"Recall takes a memory of any length":                         "they are another kernel's",
		"numbers are kept before the first step":                      "before a chain's first step",
		"a share and a chance that both underflow, in the gradient":   "differences of Loss give",
		"log prior of a correlation is lost where its tanh is 1":      "it has lost its digits before it ends",
		"a prior's generator is seeded with a number below a million": "SamplePrior draws from few values",
		"GradBound of radius 0 is 0":                                  "radius 0",
		"SamplePrior appends to theta":                                "SamplePrior writes to memory beyond",
		"Step moves the State that Init gave":                         "moves the State that it is given",
		"Init takes a start beyond the prior's support":               "outside the prior's support",
		"says Accepted of a proposal that is the state":               "steps of one release say Accepted",
		"the 5000th record counts twice, additive":                    "replacing record 4999",
		"a row like the one before has its gradient":                  "dst[i] must depend on record i alone",
		"SumLossGrad leaves out a row like the one before":            "whose own add up to",
		"a first grant is charged where a second is refused":          "buy all that a chain needs in one Grant",
		"StepSize where a record is twice another":                    "of which some are made of others",
		"a step is for one record fewer than there are":               "the chain never moves on 1 records",
		"GradBound of huge radii is that of a million":                "radius 1e+07",
		"SumLossGrad of many records in single precision":             "SumLossGrad's loss is",
		"SumLossGrad leaves out records without features":             "SumLossGrad's loss is",
		"SumLossGrad leaves out responses of 0":                       "SumLossGrad's loss is",
		"prior draws beyond 999 of 1000 are drawn again":              "far out in all parameters together",
		"a budget's refusal is told in other words":                   "none of the accountant's ExceededErrors",
		"a correlation, uniform":                                      "",
		"a uniform prior":                                             "",
		"a scale that must be positive, as it is":                     "",

		"a used kernel that recalls a chain has the scale before": "Init and Recall keep",
		"the last step that is paid for is accepted":              "10 steps more in its grant",
		"moves are shorter as the grant runs out":                 "10 steps more in its grant",
		"log-odds beyond three decide":                            "with other records",
		"RatioBound of moves to the mirrored state":               "the certificate is violated",
		"gradient of features of length 1":                        "differences of Loss give",

		"Cost is low where a thousand times the records overflow":       "Records:3000000",
		"odd seeds have the noise of even ones, turned round, additive": "seeds follow each other",
	} {
		i := slices.IndexFunc(all, func(c Case) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("nothing is called %q", name)
		}
		rejected, report := all[i].Rejected(1, proptest.Quick)
		if !rejected && words != "" {
			rejected, report = all[i].Rejected(1, proptest.Standard)
		}
		if rejected != (words != "") || !strings.Contains(report, words) {
			t.Errorf("%s: rejected %v, where %q was expected:\n%s", name, rejected, words, report)
		}
	}
}

// run is one that docs/proptest.tsv holds.
type run struct {
	effort  proptest.Effort
	seed    uint64
	seconds float64
}

// quickest are, of each defect that a run rejected, the one of those that took least.
func quickest(t *testing.T) map[string]run {
	t.Helper()
	table, err := os.ReadFile("../../../docs/proptest.tsv")
	if err != nil {
		t.Fatal(err)
	}
	runs, efforts := map[string]run{}, map[string]proptest.Effort{"quick": proptest.Quick, "standard": proptest.Standard}
	for line := range strings.Lines(string(table)) {
		f := strings.Split(line, "\t")
		effort, known := efforts[f[4]]
		if !known || f[6] != "rejected" {
			continue
		}
		seed, err1 := strconv.ParseUint(f[5], 10, 64)
		took, err2 := strconv.ParseFloat(f[7], 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		name := strings.Join(f[:4], " ")
		if best, has := runs[name]; !has || took < best.seconds {
			runs[name] = run{effort, seed, took}
		}
	}
	return runs
}

// TestDefectsAreRejected: every thirtieth defect is found again as in the quickest run that
// docs/proptest.tsv holds, if that took a few seconds, or else by Quick or Standard. With -short it is
// every sixtieth. docs/proptest.md has the rates of all, at every effort.
func TestDefectsAreRejected(t *testing.T) {
	const seconds = 2
	seen, best, tried, every := map[string]bool{}, quickest(t), 0, 30
	if testing.Short() {
		every = 60
	}
	for i, c := range Defects() {
		name := fmt.Sprint(c.Suite, " ", c.Family, " ", c.Name, " ", c.Effect)
		if seen[name] {
			t.Errorf("two defects are called %s", name)
		}
		seen[name] = true
		as, found := best[name]
		if !found || as.seconds > seconds || i%every != 0 || c.Survivor != "" {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			report := ""
			for _, r := range []run{as, {proptest.Quick, 1, 0}, {proptest.Standard, 1, 0}} {
				rejected := false
				if rejected, report = c.Rejected(r.seed, r.effort); rejected {
					return
				}
			}
			t.Errorf("passes:\n%s", report)
		})
	}
	if len(seen) < 150 || tried < len(seen)/every*2/3 {
		t.Errorf("%d defects are planted, and %d were tried; at least 150 and two thirds of every %d are wanted", len(seen),
			tried, every)
	}
}

// TestFamiliesHaveDefects: each family of a suite is there once and has some, and each reason for a defect
// to pass is of one that there is.
func TestFamiliesHaveDefects(t *testing.T) {
	unused := maps.Clone(survivors)
	for _, s := range suites {
		seen := map[string]bool{}
		for _, f := range slices.Concat(s.kinds, s.sets) {
			all := f.defects()
			if len(all) == 0 || seen[f.name] {
				t.Errorf("the family %s of %s has %d defects, or is there twice", f.name, s.name, len(all))
			}
			seen[f.name] = true
			for _, c := range all {
				delete(unused, c.Name)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("no defect is of these names: %q", unused)
	}
}

// TestExactChecks: what is found without statistics, or with few, at Quick.
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
		"StepSize by a record of a table beyond a hundred", "a second chain uses the first's grant",
		"a gradient's exponentials overflow", "an infinite feature of a parameter that is 0", "sums kept by the parameters",
		"the second parameter stands still late", "SlopeAt at a predictor of 0",
		"minus zero is a label of its own in the gradient", "a move onto the record has no ratio",
		"Init rounds the caller's start in place", "pays again at step 300",
		"gradients are not written where they were",
		"predictors are updated by what moved", "a kept scale comes back through its logarithm",
		"the first generator is kept", "append to the parameters writes beyond them",
		"Left is by the state's iteration", "the kept steps 6 to 40 go up", "ratio of moves to the origin",
		"ratio of moves that exchange the parameters", "the largest of all scores but the last is taken off",
		"a normaliser kept by the exclusive or of the parameters' bits",
		"StepSize where the second numbers' spread is that of a standard normal"}
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

// TestOtherTablesAreLookedAt: what a mechanism decides by how records lie, what it does at one place, and noise that
// a value makes smaller are found where A and B show none of them. Seeds are fixed, and so is what is found.
func TestOtherTablesAreLookedAt(t *testing.T) {
	wanted := []string{"a stability test without noise", "blocks overlap at their ends", "a group has less noise",
		"every seventh record counts more, not additive"}
	found := 0
	for _, c := range Defects() {
		if !slices.Contains(wanted, c.Name) {
			continue
		}
		found++
		if rejected, report := c.Rejected(1, proptest.Quick); !rejected || !strings.Contains(report, "with other records") {
			t.Errorf("%s: rejected %v\n%s", c.Name, rejected, report)
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
