package proptest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// checkSensitivity substitutes A's records by wild ones.
func checkSensitivity(t rapid.TB, m Additive, o MechanismOptions) {
	t.Helper()
	q := query{m, o}
	onA := q.release(t, o.A)
	q.compare(t, o.A, o.B, onA, q.release(t, o.B))
	if t.Failed() {
		return
	}
	most := largestOf(o)
	if q.paths(t, [][2]float64{{-most, most}, {0, most}, {0, -most}, {math.NaN(), math.NaN()}}); t.Failed() {
		return
	}
	if m.Claim().Adjacency() == accountant.Substitute {
		q.substituted(t, onA)
	} else if o.place == 0 {
		q.added(t)
	}
	if !t.Failed() {
		q.paths(t, [][2]float64{{math.NaN(), math.Inf(1)}, {math.Inf(1), math.NaN()}})
	}
	if !t.Failed() && o.Effort >= Standard {
		q.far(t)
	}
}

// far replaces, or removes, records of a long table: beside powers of two, round places and some others. Blocks of
// records begin and end there.
func (q query) far(t rapid.TB) {
	t.Helper()
	const n = 10_010
	p, rng := q.o.A.Features, rand64(q.o.Seed, 49)
	opposite := slices.Clone(q.o.A.X) // so that sums stay small, and a grid's numbers exact
	times(opposite, -1)
	table := curator.Records{X: cycled(slices.Concat(q.o.A.X, opposite), n*p), Features: p}
	if q.o.A.Y != nil {
		table.Y = cycled(q.o.A.Y, n)
	}
	if !takes(q.m, table) {
		return
	}
	places := []int{999, 1000, 4999, 5000, 9999, 10_000, n - 1}
	for k := 512; k < n; k *= 2 {
		places = append(places, k-1, k)
	}
	for range 8 {
		places = append(places, rng.IntN(n))
	}
	far := 10 * largestOf(q.o)
	for _, i := range places {
		row := func(v float64) (curator.Records, []float64) {
			r := edited(table, func(x, _ []float64) { fill(x[i*p:(i+1)*p], v) })
			return r, q.release(t, r)
		}
		a, onA := row(far)
		b, onB := row(-far)
		if q.m.Claim().Adjacency() == accountant.AddRemove {
			b = edited(a, func(_, _ []float64) {})
			if b.X = slices.Delete(b.X, i*p, (i+1)*p); b.Y != nil {
				b.Y = slices.Delete(b.Y, i, i+1)
			}
			onB = q.release(t, b)
		}
		if q.compare(t, a, b, onA, onB); t.Failed() {
			return
		}
	}
}

// substituted replaces A's records by strange ones and by ones of every size.
func (q query) substituted(t rapid.TB, onA []float64) {
	t.Helper()
	m, o := q.m, q.o
	n := len(o.A.X) / o.A.Features
	few := append([]float64{3, -3, 1e5, -2e5, 1e12}, extremes...)
	for i := range min(n, 8) {
		values := few
		if i == 0 && !math.IsInf(m.Sensitivity(), 1) {
			values = slices.Concat(ladder(o.Effort), rounds(), few)
		}
		if q.replaced(t, i*n/min(n, 8), values, onA); t.Failed() {
			return
		}
	}
	property(t, func(rt *rapid.T) {
		rt.Helper()
		r := edited(o.A, func(x, y []float64) {
			copy(x, rapid.SliceOfN(Wild(), o.A.Features, o.A.Features).Draw(rt, "features"))
			if y != nil {
				y[0] = Wild().Draw(rt, "response")
			}
		})
		q.compare(rt, o.A, r, onA, q.release(rt, r))
	})
}

// query is what an Additive mechanism adds noise to, by releases of one seed.
type query struct {
	m Additive
	o MechanismOptions
}

func (q query) release(t rapid.TB, r curator.Records) []float64 {
	t.Helper()
	all, err := q.m.Release(r, q.o.Seed, 1)
	if err != nil {
		t.Fatalf("proptest: a release failed: %v\nreproduce: %s", err, Command(t.Name()))
	}
	return all[0]
}

// compare expects the releases on two data sets to differ by at most Sensitivity, in whole steps.
func (q query) compare(t rapid.TB, a, b curator.Records, base, moved []float64) (length float64) {
	t.Helper()
	sum, step := 0.0, q.m.Step()
	for j, v := range moved {
		d := v - base[j]
		sum += d * d
		// Values of some 2⁴⁰ steps leave a step's multiple good to 2⁻¹².
		if steps := d / step; step > 0 && math.Abs(steps-math.Round(steps)) > 1e-3 {
			failf(t, "the releases %v and %v of one seed differ by %v grid steps, not a whole number", v, base[j], steps)
		}
	}
	if length = math.Sqrt(sum); !(length <= q.m.Sensitivity()*(1+1e-9)) {
		k := differing(a, b)
		what := fmt.Sprintf("removing record %d, %s,", k, row(a, k))
		if len(a.X) == len(b.X) {
			what = fmt.Sprintf("replacing record %d, %s, by %s", k, row(a, k), row(b, k))
		}
		failf(t, "%s moves the release by %v, more than the sensitivity %v%s", what, length, q.m.Sensitivity(),
			q.o.sensitivityTest(a, b))
	}
	return length
}

// paths lead from one table to another, over neighbours: of many records that become others one by
// one, or that go one by one. The ends are what all records are: NaN stands for numbers at random,
// +Inf for strange ones in turn. What a sum of records comes past on its way shows: where it
// overflows, is rounded, or crosses a threshold.
func (q query) paths(t rapid.TB, from [][2]float64) {
	t.Helper()
	p, most := q.o.A.Features, largestOf(q.o)
	rng := rand64(q.o.Seed, 44)
	for _, n := range []int{2, 3, 10, 11, q.o.Effort.times(400, 80)} {
		for _, ends := range from {
			table := curator.Records{X: make([]float64, n*p), Features: p}
			if q.o.A.Y != nil {
				table.Y = make([]float64, n)
			}
			draw := func(r curator.Records, i int, v float64) {
				for j := range p {
					r.X[i*p+j] = v
					if math.IsNaN(v) {
						r.X[i*p+j] = most * max(-1, min(1.5*(2*rng.Float64()-1), 1)) // a third at the ends
					} else if math.IsInf(v, 1) {
						r.X[i*p+j] = extremes[(i+j)%len(extremes)]
					}
				}
				if r.Y != nil {
					r.Y[i] = q.o.A.Y[i%len(q.o.A.Y)]
				}
			}
			for i := range n {
				draw(table, i, ends[0])
			}
			if _, err := q.m.Release(table, q.o.Seed, 1); err != nil {
				return // it refuses so many
			}
			if q.sameNoise(t, table); t.Failed() {
				return
			}
			stops := []float64{ends[1]}
			if math.IsNaN(ends[0]) { // each goes all the way, beside others at random
				stops = []float64{-most, most, ends[1]}
			}
			if q.path(t, table, stops, draw); t.Failed() {
				return
			}
		}
	}
}

// sameNoise expects releases of one seed on a table to differ from those on A by what the query does,
// each alike: noise that depends on the seed alone is the same for tables of every size.
func (q query) sameNoise(t rapid.TB, table curator.Records) {
	t.Helper()
	if math.IsInf(q.m.Sensitivity(), 1) {
		return // batches differ from release to release
	}
	onA, errA := q.m.Release(q.o.A, q.o.Seed, 5)
	on, err := q.m.Release(table, q.o.Seed, 5)
	if errA != nil || err != nil || len(onA) != len(on) {
		return // said elsewhere
	}
	for i := range on {
		for j := range on[i] {
			first, now := on[0][j]-onA[0][j], on[i][j]-onA[i][j]
			size := max(math.Abs(on[i][j]), math.Abs(on[0][j]), math.Abs(onA[i][j]), math.Abs(onA[0][j]))
			if !(math.Abs(now-first) <= 1e-12*size) {
				failf(t, "release %d of one seed differs by %v between A and a table of %d records, and release 0 by %v: the "+
					"noise depends on the records, or on their number (Seed %d)", i, now, len(table.X)/table.Features, first,
					q.o.Seed)
				return
			}
		}
	}
}

// path changes the records of a table one by one, by stops, or removes them.
func (q query) path(t rapid.TB, table curator.Records, stops []float64,
	draw func(r curator.Records, i int, v float64)) {
	t.Helper()
	p, substitutes := table.Features, q.m.Claim().Adjacency() == accountant.Substitute
	was := q.release(t, table)
	n := len(table.X) / p
	steps := n * len(stops)
	if !substitutes {
		steps = n - 1 // one stays
	}
	for i := range steps {
		next := edited(table, func(_, _ []float64) {})
		if substitutes {
			draw(next, i/len(stops), stops[i%len(stops)])
		} else if next.X = next.X[p:]; next.Y != nil {
			next.Y = next.Y[1:]
		}
		is := q.release(t, next)
		if q.compare(t, table, next, was, is); t.Failed() {
			return
		}
		table, was = next, is
	}
}

// largestOf is the largest finite feature of A and B.
func largestOf(o MechanismOptions) float64 { return sizeOf(o.A.X, o.B.X) }

// sizeOf is the largest finite number of two slices.
func sizeOf(a, b []float64) (most float64) {
	for _, v := range slices.Concat(a, b) {
		if finite(v) {
			most = max(most, math.Abs(v))
		}
	}
	return most
}

// with is A whose record i has a value in one column, the response being the last.
func (o MechanismOptions) with(i, column int, v float64) curator.Records {
	p := o.A.Features
	return edited(o.A, func(x, y []float64) {
		if column < p {
			x[i*p+column] = v
		} else if y != nil {
			y[i] = v
		}
	})
}

// added compares B with B and one more record.
func (q query) added(t rapid.TB) {
	t.Helper()
	onB := q.release(t, q.o.B)
	for j := range q.o.A.Features + 1 {
		for _, v := range slices.Concat(ladder(q.o.Effort), rounds(), []float64{1e12, -1e12}, extremes) {
			r := q.o.with(0, j, v)
			if q.compare(t, r, q.o.B, q.release(t, r), onB); t.Failed() {
				return
			}
		}
	}
}

// replaced compares A with A whose record i has other values, and the one that is farthest from A
// with others: the two records that are farthest apart are one far from A's, and one far from that.
func (q query) replaced(t rapid.TB, i int, values []float64, onA []float64) {
	t.Helper()
	far, there := q.o.A, onA
	for range 2 {
		from, base, most := far, there, 0.0
		for j := range q.o.A.Features + 1 {
			for _, v := range values {
				r := q.o.with(i, j, v)
				moved := q.release(t, r)
				length := q.compare(t, from, r, base, moved)
				if t.Failed() {
					return
				}
				if length > most {
					far, there, most = r, moved, length
				}
			}
		}
	}
}

// ladder has numbers of every size that records usually have, of either sign.
func ladder(e Effort) (all []float64) {
	for v := 1e-3; v < 1e5; v *= e.either(1.04, 1.6) {
		all = append(all, v, -v)
	}
	return all
}

// rounds are numbers where bins and clips begin: twentieths, and whole ones.
func rounds() []float64 {
	all := []float64{0}
	for i := 1; i <= 40; i++ {
		all = append(all, float64(i)/20, -float64(i)/20)
	}
	for _, v := range []float64{3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 21, 25, 30, 32, 50, 64, 65, 100, 128, 256,
		1000} {
		all = append(all, v, -v)
	}
	return all
}
