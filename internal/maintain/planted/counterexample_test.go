package planted

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func crookedTarget() *planted {
	return &planted{model: logistic, grad: func(a at, g []float64) {
		if a.x[1] > 3 {
			g[0] *= 1.1
		}
	}}
}

func lowTarget() *planted {
	return &planted{model: huber, bound: func(_, _ []float64, _, b float64) float64 { return 0.9 * b }}
}

// steepTarget has a bound that is larger one way.
func steepTarget() *planted {
	return &planted{model: huber, bound: func(theta, next []float64, _, b float64) float64 {
		if next[1] > theta[1] {
			return 1.1 * b
		}
		return b
	}}
}

// skippingTarget leaves some records out of its sums.
func skippingTarget() skips { return skips{&planted{model: logistic}, true} }

func forgetfulFactory(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	return newTrajectory(c, steps, flaws{persistence: 0.7, forgets: true})
}

func leakingFactory(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	return newChain(c, steps, true, true, hooks{
		after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) { info.StepSize += 1e-9 * k.spy.last }})
}

// graspingFactory keeps what it is given to recall.
func graspingFactory(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	k, err := newGuided(c, steps, true)
	return &handing{guided: *k, recalls: true}, err
}

func driftingFactory(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	return newChain(c, steps, true, false, hooks{
		propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += step / 4 }})
}

func honestSum() *sum {
	return &sum{claim: gaussian(1), dim: 1, clip: clipped, noise: normal,
		last: func(total, noise float64) float64 { return total + noise }}
}

func turningFactory(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	return newChain(c, steps, true, false, hooks{
		after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			x, y := s.Theta[0]-center[0], s.Theta[1]-center[1]
			s.Theta[0], s.Theta[1] = center[0]+0.96*x-0.28*y, center[1]+0.28*x+0.96*y
			info.Accepted = true
		}})
}

func quietSum() proptest.Mechanism {
	m := honestSum()
	m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 0.8 * noiseSD * rng.NormFloat64() }
	return additive{m}
}

func cheapSum() proptest.Mechanism {
	m := honestSum()
	m.claim = gaussian(3)
	return m
}

func wideSum() additive {
	m := honestSum()
	m.clip = func(_ int, x float64) float64 { return max(-5, min(x, 5)) }
	return additive{m}
}

// TestCounterexamplesFail: the Go tests that failures print compile as they are, and
// fail on what they were printed for.
func TestCounterexamplesFail(t *testing.T) {
	records, _ := posteriors.Conjugate()
	kernel := func(factory proptest.Factory, exact func(*rand.Rand, []float64)) func(t rapid.TB) {
		return func(t rapid.TB) {
			proptest.CheckKernel(t, factory, proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute,
				Start: []float64{1, 0}, Effort: proptest.Quick, Exact: exact})
		}
	}
	mechanism := func(m proptest.Mechanism) func(t rapid.TB) {
		return func(t rapid.TB) {
			proptest.CheckMechanism(t, m, proptest.MechanismOptions{Delta: 1e-6, Effort: proptest.Quick,
				A: curator.Records{X: []float64{0.9, 0.37}, Features: 1},
				B: curator.Records{X: []float64{-0.9, 0.37}, Features: 1}})
		}
	}
	target := func(p *planted) func(t rapid.TB) {
		return func(t rapid.TB) { proptest.CheckTarget(t, p, p.options(1, proptest.Quick)) }
	}
	reversible := func(t rapid.TB) {
		proptest.CheckKernel(t, turningFactory, proptest.KernelOptions{Records: records, Adjacency: accountant.Substitute,
			Start: []float64{1, 0}, Effort: proptest.Quick, Exact: exactly(sd), Reversible: true, Transition: plainWalk,
			FalseAlarm: 1e-9, Stride: 3})
	}
	all := []struct {
		as    *strings.Replacer
		check func(t rapid.TB)
	}{
		{strings.NewReplacer("yourTarget", "crookedTarget()"), target(crookedTarget())},
		{strings.NewReplacer("yourTarget", "lowTarget()"), target(lowTarget())},
		{strings.NewReplacer("yourFactory", "leakingFactory"), kernel(leakingFactory, nil)},
		{strings.NewReplacer("yourFactory", "driftingFactory", "yourExact", "exactly(sd)"), kernel(driftingFactory,
			exactly(sd))},
		{strings.NewReplacer("yourFactory", "turningFactory", "yourExact", "exactly(sd)", "yourTransition", "plainWalk"),
			reversible},
		{strings.NewReplacer("yourTarget", "steepTarget()"), target(steepTarget())},
		{strings.NewReplacer("yourTarget", "skippingTarget()"), func(t rapid.TB) {
			proptest.CheckTarget(t, skippingTarget(), logistic.options(1, proptest.Quick))
		}},
		{strings.NewReplacer("yourFactory", "forgetfulFactory"), kernel(forgetfulFactory, nil)},
		{strings.NewReplacer("yourFactory", "graspingFactory"), kernel(graspingFactory, nil)},
		{strings.NewReplacer("yourMechanism", "quietSum()"), mechanism(quietSum())},
		{strings.NewReplacer("yourMechanism", "cheapSum()"), mechanism(cheapSum())},
		{strings.NewReplacer("yourMechanism", "wideSum()"), mechanism(wideSum())},
	}
	files := map[string]string{}
	for i, c := range all {
		report, failed := proptest.Try("TestYours", c.check)
		_, test, printed := strings.Cut(report, "as a test:\n")
		test, _, _ = strings.Cut(test, "\n\t}\n")
		if !failed || !printed {
			t.Fatalf("failed %v, printed a test %v:\n%s", failed, printed, report)
		}
		test = strings.Replace(test+"\n\t}\n", "TestCounterexample", fmt.Sprint("TestCounterexample", i), 1)
		files[fmt.Sprintf("printed%d_test.go", i)] = "package planted\n\n" + c.as.Replace(test)
	}
	files["lines_test.go"] = linesTest
	said, err := runBeside(t, files)
	namesTheCaller(t, said)
	for i := range all {
		if !strings.Contains(said, fmt.Sprintf("--- FAIL: TestCounterexample%d ", i)) {
			t.Errorf("test %d does not fail (%v):\n%v\n%s", i, err, files, said)
		}
	}
}

// linesTest fails in every way: at scenes, in properties, in callbacks of chains and of tables.
const linesTest = `package planted

import (
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
)

func TestCounterexample99(t *testing.T) {
	wanted := []string{"moves of one coordinate", "panics on an infinite second feature", "LogPrior counts calls",
		"cache keyed on the first record", "SlopeAt beyond 12", "GradBound", "never crosses a slanted line",
		"says Accepted never", "moves on a lattice", "Cost of half the clip", "clip 5% too wide, additive",
		"an error names a record, additive"}
	for _, c := range Defects() {
		if slices.Contains(wanted, c.Name) {
			t.Run(c.Name, func(t *testing.T) { c.Check(t, 1, proptest.Quick) })
		}
	}
}
`

// namesTheCaller: a failure is that of the line that calls the check, here one of a planted defect.
func namesTheCaller(t *testing.T, said string) {
	t.Helper()
	_, said, _ = strings.Cut(said, "--- FAIL: TestCounterexample99 ")
	said, _, _ = strings.Cut(said, "\n--- FAIL")
	found := regexp.MustCompile(`(?m)^ +(\w+\.go):(\d+): proptest: .*`).FindAllStringSubmatch(said, -1)
	if len(found) < 12 {
		t.Errorf("%d failures name a line:\n%s", len(found), said)
	}
	for _, f := range found {
		text, err := os.ReadFile(f[1])
		n, _ := strconv.Atoi(f[2])
		if lines := strings.Split(string(text), "\n"); err != nil || n > len(lines) ||
			!strings.Contains(lines[n-1], "proptest.Check") {
			t.Errorf("no check is called where a failure points to: %s", f[0])
		}
	}
}

// runBeside runs tests as if their files lay in this package.
func runBeside(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	replaced := map[string]string{}
	for name, code := range files {
		replaced[filepath.Join(here, name)] = write(name, []byte(code))
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-count=1", "-overlay", write("overlay.json", text), "-run",
		"^TestCounterexample[0-9]", ".").CombinedOutput()
	return string(out), err
}

// TestReleasesAreShrunk: a failure of releases is shown with few of them, on records
// that are no more than it needs.
func TestReleasesAreShrunk(t *testing.T) {
	report, _ := proptest.Try("TestYours", func(t rapid.TB) {
		proptest.CheckMechanism(t, quietSum(), proptest.MechanismOptions{Delta: 1e-6, Effort: proptest.Quick,
			A: curator.Records{X: []float64{0.9, 0.37}, Features: 1},
			B: curator.Records{X: []float64{-0.9, 0.37}, Features: 1}})
	})
	found := regexp.MustCompile(`Releases: (\d+)`).FindStringSubmatch(report)
	if found == nil {
		t.Fatal(report)
	}
	// 20% too little noise needs some 200 releases to show at 10⁻⁶, and halving may miss
	// them by two.
	if n, err := strconv.Atoi(found[1]); err != nil || n > 1500 {
		t.Errorf("%d releases, of 40000:\n%s", n, report)
	}
	if strings.Count(report, "X: []float64{0}") != 2 {
		t.Errorf("records that do not matter are not 0:\n%s", report)
	}
}
