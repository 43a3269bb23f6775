package proptest

import (
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// walk makes steps of one chain and shows each to see, with the state before it.
func (c kernelCheck) walk(steps int64, see func(before []float64, s *kernels.State, info kernels.Info)) {
	c.t.Helper()
	k, s := c.chain(steps)
	rng, before := c.rng(), slices.Clone(s.Theta)
	for n := range steps {
		if left := k.Left(); left != steps-n {
			c.fail("Left is %d after %d of %d steps", left, n, steps)
		}
		info, err := k.Step(rng, s)
		if err != nil {
			c.fail("step %d of %d: %v", s.Iteration+1, steps, err)
		}
		see(before, s, info)
		copy(before, s.Theta)
	}
}

// stirs expects a chain to move at all, in every parameter.
func (c kernelCheck) stirs() {
	c.t.Helper()
	steps, d := int64(c.o.Effort.times(20_000, 2000)), len(c.o.Start)
	moved, last, changed, lately := 0, int64(0), make([]int, d), make([]int, d)
	c.walk(steps, func(before []float64, s *kernels.State, _ kernels.Info) {
		if slices.Equal(before, s.Theta) {
			return
		}
		moved, last = moved+1, s.Iteration
		for j, v := range before {
			if s.Theta[j] == v {
				continue
			}
			if changed[j]++; s.Iteration > steps/2 {
				lately[j]++
			}
		}
	})
	if moved == 0 {
		c.fail("the chain never moves: its state after %d steps is the start %v", steps, c.o.Start)
	}
	if moved >= 200 && last < steps/2 {
		c.fail("the chain stands still: it makes %d moves in %d steps, and none in the %d after those", moved, last,
			steps-last)
	}
	if int64(moved) < steps/1000 {
		c.fail("the chain hardly ever moves: %d times in %d steps, from the start %v; no check can tell what it does", moved,
			steps, c.o.Start)
	}
	c.stirsOnFew()
	if j := slices.Index(changed, 0); j >= 0 && moved >= 20*d+200 { // else too few moves to tell
		c.fail("parameter %d never changes in %d moves", j, moved)
	}
	for j, n := range changed {
		if moved >= 1000*d && n < moved/(1000*d) {
			c.fail("parameter %d hardly ever changes: %d times in %d moves; no check can tell what becomes of it", j, n, moved)
		}
	}
	for j, n := range changed { // by chance with probability 2⁻⁶⁰
		if n >= 60 && lately[j] == 0 {
			c.fail("parameter %d stands still: it changes %d times in the first half of %d steps, and not in the second", j, n,
				steps)
		}
	}
}

// stirsOnFew expects chains over fewer records, of which less is known, to move at all: a divisor such as the number of
// records less one may vanish. A kernel may refuse so few.
func (c kernelCheck) stirsOnFew() {
	c.t.Helper()
	const steps = 2000
	for _, r := range otherSizes(c.o.Records) {
		if len(r.X)+len(r.Y) >= len(c.o.Records.X)+len(c.o.Records.Y) {
			continue
		}
		if _, err := c.factory(c.seal(r, c.o.Seed), steps); err != nil {
			continue
		}
		on, moved := c, false
		on.o.Records = r
		on.walk(steps, func(before []float64, s *kernels.State, _ kernels.Info) {
			moved = moved || !slices.Equal(before, s.Theta)
		})
		if !moved {
			c.fail("the chain never moves on %s: its state after %d steps is the start %v", sizeOfTable(r), steps, c.o.Start)
		}
	}
}

// moves expects a chain to move in every direction, by sizes that do not repeat.
func (c kernelCheck) moves() {
	c.t.Helper()
	steps := int64(c.o.Effort.times(20_000, 2000))
	var jumps [][]float64
	c.walk(steps, func(before []float64, s *kernels.State, info kernels.Info) {
		c.t.Helper()
		if math.IsNaN(info.StepSize) || math.IsInf(info.StepSize, 0) || info.StepSize < 0 || info.Gradients < 0 {
			c.fail("step %d reports %+v; sizes are finite and counts are not negative", s.Iteration, info)
		}
		most := 5000
		if s.Iteration <= steps/2 {
			most = 2500
		}
		if slices.Equal(before, s.Theta) || len(jumps) == most {
			return
		}
		jump := slices.Clone(s.Theta)
		for j, v := range before {
			jump[j] -= v
		}
		jumps = append(jumps, jump)
	})
	c.spread(jumps)
}

// accepts expects a step that is said to be refused to leave the state alone,
// and steps that are said to be made to move it sometimes.
func (c kernelCheck) accepts() {
	c.t.Helper()
	said, made := 0, 0
	c.walk(int64(c.o.Effort.times(20_000, 2000)), func(before []float64, s *kernels.State, info kernels.Info) {
		c.t.Helper()
		moved := !slices.Equal(before, s.Theta)
		if moved && !info.Accepted {
			c.fail("step %d goes from %v to %v and says Accepted = false; Accepted reports whether the chain moved", s.Iteration,
				before, s.Theta)
		}
		if info.Accepted {
			said++
		}
		if moved {
			made++
		}
	})
	// Of several moves in a step two may cancel. That of a step with one release does not.
	if said > made && c.perStep() <= 1 {
		c.fail("%d steps of one release say Accepted = true and %d moved; Accepted reports whether the chain moved", said,
			made)
	}
	if said > 200 && made < said*19/20 {
		c.fail("%d steps say Accepted = true and %d moved; Accepted reports whether the chain moved", said, made)
	}
}

// spread expects moves to reach every direction and not to repeat their sizes.
func (c kernelCheck) spread(jumps [][]float64) {
	c.t.Helper()
	d := len(c.o.Start)
	if len(jumps) < 20*d+200 {
		return // too few moves to tell
	}
	for j := range d {
		c.sizes(jumps, j)
	}
	scales := make([]float64, d)
	for j := range scales {
		for _, v := range jumps {
			scales[j] = max(scales[j], math.Abs(v[j]))
		}
	}
	if r := rankOf(jumps, scales); r < d {
		c.fail("%d moves of %d parameters stay in a subspace of %d dimensions: the chain cannot reach the rest",
			len(jumps), d, r)
	}
}

// sizes expects the sizes of changes of one parameter to be distinct: on a
// lattice of moves a chain reaches countably many states. A law that is itself
// on a lattice is known by its exact draws. A velocity that persists repeats a size
// from one move to the next, which counts once, and a leap of one length among other moves, as between modes, does
// not count.
func (c kernelCheck) sizes(jumps [][]float64, j int) {
	c.t.Helper()
	if c.discrete(j) {
		return
	}
	var all []float64
	for _, v := range jumps {
		if v[j] != 0 {
			all = append(all, math.Abs(v[j]))
		}
	}
	if len(all) < 200 {
		return
	}
	often, times := commonest(all)
	if others := slices.DeleteFunc(slices.Clone(all), func(v float64) bool { return equalSizes(v, often) }); len(others) >=
		200 && times >= len(all)/20 {
		all = others
	}
	runs := countSizes(all)
	slices.Sort(all)
	distinct := countSizes(all)
	if distinct < len(all)/20 && distinct < max(3, runs*9/10) {
		c.fail("%d changes of parameter %d have %d different sizes, such as %.6g: the chain stays on a lattice", len(all), j,
			distinct, all[len(all)/2])
	}
	if distinct < runs*9/10 && runs >= 200 {
		c.fail("%d changes of parameter %d have only %d different sizes: moves repeat", len(all), j, distinct)
	}
}

func equalSizes(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }

// countSizes counts sizes that differ from the one before.
func countSizes(all []float64) (n int) {
	for i, v := range all {
		if i == 0 || !equalSizes(v, all[i-1]) {
			n++
		}
	}
	return n
}

// commonest is the size that comes most often.
func commonest(all []float64) (size float64, times int) {
	sorted := slices.Sorted(slices.Values(all))
	from := 0
	for i, v := range sorted {
		if !equalSizes(v, sorted[from]) {
			from = i
		}
		if n := i + 1 - from; n > times {
			size, times = v, n
		}
	}
	return size, times
}

// discrete reports whether exact draws of a parameter repeat.
func (c kernelCheck) discrete(j int) bool {
	if c.o.Exact == nil {
		return false
	}
	seen, rng, theta := map[float64]bool{}, rand64(c.o.Seed, 9), make([]float64, len(c.o.Start))
	for range 100 {
		c.o.Exact(rng, theta)
		seen[theta[j]] = true
	}
	return len(seen) < 90
}

// rankOf is the dimension of the space that vectors span, to a relative 1e-6,
// by elimination with their largest remainder as the next pivot.
func rankOf(vectors [][]float64, scales []float64) int {
	d := len(scales)
	rest := make([][]float64, min(len(vectors), 400))
	for i := range rest {
		rest[i] = make([]float64, d)
		for j, v := range vectors[i*len(vectors)/len(rest)] {
			rest[i][j] = v / scales[j]
		}
	}
	for r := range d {
		best, length := -1, 1e-6
		for i, v := range rest {
			if n := norm(v); n > length {
				best, length = i, n
			}
		}
		if best < 0 {
			return r
		}
		pivot := slices.Clone(rest[best])
		for j := range pivot {
			pivot[j] /= length
		}
		for _, v := range rest {
			along := 0.0
			for j := range v {
				along += v[j] * pivot[j]
			}
			for j := range v {
				v[j] -= along * pivot[j]
			}
		}
	}
	return d
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
