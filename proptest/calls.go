package proptest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// checkCalls makes many calls of one release and of 64, in pairs whose seeds differ in one
// bit: calls give other releases, and the first and the last release of a call have the
// law of all.
func checkCalls(t rapid.TB, m Mechanism, onA [][]float64, o MechanismOptions) {
	t.Helper()
	const count = 64
	calls := min(len(onA), max(400, min(len(onA)/500, 2000)))
	var single, first, last, before [][]float64
	pairs, equal, bits := 0, 0, [64]int{}
	for i := range calls {
		n, bit := 1+(count-1)*(i/2%2), i/4%64
		seed := (o.Seed + uint64(i/2+1)*0x9e3779b97f4a7c15) &^ (1 << bit)
		all, err := releases(m, o.A, seed|uint64(i%2)<<bit, n)
		if err != nil {
			failf(t, "%v", err)
			return
		}
		if n == 1 {
			single = append(single, all[0])
			continue
		}
		first, last = append(first, all[0]), append(last, all[n-1])
		if i%2 == 1 {
			if pairs++; alike(before, all) {
				equal++
				bits[bit]++
			}
		}
		before = all
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
	chance, blocks := 0, len(onA)/(2*count)
	for i := range blocks {
		if alike(onA[2*i*count:(2*i+1)*count], onA[(2*i+1)*count:(2*i+2)*count]) {
			chance++
		}
	}
	e.see(fisher(equal, pairs, chance, blocks), func() string {
		worst := slices.Index(bits[:], slices.Max(bits[:]))
		return fmt.Sprintf("%d of %d pairs of calls whose seeds differ in one bit are equal, most of them where it is bit "+
			"%d, and %d of %d pairs of as many releases in a row", equal, pairs, worst, chance, blocks)
	})
	for name, some := range map[string][][]float64{"the only release of a call": single, "the first of a call": first,
		"the last of a call": last} {
		for _, j := range someOf(len(onA[0]), 4) {
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

// alike reports whether two calls give the same releases.
func alike(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(a, b []float64) bool { return slices.EqualFunc(a, b, same) })
}

// distinct counts different releases, by their first coordinate.
func distinct(all [][]float64) int {
	seen := make(map[float64]bool, len(all))
	for _, r := range all {
		seen[r[0]] = true
	}
	return len(seen)
}

// neighbourhood lists other neighbours: A with another first record, strange or plain, against
// B; the two where all other records are strange; and the two at other scales.
func neighbourhood(o MechanismOptions) (all []MechanismOptions) {
	p, most := o.A.Features, 0.0
	for _, v := range slices.Concat(o.A.X, o.B.X) {
		if finite(v) {
			most = max(most, math.Abs(v))
		}
	}
	first := func(edit func(x []float64)) {
		part := o
		part.A = edited(o.A, func(x, _ []float64) { edit(x[:p]) })
		all = append(all, part)
	}
	part := o
	part.A = edited(o.A, func(x, y []float64) { // nothing that a grid has in common with B
		x[0] *= math.Phi - 1
		if y != nil {
			y[0] *= math.Phi - 1
		}
	})
	all = append(all, part)
	for _, j := range someOf(p, 4) {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
			first(func(x []float64) { x[j] = v })
		}
	}
	for _, v := range []float64{most, -most, 10 * most, 0} {
		first(func(x []float64) { fill(x, v) })
	}
	first(func(x []float64) {
		for j := range x {
			x[j] = most * float64(1-2*(j%2))
		}
	})
	if n := len(o.A.X) / p; n > 1 {
		for _, v := range []float64{0, math.NaN(), math.Inf(-1)} {
			part.A, part.B = filled(o.A, 1, v), filled(o.B, len(o.B.X)/p-n+1, v)
			all = append(all, part)
		}
	}
	for _, by := range []float64{-1, 10, 1e6} {
		larger := func(x, _ []float64) { times(x, by) }
		part.A, part.B = edited(o.A, larger), edited(o.B, larger)
		all = append(all, part)
	}
	return all
}

// checkNeighbours compares other neighbours than A and B, under either adjacency.
func checkNeighbours(t rapid.TB, m Mechanism, onB [][]float64, o MechanismOptions) {
	t.Helper()
	all := neighbourhood(o)
	o.Releases = min(len(onB), max(2000, len(onB)/(2*len(all))))
	for i := range all {
		all[i].Releases = o.Releases
	}
	for _, pair := range all {
		onB := onB[:o.Releases]
		onA, err := releases(m, pair.A, o.Seed, o.Releases)
		if err == nil && !slices.EqualFunc(pair.B.X, o.B.X, same) {
			onB, err = releases(m, pair.B, o.Seed+1, o.Releases)
		}
		if err != nil {
			failf(t, "%v", err)
			return
		}
		pair.FalseAlarm /= float64(len(all) * 3) // the bounds', the curve's and suspicions' shares
		said, err := distinguish(m, pair, onA, onB)
		if err != nil {
			failf(t, "%v", err)
			return
		}
		if said.Violated() {
			o.A, o.B = pair.A, pair.B
			failf(t, "with other records, the mechanism costs more than %v: A is %s (Seed %d, false-alarm rate %g):%s%s",
				m.Claim(), sourceOfRecords(pair.A), o.Seed, o.FalseAlarm, said.violations(onA, onB), o.test())
			return
		}
	}
}

// kind is the beginning of a report's first failure, which says what kind it is of.
func kind(report string) string {
	_, after, _ := strings.Cut(report, "proptest: ")
	for strings.HasPrefix(after, "ε ≥") { // an audit that passed
		_, after, _ = strings.Cut(after, "proptest: ")
	}
	after = strings.Trim(after, "0123456789 ")
	return after[:min(len(after), 20)]
}

// shrunk are options with fewer releases and plainer records that still fail in the same way: half as
// many releases as long as that fails, then only the first records, then plain numbers.
// It makes about as many releases as led to the failure, whatever the time.
func (o MechanismOptions) shrunk(m Mechanism, report string) MechanismOptions {
	left := max(4*o.Releases, 200_000)
	fails := func(o MechanismOptions) bool {
		if left -= max(o.Releases, 2000); left < 0 {
			return false
		}
		said, failed := Try("", func(t rapid.TB) { checkReleases(t, m, o) })
		return failed && kind(said) == kind(report)
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

// test is a Go test that repeats a failure.
func (o MechanismOptions) test() string {
	options := fmt.Sprintf("\tDelta: %v, Releases: %d, Seed: %d", o.Delta, o.Releases, o.Seed) + falseAlarm(o.FalseAlarm)
	if o.Effort != Standard { // it decides how far a suspicion is followed
		options += ", Effort: " + o.Effort.source()
	}
	if o.Statistic != nil {
		options += ", Statistic: yourStatistic"
	}
	return goTest("proptest.CheckMechanism(t, yourMechanism, proptest.MechanismOptions{",
		"\tA: "+sourceOfRecords(o.A)+",", "\tB: "+sourceOfRecords(o.B)+",", options+"})")
}
