package proptest

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
)

// quietest are neighbours of some number of records, or mingled ones, on which releases spread least
// in terms of those on A. They are found on few releases, that are used for nothing else.
func (o MechanismOptions) quietest(m Mechanism) []MechanismOptions {
	const few, taken, apart = 200, 3, 1 << 40
	usual, err := releases(m, o.A, o.Seed+apart, few)
	if err != nil {
		return nil
	}
	tables := o.mingled(largestOf(o))
	for more := range 46 {
		tables = append(tables, o.sized(len(o.A.X)/o.A.Features+1+more))
	}
	type quiet struct {
		of     MechanismOptions
		spread float64
	}
	var all []quiet
	for i, pair := range tables {
		if !takes(m, pair.A) || !takes(m, pair.B) {
			continue
		}
		on, err := releases(m, pair.A, o.Seed+apart+1+uint64(i), few)
		if err != nil || len(on[0]) != len(usual[0]) {
			continue
		}
		least := math.Inf(1)
		for _, j := range someOf(len(usual[0]), 4) {
			if share := middleHalf(on, j) / middleHalf(usual, j); share < least {
				least = share
			}
		}
		all = append(all, quiet{pair, least})
	}
	slices.SortStableFunc(all, func(a, b quiet) int { return cmp.Compare(a.spread, b.spread) })
	var some []MechanismOptions
	for _, q := range all[:min(len(all), taken)] {
		some = append(some, q.of)
	}
	return some
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
