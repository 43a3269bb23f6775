package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// variant is a data set of the same shape as another.
type variant struct {
	name    string
	records curator.Records
}

// edited copies records and changes the copy.
func edited(r curator.Records, edit func(x, y []float64)) curator.Records {
	r.X, r.Y = slices.Clone(r.X), slices.Clone(r.Y)
	edit(r.X, r.Y)
	return r
}

func fill(v []float64, with float64) {
	for i := range v {
		v[i] = with
	}
}

func times(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// variants are data sets that a chain must not tell from the given ones but by
// its releases: strange, huge, repeated, permuted and neighbouring ones.
func variants(r curator.Records, rng *rand.Rand) []variant {
	p := r.Features
	all := []variant{{"records that have nothing in common", other(r)}}
	add := func(name string, edit func(x, y []float64)) { all = append(all, variant{name, edited(r, edit)}) }
	for _, by := range []float64{1e3, -1e6, 1e12, 1e-6} {
		add(fmt.Sprintf("features times %g", by), func(x, _ []float64) { times(x, by) })
	}
	for _, v := range []float64{0, 1, math.NaN(), math.Inf(1), 1e300} {
		add(fmt.Sprintf("a first record of %g", v), func(x, _ []float64) { fill(x[:p], v) })
		add(fmt.Sprintf("a last record of %g", v), func(x, _ []float64) { fill(x[len(x)-p:], v) })
		add(fmt.Sprintf("features that are all %g", v), func(x, _ []float64) { fill(x, v) })
		if r.Y != nil {
			add(fmt.Sprintf("responses that are all %g", v), func(_, y []float64) { fill(y, v) })
			add(fmt.Sprintf("a first response of %g", v), func(_, y []float64) { y[0] = v })
		}
	}
	for j := range p {
		for k, v := range []float64{math.NaN(), math.Inf(-1), 1e8} {
			if p <= 3 || k == j%3 {
				add(fmt.Sprintf("feature %d all %g", j, v), func(x, _ []float64) {
					for i := j; i < len(x); i += p {
						x[i] = v
					}
				})
			}
		}
	}
	add("the first record repeated", func(x, y []float64) {
		for i := p; i < len(x); i++ {
			x[i] = x[i%p]
		}
		if y != nil {
			fill(y, y[0])
		}
	})
	add("extreme values", func(x, y []float64) {
		for i := range x {
			x[i] = extremes[rng.IntN(len(extremes))]
		}
		for i := range y {
			y[i] = extremes[rng.IntN(len(extremes))]
		}
	})
	add("records with one in ten extreme", func(x, y []float64) {
		for i := range x {
			if rng.IntN(10) == 0 {
				x[i] = extremes[rng.IntN(len(extremes))]
			}
		}
	})
	add("other records, ten times as large", func(x, y []float64) {
		for i := range x {
			x[i] = 10 * rng.NormFloat64()
		}
		for i := range y {
			y[i] = math.Round(3 * rng.Float64())
		}
	})
	return all
}

// other are records of the same shape that have nothing in common with r.
func other(r curator.Records) curator.Records {
	return edited(r, func(x, y []float64) {
		slices.Reverse(x)
		slices.Reverse(y)
		for i := range x {
			x[i] = 0.75 - 2*x[i]
		}
		for i := range y {
			y[i] = 1 - y[i]
		}
	})
}

// trace is what a chain shows to an observer.
type trace struct {
	theta []float64 // of each step in turn
	info  []kernels.Info
	left  []int64
	kept  [][]float64 // what a Keeper would have a new kernel remember
	// What the step after the last shows, with what the kernel says of itself.
	end     kernels.Info
	refusal string
}

// trace makes the given number of steps and one that must be refused.
func (c kernelCheck) trace(k kernels.Kernel, steps int64, what string) *trace {
	c.t.Helper()
	defer func() {
		c.t.Helper()
		if p := recover(); p != nil {
			c.fail("%s: panic: %v", what, p)
		}
	}()
	s, rng := c.start(k), c.rng()
	all := &trace{}
	for n := range steps {
		info, err := k.Step(rng, s)
		if err != nil {
			c.fail("%s: step %d: %v; errors must not depend on records", what, n+1, err)
		}
		if !finite(info.StepSize) || info.StepSize < 0 || info.Gradients < 0 {
			c.fail("%s: step %d reports %+v; sizes are finite and counts are not negative", what, n+1, info)
		}
		all.theta, all.info = append(all.theta, s.Theta...), append(all.info, info)
		all.left, all.kept = append(all.left, k.Left()), append(all.kept, kernels.Keep(k))
		if s.Iteration != n+1 {
			c.fail("%s: Iteration is %d after %d steps; it counts rejected ones too", what, s.Iteration, n+1)
		}
	}
	info, err := k.Step(rng, s)
	if err == nil {
		c.fail("%s: a step beyond those granted gives no error", what)
	}
	again, refused := k.Init(c.o.Start)
	all.end = info
	all.refusal = fmt.Sprint(err, ", ", k.Name(), " of ", k.Dim(), " with ", k.Left(), " left, Init ", refused)
	if refused == nil {
		all.refusal += fmt.Sprint(" at ", again.Theta)
	}
	return all
}

// replay is the tape-replay law: releases recorded over one data set and replayed
// over another give the same chain. The curator's seed differs too, so that no
// secret randomness can pass beside the tape. Each pair has a chain of its own.
func (c kernelCheck) replay() {
	c.t.Helper()
	steps := int64(c.o.Effort.times(5000, 400))
	base := c.o.Seed
	for i, v := range variants(c.o.Records, rand64(c.o.Seed, 8)) {
		c.o.Seed = base + uint64(i)
		from, to, what := c.o.Records, v.records, "when its releases are replayed over "+v.name
		if i%2 == 1 {
			from, to, what = to, from, "with "+v.name+" when its releases are replayed over the check's records"
		}
		c.compare(from, to, steps, what)
	}
	c.o.Seed = base
	c.replaySizes(steps)
	rng := rand64(base, 42)
	for i := range c.o.Effort.times(400, 15) { // shorter chains, over records of every size
		c.o.Seed = base + uint64(1000+i)
		to := edited(c.o.Records, func(x, y []float64) {
			for _, v := range [][]float64{x, y} {
				if i%2 == 1 {
					elsewhere(rng, v)
					continue
				}
				for j := range v {
					v[j] = anyValue(rng)
				}
			}
		})
		c.compare(c.o.Records, to, c.o.Steps, "when its releases are replayed over records of other sizes")
	}
	c.o.Seed = base
	c.replayRelated()
}

// elsewhere draws normal numbers about any point near those of v, as wide or not, so that their mean, or another
// function of all of them, is any ordinary number.
func elsewhere(rng *rand.Rand, v []float64) {
	mean, sd := momentsOf(v)
	if !(sd > 0 && finite(sd)) {
		mean, sd = 0, 1
	}
	mean, sd = mean+3*sd*(2*rng.Float64()-1), sd*math.Exp(rng.NormFloat64())
	for j := range v {
		v[j] = mean + sd*rng.NormFloat64()
	}
}

// anyValue is a number of any size, one time in four a small whole one or what stands for a missing one.
func anyValue(rng *rand.Rand) float64 {
	switch rng.IntN(8) {
	case 0:
		return codes[rng.IntN(len(codes))]
	case 1:
		return float64(rng.IntN(21) - 10)
	default:
		return anySize(rng)
	}
}

// replaySizes replays over tables of other sizes, which a kernel may refuse, and two chains that are many
// times as long.
func (c kernelCheck) replaySizes(steps int64) {
	c.t.Helper()
	c.compare(c.o.Records, other(c.o.Records), 20*steps, "when the releases of a long chain are replayed over records "+
		"that have nothing in common")
	scaled := func(r curator.Records, by float64) curator.Records {
		return edited(r, func(x, y []float64) {
			times(x, by)
			times(y, by)
		})
	}
	c.compare(scaled(other(c.o.Records), 1e3), c.o.Records, 20*steps, "with large records when the releases of a long "+
		"chain are replayed over the check's records")
	for _, r := range otherSizes(c.o.Records) {
		if _, err := c.factory(c.seal(r, c.o.Seed), steps); err == nil {
			c.compare(scaled(r, 1e-6), scaled(other(r), 1e3), c.o.Steps, "with small records when its releases are "+
				"replayed over as many large ones")
		}
	}
	if c.o.Effort < Standard {
		return
	}
	r := everyDecimal(c.o.Records)
	if _, err := c.factory(c.seal(r, c.o.Seed), c.o.Steps); err == nil {
		usual := r
		usual.X = cycled(c.o.Records.X, len(r.X))
		c.compare(r, usual, c.o.Steps, "with records of whole numbers, hundredths and years when its releases are "+
			"replayed over the check's records, again and again")
	}
}

// everyDecimal has a record of each decimal, and of hundredths up to 5, of either sign, in every column.
func everyDecimal(r curator.Records) curator.Records {
	values := decimals()
	for k := 1; k <= 500; k++ {
		values = append(values, float64(k)/100)
	}
	for _, v := range values {
		values = append(values, -v)
	}
	p, n := r.Features, len(values)
	r.X = make([]float64, n*p)
	for i := range r.X {
		r.X[i] = values[(i/p+7*(i%p))%n]
	}
	if r.Y != nil {
		r.Y = cycled(r.Y, n)
	}
	return r
}

// otherSizes are tables of one record, of one more and one fewer than r, and of many times as many.
func otherSizes(r curator.Records) (all []curator.Records) {
	n := len(r.Y)
	if r.Features > 0 {
		n = len(r.X) / r.Features
	}
	for _, size := range []int{1, 2, 3, n - 1, n + 1, 2 * n, 3 * n, 10 * n, 100 * n, 1000 * n} {
		if size < 1 || size == n {
			continue
		}
		t := r
		t.X = cycled(r.X, size*r.Features)
		if r.Y != nil {
			t.Y = cycled(r.Y, size)
		}
		all = append(all, t)
	}
	return all
}

// cycled repeats v until it is n long.
func cycled(v []float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v[i%len(v)]
	}
	return all
}

// CheckReplay is tape replay of one chain over from and to, alone: what a failure
// of CheckKernel prints calls it.
func CheckReplay(t rapid.TB, factory Factory, from, to curator.Records, o KernelOptions) {
	t.Helper()
	watchedKernels(t, factory, o, func(c kernelCheck) {
		t.Helper()
		c.compare(from, to, c.o.Steps, "when its releases are replayed over the other records")
	})
}

// compare replays a chain over other records, and makes them as much like the
// first ones as it can while the chain differs.
func (c kernelCheck) compare(from, to curator.Records, steps int64, what string) {
	c.t.Helper()
	n, shown := c.differ(from, to, steps, what)
	if shown == "" {
		return
	}
	p, steps := from.Features, min(steps, n)
	for i := range min(20, len(from.X)/p) {
		nearer := edited(to, func(x, y []float64) {
			copy(x[i*p:(i+1)*p], from.X[i*p:])
			if y != nil {
				y[i] = from.Y[i]
			}
		})
		if k, s := c.differ(from, nearer, steps, what); s != "" {
			to, steps, shown = nearer, k, s
		}
	}
	c.failWith(c.reproduceReplay(from, to, steps), "%s", shown)
}

// differ says in which step two chains differ, and how; nothing if in none.
func (c kernelCheck) differ(from, to curator.Records, steps int64, what string) (int64, string) {
	c.t.Helper()
	recording := tape.New()
	first := c.seal(from, c.o.Seed, tape.Option(recording).(curator.Option))
	chain := c.kernel(first, steps)
	granted := first.Budget().Events()
	want := c.trace(chain, steps, "a chain recorded "+what)
	if paid := first.Budget().Events(); !paid.Equal(granted) {
		c.fail("the budget has paid %v after %d steps, and %v before the first; steps are paid for in advance", paid, steps,
			granted)
	}
	playing := recording.Rewind()
	second := c.seal(to, c.o.Seed+1, tape.Option(playing).(curator.Option))
	got := c.trace(c.kernel(second, steps), steps, "a chain, "+what)
	d := len(c.o.Start)
	for n := range want.info {
		a, b := want.theta[n*d:(n+1)*d], got.theta[n*d:(n+1)*d]
		if !slices.EqualFunc(a, b, identical) || unlike(want.info[n], got.info[n]) || want.left[n] != got.left[n] {
			return int64(n) + 1, fmt.Sprintf("step %d is %v, %+v, %d left, and %v, %+v, %d left %s: the chain depends on the "+
				"records beyond what was released", n+1, a, want.info[n], want.left[n], b, got.info[n], got.left[n], what)
		}
		if a, b := want.kept[n], got.kept[n]; !slices.EqualFunc(a, b, identical) {
			return int64(n) + 1, fmt.Sprintf("what Keep returns after step %d is %v, and %v %s: the kernel's memory, which is "+
				"written out, depends on the records beyond what was released", n+1, a, b, what)
		}
	}
	if unlike(want.end, got.end) || want.refusal != got.refusal {
		return steps, fmt.Sprintf("a step beyond those granted shows %+v, %q, and %+v, %q %s: errors depend on the records",
			want.end, want.refusal, got.end, got.refusal, what)
	}
	if paid, now := first.Budget().Events(), second.Budget().Events(); !paid.Equal(now) {
		return steps, fmt.Sprintf("the chain pays %v, and %v %s: the price depends on the records", paid, now, what)
	}
	if !playing.Played() {
		return steps, fmt.Sprintf("the chain asked for fewer releases %s: their number depends on the records", what)
	}
	return 0, ""
}

// unlike compares Info, and tells −0 from 0.
func unlike(a, b kernels.Info) bool { return a != b || !identical(a.StepSize, b.StepSize) }

// identical compares bits, which tell −0 from 0.
func identical(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// farStarts runs from states that data never suggest: no panic, and no state
// that is not finite.
func (c kernelCheck) farStarts() {
	c.t.Helper()
	for _, far := range []float64{10, -1e3, 1e8, -1e150} {
		k := c.kernel(c.seal(c.o.Records, c.o.Seed), 20)
		theta := slices.Clone(c.o.Start)
		for j := range theta {
			theta[j] += far
		}
		s, err := k.Init(theta)
		if err != nil {
			continue // outside the prior's support
		}
		c.survives(k, s, fmt.Sprintf("the start %v", theta))
	}
}

func (c kernelCheck) survives(k kernels.Kernel, s *kernels.State, what string) {
	c.t.Helper()
	defer func() {
		c.t.Helper()
		if p := recover(); p != nil {
			c.fail("a chain from %s: panic: %v", what, p)
		}
	}()
	rng := c.rng()
	for range 20 {
		if _, err := k.Step(rng, s); err != nil {
			return
		}
		for j, v := range s.Theta {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.fail("parameter %d of a chain from %s becomes %v", j, what, v)
			}
		}
	}
}
