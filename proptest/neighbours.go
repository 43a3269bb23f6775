package proptest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/curator"
)

// neighbourhood lists other neighbours: A with another first record, strange or plain, against
// B; the two where all other records are strange; and the two at other scales.
func neighbourhood(o MechanismOptions) (all []MechanismOptions) {
	p, most := o.A.Features, 0.0
	for _, v := range slices.Concat(o.A.X, o.B.X) {
		if finite(v) {
			most = max(most, math.Abs(v))
		}
	}
	first := func(edit func(x []float64)) {
		part := o
		part.A = edited(o.A, func(x, _ []float64) { edit(x[:p]) })
		all = append(all, part)
	}
	part := o
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
	}
	for _, by := range []float64{-1, 10, 1e6} {
		larger := func(x, _ []float64) { times(x, by) }
		part.A, part.B = edited(o.A, larger), edited(o.B, larger)
		all = append(all, part)
	}
	return all
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
// releases each, and those that a search finds farther apart with as many as A and B.
func checkNeighbours(t rapid.TB, m Mechanism, onB [][]float64, o MechanismOptions) {
	t.Helper()
	all := neighbourhood(o)
	for i := range all {
		all[i].Releases = min(len(onB), max(2000, len(onB)/(2*len(all))))
	}
	if pair, found := farther(m, onB, o); found {
		all = append(all, pair)
	}
	if n := len(o.B.X) / o.B.Features; len(o.A.X) > len(o.B.X) && n > 1 { // a record tells more among fewer
		pair := o
		pair.A, pair.B = firstOf(o.A, 2), firstOf(o.B, 1)
		all = append(all, pair)
	}
	for _, pair := range all {
		onB := onB[:pair.Releases]
		onA, err := releases(m, pair.A, o.Seed, pair.Releases)
		if err == nil && !slices.EqualFunc(pair.B.X, o.B.X, same) {
			onB, err = releases(m, pair.B, o.Seed+1, pair.Releases)
		}
		if err != nil {
			failf(t, "%v", err)
			return
		}
		pair.FalseAlarm /= float64(len(all) * 3) // the bounds', the curve's and suspicions' shares
		said, err := distinguish(m, pair, onA, onB)
		if err != nil {
			failf(t, "%v", err)
			return
		}
		if said.Violated() {
			o.A, o.B, o.Releases = pair.A, pair.B, pair.Releases
			failf(t, "with other records, the mechanism costs more than %v: A is %s, B is %s (Seed %d, false-alarm rate "+
				"%g):%s%s", m.Claim(), sourceOfRecords(pair.A),
				sourceOfRecords(pair.B), o.Seed, o.FalseAlarm, said.violations(onA, onB), o.test())
			return
		}
	}
}

// farther searches for neighbours of the size of A and B whose mean releases lie farther apart
// in terms of the noise. With G the change of the mean with the first record and C the noise's
// covariance, those are v and −v for the leading eigenvector v of Gᵀ·C⁻¹·G. Both are estimated
// on releases of one seed, where noise that does not depend on records cancels.
func farther(m Mechanism, onB [][]float64, o MechanismOptions) (pair MechanismOptions, found bool) {
	p := o.A.Features
	s := search{m, o, max(norm(o.A.X[:p]), norm(o.B.X[:min(p, len(o.B.X))])), mat.Cholesky{}}
	var known bool
	if p == 1 || p > 64 || !finite(s.size) || s.size == 0 {
		return pair, false
	}
	half := len(onB) / 2
	if s.noise, known = covariance(firstOfThem(onB[:half], 20_000)); !known {
		return pair, false
	}
	v := s.direction()
	if v == nil {
		return pair, false
	}
	pair = s.opposite(v)
	// On other releases, or the direction where these have the least noise would always be farther.
	if s.noise, known = covariance(firstOfThem(onB[half:], 100_000)); !known {
		return pair, false
	}
	return pair, s.distance(s.change(pair)) > 1.02*s.distance(s.change(o))
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
	few := s.o.Effort.times(2000, 200)
	onA, err1 := releases(s.m, pair.A, s.o.Seed, few)
	onB, err2 := releases(s.m, pair.B, s.o.Seed, few)
	if err1 != nil || err2 != nil {
		return nil
	}
	return meanDifference(onA, onB)
}

// distance is the squared length of a change in terms of the noise; NaN if there is none.
func (s search) distance(change []float64) float64 {
	var solved mat.VecDense
	if change == nil || s.noise.SolveVecTo(&solved, mat.NewVecDense(len(change), change)) != nil {
		return math.NaN()
	}
	return mat.Dot(&solved, mat.NewVecDense(len(change), change))
}

// direction is the first record whose release is farthest from its opposite's; nil if unknown.
func (s search) direction() []float64 {
	p, d := s.o.A.Features, s.noise.SymmetricDim()
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
