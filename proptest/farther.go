package proptest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
)

// farther searches for neighbours of the size of A and B whose mean releases lie farther apart
// in terms of the noise: opposite records, records of all values, and at all places. Means are estimated on
// releases of one seed, where noise that does not depend on records cancels.
func farther(m Mechanism, onB [][]float64, o MechanismOptions) (pair MechanismOptions, found bool) {
	p := o.A.Features
	s := search{m, o, max(norm(o.A.X[:p]), norm(o.B.X[:min(p, len(o.B.X))])), mat.Cholesky{}}
	var known bool
	half := len(onB) / 2
	if s.noise, known = covariance(firstOfThem(onB[:half], 20_000)); !known {
		return pair, false
	}
	pairs := []MechanismOptions{s.climbed(), s.placed()}
	if v := s.direction(); v != nil {
		pairs = append(pairs, s.opposite(v))
	}
	// On other releases, or the direction where these have the least noise would always be farther.
	if s.noise, known = covariance(firstOfThem(onB[half:], 100_000)); !known {
		return pair, false
	}
	chance := 8 * float64(s.noise.SymmetricDim()) / float64(s.few()) // where noise does not cancel
	most := 1.02*s.distance(s.change(o)) + chance
	for _, other := range pairs {
		if d := s.distance(s.change(other)); d > most {
			pair, found, most = other, true, d
		}
	}
	return pair, found
}

// search is one for neighbours whose first records have a size.
type search struct {
	m     Mechanism
	o     MechanismOptions
	size  float64
	noise mat.Cholesky // its covariance
}

// opposite are A with the first record v, and B with −v if it has one in its place.
func (s search) opposite(v []float64) MechanismOptions {
	pair := s.o
	pair.A = edited(pair.A, func(x, _ []float64) { copy(x, v) })
	if len(pair.A.X) == len(pair.B.X) {
		pair.B = edited(pair.B, func(x, _ []float64) {
			copy(x, v)
			times(x[:len(v)], -1)
		})
	}
	return pair
}

// change is the difference of mean releases; nil if there is none.
func (s search) change(pair MechanismOptions) []float64 {
	onA, err1 := releases(s.m, pair.A, s.o.Seed, s.few())
	onB, err2 := releases(s.m, pair.B, s.o.Seed, s.few())
	if err1 != nil || err2 != nil {
		return nil
	}
	return meanDifference(onA, onB)
}

func (s search) few() int { return s.o.Effort.times(2000, 200) }

// distance is the squared length of a change in terms of the noise; NaN if there is none.
func (s search) distance(change []float64) float64 {
	var solved mat.VecDense
	if change == nil || s.noise.SolveVecTo(&solved, mat.NewVecDense(len(change), change)) != nil {
		return math.NaN()
	}
	return mat.Dot(&solved, mat.NewVecDense(len(change), change))
}

// direction is the first record whose release is farthest from its opposite's; nil if unknown. With G the
// change of the mean with the first record and C the noise's covariance, it is the leading eigenvector of
// Gᵀ·C⁻¹·G.
func (s search) direction() []float64 {
	p, d := s.o.A.Features, s.noise.SymmetricDim()
	if p == 1 || p > 64 || !finite(s.size) || s.size == 0 {
		return nil
	}
	changes := mat.NewDense(d, p, nil)
	for j := range p {
		v := make([]float64, p)
		v[j] = s.size
		change := s.change(s.opposite(v))
		if change == nil {
			return nil
		}
		changes.SetCol(j, change)
	}
	var lower mat.TriDense
	s.noise.LTo(&lower)
	var white mat.Dense
	var decomposed mat.SVD
	if white.Solve(&lower, changes) != nil || !decomposed.Factorize(&white, mat.SVDThinV) {
		return nil
	}
	var right mat.Dense
	decomposed.VTo(&right)
	v := mat.Col(nil, 0, &right)
	times(v, s.size)
	return v
}

// climbed are neighbours whose first records differ by values of every size and round ones: now the one of A and
// now that of B, if there is one, takes in each column the value whose mean release is farthest from the other's.
func (s search) climbed() MechanismOptions {
	pair := s.o
	onA, onB := s.whitened(pair.A), s.whitened(pair.B)
	if onA == nil || onB == nil {
		return pair
	}
	columns, sides := s.o.columns(), 2
	if len(pair.A.X) > len(pair.B.X) {
		sides = 1
	}
	most := distance(onA, onB)
	for round := range 2 * sides {
		table, own, other := &pair.A, &onA, onB
		if round%sides == 1 {
			table, own, other = &pair.B, &onB, onA
		}
		for _, j := range columns {
			from := MechanismOptions{A: *table}
			for _, v := range s.o.values() {
				r := from.with(0, j, v)
				if mean := s.whitened(r); mean != nil && distance(mean, other) > most*(1+1e-9) {
					*table, *own, most = r, mean, distance(mean, other)
				}
			}
		}
	}
	return pair
}

// placed are A and B of more records, whose first is at the place where mean releases lie farthest apart: a loop
// may treat one of them in its own way.
func (s search) placed() MechanismOptions {
	const records = 40
	longer := s.o.sized(records)
	best, most := s.o, 0.0
	for i := range records - 1 {
		pair := longer.moved(i)
		onA, onB := s.whitened(pair.A), s.whitened(pair.B)
		if onA == nil || onB == nil {
			break // it may refuse so many
		}
		if d := distance(onA, onB); d > most*(1+1e-9) {
			best, most = pair, d
		}
	}
	return best
}

// columns are some of those of the features, and that of the response after them.
func (o MechanismOptions) columns() []int {
	columns := someOf(o.A.Features, 8)
	if o.A.Y != nil {
		columns = append(columns, o.A.Features)
	}
	return columns
}

// values are round ones, shares of the largest that records have, and some of every size.
func (o MechanismOptions) values() []float64 {
	all := rounds()
	for i := -20; i <= 20; i++ {
		all = append(all, largestOf(o)*float64(i)/10)
	}
	return append(all, ladder(Quick)...)
}

// whitened is the mean of a few releases in terms of the noise; nil if it is not finite.
func (s search) whitened(r curator.Records) []float64 {
	const few, seeds = 8, 1 << 42
	d := s.noise.SymmetricDim()
	mean := make([]float64, d)
	all, err := releases(s.m, r, s.o.Seed+seeds, few)
	if err != nil || len(all[0]) != d {
		return nil
	}
	for _, r := range all {
		for j, v := range r {
			mean[j] += v / few
		}
	}
	if slices.ContainsFunc(mean, func(v float64) bool { return !finite(v) }) {
		return nil
	}
	var lower mat.TriDense
	s.noise.LTo(&lower)
	var solved mat.VecDense
	if solved.SolveVec(&lower, mat.NewVecDense(d, mean)) != nil {
		return nil
	}
	return solved.RawVector().Data
}
