package proptest

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/audit"
)

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

// price is the least that a claim is known to cost: its ε at a δ, and its δ at each of epsilons, NaN where
// no bound holds. Many events have a sharper curve by numerical composition than by their Rényi curve.
type price struct {
	epsilon float64
	deltas  []float64
}

func priceOf(claim accountant.Event, delta float64) (price, error) {
	g, err := claim.LeastEpsilon(delta)
	if err != nil {
		return price{}, fmt.Errorf("the claim %v has no ε at δ = %v: %w", claim, delta, err)
	}
	p := price{g.Epsilon, make([]float64, len(epsilons))}
	for i, epsilon := range epsilons {
		if g, err = claim.Delta(epsilon); err == nil && g.Delta > 0 {
			if finer, _, unknown := claim.RefineDelta(epsilon); unknown == nil {
				g = finer
			}
		}
		if p.deltas[i] = g.Delta; err != nil {
			p.deltas[i] = math.NaN()
		}
	}
	return p, nil
}

// worlds tests the claim's whole privacy curve: sets of releases, ordered by
// their likelihood ratio on one part of the releases, are counted on the other part,
// where P(A) − e^ε·P(B) must not exceed δ(ε), in Clopper–Pearson bounds. It returns
// the largest excess, negative if there is none. A set that would show one if more
// releases went on as these is followed over more of them.
// Divergences are bounded with the same cells.
func worlds(m Mechanism, o MechanismOptions, onA, onB [][]float64, statistic func([]float64) float64) (World,
	divergence, error) {
	step := 0.0
	if a, ok := m.(Additive); ok {
		step = a.Step()
	}
	third, claim, most := len(onA)/3, m.Claim(), o.further(len(onA[0]))
	fs := features(onA[:third/2], onB[:third/2], statistic, step)
	var asked, suspect []event
	var weighed []weighing
	near := math.Inf(-1)
	for i, f := range fs {
		a, b := f.counts(onA[third/2:3*third/2]), f.counts(onB[third/2:3*third/2])
		nearest := func(e event, p, q, n float64) float64 {
			z := e.promises(p, q, n)
			near = max(near, z)
			return z
		}
		asked = append(asked, f.questions(i, a, b, third, o.price.deltas, nearest)...)
		weighed = append(weighed, f.weighings(i, a, b, len(onA)-3*third/2, claim)...)
		for k, n := range f.counts(onA[3*third/2:]) {
			a[k] += n
		}
		for k, n := range f.counts(onB[3*third/2:]) {
			b[k] += n
		}
		suspect = append(suspect, f.questions(i, a, b, len(onA)-third/2, o.price.deltas,
			func(e event, p, q, n float64) float64 { return e.shows(p, q, n, most, f.clearly()) })...)
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
	found := bounded(weighed, fs, rest, o.FalseAlarm/shares)
	found.near = near
	if w.Excess > 0 || len(suspect) == 0 || found.lower > found.claimed {
		return w, found, nil
	}
	slices.SortFunc(suspect, func(a, b event) int { return cmp.Compare(b.promise, a.promise) })
	w, err := follow(m, o, fs, suspect[:min(len(suspect), followed)], most, w)
	return w, found, err
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
// most: fewer of many numbers, which take longer. They are looked at whenever their number
// has doubled: sixTimes.
func (o MechanismOptions) further(width int) int {
	most := max(2, min(o.Effort.times(32, 2), 32, 96/(2+width)))
	return 1 << (bits.Len(uint(most)) - 1)
}

const (
	sixTimes = 6
	followed = 16 // suspicions, together
)

// follow counts sets on fresh releases until one exceeds δ or none can any more.
func follow(m Mechanism, o MechanismOptions, fs []feature, sets []event, most int, w World) (World, error) {
	onA, onB := make([]int, len(sets)), make([]int, len(sets))
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

// clearly is how many standard errors are a suspicion: sets of many cells are chosen among more, on
// the releases that speak for them. Releases of a few values are quickly made, and have few sets.
func (f feature) clearly() float64 {
	switch {
	case f.cells <= 8:
		return 1.5
	case f.cells <= 150:
		return 3
	}
	return 5
}

// shows is what projected is after so many times n releases, of a set that n of them show
// clearly beyond δ.
func (e event) shows(p, q, n float64, further int, clearly float64) float64 {
	by := math.Exp(e.epsilon)
	if p-by*q-e.delta < clearly*math.Sqrt((p*(1-p)+by*by*q*(1-q)+1/n)/n) {
		return math.Inf(-1)
	}
	return e.projected(p, q, n*float64(further))
}

// projected is the excess, as a share of p, that n releases will show if the shares
// stay p and q.
func (e event) projected(p, q, n float64) float64 {
	sd := func(p float64) float64 { return math.Sqrt(p * max(0, 1-p) / n) }
	return (p - e.delta - math.Exp(e.epsilon)*(q+19/n+5*sd(q)) - 6*sd(p) - 19/n) / p
}

// questions orders cells by their likelihood ratio and keeps, for each ε and
// direction, the set that promises most, if that is anything.
func (f feature) questions(index int, a, b []int, of int, deltas []float64,
	promise func(e event, p, q, n float64) float64) (all []event) {
	n := float64(of)
	order := make([]int, f.cells)
	for i := range order {
		order[i] = i
	}
	ratio := func(i int) float64 { return (float64(a[i]) + 0.5) / (float64(b[i]) + 0.5) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ratio(j), ratio(i)) })
	for at, epsilon := range epsilons {
		delta := deltas[at]
		if math.IsNaN(delta) {
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
				if z := promise(event{epsilon: epsilon, delta: delta}, p, q, n); z > best.promise {
					best.promise, at = z, k
				}
			}
			if best.promise > 0 {
				best = event{feature: index, in: make([]bool, f.cells), onB: onB, epsilon: epsilon, delta: delta,
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
