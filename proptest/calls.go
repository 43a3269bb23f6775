package proptest

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// checkCalls makes many calls of one release and of four, from seeds that differ in
// some of their bits only: calls give other releases, and the first and the last
// release of a call have the law of all.
func checkCalls(t rapid.TB, m Mechanism, onA [][]float64, o MechanismOptions) {
	t.Helper()
	const count = 4
	calls := min(len(onA), max(400, min(len(onA)/500, 2000)))
	var single, first, last [][]float64
	for i := range calls {
		n := 1 + (count-1)*(i%2)
		all, err := releases(m, o.A, o.Seed+uint64(i/4+1)<<(i/2%2*32+i%2*16), n)
		if err != nil {
			failf(t, "%v", err)
			return
		}
		if n == 1 {
			single = append(single, all[0])
		} else {
			first, last = append(first, all[0]), append(last, all[n-1])
		}
	}
	e := &evidence{}
	among := slices.Concat(single, first)
	fewer := distinct(onA[:len(among)]) - distinct(among)
	// Each call changes the number of values by one at most: McDiarmid's inequality, for
	// both numbers.
	e.see(min(1, 4*math.Exp(-max(0, float64(fewer*fewer))/2/float64(calls))), func() string {
		return fmt.Sprintf("%d calls of different seeds give %d different releases, and as many releases of one call %d",
			calls, distinct(among), distinct(onA[:len(among)]))
	})
	for name, some := range map[string][][]float64{"the only release of a call": single, "the first of four": first,
		"the last of four": last} {
		for j := range min(4, len(onA[0])) {
			scores := scored(column(slices.Concat(some, onA), j))
			for degree := range 4 {
				m := moment{span: 4}
				for _, s := range scores[:len(some)] {
					m.add(s[degree])
				}
				e.see(m.p(), func() string {
					return fmt.Sprintf("%s has another law than all releases: the mean score of degree %d of coordinate %d is %.3g",
						name, degree+1, j, m.mean())
				})
			}
		}
	}
	if e.family() <= o.FalseAlarm/shares {
		failf(t, "%s (p = %.2g in %d comparisons, Seed %d, false-alarm rate %g)%s", e.about, e.family(), e.count, o.Seed,
			o.FalseAlarm, o.test())
	}
}

// distinct counts different releases, by their first coordinate.
func distinct(all [][]float64) int {
	seen := make(map[float64]bool, len(all))
	for _, r := range all {
		seen[r[0]] = true
	}
	return len(seen)
}

// checkNeighbours compares A with a strange first record with B: they are neighbours
// too, under either adjacency.
func checkNeighbours(t rapid.TB, m Mechanism, onB [][]float64, o MechanismOptions) {
	t.Helper()
	o.Releases = min(len(onB), max(2000, len(onB)/25))
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300}
	columns := min(4, o.A.Features)
	part := o
	part.FalseAlarm /= float64(len(strange) * columns * 3) // the bounds', the curve's and suspicions' shares
	for j := range columns {
		for _, v := range strange {
			part.A = edited(o.A, func(x, _ []float64) { x[j] = v })
			onA, err := releases(m, part.A, o.Seed, o.Releases)
			if err != nil {
				failf(t, "%v", err)
				return
			}
			said, err := distinguish(m, part, onA, onB[:o.Releases])
			if err != nil || said.Violated() {
				o.A = part.A
				failf(t, "the mechanism costs more than %v where the first record is %s (Seed %d, false-alarm rate %g, error %v):"+
					"%v%s", m.Claim(), row(part.A, 0), o.Seed, o.FalseAlarm, err, said.lines(), o.test())
				return
			}
		}
	}
}

// shrunk are options with fewer releases and plainer records that still fail: half as
// many releases as long as that fails, then only the first records, then plain numbers.
// It takes a second, or as long as the failure did, and no longer than rapid may.
func (o MechanismOptions) shrunk(m Mechanism, took time.Duration) MechanismOptions {
	until := time.Now().Add(min(shrinkTime(), max(time.Second, took)))
	fails := func(o MechanismOptions) bool {
		if time.Now().After(until) {
			return false
		}
		_, failed := Try("", func(t rapid.TB) { checkReleases(t, m, o) })
		return failed
	}
	to := func(small MechanismOptions) bool {
		if fails(small) {
			o = small
			return true
		}
		return false
	}
	few := o
	for few.Releases = o.Releases / 2; few.Releases >= 20 && to(few); few.Releases /= 2 {
	}
	p := o.A.Features
	alone := o
	alone.A.X, alone.B.X = o.A.X[:p], o.B.X[:len(o.B.X)-len(o.A.X)+p]
	if o.A.Y != nil {
		alone.A.Y, alone.B.Y = o.A.Y[:1], o.B.Y[:len(o.B.Y)-len(o.A.Y)+1]
	}
	if len(alone.B.X) > 0 {
		to(alone)
	}
	edge := len(o.B.X) - len(o.A.X) + p // where what both share begins in B
	u := slices.Concat(o.A.X[:p], o.B.X[:edge], o.A.X[p:])
	from := func(u []float64) MechanismOptions {
		c := o
		c.A.X, c.B.X = slices.Concat(u[:p], u[p+edge:]), slices.Clone(u[p:])
		return c
	}
	shrink(u, func(u []float64) bool { return fails(from(u)) })
	return from(u)
}

// shrinkTime is what rapid is given for its own counterexamples.
func shrinkTime() time.Duration {
	if f := flag.Lookup("rapid.shrinktime"); f != nil {
		if d, ok := f.Value.(flag.Getter).Get().(time.Duration); ok {
			return d
		}
	}
	return 30 * time.Second
}

// test is a Go test that repeats a failure.
func (o MechanismOptions) test() string {
	options := fmt.Sprintf("\tDelta: %v, Releases: %d, Seed: %d", o.Delta, o.Releases, o.Seed)
	if o.Effort != Standard { // it decides how far a suspicion is followed
		options += ", Effort: " + o.Effort.source()
	}
	if o.Statistic != nil {
		options += ", Statistic: yourStatistic"
	}
	return goTest("proptest.CheckMechanism(t, yourMechanism, proptest.MechanismOptions{",
		"\tA: "+sourceOfRecords(o.A)+",", "\tB: "+sourceOfRecords(o.B)+",", options+"})")
}
