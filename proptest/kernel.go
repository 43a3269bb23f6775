package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Factory makes a kernel over sealed records that may make the given number of
// steps. A check calls it many times, with records of its own making, and
// expects kernels that differ in their curator alone.
type Factory func(records *curator.Curator, steps int64) (kernels.Kernel, error)

// KernelOptions says what a kernel is checked on.
type KernelOptions struct {
	// Records are the public test records of the chain. Required.
	Records curator.Records
	// Adjacency is that of the budgets made for the check. Required.
	Adjacency accountant.Adjacency
	// Start is a point inside the prior's support. Required.
	Start []float64
	// Outside, if not nil, is a point outside it, at which Init must refuse to start.
	Outside []float64
	// Steps is the length of the chains compared. Defaults to 60.
	Steps int64
	// Exact, if not nil, sets theta to an exact draw from the law that the kernel
	// is to leave invariant given Records, and adds the test of invariance.
	Exact func(rng *rand.Rand, theta []float64)
	// Stride is the number of steps between an exact draw and the state that is
	// compared with it. Defaults to 5.
	Stride int64
	// Reversible adds the test of detailed balance, which Exact is needed for: a
	// kernel in detailed balance goes from one set to another as often as back.
	Reversible bool
	// Transition, if not nil, sets next to an exact draw of one step from theta, as
	// a plain implementation without privacy makes it. Steps are then compared with
	// it, in scale and direction: a wrong scale of moves may well leave a law
	// invariant. Needs Exact.
	Transition func(rng *rand.Rand, theta, next []float64)
	// Cost, if not nil, is what one step is said to cost on records with the given
	// facts, as Cost of every sampler package. It must be what the curator charges.
	Cost func(f curator.Facts) (accountant.Event, error)
	// Effort is Quick, Standard or Thorough. Defaults to Standard.
	Effort Effort
	// Replicates is the number of chains in the test of invariance. Defaults to two
	// million times Effort, and with Standard effort and more to four million for up to
	// three parameters; to fewer of kernels of n > 2 releases a step, by a factor of 2/n, and
	// to three in five for a kernels.Keeper, some of whose chains are longer. What looks like a
	// violation is followed over up to eight times as many.
	Replicates int
	// FalseAlarm bounds the probability that the test of invariance rejects a
	// kernel that passes. Defaults to 1e-6.
	FalseAlarm float64
	// Seed starts every random stream of the check, the curators' included.
	// Defaults to 1.
	Seed uint64
	// Limit is how long one call of the factory, or of a kernel, may take. Defaults to a minute.
	Limit time.Duration

	byDefault bool // Replicates is the default, which is for kernels of up to two releases a step
}

func (o KernelOptions) withDefaults() KernelOptions {
	o.Steps = orDefault(o.Steps, 60)
	o.Stride = orDefault(o.Stride, 5)
	o.Effort = orDefault(o.Effort, Standard)
	chains := o.Effort.times(2_000_000, 1000)
	if o.Effort >= Standard && len(o.Start) <= 3 {
		chains *= 2
	}
	o.byDefault = o.byDefault || o.Replicates == 0
	o.Replicates = orDefault(o.Replicates, chains)
	o.FalseAlarm = orDefault(o.FalseAlarm, 1e-6)
	o.Seed = orDefault(o.Seed, 1)
	o.Limit = orDefault(o.Limit, time.Minute)
	return o
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// CheckKernel puts a kernel through what the library demands of all of them:
//
//   - conformance: a name of lower-case letters, digits and underscores; Dim; a
//     grant that goes down by one a step and ends in errors; the state
//     unchanged after each; a budget's refusal passed on as its error, or wrapped, with the budget
//     as it was; Init that copies, refuses bad starts and reads nothing; steps of a copy of a State,
//     which move the copy; steps that allocate nothing (not counted under the race detector, which allocates
//     itself); Info of reviewed fields only;
//   - it moves: every parameter, in every direction, by sizes that do not repeat, over fewer records too,
//     to the end, exactly when Accepted says so; starts far away do not break it;
//   - tape replay: releases recorded over one data set and replayed over another
//     give the same states, Info, memory of a Keeper and errors, bit for bit, and use the whole tape,
//     so everything a chain shows is post-processing of its releases. Thousands of
//     steps over some thirty data sets: neighbours, NaN, ±Inf, huge, repeated, and
//     tables of other sizes, which a kernel may refuse; shorter chains over records of every size, and over
//     records that are made of each other, such as twice another;
//   - Info.Gradients is the number of gradients that the curator has released in the step, in more
//     than one dimension;
//   - a chain that a new kernel goes on with, from the State and what a Keeper keeps, is the
//     uninterrupted one, given the same releases, whatever more is granted: nothing else is
//     remembered, and nothing before the first step; Recall takes no memory of which it loses a part;
//     a kernel's second chain is a new kernel's first, and one that has made steps goes on with
//     another chain as a new one does;
//   - all steps are charged before the first, at what Cost says, for tables of up to three million
//     records, and the price does not depend on records;
//   - a parallel run equals a serial one, as do chains that make their steps in turn,
//     and a thinned run is a slice of it; each chain pays for itself;
//   - with Exact: invariance, that all parts of the law are connected, with
//     Reversible detailed balance, and with Transition the steps' own law. Their
//     false-alarm rate is at most FalseAlarm; nothing else here is statistical.
func CheckKernel(t rapid.TB, factory Factory, o KernelOptions) {
	t.Helper()
	watchedKernels(t, factory, o, kernelCheck.everything)
}

// watchedKernels is a check of kernels whose calls are limited.
func watchedKernels(t rapid.TB, factory Factory, o KernelOptions, check func(kernelCheck)) {
	t.Helper()
	o = o.withDefaults()
	about := fmt.Sprintf("a kernel of %d parameters on %s, Seed %d", len(o.Start), sizeOfTable(o.Records), o.Seed)
	watched(t, o.Limit, about, func(t rapid.TB, w *watch) {
		t.Helper()
		check(kernelCheck{t, w.factory(factory), o})
	})
}

func (c kernelCheck) everything() {
	c.t.Helper()
	c.all(kernelCheck.conformance, kernelCheck.starts, kernelCheck.movesCopies, kernelCheck.exhaustion, kernelCheck.costs,
		kernelCheck.badState, kernelCheck.infoFields)
	for i, effort := range c.o.Effort.passes() {
		c.o.Effort = effort
		c.all(kernelCheck.stirs, kernelCheck.allocations, kernelCheck.gradients, kernelCheck.replay, kernelCheck.resumes,
			kernelCheck.runs)
		if i == 0 { // the looks at invariance begin with few chains and grow to all
			c.all(kernelCheck.invariance)
		}
		c.all(kernelCheck.moves, kernelCheck.accepts, kernelCheck.farStarts)
	}
}

// all makes checks in turn, up to the first that fails.
func (c kernelCheck) all(checks ...func(kernelCheck)) {
	c.t.Helper()
	for _, check := range checks {
		if check(c); c.t.Failed() {
			c.t.FailNow()
		}
	}
}

type kernelCheck struct {
	t       rapid.TB
	factory Factory
	o       KernelOptions
}

// fail reports a violation and ends the check.
func (c kernelCheck) fail(format string, args ...any) {
	c.t.Helper()
	c.failWith("", format, args...)
}

// failWith adds a Go test that reproduces the violation.
func (c kernelCheck) failWith(test, format string, args ...any) {
	c.t.Helper()
	failf(c.t, "%s (Seed %d)%s", fmt.Sprintf(format, args...), c.o.Seed, test)
	c.t.FailNow()
}

// seal seals records with a budget that no check exhausts.
func (c kernelCheck) seal(r curator.Records, seed uint64, opts ...curator.Option) *curator.Curator {
	c.t.Helper()
	sealed, err := sealWith(r, c.o.Adjacency, append(opts, curator.InsecureSeed(seed))...)
	if err != nil {
		c.fail("the records cannot be sealed: %v", err)
	}
	return sealed
}

func sealWith(r curator.Records, adj accountant.Adjacency, opts ...curator.Option) (*curator.Curator, error) {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: math.MaxFloat64, Delta: 1e-6, Adjacency: adj})
	if err != nil {
		return nil, err
	}
	return curator.Seal(r, budget, opts...)
}

// kernel makes a kernel over a curator.
func (c kernelCheck) kernel(records *curator.Curator, steps int64) kernels.Kernel {
	c.t.Helper()
	k, err := c.factory(records, steps)
	if err != nil {
		c.fail("the factory refuses %d steps: %v", steps, err)
	}
	return k
}

// chain makes a kernel over the check's records and starts it.
func (c kernelCheck) chain(steps int64) (kernels.Kernel, *kernels.State) {
	c.t.Helper()
	k := c.kernel(c.seal(c.o.Records, c.o.Seed), steps)
	return k, c.start(k)
}

func (c kernelCheck) start(k kernels.Kernel) *kernels.State {
	c.t.Helper()
	s, err := k.Init(c.o.Start)
	if err != nil {
		c.fail("Init refuses the start %v: %v", c.o.Start, err)
	}
	return s
}

func (c kernelCheck) rng() *rand.Rand { return kernels.Stream(c.o.Seed, 0) }

var kernelName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (c kernelCheck) conformance() {
	c.t.Helper()
	k, s := c.chain(c.o.Steps)
	if !kernelName.MatchString(k.Name()) {
		c.fail("the name is %q; files and certificates want lower-case letters, digits and underscores", k.Name())
	}
	if k.Dim() != len(c.o.Start) {
		c.fail("Dim is %d, the start has %d values", k.Dim(), len(c.o.Start))
	}
	rng := c.rng()
	for n := range c.o.Steps {
		if left := k.Left(); left != c.o.Steps-n {
			c.fail("Left is %d after %d of %d steps", left, n, c.o.Steps)
		}
		theta := &s.Theta[0]
		if _, err := k.Step(rng, s); err != nil {
			c.fail("step %d of %d: %v", n+1, c.o.Steps, err)
		}
		if theta != &s.Theta[0] {
			c.fail("step %d puts another slice into State: it must change Theta in place, by copy, or the next proposal "+
				"overwrites the state", n+1)
		}
		if s.Iteration != n+1 {
			c.fail("Iteration is %d after %d steps; it counts rejected ones too", s.Iteration, n+1)
		}
		for j, v := range s.Theta {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.fail("parameter %d is %v after %d steps", j, v, n+1)
			}
		}
	}
}

func (c kernelCheck) starts() {
	c.t.Helper()
	k := c.kernel(c.seal(c.o.Records, c.o.Seed), 1)
	theta := slices.Clone(c.o.Start)
	s, err := k.Init(theta)
	if err != nil {
		c.fail("Init refuses the start %v: %v", theta, err)
	}
	if !slices.Equal(s.Theta, theta) || s.Iteration != 0 {
		c.fail("Init at %v gives %v and iteration %d", theta, s.Theta, s.Iteration)
	}
	if theta[0]++; s.Theta[0] == theta[0] {
		c.fail("Init keeps the caller's slice; it must copy")
	}
	at := slices.Clone(s.Theta)
	if c.startsAnywhere(k); !slices.Equal(s.Theta, at) || s.Iteration != 0 {
		c.fail("a State that Init gave at %v is %v after more calls of Init: each must give its own", at, s.Theta)
	}
	bad := map[string][]float64{"nothing": nil, "one value too many": append(slices.Clone(c.o.Start), 0)}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		at := slices.Clone(c.o.Start)
		at[len(at)-1] = v
		bad[fmt.Sprint(v)] = at
	}
	if c.o.Outside != nil {
		bad[fmt.Sprintf("%v, outside the prior's support", c.o.Outside)] = c.o.Outside
	}
	for what, at := range bad {
		if _, err := k.Init(at); err == nil {
			c.fail("Init accepts a start of %s", what)
		}
	}
	if k.Left() != 1 {
		c.fail("Init uses up releases: %d left of 1", k.Left())
	}
}

// startsAnywhere expects Init to start where it is told, and to leave the caller's slice as it was: at
// exact draws, or else near the start.
func (c kernelCheck) startsAnywhere(k kernels.Kernel) {
	c.t.Helper()
	rng, theta := rand64(c.o.Seed, 45), make([]float64, len(c.o.Start))
	for range 20 {
		if c.o.Exact != nil {
			c.o.Exact(rng, theta)
		} else {
			for j, v := range c.o.Start {
				theta[j] = v + 1e-3*rng.NormFloat64()
			}
		}
		at := slices.Clone(theta)
		s, err := k.Init(theta)
		if err != nil {
			continue // outside the prior's support, or said elsewhere
		}
		if !slices.EqualFunc(theta, at, identical) || !slices.EqualFunc(s.Theta, at, identical) {
			c.fail("Init at %v gives %v, and leaves %v in the caller's slice", at, s.Theta, theta)
		}
	}
}

// movesCopies expects Step to move the State that it is given, such as a copy, and not the one that Init gave.
func (c kernelCheck) movesCopies() {
	c.t.Helper()
	const steps = 50
	k, first := c.chain(steps)
	at, rng := &kernels.State{Theta: slices.Clone(first.Theta)}, c.rng()
	for n := range steps {
		if _, err := k.Step(rng, at); err != nil {
			return // said elsewhere
		}
		if !slices.Equal(first.Theta, c.o.Start) {
			c.fail("step %d of a copy of a chain's State leads to %v, and the one that Init gave to %v: Step "+
				"moves the State that it is given", n+1, at.Theta, first.Theta)
		}
	}
}

// unchanged runs a step that must fail and compares the state.
func (c kernelCheck) unchanged(k kernels.Kernel, s *kernels.State, why string) {
	c.t.Helper()
	theta, iteration, left := slices.Clone(s.Theta), s.Iteration, k.Left()
	if _, err := k.Step(c.rng(), s); err == nil {
		c.fail("a step gives no error after %s", why)
	}
	if !slices.EqualFunc(s.Theta, theta, same) || s.Iteration != iteration || k.Left() != left {
		c.fail("a failed step, after %s, changes the state from %v, iteration %d, %d left, to %v, %d, %d left",
			why, theta, iteration, left, s.Theta, s.Iteration, k.Left())
	}
}

// badState steps from a state that no chain is in: an error, or a move refused.
func (c kernelCheck) badState() {
	c.t.Helper()
	k, s := c.chain(2)
	s.Theta[0] = math.NaN()
	theta := slices.Clone(s.Theta)
	_, err := k.Step(c.rng(), s)
	if !slices.EqualFunc(s.Theta, theta, same) || err != nil && s.Iteration != 0 {
		c.fail("a step from a state of NaN, with error %v, leads to %v and iteration %d", err, s.Theta, s.Iteration)
	}
}

// allocations counts over many steps, so that a rare one shows, of one long chain and of new
// ones, where what grows with every step grows most often.
func (c kernelCheck) allocations() {
	c.t.Helper()
	if raceDetector {
		return
	}
	const early = 100
	runs := c.o.Effort.times(10_000, 2000)
	k, s := c.chain(int64(9 * runs))
	for _, least := range []float64{
		c.fewestAllocations(runs, runs, func() (kernels.Kernel, *kernels.State) { return k, s }),
		c.fewestAllocations(early, runs, func() (kernels.Kernel, *kernels.State) { return c.chain(int64(early + runs + 1)) }),
	} {
		if least > float64(runs)/5000 {
			c.fail("%d steps make %v allocations; they must make none", runs, least)
		}
	}
}

// fewestAllocations is the least of four counts over some steps, each after others, since other
// goroutines allocate too.
func (c kernelCheck) fewestAllocations(before, runs int, chain func() (kernels.Kernel, *kernels.State)) float64 {
	rng, least := c.rng(), math.Inf(1)
	var failed error
	for range 4 {
		k, s := chain()
		steps := before
		least = min(least, testing.AllocsPerRun(1, func() {
			for range steps {
				if _, err := k.Step(rng, s); err != nil {
					failed = err
				}
			}
			steps = runs
		}))
	}
	if failed != nil {
		c.fail("a step while counting allocations: %v", failed)
	}
	return least
}

// gradients expects Info.Gradients to be the number of gradients that a step has released.
func (c kernelCheck) gradients() {
	c.t.Helper()
	d, steps := len(c.o.Start), int64(c.o.Effort.times(4000, 300))
	if d < 2 {
		return // a ratio is a vector of one number, too
	}
	recording := tape.New()
	k := c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(recording).(curator.Option)), steps)
	s, rng, before := c.start(k), c.rng(), recording.Vectors(d)
	for n := range steps {
		info, err := k.Step(rng, s)
		if err != nil {
			c.fail("step %d of %d: %v", n+1, steps, err)
		}
		now := recording.Vectors(d)
		if info.Gradients != now-before {
			c.fail("step %d has released %d gradients, and says Gradients = %d", n+1, now-before, info.Gradients)
		}
		before = now
	}
}

// perStep is the number of releases of a step, on average over a few.
func (c kernelCheck) perStep() float64 {
	c.t.Helper()
	const steps = 50
	recording := tape.New()
	k := c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(recording).(curator.Option)), steps)
	s, rng, before := c.start(k), c.rng(), recording.Releases()
	for n := range steps {
		if _, err := k.Step(rng, s); err != nil {
			c.fail("step %d of %d: %v", n+1, steps, err)
		}
	}
	return float64(recording.Releases()-before) / steps
}

// released are the fields of kernels.Info that were reviewed to hold released
// values or public facts only.
var released = []string{"Accepted", "StepSize", "Gradients"}

func (c kernelCheck) infoFields() {
	c.t.Helper()
	info := reflect.TypeFor[kernels.Info]()
	for i := range info.NumField() {
		if name := info.Field(i).Name; !slices.Contains(released, name) {
			c.fail("kernels.Info has the field %s, which nobody has reviewed: is it computed from released values and public "+
				"facts only? If so add it to proptest's list", name)
		}
	}
}
