package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// CheckInvariance is the part of CheckKernel that needs Exact, alone: what a
// failure of it prints calls it.
func CheckInvariance(t rapid.TB, factory Factory, o KernelOptions) {
	t.Helper()
	watchedKernels(t, factory, o, kernelCheck.invariance)
}

// looks are how often the test of invariance looks at its results, each time
// with twice as many chains, spending an equal part of FalseAlarm. As many as doublings follow.
const looks = 10

// Where the last look is suspicious, chains are made until there are twice, four and eight times as
// many, as long as each look is ten times as suspicious as the one before.
const (
	doublings  = 3
	suspicious = 0.5
)

// longer are chains that see what needs many steps to show: one in every so many is stretch times as
// long as the others. Kernels that keep something have more of these, since what they keep begins anew
// with each chain, and may need some steps to matter.
type stretched struct{ every, stretch int64 }

var (
	longer  = []stretched{{5000, 400}, {200, 40}}
	keepers = append(longer[:len(longer):len(longer)], stretched{9, 8})
)

// invariance starts chains at exact draws and compares where they are, after one
// step and after Stride steps, with where they were.
//
// A chain that starts from a law π and leaves it invariant enters any fixed set
// as often as it leaves it: given that m of n independent chains crossed the
// border, the number that entered is Binomial(m, ½), exactly (McNemar's test).
// Bounded functions keep their mean, for which an empirical Bernstein bound holds
// at every n. Sets and functions are fixed by a separate sample of exact draws.
// The smallest p-value times their number is the p-value of a look; a look fails
// at its part of FalseAlarm, so that a kernel that leaves π invariant fails with
// probability at most FalseAlarm. Half of the chains start late, at iterations
// up to a million, as resumed ones do; one in 200 is 40 times as long, one in 5000 400 times, and one in nine of
// a kernel that keeps something eight times.
func (c kernelCheck) invariance() {
	c.t.Helper()
	if c.o.Exact == nil {
		return
	}
	rng := rand64(c.o.Seed, 3)
	l := c.newLaw(rng)
	n := c.o.Replicates
	if c.o.byDefault {
		n = int(float64(n) * min(1, 2/c.perStep()))
	}
	l.longer = longer
	if _, keeps := c.kernel(c.seal(c.o.Records, c.o.Seed+2), 1).(kernels.Keeper); keeps {
		if l.longer = keepers; c.o.byDefault {
			n = n * 3 / 5 // in the same time
		}
	}
	for range l.longer {
		l.late = append(l.late, newTally(l.all.scale, false))
	}
	steps := int64(n) << doublings
	for _, t := range l.longer {
		steps += t.stretch * (int64(n)<<doublings/t.every + 1)
	}
	// Twice the steps: kernels may pay for every start.
	k := c.kernel(c.seal(c.o.Records, c.o.Seed+2), 2*c.o.Stride*steps)
	done := 0
	for look := 1 - looks; look <= doublings; look++ {
		for until := n << doublings >> (doublings - look); done < until; done++ {
			l.replicate(c, k, rng, done)
		}
		e := l.evidence(c.o)
		c.t.Logf("proptest: invariance of %s over %d chains: p = %.2g in %d comparisons", k.Name(), done, e.family(), e.count)
		if e.family() <= c.o.FalseAlarm/(looks+doublings) {
			c.failWith(c.reproduceInvariance(done), "%s does not leave the exact law invariant: over %d chains from exact "+
				"draws, %s (p = %.2g in %d comparisons, false-alarm rate %g).%s Look at the proposal's ratio, such as a Jacobian, "+
				"at the prior's ratio, at the noise, and for what is stale",
				k.Name(), done, e.about, e.family(), e.count, c.o.FalseAlarm, l.drifted(c.o.Stride))
		}
		l.connects(c, k.Name())
		l.repeats(c, k.Name())
		if look >= 0 && e.suspicion() > suspicious*math.Pow10(-look) {
			return
		}
	}
}

// law compares a kernel's states with those it started from.
type law struct {
	one, all        *tally
	longer          []stretched
	late            []*tally // of those that are longer
	slants          *tally   // of one chain in every so many, for what is connected
	every           int
	reference       *tally // of one step against Transition's
	public          *rand.Rand
	theta, told     []float64
	pair            []float64   // a move
	ends            [][]float64 // where the first chains that moved ended
	at, after, then []rank
	moved           int
	begun, ended    []spread // of parameters, of all chains but the long ones
}

// spread is a mean and a standard deviation in the making.
type spread struct{ n, sum, squares float64 }

func (s *spread) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

func (s *spread) moments() (mean, sd float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(max(0, s.squares/s.n-mean*mean))
}

// drifted says how the parameter that changed most differs from exact draws.
func (l *law) drifted(stride int64) string {
	said, most := "", 0.0
	for j := range l.begun {
		mean, sd := l.begun[j].moments()
		at, wide := l.ended[j].moments()
		if by := max(math.Abs(at-mean)/sd, math.Abs(wide/sd-1)); by > most {
			said, most = fmt.Sprintf(" After %d steps parameter %d has mean %.4g and standard deviation %.4g, exact draws "+
				"have %.4g and %.4g.", stride, j, at, wide, mean, sd), by
		}
	}
	return said
}

func (c kernelCheck) newLaw(rng *rand.Rand) *law {
	d := len(c.o.Start)
	draws := sample(4095, d, rng, c.o.Exact)
	s := directions(draws)
	l := &law{one: newTally(s, c.o.Reversible), all: newTally(s, c.o.Reversible),
		theta: make([]float64, d), told: make([]float64, d), begun: make([]spread, d), ended: make([]spread, d),
		public: kernels.Stream(c.o.Seed, 1)}
	between, planes := slanted(draws)
	l.slants, l.every = &tally{scale: between, flows: make([][cells][cells]int, len(between.dirs))}, 4*max(1, planes)
	if c.o.Transition != nil {
		l.reference = c.newReference(rng)
	}
	return l
}

// iterations are the numbers of steps that chains are said to have made; as many more are
// anything up to a million.
var iterations = []int64{61, 100, 101, 1000, 4096, 10_000, 1_000_000}

func (l *law) replicate(c kernelCheck, k kernels.Kernel, rng *rand.Rand, id int) {
	c.t.Helper()
	c.o.Exact(rng, l.theta)
	s, err := k.Init(l.theta)
	if err != nil {
		c.fail("Init refuses the exact draw %v: %v", l.theta, err)
	}
	if id%2 == 1 {
		if s.Iteration = iterations[id/2%len(iterations)]; id%4 == 3 {
			s.Iteration = int64(math.Exp(rng.Float64() * math.Log(1e6)))
		}
	}
	placed := false
	count := func(into *tally) { // where the chain is now
		if slices.Equal(s.Theta, l.theta) {
			into.stayed()
			return
		}
		if !placed {
			l.at, placed = l.all.place(l.at, l.theta), true
		}
		l.then = l.all.place(l.then, s.Theta)
		into.add(l.at, l.then)
	}
	steps, into := c.o.Stride, l.all
	for i, t := range l.longer {
		if into == l.all && int64(id)%t.every == t.every-1 {
			steps, into = steps*t.stretch, l.late[i]
		}
	}
	from := s.Iteration
	for n := range steps {
		if _, err := k.Step(l.public, s); err != nil {
			c.fail("a step of the test of invariance: %v", err)
		}
		if s.Iteration != from+n+1 {
			c.fail("Iteration is %d after %d steps from iteration %d, of a chain that is at %v now; it counts rejected ones too",
				s.Iteration, n+1, from, s.Theta)
		}
		if n > 0 {
			continue
		}
		count(l.one)
		if l.reference != nil {
			c.o.Transition(rng, l.theta, l.told)
			l.refer(s.Theta)
		}
	}
	if !slices.Equal(s.Theta, l.theta) {
		if l.moved++; len(l.ends) < 20_000 {
			l.ends = append(l.ends, slices.Clone(s.Theta))
		}
		if into == l.all && l.moved%l.every == 0 {
			l.at, l.then = l.slants.place(l.at, l.theta), l.slants.place(l.then, s.Theta)
			l.slants.flow(l.at, l.then)
			placed = false
		}
	}
	count(into)
	if into != l.all {
		return
	}
	for j, v := range l.theta {
		l.begun[j].add(v)
		l.ended[j].add(s.Theta[j])
	}
}

// evidence is the worst of all comparisons so far.
func (l *law) evidence(o KernelOptions) *evidence {
	e, stride := &evidence{}, fmt.Sprintf("in %d steps", o.Stride)
	if o.Reversible {
		l.one.symmetric(e, "in one step")
		l.all.symmetric(e, stride)
	}
	l.one.equal(e, "in one step")
	l.all.equal(e, stride)
	for i, t := range l.longer {
		l.late[i].equal(e, fmt.Sprintf("in %d steps", t.stretch*o.Stride))
	}
	if l.reference != nil {
		l.reference.equal(e, "compared with Transition,")
	}
	return e
}

// repeats expects chains not to meet: draws of a law that has no atoms, each moved
// by noise of its own, are all different.
func (l *law) repeats(c kernelCheck, name string) {
	c.t.Helper()
	for j := range l.theta {
		if c.discrete(j) {
			return
		}
	}
	met := map[float64]int{}
	for _, theta := range l.ends {
		if met[theta[0]]++; met[theta[0]] < 5 {
			continue
		}
		same := 0
		for _, other := range l.ends {
			if slices.Equal(other, theta) {
				same++
			}
		}
		if same >= 5 {
			c.fail("%d of %d chains from exact draws end at the same state %v: it is put there, not drawn", same,
				len(l.ends), theta)
		}
	}
}

// connects expects every part of the law to be reached from the rest: no chain
// passes over a cell, or two, from below to above or back, where at least a hundred pass
// over those on either side of it; and some border of every direction is crossed.
func (l *law) connects(c kernelCheck, name string) {
	c.t.Helper()
	if l.moved == 0 && l.all.n >= 200 {
		c.fail("%s never moves: none of %d chains left its start", name, l.all.n)
	}
	l.all.connects(c, name, l.moved)
	l.slants.connects(c, name, l.moved/l.every)
}

func (t *tally) connects(c kernelCheck, name string, moved int) {
	c.t.Helper()
	for i, d := range t.dirs {
		most := 0
		for cell := range cells - 1 {
			up, down := t.crossings(i, cell)
			most = max(most, up+down)
		}
		if most == 0 && moved >= 1000 {
			c.fail("%s never crosses a border of %s, although %d chains moved: it cannot reach the whole law", name,
				d.name, moved)
		}
		for width := 1; width <= 2; width++ {
			over := func(cell int) int { return t.over(i, cell, width) }
			for cell := 1 + width; cell <= cells-1-2*width; cell++ {
				if over(cell) == 0 && min(over(cell-width), over(cell+width)) >= 100 {
					c.fail("%s never passes over %s of %s and the %d cells from there on, although %d chains pass over what lies "+
						"below and %d over what lies above: it cannot reach the whole law",
						name, t.cell(d, cell), d.name, width, over(cell-width), over(cell+width))
				}
			}
		}
	}
}
