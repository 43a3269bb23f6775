package proptest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
)

// feature puts releases into cells.
type feature struct {
	name  string
	cells int
	of    func(release []float64) int
}

// features are what a classifier of two worlds looks at: the statistic, each
// coordinate, two coordinates together, the distance from the middle, low bits, single values, and the
// statistic together with low bits. They are fixed on releases that are used for
// nothing else.
func features(onA, onB [][]float64, statistic func([]float64) float64, step float64) (all []feature) {
	both := slices.Concat(onA, onB)
	quantiles := func(name string, n int, of func([]float64) float64) feature {
		borders := bordersOf(both, n, of)
		return feature{name, len(borders) + 1, func(r []float64) int { return sort.SearchFloat64s(borders, ordered(of(r))) }}
	}
	all = append(all, quantiles("statistic", 128, statistic))
	d := len(onA[0])
	middle := make([]float64, d)
	for j := range middle {
		v := column(both, j)
		slices.Sort(v)
		middle[j] = v[len(v)/2]
	}
	for j := range min(4, d) {
		if d > 1 {
			all = append(all, quantiles(fmt.Sprintf("coordinate %d", j), 128, func(r []float64) float64 { return r[j] }))
		}
		low := func(r []float64) int { return lowBits(r[j], step) }
		all = append(all, feature{fmt.Sprintf("low bits of coordinate %d", j), 256, low})
		all = append(all, singles(both, j), seen(onA, onB, j))
		for _, by := range []float64{1 << 24, 1 << 36, 1e6} {
			all = append(all, phases(j, by))
		}
		if step > 0 { // without a grid, the bits of a number depend on its size
			coarse := quantiles("", 16, statistic)
			all = append(all, feature{fmt.Sprintf("statistic and low bits of coordinate %d", j), coarse.cells * 16,
				func(r []float64) int { return coarse.of(r)*16 + low(r)%16 }})
		}
	}
	for j := range min(4, d) {
		for k := range j {
			a := quantiles("", 16, func(r []float64) float64 { return r[k] })
			b := quantiles("", 16, func(r []float64) float64 { return r[j] })
			all = append(all, feature{fmt.Sprintf("coordinates %d and %d together", k, j), a.cells * b.cells,
				func(r []float64) int { return a.of(r)*b.cells + b.of(r) }})
		}
	}
	return append(all, quantiles("distance from the middle", 128, func(r []float64) float64 {
		sum := 0.0
		for j, v := range r {
			sum += (v - middle[j]) * (v - middle[j])
		}
		return sum
	}))
}

// ordered makes NaN an outcome of its own, below all numbers.
func ordered(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

func bordersOf(all [][]float64, n int, of func([]float64) float64) []float64 {
	v := make([]float64, len(all))
	for i, r := range all {
		v[i] = ordered(of(r))
	}
	slices.Sort(v)
	var borders []float64
	for i := 1; i < n; i++ {
		borders = append(borders, v[i*len(v)/n])
	}
	for _, k := range []int{20, 60, 200, 600, 2000} { // tails
		if k < len(v)/n {
			borders = append(borders, v[k], v[len(v)-k])
		}
	}
	slices.Sort(borders)
	return slices.Compact(borders)
}

// lowBits are the last eight bits of a number, or of its index on a grid. Negative
// zero, which compares as zero, is told apart.
func lowBits(v, step float64) int {
	if v == 0 && math.Signbit(v) {
		return 255
	}
	if step > 0 && math.Abs(v) < step*(1<<52) {
		return int(uint64(int64(math.Round(v/step))) & 255)
	}
	return int(math.Float64bits(v) & 255)
}

// singles are the values that come most often, each a cell.
func singles(all [][]float64, j int) feature {
	v := column(all, j)
	slices.Sort(v)
	type run struct {
		value float64
		count int
	}
	var runs []run
	for i := 0; i < len(v); {
		k := i
		for k < len(v) && v[k] == v[i] {
			k++
		}
		if k-i >= 5 {
			runs = append(runs, run{v[i], k - i})
		}
		i = max(k, i+1)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(b.count, a.count) })
	cell := map[float64]int{}
	for i, r := range runs[:min(len(runs), 64)] {
		cell[r.value] = i + 1
	}
	return feature{fmt.Sprintf("single values of coordinate %d", j), len(cell) + 1,
		func(r []float64) int { return cell[r[j]] }}
}

// phases are the places of a coordinate between multiples of 1/by. On a finer grid that
// the noise keeps to and the records shift, they tell the records.
func phases(j int, by float64) feature {
	const n = 16
	return feature{fmt.Sprintf("coordinate %d between multiples of %.3g", j, 1/by), n + 1, func(r []float64) int {
		v := r[j] * by
		if v -= math.Floor(v); v >= 0 && v < 1 {
			return int(n * v)
		}
		return n
	}}
}

// seen tells values that came on one data set alone: those of a grid that the
// records choose hardly ever come twice on the other.
func seen(onA, onB [][]float64, j int) feature {
	cell := make(map[float64]int, len(onA)+len(onB))
	for _, r := range onA {
		cell[r[j]] |= 1
	}
	for _, r := range onB {
		cell[r[j]] |= 2
	}
	return feature{fmt.Sprintf("values of coordinate %d that came before", j), 4,
		func(r []float64) int { return cell[r[j]] }}
}

// counts are a feature's cells in one world.
func (f feature) counts(all [][]float64) []int {
	c := make([]int, f.cells)
	for _, r := range all {
		c[f.of(r)]++
	}
	return c
}

// event is a set of releases and an ε, to be counted on fresh releases.
type event struct {
	feature int
	in      []bool
	onB     bool // the set is more probable on B
	epsilon float64
	delta   float64
	promise float64 // how many standard errors the first half shows beyond δ
}

// epsilons are those at which a claim's δ is compared with what is seen.
var epsilons = []float64{0, 0.03, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7, 10}

// worlds tests the claim's whole privacy curve: sets of releases, ordered by
// their likelihood ratio on one part of the releases, are counted on the other part,
// where P(A) − e^ε·P(B) must not exceed δ(ε), in Clopper–Pearson bounds. It returns
// the largest excess, negative if there is none. A set that would show one if more
// releases went on as these is followed over more of them.
func worlds(m Mechanism, o MechanismOptions, onA, onB [][]float64, statistic func([]float64) float64) (World, error) {
	step := 0.0
	if a, ok := m.(Additive); ok {
		step = a.Step()
	}
	third, claim := len(onA)/3, m.Claim()
	fs := features(onA[:third/2], onB[:third/2], statistic, step)
	var asked, suspect []event
	for i, f := range fs {
		asked = append(asked, f.questions(i, onA[third/2:3*third/2], onB[third/2:3*third/2], claim, event.promises)...)
		suspect = append(suspect, f.questions(i, onA[third/2:], onB[third/2:], claim, o.shows)...)
	}
	slices.SortFunc(asked, func(a, b event) int { return cmp.Compare(b.promise, a.promise) })
	asked = asked[:min(len(asked), 12)]
	w := World{Excess: math.Inf(-1)}
	rest := tested{onA[3*third/2:], onB[3*third/2:]}
	for _, q := range asked {
		a, b := rest.count(q, fs[q.feature])
		if found := q.excess(a, b, len(rest.onA), o.FalseAlarm/shares/float64(len(asked))); found.Excess > w.Excess {
			w = found
			w.Set = fs[q.feature].name
		}
	}
	if w.Excess > 0 || len(suspect) == 0 {
		return w, nil
	}
	slices.SortFunc(suspect, func(a, b event) int { return cmp.Compare(b.promise, a.promise) })
	return follow(m, o, fs, suspect[:min(len(suspect), followed)], w)
}

// tested are releases of both worlds.
type tested struct{ onA, onB [][]float64 }

func (r tested) count(q event, f feature) (onA, onB int) {
	return q.count(f, r.onA), q.count(f, r.onB)
}

// excess bounds by how much a set that was counted a and b times in n releases
// exceeds δ.
func (e event) excess(a, b, n int, alarm float64) World {
	p, r := a, b
	if e.onB {
		p, r = b, a
	}
	low, _ := audit.ClopperPearson(p, n, alarm/2)
	_, high := audit.ClopperPearson(r, n, alarm/2)
	return World{Excess: low - math.Exp(e.epsilon)*high - e.delta, Epsilon: e.epsilon, Delta: e.delta, OnA: a, OnB: b,
		Trials: n}
}

// further is how many times as many releases as before suspicions are followed over at
// most. They are looked at whenever their number has doubled: sixTimes.
func (e Effort) further() int { return min(32, e.times(32, 2)) }

const (
	sixTimes = 6
	followed = 16 // suspicions, together
)

// follow counts sets on fresh releases until one exceeds δ or none can any more.
func follow(m Mechanism, o MechanismOptions, fs []feature, sets []event, w World) (World, error) {
	onA, onB, most := make([]int, len(sets)), make([]int, len(sets)), o.Effort.further()
	alarm := o.FalseAlarm / shares / sixTimes / float64(len(sets))
	for part := 1; part <= most; part++ {
		a, err := releases(m, o.A, o.Seed+uint64(2*part), o.Releases)
		if err != nil {
			return w, err
		}
		b, err := releases(m, o.B, o.Seed+uint64(2*part+1), o.Releases)
		if err != nil {
			return w, err
		}
		n, look, goOn := part*o.Releases, part&(part-1) == 0, false
		for i, e := range sets {
			if e.in == nil {
				continue // given up
			}
			k, l := tested{a, b}.count(e, fs[e.feature])
			if onA[i], onB[i] = onA[i]+k, onB[i]+l; !look {
				goOn = true
				continue
			}
			if found := e.excess(onA[i], onB[i], n, alarm); found.Excess > 0 {
				found.Set = fs[e.feature].name
				return found, nil
			}
			p, r := float64(onA[i])/float64(n), float64(onB[i])/float64(n)
			if e.onB {
				p, r = r, p
			}
			if e.projected(p, r, float64(most*o.Releases)) > 0 {
				goOn = true
			} else {
				sets[i].in = nil
			}
		}
		if !goOn {
			break
		}
	}
	return w, nil
}

func (e event) count(f feature, all [][]float64) (k int) {
	for _, r := range all {
		if e.in[f.of(r)] {
			k++
		}
	}
	return k
}

// promises is how many standard errors n releases of the shares p and q show
// beyond δ, less one.
func (e event) promises(p, q, n float64) float64 {
	by := math.Exp(e.epsilon)
	sd := math.Sqrt((p*(1-p)+by*by*(q*(1-q)+1/n))/n) + by*8/n
	return (p-by*q-e.delta)/sd - 1
}

// shows is what projected is after further releases, of a set that n of them show
// clearly beyond δ.
func (o MechanismOptions) shows(e event, p, q, n float64) float64 {
	by := math.Exp(e.epsilon)
	if p-by*q-e.delta < 4*math.Sqrt((p+by*by*q)/n) {
		return math.Inf(-1)
	}
	return e.projected(p, q, n*float64(o.Effort.further()))
}

// projected is the excess, as a share of p, that n releases will show if the shares
// stay p and q.
func (e event) projected(p, q, n float64) float64 {
	return (p - e.delta - math.Exp(e.epsilon)*(q+19/n+5*math.Sqrt(q/n)) - 6*math.Sqrt(p/n)) / p
}

// questions orders cells by their likelihood ratio and keeps, for each ε and
// direction, the set that promises most, if that is anything.
func (f feature) questions(index int, onA, onB [][]float64, claim accountant.Event,
	promise func(e event, p, q, n float64) float64) (all []event) {
	a, b, n := f.counts(onA), f.counts(onB), float64(len(onA))
	order := make([]int, f.cells)
	for i := range order {
		order[i] = i
	}
	ratio := func(i int) float64 { return (float64(a[i]) + 0.5) / (float64(b[i]) + 0.5) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ratio(j), ratio(i)) })
	for _, epsilon := range epsilons {
		g, err := claim.Delta(epsilon)
		if err != nil {
			continue
		}
		for _, onB := range []bool{false, true} {
			best := event{promise: math.Inf(-1)}
			p, q, at := 0.0, 0.0, 0
			for k := range order {
				i := order[k]
				if onB {
					i = order[len(order)-1-k]
					p, q = p+float64(b[i])/n, q+float64(a[i])/n
				} else {
					p, q = p+float64(a[i])/n, q+float64(b[i])/n
				}
				if z := promise(event{epsilon: epsilon, delta: g.Delta}, p, q, n); z > best.promise {
					best.promise, at = z, k
				}
			}
			if best.promise > 0 {
				best = event{feature: index, in: make([]bool, f.cells), onB: onB, epsilon: epsilon, delta: g.Delta,
					promise: best.promise}
				for k := range at + 1 {
					i := order[k]
					if onB {
						i = order[len(order)-1-k]
					}
					best.in[i] = true
				}
				all = append(all, best)
			}
		}
	}
	return all
}
