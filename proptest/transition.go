package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// newReference fixes what one step is compared with Transition's in: how far and
// in which direction each parameter moves, how long the move is, and the same in
// each half of each parameter's law, where scales that depend on the state show.
func (c kernelCheck) newReference(rng *rand.Rand) *tally {
	const n = 4095
	d := len(c.o.Start)
	starts := sample(n, d, rng, c.o.Exact)
	moves := make([][]float64, n)
	for i, theta := range starts {
		next := make([]float64, d)
		c.o.Transition(rng, theta, next)
		moves[i] = pair2(nil, theta, next)
	}
	var dirs []*direction
	for _, j := range someOf(d, maxDirections) {
		middle := median(starts, j)
		change := func(v []float64) float64 { return v[d+j] - v[j] }
		dirs = append(dirs,
			&direction{name: fmt.Sprintf("the change of parameter %d", j), value: change},
			&direction{name: fmt.Sprintf("the size of the change of parameter %d", j),
				value: func(v []float64) float64 { return math.Abs(change(v)) }},
			&direction{name: fmt.Sprintf("the change of parameter %d away from its median", j),
				value: func(v []float64) float64 {
					return math.Copysign(change(v), (v[j]-middle)*change(v))
				}},
			&direction{name: fmt.Sprintf("the size of the change of parameter %d, signed by where it starts", j),
				value: func(v []float64) float64 {
					return math.Copysign(change(v), v[j]-middle)
				}})
	}
	dirs = append(dirs, &direction{name: "the length of the move", value: func(v []float64) float64 {
		sum := 0.0
		for j := range d {
			sum += (v[d+j] - v[j]) * (v[d+j] - v[j])
		}
		return sum
	}})
	s := scale{dirs: dirs}
	s.fix(moves)
	return newTally(s, false)
}

// pair2 joins two states in dst.
func pair2(dst, a, b []float64) []float64 { return append(append(dst[:0], a...), b...) }

func median(draws [][]float64, j int) float64 {
	v := column(draws, j)
	slices.Sort(v)
	return v[len(v)/2]
}

// refer compares a step of the kernel with one of Transition from the same state.
func (l *law) refer(theta []float64) {
	l.pair = pair2(l.pair, l.theta, theta)
	l.then = l.reference.place(l.then, l.pair)
	l.pair = pair2(l.pair, l.theta, l.told)
	l.after = l.reference.place(l.after, l.pair)
	l.reference.add(l.after, l.then)
}
