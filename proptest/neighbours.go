package proptest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/curator"
)

// neighbourhood lists other neighbours: A with another first record, strange or plain, against
// B; the two whose first record is at another place, where all other records are strange, and at
// other scales.
func neighbourhood(o MechanismOptions) (all []MechanismOptions) {
	p, most := o.A.Features, largestOf(o)
	first := func(edit func(x []float64)) {
		part := o
		part.A = edited(o.A, func(x, _ []float64) { edit(x[:p]) })
		all = append(all, part)
	}
	part := o
	if n := len(o.A.X) / p; n > 1 {
		for _, i := range someOf(n-1, 5) {
			all = append(all, o.moved(1+i))
		}
	}
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
	if o.A.Y != nil { // a response may be clipped nowhere, or somewhere else
		largest := sizeOf(o.A.Y, o.B.Y)
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 10 * largest, -10 * largest, 1e3, -1e6, 1e300} {
			part.A = edited(o.A, func(_, y []float64) { y[0] = v })
			all = append(all, part)
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
		for _, v := range []float64{most / 2, -most / 2} { // all others are alike, and a sum is at no end of its range
			part.A, part.B = filled(o.A, 1, v), filled(o.B, len(o.B.X)/p-n+1, v)
			all = append(all, part)
		}
		for _, v := range []float64{most, -most} { // one record against all others, which are alike
			part.B = filled(o.B, 0, v)
			for _, by := range []float64{-1, -10} {
				part.A = filled(o.A, 0, v)
				times(part.A.X[:p], by)
				all = append(all, part)
			}
		}
	}
	for _, by := range []float64{-1, 10, 1e6} {
		larger := func(x, _ []float64) { times(x, by) }
		part.A, part.B = edited(o.A, larger), edited(o.B, larger)
		all = append(all, part)
	}
	return append(all, o.mingled(most)...)
}

// mingled are neighbours whose records are those of A and B, and strange ones, in any places; in
// every second all records but the first are one.
func (o MechanismOptions) mingled(most float64) (all []MechanismOptions) {
	rng, p := rand64(o.Seed, 43), o.A.Features
	both := edited(o.A, func(_, _ []float64) {})
	both.X, both.Y = append(both.X, o.B.X...), append(both.Y, o.B.Y...)
	strange := []float64{0, most, -most, 10 * most, math.NaN(), math.Inf(1), 1e300}
	draw := func(x, y []float64) {
		i := rng.IntN(len(both.X) / p)
		copy(x, both.X[i*p:(i+1)*p])
		copy(y, both.Y[min(i, len(both.Y)):])
		if rng.IntN(3) == 0 {
			fill(x, strange[rng.IntN(len(strange))])
		}
	}
	mix := func(x, y []float64) {
		for i := 0; (i+1)*p <= len(x); i++ {
			draw(x[i*p:(i+1)*p], y[min(i, len(y)):min(i+1, len(y))])
			if i > 0 && len(all)%2 == 0 {
				copy(x[i*p:(i+1)*p], x[:p])
				copy(y[min(i, len(y)):], y[:min(1, len(y))])
			}
		}
	}
	for range o.Effort.times(24, 8) {
		part, gone := o, len(o.A.X) > len(o.B.X)
		part.B = edited(o.B, mix)
		if part.A = edited(part.B, func(_, _ []float64) {}); gone {
			part.A = edited(o.A, func(x, y []float64) {
				copy(x[p:], part.B.X)
				copy(y[min(1, len(y)):], part.B.Y)
			})
		}
		first := func(x, y []float64) { draw(x[:p], y[:min(1, len(y))]) }
		if first(part.A.X, part.A.Y); !gone {
			first(part.B.X, part.B.Y)
		}
		if n := len(part.A.X) / p; n > 1 && rng.IntN(3) == 0 {
			part = part.moved(1 + rng.IntN(n-1))
		}
		all = append(all, part)
	}
	return all
}

// moved are A and B whose first record, or A's where B has none, is at another place.
func (o MechanismOptions) moved(place int) MechanismOptions {
	p, gone := o.A.Features, len(o.A.X) > len(o.B.X)
	move := func(x, y []float64) {
		first := slices.Clone(x[:p])
		copy(x, x[p:(place+1)*p])
		copy(x[place*p:], first)
		if y != nil {
			response := y[0]
			copy(y, y[1:place+1])
			y[place] = response
		}
	}
	if o.A = edited(o.A, move); !gone {
		o.B = edited(o.B, move)
	}
	return o
}

// firstOf are the first n records.
func firstOf(r curator.Records, n int) curator.Records {
	r.X = r.X[:n*r.Features]
	if r.Y != nil {
		r.Y = r.Y[:n]
	}
	return r
}

// checkNeighbours compares other neighbours than A and B, under either adjacency: many with few
// releases each, of those the quarter that promises most, by divergences or by sets, with four times
// as many, and so on down to two. Those
// that a search finds farther apart begin with as many as A and B.
func checkNeighbours(t rapid.TB, m Mechanism, onB [][]float64, o MechanismOptions) {
	t.Helper()
	all := neighbourhood(o)
	late, found := farther(m, onB, o)
	for _, most := range []int{8, 20, 64, 1100} { // records, which every release reads
		if pair, ok := o.among(m, most*o.A.Features/max(1, len(o.A.X))); ok {
			all = append(all, pair)
		}
	}
	if n := len(o.B.X) / o.B.Features; len(o.A.X) > len(o.B.X) {
		fewer := o
		if n > 1 { // a record tells more among fewer
			fewer.A, fewer.B = firstOf(o.A, 2), firstOf(o.B, 1)
			all = append(all, fewer)
		}
		if fewer.A, fewer.B = firstOf(o.A, 1), firstOf(o.B, 0); n > 0 && takes(m, fewer.B) {
			all = append(all, fewer)
		}
	}
	all = different(slices.Concat(all, o.ascending(m), o.quietest(m), o.restless(m), o.screened(m)))
	// The bounds', the curve's, suspicions' and divergences' shares, in as many rounds.
	const rounds = 5
	o.FalseAlarm /= float64(4 * rounds * (len(all) + 1))
	promise := make([]Audit, len(all))
	for round, last := 0, false; !last; round++ {
		last = round == rounds-1 || len(all) <= 2
		n := min(len(onB), max(2000, len(onB)/max(1, 2*len(all))))
		if last {
			n = len(onB) / 2
		}
		for i, pair := range all {
			if promise[i] = checkPair(t, m, onB, o, pair, n); t.Failed() {
				return
			}
		}
		all = mostPromising(all, promise)
	}
	if found {
		checkPair(t, m, onB, o, late, len(onB))
	}
}

// shortly writes records, and only the first two of many.
func shortly(r curator.Records) string {
	if n := len(r.X) / r.Features; n > 20 {
		return fmt.Sprintf("%d records that begin with %s", n, sourceOfRecords(firstOf(r, 2)))
	}
	return sourceOfRecords(r)
}

// among are A and B with so many times their other records; not if the mechanism refuses those.
func (o MechanismOptions) among(m Mechanism, times int) (pair MechanismOptions, ok bool) {
	if times < 2 {
		return o, false
	}
	p := o.A.Features
	pair = o
	more := func(r curator.Records, from int) curator.Records {
		rest := filled(r, len(r.X)/p, 0) // a copy
		rest.X = append(rest.X, slices.Repeat(r.X[from*p:], times-1)...)
		if r.Y != nil {
			rest.Y = append(rest.Y, slices.Repeat(r.Y[from:], times-1)...)
		}
		return rest
	}
	pair.A, pair.B = more(o.A, 1), more(o.B, 1-(len(o.A.X)-len(o.B.X))/p)
	_, err := m.Release(pair.A, o.Seed, 1)
	return pair, err == nil && len(pair.A.X) > len(o.A.X)
}

// ascending are neighbours of more and more records that are one, or its opposite, but for B's first. Their sums are of
// every size, so that one pair is on either side of any place from which a mechanism does something else. There are at
// least as many as in A: fewer may cost more, as those of which a number is sampled do.
func (o MechanismOptions) ascending(m Mechanism) (all []MechanismOptions) {
	if o.Effort < Standard {
		return nil
	}
	p, most, gone := o.A.Features, largestOf(o), (len(o.A.X)-len(o.B.X))/o.A.Features
	for i := range 12 {
		for _, v := range []float64{most, -most} {
			pair := o.sized(len(o.A.X)/p + 1 + i*(2-gone))
			pair.A.X, pair.B.X = slices.Clone(pair.A.X), slices.Clone(pair.B.X)
			fill(pair.A.X, v)
			if fill(pair.B.X, v); gone == 0 {
				fill(pair.B.X[:p], -v)
			}
			if takes(m, pair.A) {
				all = append(all, pair)
			}
		}
	}
	return all
}

// mostPromising are a quarter of the pairs, and two at least: half of them by divergences, half by sets.
func mostPromising(all []MechanismOptions, promise []Audit) (best []MechanismOptions) {
	by := [2][]int{}
	for k := range by {
		for i := range all {
			by[k] = append(by[k], i)
		}
	}
	slices.SortStableFunc(by[0], func(i, j int) int { return cmp.Compare(promise[j].promise, promise[i].promise) })
	slices.SortStableFunc(by[1], func(i, j int) int { return cmp.Compare(promise[j].near, promise[i].near) })
	taken := make([]bool, len(all))
	for k := 0; len(best) < min(len(all), max(2, (len(all)+3)/4)); k++ {
		for _, order := range by {
			if i := order[k]; !taken[i] {
				taken[i] = true
				best = append(best, all[i])
			}
		}
	}
	return best
}

// different are neighbours without those that come twice, or that differ in nothing.
func different(all []MechanismOptions) (some []MechanismOptions) {
	seen := map[string]bool{}
	for _, pair := range all {
		key := sourceOfRecords(pair.A) + sourceOfRecords(pair.B)
		if seen[key] || sourceOfRecords(pair.A) == sourceOfRecords(pair.B) {
			continue
		}
		seen[key] = true
		some = append(some, pair)
	}
	return some
}

// takes reports whether a mechanism releases something on a table. It may refuse an empty one, and
// numbers of records.
func takes(m Mechanism, r curator.Records) (does bool) {
	defer func() {
		if recover() != nil {
			does = false
		}
	}()
	_, err := m.Release(r, 1, 1)
	return err == nil
}

// checkPair compares n releases on other neighbours, and returns how much they promise.
func checkPair(t rapid.TB, m Mechanism, onB [][]float64, o, pair MechanismOptions, n int) Audit {
	t.Helper()
	pair.Releases, pair.FalseAlarm = n, o.FalseAlarm
	onA, err := releases(m, pair.A, o.Seed, n)
	if onB = onB[:n]; err == nil && !(slices.EqualFunc(pair.B.X, o.B.X, same) && slices.EqualFunc(pair.B.Y, o.B.Y, same)) {
		onB, err = releases(m, pair.B, o.Seed+1, n)
	}
	if err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	said, err := distinguish(m, pair, onA, onB)
	if err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	if said.Violated() {
		failf(t, "with other records, the mechanism costs more than %v: A is %s, B is %s (Seed %d, false-alarm rate "+
			"%g):%s%s", m.Claim(), shortly(pair.A),
			shortly(pair.B), o.Seed, o.FalseAlarm, said.violations(onA, onB), pair.test())
	}
	return said
}
