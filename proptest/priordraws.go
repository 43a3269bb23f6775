package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// priorAlarm bounds the probability that checkSampler rejects a right sampler.
const (
	priorAlarm = 1e-6
	priorLooks = 14 // four at quantiles, one at ends, independence and repeats each, in each of two passes
	degrees    = 4  // of the polynomials of a quantile

	// Where quantiles are as unlikely as this by themselves, more draws are made.
	doubtful = 1e-3
)

// checkSampler compares a PriorSampler's draws with LogPrior: given the other
// parameters, the place of each among the density's quantiles, by quadrature
// along it, is uniform.
func checkSampler(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	s, ok := target.(targets.PriorSampler)
	if !ok || t.Failed() {
		return
	}
	rng, d := rand64(o.Seed, 25), target.Dim()
	for range 500 {
		seed, one, again := rng.Uint64(), make([]float64, d), make([]float64, d)
		fill(again, math.NaN())
		s.SamplePrior(one, rand64(seed, 32))
		if s.SamplePrior(again, rand64(seed, 32)); !slices.EqualFunc(one, again, identical) {
			fatalf(t, "SamplePrior draws %v and %v from one random stream; all randomness comes from rng, and nothing from "+
				"what theta held (Seed %d)", one, again, o.Seed)
		}
	}
	theta, draws := make([]float64, d), make([][]float64, o.Effort.times(100_000, 5000))
	draw := func() {
		t.Helper()
		o.watch.goesOn()
		s.SamplePrior(theta, rng)
		if lp := target.LogPrior(theta); math.IsNaN(lp) || math.IsInf(lp, -1) {
			fatalf(t, "SamplePrior drew %v, where LogPrior is %v (Seed %d)", theta, lp, o.Seed)
		}
	}
	for i := range draws {
		draw()
		draws[i] = slices.Clone(theta)
	}
	places := placesOf(target, draws[:min(len(draws), apartDraws)], rng)
	n := len(draws)
	if places.allApart() { // by tables, which cost less than quadrature
		n *= max(1, min(4, 200/d))
	}
	for made, until := 1, n; made <= until; made++ {
		o.watch.goesOn() // a quadrature
		if made <= len(draws) {
			copy(theta, draws[made-1])
		} else {
			draw()
		}
		places.add(theta, rng.IntN(d), made)
		places.reach(theta, made > n/2)
		if made == until || made == n/4 || made == n/16 {
			if places.check(t, o) < doubtful && made == n {
				until = 4 * n // once
			}
			if made == n {
				places.reached(t, draws[0], o)
			}
		}
	}
	checkAtoms(t, draws, o)
	checkRepeats(t, draws, o)
	if e := dependence(draws, o.Seed); e.family() < priorAlarm/priorLooks {
		fatalf(t, "draws of SamplePrior are not independent: %s (p = %.2g in %d comparisons, Seed %d)", e.about, e.family(),
			e.count, o.Seed)
	}
}

// places are where draws lie among the quantiles of their density, and how that goes with the
// other parameters.
type places struct {
	target targets.Target
	about  []about    // where each parameter lies
	scale  []float64  // the mean size of each parameter
	tables []*table   // of the parameters that the density has apart from the others; else nil
	along  [][]moment // by parameter, of the Legendre polynomials
	with   [][]moment // by parameter, of the first two times functions of the others
	tails  [][2][farthest + 1]int
	others [][]otherOnes
	far    [][]otherEnd // by parameter, of others
	at     []float64    // of a draw
	hardly []*improbable
	joint  *jointTails // nil where the density does not have all parameters apart
	ends   []ends
}

// ends are the least and the largest of some draws, and how many of those after them are beyond either.
type ends struct {
	low, high    float64
	after        int
	below, above int
}

// farthest is the power of ½ of the smallest tail that is counted.
const farthest = 8

// apartDraws are those at which a parameter's density must be the same for it to have a table.
// If it is another one at more than 2 draws in 1000, they show that but once in a million.
const apartDraws = 7000

// aboutDraws are those that say where a parameter lies.
const aboutDraws = 200

func placesOf(target targets.Target, draws [][]float64, rng *rand.Rand) *places {
	d := target.Dim()
	p := &places{target: target, about: make([]about, d), scale: make([]float64, d), tables: make([]*table, d),
		at: make([]float64, d), along: make([][]moment, d),
		with: make([][]moment, d), tails: make([][2][farthest + 1]int, d), others: make([][]otherOnes, d),
		far: make([][]otherEnd, d), ends: make([]ends, d)}
	for j := range d {
		p.ends[j] = ends{low: math.Inf(1), high: math.Inf(-1)}
		for _, theta := range draws[:aboutDraws] {
			p.scale[j] += math.Abs(theta[j]) / aboutDraws
		}
		p.about[j] = aboutOf(column(draws[:aboutDraws], j))
		p.tables[j] = tabulated(target, draws, j, p.about[j], rng)
		p.along[j] = make([]moment, degrees)
		p.others[j], p.far[j] = others(d, j), farEnds(draws, j)
		p.with[j] = make([]moment, 2*len(p.others[j]))
		for _, all := range [][]moment{p.along[j], p.with[j]} {
			for k := range all {
				all[k].span = 2
			}
		}
	}
	p.hardly = improbables(target, draws, p.about)
	if p.allApart() && d > 1 {
		p.joint = newJointTails(d)
	}
	return p
}

// reach notes the ends of the first draws, and which of those after them are beyond.
func (p *places) reach(theta []float64, after bool) {
	for j, v := range theta {
		switch r := &p.ends[j]; {
		case !after:
			r.low, r.high = min(r.low, v), max(r.high, v)
		default:
			if r.after++; v < r.low {
				r.below++
			}
			if v > r.high {
				r.above++
			}
		}
	}
}

// reached expects draws beyond the farthest of as many before, as the density has beyond it: one on the mean, and many
// where draws stop at a bound. Given the first draws their number is binomial.
func (p *places) reached(t rapid.TB, theta []float64, o TargetOptions) {
	t.Helper()
	e := &evidence{}
	for j, r := range p.ends {
		if p.tables[j] == nil {
			continue
		}
		see := func(seen int, chance float64, side string, end float64) {
			if !(chance > 0) {
				return
			}
			e.see(atMost(seen, r.after, 0.8*chance), func() string {
				return fmt.Sprintf("%d of %d draws of parameter %d are %s %.6g, the farthest of as many before, where the "+
					"density has %.3g", seen, r.after, j, side, end, chance)
			})
		}
		below, _ := outside(p.target, theta, j, p.about[j], r.low)
		_, above := outside(p.target, theta, j, p.about[j], r.high)
		see(r.below, below, "below", r.low)
		see(r.above, above, "above", r.high)
	}
	if e.family() < priorAlarm/priorLooks {
		fatalf(t, "SamplePrior does not draw from LogPrior: %s (p = %.2g in %d comparisons, Seed %d)", e.about, e.family(),
			e.count, o.Seed)
	}
}

func (p *places) allApart() bool { return !slices.Contains(p.tables, nil) }

// add notes a draw, the how manieth it is: the places of parameters that have tables, and of parameter one.
func (p *places) add(theta []float64, one, made int) {
	for j, t := range p.tables {
		u := math.NaN()
		if t != nil {
			u = t.place(theta[j])
		}
		if math.IsNaN(u) && (t != nil || j == one) {
			u = quantile(p.target, theta, j, p.about[j])
		}
		if p.at[j] = u; math.IsNaN(u) {
			continue
		}
		for k, v := range polynomials(2*u - 1) {
			p.along[j][k].add(v)
		}
		side, out := 0, u
		if u > 0.5 {
			side, out = 1, 1-u
		}
		p.tails[j][side][min(farthest, int(-math.Log2(max(out, 1e-300))))]++
		if j != one {
			continue
		}
		bent := polynomials(2*u - 1)
		for k, f := range p.others[j] { // given the others, so independent of them
			v := f.of(theta, p.scale)
			p.with[j][2*k].add(bent[0] * v)
			p.with[j][2*k+1].add(bent[1] * v)
		}
		for _, f := range p.far[j] {
			f.add(theta[f.k], bent)
		}
		if p.hardly != nil {
			p.hardly[j].add(theta, bent, made)
		}
	}
	if p.joint != nil {
		p.joint.add(p.at)
	}
}

// table is a parameter's distribution function at some of its draws, in order.
type table struct{ at, below []float64 }

// place is the distribution function between two draws; NaN beyond them.
func (t *table) place(v float64) float64 {
	i := sort.SearchFloat64s(t.at, v)
	if i == 0 || i == len(t.at) {
		return math.NaN()
	}
	share := (v - t.at[i-1]) / (t.at[i] - t.at[i-1])
	return t.below[i-1] + share*(t.below[i]-t.below[i-1])
}

// tabulated is the table of a parameter whose density is the same up to a factor at all draws of
// the others, as two values at each of them tell; nil if it is not.
func tabulated(target targets.Target, draws [][]float64, j int, where about, rng *rand.Rand) *table {
	t := &table{at: column(draws[:400], j)}
	slices.Sort(t.at)
	logs, at := make([]float64, len(t.at)), make([]float64, target.Dim())
	density := func(theta []float64, v float64) float64 {
		copy(at, theta)
		at[j] = v
		return target.LogPrior(at)
	}
	below := func(v float64) float64 {
		density(draws[0], v)
		return quantile(target, at, j, where)
	}
	for i, v := range t.at {
		logs[i] = density(draws[0], v)
		t.below = append(t.below, below(v))
	}
	for _, theta := range draws {
		a, b := rng.IntN(len(logs)), rng.IntN(len(logs))
		here, there := density(theta, t.at[a])-density(theta, t.at[b]), logs[a]-logs[b]
		if !(math.Abs(here-there) <= 1e-9*(1+math.Abs(there))) {
			return nil
		}
	}
	for i := 1; i < len(t.at); { // straight lines are good where steps are small
		middle := (t.at[i-1] + t.at[i]) / 2
		if !(t.below[i]-t.below[i-1] >= 0.003) || middle <= t.at[i-1] || middle >= t.at[i] || len(t.at) > 4000 {
			i++
			continue
		}
		t.at, t.below = slices.Insert(t.at, i, middle), slices.Insert(t.below, i, below(middle))
	}
	return t
}

// checkAtoms expects no value of a parameter to come again and again, unless it is
// where numbers near an end of the support are rounded to: a density has no atoms.
func checkAtoms(t rapid.TB, draws [][]float64, o TargetOptions) {
	t.Helper()
	for j := range draws[0] {
		v := column(draws, j)
		slices.Sort(v)
		for i, few := len(v)/20, max(5, len(v)/5000); i < len(v)*19/20; i++ {
			if k := i + few; k < len(v)*19/20 && v[k] == v[i] {
				fatalf(t,
					"SamplePrior does not draw from LogPrior: parameter %d is %v in more than %d of %d draws, and a density has "+
						"no such atoms (Seed %d)", j, v[i], few, len(v), o.Seed)
			}
		}
	}
}

// checkRepeats expects hardly any draw of the second half to be one of the first: a sampler that seeds a generator with
// a few digits has few draws, each as good as any. Two right ones are allowed to be the same with probability 2⁻²⁸, and
// 2⁻²² of one parameter, whose uniform number may have 24 bits. What numbers near an end of the support are rounded to
// does not count.
func checkRepeats(t rapid.TB, draws [][]float64, o TargetOptions) {
	t.Helper()
	d, alike := len(draws[0]), 1./(1<<28)
	if d == 1 {
		alike = 1. / (1 << 22)
	}
	middle := make([]interval, d)
	for j := range middle {
		v := column(draws, j)
		slices.Sort(v)
		middle[j] = interval{v[len(v)/20], v[len(v)*19/20]}
	}
	half := draws[:len(draws)/2]
	seen := make(map[float64][]int, len(half)) // by the first parameter
	for i, theta := range half {
		seen[theta[0]] = append(seen[theta[0]], i)
	}
	met, first := 0, []float64(nil)
	for _, theta := range draws[len(half):] {
		inside := false
		for j, s := range middle {
			inside = inside || s.has(theta[j])
		}
		if inside && slices.ContainsFunc(seen[theta[0]], func(i int) bool { return slices.Equal(half[i], theta) }) {
			met, first = met+1, theta
		}
	}
	if p := atLeast(met, len(draws)-len(half), float64(len(half))*alike); p < priorAlarm/priorLooks {
		fatalf(t, "SamplePrior draws from few values: %d of %d draws are among the %d before, such as %v, and a density has "+
			"no such draws: has its generator a seed of few digits? (p = %.2g, Seed %d)", met, len(draws)-len(half),
			len(half), first, p, o.Seed)
	}
}

// check is one of priorLooks looks at the draws' quantiles, and says how unlikely they look. Quadrature
// and tables are good to a thousandth.
func (p *places) check(t rapid.TB, o TargetOptions) (doubt float64) {
	t.Helper()
	const allowed = 2e-3
	e := &evidence{}
	mean := func(m moment, what func() string) {
		said := m.mean()
		m.less(allowed)
		e.mean(&m, func() string { return fmt.Sprintf("the mean of %s is %.2g over %d draws, not 0", what(), said, m.n) })
	}
	for j := range p.along {
		for k, m := range p.along[j] {
			mean(m, func() string {
				return fmt.Sprintf("the Legendre polynomial of degree %d of the quantiles of parameter %d", k+1, j)
			})
		}
		for k, m := range p.with[j] {
			mean(m, func() string {
				return fmt.Sprintf("that of degree %d of the quantiles of parameter %d times %v", k%2+1, j, p.others[j][k/2])
			})
		}
		for _, f := range p.far[j] {
			f.see(e, j)
		}
		if p.hardly != nil {
			for _, f := range p.hardly[j].ends {
				f.see(e, j)
			}
		}
		for _, cells := range p.tails[j] {
			beyond, n, share := 0, p.along[j][0].n, math.Exp2(-farthest)
			for k := farthest; k > 0; k, share = k-1, 2*share {
				beyond += cells[k]
				e.see(min(1, 2*min(atLeast(beyond, n, share+allowed), atMost(beyond, n, share-allowed))), func() string {
					return fmt.Sprintf("%d of %d draws of parameter %d are beyond a quantile of %.2g, counted from one end", beyond,
						n, j, share)
				})
			}
		}
	}
	if p.joint != nil {
		p.joint.see(e)
	}
	if e.family() < priorAlarm/priorLooks {
		fatalf(t, "SamplePrior does not draw from LogPrior: %s (p = %.2g in %d comparisons, Seed %d)", e.about, e.family(),
			e.count, o.Seed)
	}
	return e.suspicion()
}
