package proptest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// resumes cuts a chain at many places and has a new kernel go on, with the State, the
// public stream and what a Keeper keeps. Given the same releases the chain must be the
// uninterrupted one, bit for bit. So a kernel remembers nothing else: no gradient or momentum
// of the step before, no adapted scale, no generator or count of its own.
func (c kernelCheck) resumes() {
	c.t.Helper()
	c.keeps()
	steps := int64(c.o.Effort.times(4000, 300))
	cuts := []int64{1, 2, steps - 1}
	for rng := rand64(c.o.Seed, 41); len(cuts) < 20; {
		cuts = append(cuts, 1+rng.Int64N(steps-1))
	}
	c.resumesAfter(steps, steps, cuts...)
	// What a step takes from the one before shows in the step after the cut alone.
	steps = int64(c.o.Effort.times(200, 60))
	cuts = nil
	for cut := int64(1); cut < steps; cut++ {
		cuts = append(cuts, cut)
	}
	c.resumesAfter(steps, 10, cuts...)
	for steps := int64(2); steps <= 30; steps++ { // the last step that is paid for is like others
		c.resumesAfter(steps, 1, steps-1)
	}
	c.beginsAgain(20)
	c.goesOnUsed(20)
}

// keeps expects a Keeper to keep nothing before a chain's first step, and to be told so; to keep finite values
// after it; and to take no memory for its own of which it loses a part.
func (c kernelCheck) keeps() {
	c.t.Helper()
	k, s := c.chain(1)
	keeper, ok := k.(kernels.Keeper)
	if !ok {
		return
	}
	if kept := keeper.Keep(nil); len(kept) > 0 {
		c.fail("Keep returns %v before a chain's first step: nothing has happened that a resumed chain needs", kept)
	}
	if err := keeper.Recall(nil); err != nil {
		c.fail("Recall refuses nothing, which stands for a chain that has made no step: %v", err)
	}
	if _, err := k.Step(c.rng(), s); err != nil {
		c.fail("a step after Recall was given nothing: %v", err)
	}
	kept := keeper.Keep(nil)
	if slices.ContainsFunc(kept, func(v float64) bool { return !finite(v) }) {
		c.fail("Keep returns %v: files hold finite values", kept)
	}
	if len(kept) == 0 {
		return
	}
	for _, memory := range [][]float64{kept[:len(kept)-1], append(slices.Clone(kept), kept[0])} {
		other, _ := c.chain(1)
		err := kernels.Recall(other, memory)
		if holds := len(kernels.Keep(other)); err == nil && holds != len(memory) {
			c.fail("Recall takes %d numbers without an error, and holds %d: they are another kernel's", len(memory), holds)
		}
	}
}

// beginsAgain has a kernel begin a second chain after so many steps, which must be the first chain of a
// new kernel that is given the same releases.
func (c kernelCheck) beginsAgain(steps int64) {
	c.t.Helper()
	defer func() {
		c.t.Helper()
		if p := recover(); p != nil {
			c.fail("a kernel that begins a second chain after %d steps: panic: %v", steps, p)
		}
	}()
	recording := tape.New()
	used := c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(recording).(curator.Option)), 2*steps)
	c.follow(used, steps)
	second := c.follow(used, steps)
	playing := recording.Rewind()
	c.follow(c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(playing).(curator.Option)), 2*steps), steps)
	fresh := c.kernel(c.seal(c.o.Records, c.o.Seed+1, tape.Option(playing.Again()).(curator.Option)), steps)
	for n, first := range c.follow(fresh, int64(len(second))) {
		if !slices.EqualFunc(first, second[n], identical) {
			c.fail("step %d of a kernel's second chain is %v, and %v where a new kernel is given the same start, stream and "+
				"releases: Init keeps what an earlier chain has left behind", n+1, second[n], first)
		}
	}
}

// goesOnUsed has a kernel that has made steps go on with another one's chain, after Init and Recall, as a new kernel
// does that is given the same releases.
func (c kernelCheck) goesOnUsed(steps int64) {
	c.t.Helper()
	defer func() {
		c.t.Helper()
		if p := recover(); p != nil {
			c.fail("a kernel that has made %d steps, and goes on with another chain: panic: %v", steps, p)
		}
	}()
	recording := tape.New()
	chain, s := c.chain(steps)
	rng := rand64(c.o.Seed, 43) // other moves than those of the kernel that takes it over
	for range steps {
		if _, err := chain.Step(rng, s); err != nil {
			return // said elsewhere
		}
	}
	memory := kernels.Keep(chain)
	goOn := func(k kernels.Kernel) [][]float64 {
		c.t.Helper()
		at, err := k.Init(s.Theta)
		if err != nil {
			c.fail("Init refuses the state %v of a chain: %v", s.Theta, err)
		}
		at.Iteration = s.Iteration
		if err := kernels.Recall(k, slices.Clone(memory)); err != nil {
			c.fail("a kernel that has made %d steps refuses another one's memory after Init: %v", steps, err)
		}
		return c.followed(k, at, steps)
	}
	used := c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(recording).(curator.Option)), 2*steps)
	c.follow(used, steps)
	got := goOn(used)
	playing := recording.Rewind()
	c.follow(c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(playing).(curator.Option)), 2*steps), steps)
	fresh := c.kernel(c.seal(c.o.Records, c.o.Seed+1, tape.Option(playing.Again()).(curator.Option)), int64(len(got)))
	for n, step := range goOn(fresh) {
		if !slices.EqualFunc(step, got[n], identical) {
			c.fail("step %d of a chain that a kernel goes on with after %d steps of its own is %v, and %v where a new kernel "+
				"is given the same state, memory, stream and releases: Init and Recall keep what is neither in State nor in "+
				"the memory", n+1, steps, got[n], step)
		}
	}
}

// follow starts a chain and returns what each step shows: the state, Info and what is kept. A kernel may
// have paid for one start alone, so that its second chain ends earlier.
func (c kernelCheck) follow(k kernels.Kernel, steps int64) (all [][]float64) {
	c.t.Helper()
	return c.followed(k, c.start(k), steps)
}

// followed is follow from a state on.
func (c kernelCheck) followed(k kernels.Kernel, s *kernels.State, steps int64) (all [][]float64) {
	c.t.Helper()
	rng := c.rng()
	for range steps {
		info, err := k.Step(rng, s)
		if err != nil {
			break
		}
		all = append(all, append(append(slices.Clone(s.Theta), info.StepSize, float64(info.Gradients)), kernels.Keep(k)...))
	}
	return all
}

// CheckResume interrupts one chain of o.Steps steps after cut of them, and has a new kernel
// go on: what a failure of CheckKernel prints calls it.
func CheckResume(t rapid.TB, factory Factory, cut int64, o KernelOptions) {
	t.Helper()
	watchedKernels(t, factory, o, func(c kernelCheck) {
		t.Helper()
		c.resumesAfter(c.o.Steps, c.o.Steps, cut)
	})
}

// resumesAfter compares up to so many steps after each cut. The grant may go on after the last of all.
func (c kernelCheck) resumesAfter(steps, few int64, cuts ...int64) {
	c.t.Helper()
	recording := tape.New()
	sealed := c.seal(c.o.Records, c.o.Seed, tape.Option(recording).(curator.Option))
	want := c.trace(c.kernel(sealed, steps), steps, "a chain to be interrupted")
	for _, cut := range cuts {
		c.resume(recording.Rewind(), want, cut, min(steps, cut+few), 0)
		if cut%2 == 0 || cut == steps-1 {
			c.resume(recording.Rewind(), want, cut, min(steps, cut+few), 10)
		}
	}
}

// resume interrupts a chain after cut steps and compares what follows with the trace. The kernel that goes on is
// granted the rest, and more.
func (c kernelCheck) resume(playing *tape.Tape, want *trace, cut, until, more int64) {
	c.t.Helper()
	defer func() {
		c.t.Helper()
		if p := recover(); p != nil {
			c.fail("a new kernel that goes on after step %d: panic: %v; it asks for other releases than the first one, or "+
				"its Recall fails", cut, p)
		}
	}()
	steps, d := int64(len(want.info)), len(c.o.Start)
	first := c.kernel(c.seal(c.o.Records, c.o.Seed, tape.Option(playing).(curator.Option)), steps)
	s, rng := c.start(first), c.rng()
	for n := range cut {
		if _, err := first.Step(rng, s); err != nil {
			c.fail("step %d of %d: %v", n+1, steps, err)
		}
	}
	second := c.kernel(c.seal(c.o.Records, c.o.Seed+1, tape.Option(playing.Again()).(curator.Option)), steps-cut+more)
	at, err := second.Init(s.Theta)
	if err != nil {
		c.fail("Init refuses the state %v of a chain: %v", s.Theta, err)
	}
	at.Iteration = s.Iteration
	c.hands(first, second, cut)
	grant := ""
	if more > 0 {
		grant = fmt.Sprintf(" and %d steps more in its grant", more)
	}
	for n := cut; n < until; n++ {
		info, err := second.Step(rng, at)
		if err != nil {
			c.fail("step %d of a chain that a new kernel goes on with after step %d: %v", n+1, cut, err)
		}
		if theta := want.theta[int(n)*d : int(n+1)*d]; !slices.Equal(at.Theta, theta) || unlike(info, want.info[n]) {
			said := fmt.Sprintf("// Step %d differs where a new kernel goes on after step %d.", n+1, cut)
			c.failWith(c.reproduceResume(cut, n+1, said), "step %d of a chain is %v, %+v, and %v, %+v where a new kernel went "+
				"on after step %d with the same releases%s: the kernel remembers what is neither in State nor kept (a gradient, "+
				"a momentum, a scale, a generator or a counter); use it no longer, or make the kernel a kernels.Keeper",
				n+1, theta, want.info[n], at.Theta, info, cut, grant)
		}
		if left := second.Left() - more; left != want.left[n] {
			c.failWith(c.reproduceResume(cut, n+1, fmt.Sprintf("// Left differs after step %d.", n+1)), "after step %d of a "+
				"chain %d are left, and %d where a new kernel with the grant of the rest went on after step %d: Left is what "+
				"this kernel may still do, not what State.Iteration leaves of all", n+1, want.left[n], left, cut)
		}
	}
}

// hands gives one kernel's memory to another. Slices stay their owners': what is written to
// them afterwards changes no kernel.
func (c kernelCheck) hands(first, second kernels.Kernel, cut int64) {
	c.t.Helper()
	memory := kernels.Keep(first)
	same := func(v []float64) bool { return slices.EqualFunc(v, memory, identical) }
	wrong := func(format string, args ...any) {
		c.t.Helper()
		c.failWith(c.reproduceResume(cut, cut+1, fmt.Sprintf("// What is kept after step %d.", cut)), format, args...)
	}
	given := slices.Clone(memory)
	if keeper, ok := first.(kernels.Keeper); ok {
		if all := keeper.Keep([]float64{1, 2}); len(all) < 2 || all[0] != 1 || all[1] != 2 || !same(all[2:]) {
			wrong("Keep returns %v for dst = [1 2] after step %d, and %v for none: it appends to dst", all, cut, memory)
		}
	}
	fill(memory, math.NaN())
	if memory = given; !same(kernels.Keep(first)) {
		wrong("the slice that Keep returns after step %d is the kernel's own: what others write there changes the chain", cut)
	}
	given = slices.Clone(memory)
	if err := kernels.Recall(second, given); err != nil {
		wrong("Recall refuses what Keep returned after step %d: %v", cut, err)
	}
	if !same(given) {
		wrong("Recall writes to the slice that it is given after step %d: %v has become %v", cut, memory, given)
	}
	memory = slices.Clone(kernels.Keep(second))
	if fill(given, math.NaN()); !same(kernels.Keep(second)) {
		wrong("Recall makes the slice that it is given after step %d the kernel's own: copy it", cut)
	}
}

func (c kernelCheck) reproduceResume(cut, steps int64, comment string) string {
	return goTest(comment,
		fmt.Sprintf("proptest.CheckResume(t, yourFactory, %d, proptest.KernelOptions{Adjacency: accountant.%s, "+
			"Start: %s, Steps: %d, Seed: %d,", cut, c.adjacency(), source(c.o.Start), steps, c.o.Seed),
		"\tRecords: "+sourceOfRecords(c.o.Records)+"})")
}
