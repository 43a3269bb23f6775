package proptest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/audit"
)

// callSizes are the numbers of releases of the calls that are made in turn: of four pairs of calls
// one makes one release each, two make 64, and one takes the sizes of this list in turn.
var callSizes = []int{2, 3, 4, 5, 8, 10, 16, 100}

// group are releases that have their place in a call in common, and pairs of neighbours.
type group struct {
	name  string
	all   [][]float64
	pairs [][2][]float64
	// Of calls of one size: how many pairs there are whose seeds differ in a bit or two, how many of
	// those overlap, and in which bits.
	size, tried, equal int
	bits               [64]int
}

// checkCalls makes many calls of few releases: calls of different seeds give other releases,
// and those of a call have the law of all and are independent, whatever their place and number.
func checkCalls(t rapid.TB, m Mechanism, onA [][]float64, o MechanismOptions) {
	t.Helper()
	if len(onA) < 20 {
		return // too few to know what they are like
	}
	groups, err := makeCalls(m, min(len(onA), max(400, min(len(onA)/500, 2000)))/2, o)
	if err != nil {
		failf(t, "%v", err)
		return
	}
	e := &evidence{}
	for _, g := range groups {
		g.differ(e, onA)
	}
	if err := plainCalls(e, m, onA, o); err != nil {
		failf(t, "%v", err)
		return
	}
	for _, j := range someOf(len(onA[0]), 4) {
		law := newLawOf(onA, j)
		for _, g := range groups {
			law.compare(e, g)
		}
	}
	if e.family() <= o.FalseAlarm/shares {
		failf(t, "%s (p = %.2g in %d comparisons, Seed %d, false-alarm rate %g)%s", e.about, e.family(), e.count, o.Seed,
			o.FalseAlarm, o.test())
	}
}

// beside are the distances of the bits that seeds of a pair of calls exchange, where it is not one bit
// that differs: seeds that are folded in halves are then the same.
var beside = []int{0, 32, 16, 8}

// makeCalls makes pairs of calls whose seeds differ in one bit, or in two that they exchange, and
// groups their releases by the size of the call and as first and last ones. More have seeds in a row.
func makeCalls(m Mechanism, pairs int, o MechanismOptions) ([]*group, error) {
	first, last := &group{name: "the first releases of calls"}, &group{name: "the last releases of calls"}
	next := &group{name: "the releases of calls whose seeds follow each other", size: 64}
	single := &group{name: "the releases of calls for one whose seeds follow each other", size: 1}
	across := &group{name: "first releases of calls whose seeds follow each other"} // of pairs alone
	groups, bySize := []*group{first, last, next, single, across}, map[int]*group{}
	for i := range pairs {
		size, bit := []int{1, 64, callSizes[i/4%len(callSizes)], 64}[i%4], i/4%64
		g := bySize[size]
		if g == nil {
			g = &group{name: fmt.Sprintf("the releases of calls for %d", size), size: size}
			bySize[size], groups = g, append(groups, g)
		}
		also := (bit + beside[i/256%len(beside)]) % 64
		seed := (o.Seed+uint64(i+1)*0x9e3779b97f4a7c15)&^(1<<bit) | 1<<also&^(1<<bit)
		one, other, err := g.pair(m, o, bit, seed, seed&^(1<<also)|1<<bit)
		if err != nil {
			return nil, err
		}
		for _, call := range [][][]float64{one, other} {
			first.all, last.all = append(first.all, call[0]), append(last.all, call[size-1])
		}
	}
	for i := range pairs {
		g, seed := single, o.Seed+uint64(i+1)*0xd1342543de82ef95
		if i%32 == 0 {
			g = next
		}
		one, other, err := g.pair(m, o, 0, seed, seed+1)
		if err != nil {
			return nil, err
		}
		across.pairs = append(across.pairs, [2][]float64{one[0], other[0]})
	}
	return groups, nil
}

// pair adds the releases of two calls, whose seeds differ in a bit.
func (g *group) pair(m Mechanism, o MechanismOptions, bit int, seed, also uint64) (one, other [][]float64, err error) {
	if one, err = releases(m, o.A, seed, g.size); err != nil {
		return nil, nil, err
	}
	if other, err = releases(m, o.A, also, g.size); err != nil {
		return nil, nil, err
	}
	if g.tried++; overlap(one, other) {
		g.equal++
		g.bits[bit]++
	}
	for _, call := range [][][]float64{one, other} {
		g.all = append(g.all, call...)
		for k := g.size % 2; k+1 < g.size; k += 2 { // to the last one
			g.pairs = append(g.pairs, [2][]float64{call[k], call[k+1]})
		}
	}
	return one, other, nil
}

// differ expects calls of different seeds to give other releases. Where they do, pairs of them
// overlap no more often than pairs of blocks of one long call.
func (g *group) differ(e *evidence, onA [][]float64) {
	n := len(g.all)
	if n == 0 {
		return
	}
	if g.size == 0 { // one release of each call
		here, there := distinct(g.all), distinct(onA[:n])
		// Each call changes the number of values by one at most: McDiarmid's inequality, for
		// both numbers.
		fewer := max(0, float64(there-here))
		e.see(min(1, 4*math.Exp(-fewer*fewer/2/float64(n))), func() string {
			return fmt.Sprintf("%s of %d different seeds have %d different values, and as many releases of one call %d", g.name,
				n, here, there)
		})
		return
	}
	chance, blocks := 0, len(onA)/(2*g.size)
	for i := range blocks {
		block := onA[2*i*g.size : 2*(i+1)*g.size]
		if overlap(block[:g.size], block[g.size:]) {
			chance++
		}
	}
	p := 1.0
	if g.equal*blocks > chance*g.tried {
		p = fisher(g.equal, g.tried, chance, blocks)
	}
	e.see(p, func() string {
		worst := slices.Index(g.bits[:], slices.Max(g.bits[:]))
		return fmt.Sprintf("%d of %d pairs of calls for %d whose seeds follow each other, or differ in a bit or two, are "+
			"equal or overlap, or have numbers of one distance or one sum, most of them where one is bit %d, and %d of %d "+
			"pairs of as many releases in a row", g.equal, g.tried, g.size, worst, chance, blocks)
	})
}

// plainSeeds are those for which a generator may take another: 0 and 1, the same but for a sign, and what
// leaves 0 when a seed is cut to a modulus. Those of ones alone are others when a number is written behind them.
var plainSeeds = []uint64{0, 1, 2, 11, 0x11, 100, 111, 1000, 1e6, 1e9, 1e9 + 7, 1<<31 - 1, 1<<32 - 1, 1<<61 - 1,
	1 << 63, math.MaxUint64}

// plainCalls expects calls of such seeds to have no more releases in common than with a long call, wherever in them:
// given one, each release of another is among its releases with a probability that the long call tells.
func plainCalls(e *evidence, m Mechanism, onA [][]float64, o MechanismOptions) error {
	const size, rare = 64, 1e-12
	calls := make([][][]float64, len(plainSeeds))
	of := map[string][]int{} // the calls that have a release
	for i, seed := range plainSeeds {
		var err error
		if calls[i], err = releases(m, o.A, seed, size); err != nil {
			return err
		}
		for _, r := range calls[i] {
			if key := keyOf(r); !slices.Contains(of[key], i) {
				of[key] = append(of[key], i)
			}
		}
	}
	usual := make([]int, len(calls)) // releases of the long call that a call has
	long := firstOfThem(onA, 200_000)
	for _, r := range long {
		for _, i := range of[keyOf(r)] {
			usual[i]++
		}
	}
	least, said := 1.0, "no releases for plain seeds"
	for k := range calls {
		_, chance := audit.ClopperPearson(usual[k], len(long), rare)
		for i, call := range calls {
			common := 0
			for _, r := range call {
				if slices.Contains(of[keyOf(r)], k) {
					common++
				}
			}
			if p := atLeast(common, size, chance) + rare; i != k && p < least {
				least, said = p, fmt.Sprintf("%d of %d releases for the seed %d are among those for the seed %d", common, size,
					plainSeeds[i], plainSeeds[k])
			}
		}
	}
	n := float64(len(calls))
	e.see(min(1, n*(n-1)*least), func() string { return said })
	return nil
}

// keyOf tells a release from others.
func keyOf(r []float64) string {
	key := make([]byte, 0, 8*len(r))
	for _, v := range r {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(ordered(v)+0)) // one zero
	}
	return string(key)
}

// overlap reports whether one call is the other, or goes on with it after a power of two of its
// releases, up to half of them, or has the noise of one of its numbers.
func overlap(a, b [][]float64) bool {
	if alike(a, b) || sharesNoise(a, b) {
		return true
	}
	for by := 1; by <= len(a)/2; by *= 2 {
		if rest := len(a) - by; alike(a[by:], b[:rest]) || alike(b[by:], a[:rest]) {
			return true
		}
	}
	return false
}

// sharesNoise reports whether a number keeps its distance from one of another call, or their sum, in the same
// coordinate or another one.
func sharesNoise(a, b [][]float64) bool {
	const few = 4
	if len(a) < few {
		return false
	}
	some := someOf(len(a[0]), 4)
	for _, j := range some {
		v := column(a, j)
		width := 1e-9 * (slices.Max(v) - slices.Min(v)) // sums are rounded
		for _, k := range some {
			for _, sign := range []float64{1, -1} {
				first, i := v[0]-sign*b[0][k], 1
				for i < len(v) && math.Abs(v[i]-sign*b[i][k]-first) <= width {
					i++
				}
				if width > 0 && i == len(v) {
					return true
				}
			}
		}
	}
	return false
}

// lawOf is what one coordinate of a long call's releases is like: how many of the second half
// are in sets that the first half cuts, and how many pairs of neighbours have something in common.
type lawOf struct {
	coordinate int
	sets       []interval
	in         []int // of n
	n          int
	shared     [3]int // of n/2 pairs
}

// interval has both its ends.
type interval struct{ low, high float64 }

func (s interval) has(v float64) bool { return v >= s.low && v <= s.high }

func newLawOf(onA [][]float64, j int) *lawOf {
	half := len(onA) / 2
	v := column(onA[:half], j)
	for i := range v {
		v[i] = ordered(v[i])
	}
	slices.Sort(v)
	at := func(share float64) float64 { return v[int(share*float64(half-1))] }
	law := &lawOf{coordinate: j, n: len(onA) - half}
	for _, p := range []float64{0.5, 0.02, 0.1, 0.25, 0.75, 0.9, 0.98} { // the median first
		law.sets = append(law.sets, interval{math.Inf(-1), at(p)})
	}
	for _, p := range []float64{0.25, 0.1, 0.4} { // the middle half first
		law.sets = append(law.sets, interval{at(p), at(1 - p)})
	}
	law.in = law.counts(onA[half:])
	for i := half; i+1 < len(onA); i += 2 {
		law.share(&law.shared, onA[i], onA[i+1])
	}
	return law
}

func (l *lawOf) counts(all [][]float64) []int {
	in := make([]int, len(l.sets))
	for _, r := range all {
		for k, s := range l.sets {
			if s.has(ordered(r[l.coordinate])) {
				in[k]++
			}
		}
	}
	return in
}

// share counts what two releases have in common: the value, the side of the median, and whether
// they lie in the middle half.
func (l *lawOf) share(into *[3]int, a, b []float64) {
	v, w := ordered(a[l.coordinate]), ordered(b[l.coordinate])
	side, middle := l.sets[0], l.sets[7]
	for k, both := range []bool{v == w, side.has(v) == side.has(w), middle.has(v) == middle.has(w)} {
		if both {
			into[k]++
		}
	}
}

// compare expects a group to be like the long call: given how many of both are in a set, that of
// the group is hypergeometric.
func (l *lawOf) compare(e *evidence, g *group) {
	for k, in := range l.counts(g.all) {
		e.see(unlikeShares(in, len(g.all), l.in[k], l.n), func() string {
			return fmt.Sprintf("%s have another law than those of a long call: %d of %d have a coordinate %d from %.4g to "+
				"%.4g, and %d of %d", g.name, in, len(g.all), l.coordinate, l.sets[k].low, l.sets[k].high, l.in[k], l.n)
		})
	}
	var shared [3]int
	for _, p := range g.pairs {
		l.share(&shared, p[0], p[1])
	}
	for k, what := range []string{"are equal", "lie on one side of the median", "lie both in the middle half, or not"} {
		e.see(unlikeShares(shared[k], len(g.pairs), l.shared[k], l.n/2), func() string {
			return fmt.Sprintf("%s depend on each other: %d of %d pairs %s in coordinate %d, and %d of %d pairs in a row of a "+
				"long call",
				g.name, shared[k], len(g.pairs), what, l.coordinate, l.shared[k], l.n/2)
		})
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
// It makes about as many releases as led to the failure, or three times those of A and B.
func (o MechanismOptions) shrunk(m Mechanism, report string, made *int) MechanismOptions {
	most := *made + max(*made, 6*o.Releases)
	fails := func(o MechanismOptions) bool {
		if *made += 2000; *made > most { // few releases cost more than themselves
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
	from, gone := o.place*p, len(o.A.X) > len(o.B.X)
	alone := o // with the row that differs
	alone.place, alone.A.X, alone.B.X = 0, o.A.X[from:from+p], nil
	if !gone {
		alone.B.X = o.B.X[from : from+p]
	}
	if o.A.Y != nil {
		alone.A.Y, alone.B.Y = o.A.Y[o.place:o.place+1], o.B.Y[o.place:min(o.place+1, len(o.B.Y))]
	}
	if !gone && to(alone) {
		from = 0
	}
	n := len(o.A.X)
	u := slices.Clone(o.A.X) // then B's row
	if !gone {
		u = append(u, o.B.X[from:from+p]...)
	}
	of := func(u []float64) MechanismOptions {
		c := o
		c.A.X, c.B.X = slices.Clone(u[:n]), slices.Concat(u[:from], u[n:], u[from+p:n])
		return c
	}
	shrink(u, func(u []float64) bool { return fails(of(u)) })
	return of(u)
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
