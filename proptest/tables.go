package proptest

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
)

// foremost are the neighbours whose few releases have the largest scores. Other releases are tested.
func (o MechanismOptions) foremost(m Mechanism, pairs []MechanismOptions, few, taken int, streams uint64,
	score func(onA, onB [][]float64) float64) (some []MechanismOptions) {
	scores, kept := make([]float64, len(pairs)), []int{}
	for i, pair := range pairs {
		if !takes(m, pair.A) || !takes(m, pair.B) {
			continue
		}
		onA, err1 := releases(m, pair.A, o.Seed+streams+uint64(2*i), few)
		onB, err2 := releases(m, pair.B, o.Seed+streams+uint64(2*i+1), few)
		if err1 == nil && err2 == nil {
			scores[i], kept = score(onA, onB), append(kept, i)
		}
	}
	slices.SortStableFunc(kept, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	for _, i := range kept[:min(len(kept), taken)] {
		some = append(some, pairs[i])
	}
	return some
}

// quietest are neighbours of some number of records, or mingled ones, on which releases spread least
// in terms of those on A.
func (o MechanismOptions) quietest(m Mechanism) []MechanismOptions {
	const few, streams = 200, 1 << 40
	usual, err := releases(m, o.A, o.Seed+streams-1, few)
	if err != nil {
		return nil
	}
	tables := o.mingled(largestOf(o))
	for more := range 46 {
		tables = append(tables, o.sized(len(o.A.X)/o.A.Features+1+more))
	}
	return o.foremost(m, tables, few, 3, streams, func(on, _ [][]float64) float64 {
		least := math.Inf(1)
		for _, j := range someOf(min(len(usual[0]), len(on[0])), 4) {
			if share := middleHalf(on, j) / middleHalf(usual, j); share < least {
				least = share
			}
		}
		return -least
	})
}

// screened are neighbours of tables at random that few releases tell apart most: what a mechanism
// decides by how records lie to one another shows in few tables, and there in every release.
func (o MechanismOptions) screened(m Mechanism) []MechanismOptions {
	tables := make([]MechanismOptions, o.Effort.times(240, 40))
	for i := range tables {
		tables[i] = o.anywhere(uint64(i))
	}
	return o.foremost(m, tables, 32, o.Effort.times(6, 3), 1<<41, apartness)
}

// anywhere are neighbours of as many records as A and B, which differ in any place. Records are spread
// out, or close together, or at the ends, or those of A and B.
func (o MechanismOptions) anywhere(i uint64) MechanismOptions {
	rng, p, most := rand64(o.Seed, 44+i<<8), o.A.Features, largestOf(o)
	kind, center := i%4, most*(2*rng.Float64()-1)
	draw := func(x, y []float64) {
		k := rng.IntN(len(o.A.X) / p)
		copy(x, o.A.X[k*p:(k+1)*p])
		if y != nil {
			copy(y, o.A.Y[k:])
		}
		for j := range x {
			switch kind {
			case 0:
				x[j] = most * (2*rng.Float64() - 1)
			case 1:
				x[j] = center + most/10*rng.NormFloat64()
			case 2:
				x[j] = most * float64(rng.IntN(3)-1)
			}
		}
	}
	place, gone := rng.IntN(len(o.A.X)/p), len(o.A.X) > len(o.B.X)
	part := o
	part.A = edited(o.A, func(x, y []float64) {
		for k := range len(x) / p {
			draw(x[k*p:(k+1)*p], y[min(k, len(y)):min(k+1, len(y))])
		}
	})
	differs := func(x, y []float64) {
		if kind = uint64(rng.IntN(4)); rng.IntN(2) == 0 {
			kind = 2
		}
		draw(x[place*p:(place+1)*p], y[min(place, len(y)):min(place+1, len(y))])
	}
	part.A = edited(part.A, differs)
	if gone {
		part.B = edited(part.A, func(_, _ []float64) {})
		part.B.X = slices.Delete(part.B.X, place*p, (place+1)*p)
		if part.B.Y != nil {
			part.B.Y = slices.Delete(part.B.Y, place, place+1)
		}
		return part
	}
	part.B = edited(part.A, differs)
	return part
}

// apartness is the largest distance of the distribution functions of two samples, of any of their numbers.
func apartness(onA, onB [][]float64) (most float64) {
	for j := range min(len(onA[0]), len(onB[0])) {
		number := func(r []float64) float64 { return r[j] }
		a, b := values(onA, number), values(onB, number)
		for _, v := range slices.Concat(a, b) {
			upTo := tail{at: v}
			most = max(most, math.Abs(float64(upTo.count(a))/float64(len(a))-float64(upTo.count(b))/float64(len(b))))
		}
	}
	return most
}

// restless are neighbours whose first record has a value in one column at which the releases of a seed spread
// least, or most, in terms of those on B: their noise depends on that value, or on how it is drawn.
func (o MechanismOptions) restless(m Mechanism) []MechanismOptions {
	few := o.Effort.times(32, 8)
	onB, err := releases(m, o.B, o.Seed+1<<42, few)
	if err != nil {
		return nil
	}
	pairs, scores := []MechanismOptions{o, o}, [2]float64{}
	for _, j := range o.columns() {
		for _, v := range o.values() {
			pair := o
			pair.A = o.with(0, j, v)
			on, err := releases(m, pair.A, o.Seed+1<<42, few)
			if err != nil || len(on[0]) != len(onB[0]) {
				continue
			}
			for _, k := range someOf(len(onB[0]), 4) {
				share := math.Log(middleHalf(on, k) / middleHalf(onB, k))
				for side, score := range [2]float64{-share, share} {
					if score > scores[side]+1e-6 && finite(score) {
						pairs[side], scores[side] = pair, score
					}
				}
			}
		}
	}
	return pairs
}

// middleHalf is the distance of the quartiles of a coordinate.
func middleHalf(all [][]float64, j int) float64 {
	v := column(all, j)
	for i := range v {
		v[i] = ordered(v[i])
	}
	slices.Sort(v)
	return v[3*len(v)/4] - v[len(v)/4]
}

// sized are A and B of n records in A, those beside the first again and again, or the first.
func (o MechanismOptions) sized(n int) MechanismOptions {
	p := o.A.Features
	length := func(r curator.Records, from, n int) curator.Records {
		all := r
		all.X = slices.Clone(r.X[:from*p])
		if r.Y != nil {
			all.Y = slices.Clone(r.Y[:from])
		}
		others := len(o.A.X)/p - 1
		for i := range n - from {
			row := 0
			if others > 0 {
				row = 1 + i%others
			}
			all.X = append(all.X, o.A.X[row*p:(row+1)*p]...)
			if r.Y != nil {
				all.Y = append(all.Y, o.A.Y[row])
			}
		}
		return all
	}
	gone := (len(o.A.X) - len(o.B.X)) / p
	o.A, o.B = length(o.A, 1, n), length(o.B, 1-gone, n-gone)
	return o
}
