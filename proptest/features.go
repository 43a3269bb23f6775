package proptest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// feature puts releases into cells.
type feature struct {
	name  string
	cells int
	of    func(release []float64) int
}

// features are what a classifier of two worlds looks at: the statistic, the linear function
// that tells them best, the distance from the middle, and each of the coordinates that tell
// them best. They are fixed on releases that are used for nothing else.
func features(onA, onB [][]float64, statistic func([]float64) float64, step float64) (all []feature) {
	both, d := slices.Concat(onA, onB), len(onA[0])
	all = append(all, quantiles(both, "statistic", 128, statistic))
	coarse := quantiles(both, "", 16, statistic)
	some := telling(onA, onB)
	for i, j := range some {
		if d > 1 {
			all = append(all, quantiles(both, fmt.Sprintf("coordinate %d", j), 128, at(j)))
		}
		all = append(all, ofCoordinate(onA, onB, both, j, step)...)
		if step > 0 { // without a grid, the bits of a number depend on its size
			all = append(all, together(coarse, feature{"low bits", 16,
				func(r []float64) int { return lowBits(r[j], step) % 16 }},
				fmt.Sprintf("statistic and low bits of coordinate %d", j)))
		}
		for _, k := range some[:i] {
			all = append(all, together(quantiles(both, "", 16, at(k)), quantiles(both, "", 16, at(j)),
				fmt.Sprintf("coordinates %d and %d together", k, j)))
		}
	}
	all = append(all, meetings(onA, onB)...)
	if d > 1 && len(onA) >= 1000 {
		all = append(all, regions(onA, onB, some))
	}
	if linear := discriminant(onA, onB); linear != nil {
		all = append(all, quantiles(both, "the linear function that tells best", 128, linear))
	}
	return append(all, quantiles(both, "distance from the middle", 128, fromMiddle(both)))
}

// ofCoordinate are the features of one coordinate but for its size: low bits, single values,
// and those that came before.
func ofCoordinate(onA, onB, both [][]float64, j int, step float64) []feature {
	low := feature{fmt.Sprintf("low bits of coordinate %d", j), 256, func(r []float64) int { return lowBits(r[j], step) }}
	return []feature{low, singles(both, j), seen(onA, onB, j), phases(j, 1<<24), phases(j, 1<<36), phases(j, 1e6)}
}

func at(j int) func(r []float64) float64 { return func(r []float64) float64 { return r[j] } }

// quantiles are the cells between quantiles of a function.
func quantiles(all [][]float64, name string, n int, of func([]float64) float64) feature {
	borders := bordersOf(all, n, of)
	search := guide(borders)
	return feature{name, len(borders) + 1, func(r []float64) int { return search.below(ordered(of(r))) }}
}

// together are the cells of two features.
func together(a, b feature, name string) feature {
	return feature{name, a.cells * b.cells, func(r []float64) int { return a.of(r)*b.cells + b.of(r) }}
}

// fromMiddle is the distance from the medians.
func fromMiddle(all [][]float64) func([]float64) float64 {
	middle := medians(all)
	return func(r []float64) float64 { return distance(r, middle) }
}

// telling are up to four coordinates, in which the worlds differ most: by the distance of
// their empirical distributions.
func telling(onA, onB [][]float64) []int {
	d := len(onA[0])
	all, apart := make([]int, d), make([]float64, d)
	few := min(len(onA), 20_000)
	for j := range all {
		all[j] = j
		if d > 4 {
			apart[j] = between(column(onA[:few], j), column(onB[:few], j))
		}
	}
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(apart[j], apart[i]) })
	return all[:min(d, 4)]
}

// between is Kolmogorov's distance of two samples of one size, which it sorts.
func between(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	i, j, most := 0, 0, 0
	for i < len(a) && j < len(b) {
		v := min(ordered(a[i]), ordered(b[j]))
		for i < len(a) && ordered(a[i]) <= v {
			i++
		}
		for j < len(b) && ordered(b[j]) <= v {
			j++
		}
		most = max(most, i-j, j-i)
	}
	return float64(most) / float64(len(a))
}

// discriminant is Fisher's: the linear function whose means differ most for its variance.
// It is nil where covariance is.
func discriminant(onA, onB [][]float64) func([]float64) float64 {
	onA, onB = firstOfThem(onA, 20_000), firstOfThem(onB, 20_000)
	factor, ok := covariance(onA, onB)
	if !ok || len(onA[0]) == 1 {
		return nil
	}
	apart := meanDifference(onB, onA)
	direction := mat.NewVecDense(len(apart), nil)
	if factor.SolveVecTo(direction, mat.NewVecDense(len(apart), apart)) != nil {
		return nil
	}
	return onto(direction.RawVector().Data)
}

// covariance is the mean of those within each of the worlds, factorised. It is not known for many
// numbers, and where a release is not finite.
func covariance(worlds ...[][]float64) (factor mat.Cholesky, ok bool) {
	d := len(worlds[0][0])
	if d > 64 {
		return factor, false
	}
	cov := mat.NewSymDense(d, nil)
	for _, all := range worlds {
		mean := mat.NewVecDense(d, nil)
		for _, r := range all {
			if slices.ContainsFunc(r, func(v float64) bool { return !finite(v) || math.Abs(v) > 1e100 }) {
				return factor, false
			}
			mean.AddScaledVec(mean, 1/float64(len(all)), mat.NewVecDense(d, r))
		}
		for _, r := range all {
			var off mat.VecDense
			off.SubVec(mat.NewVecDense(d, r), mean)
			cov.SymRankOne(cov, 1/float64(len(worlds)*len(all)), &off)
		}
	}
	for j, ridge := 0, 1e-9*mat.Trace(cov)/float64(d); j < d; j++ { // coordinates may share their noise
		cov.SetSym(j, j, cov.At(j, j)+ridge)
	}
	return factor, factor.Factorize(cov)
}

func firstOfThem(all [][]float64, n int) [][]float64 { return all[:min(len(all), n)] }

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

// meetings are sums and differences of two coordinates that come again and again: noise that two of
// them share now and then, of either sign, leaves what the records say.
func meetings(onA, onB [][]float64) (all []feature) {
	type meeting struct {
		j, k  int
		sign  float64
		times int
	}
	var found []meeting
	few := min(len(onA), max(1000, min(len(onA)/20, 5000)))
	both := slices.Concat(onA[:few], onB[:few])
	some := someOf(len(onA[0]), 12)
	for i, j := range some {
		for _, k := range some[:i] {
			for _, sign := range []float64{1, -1} {
				w := meeting{j, k, sign, 0}
				v := make([]float64, len(both))
				for i, r := range both {
					v[i] = r[j] + sign*r[k]
				}
				slices.Sort(v)
				width, run := blurOf(v), 0
				for i := 1; i < len(v); i++ {
					if run++; v[i]-v[i-1] > width {
						run = 0
					}
					w.times = max(w.times, run)
				}
				if w.times >= 5 {
					found = append(found, w)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b meeting) int { return cmp.Compare(b.times, a.times) })
	for _, w := range found[:min(len(found), 4)] {
		of := func(r []float64) float64 { return r[w.j] + w.sign*r[w.k] }
		v := make([]float64, len(both))
		for i, r := range both {
			v[i] = of(r)
		}
		slices.Sort(v)
		grid := max(2*blurOf(v), math.SmallestNonzeroFloat64)
		all = append(all, singlesOf(slices.Concat(onA, onB), fmt.Sprintf("values of coordinate %d %+.0f times coordinate %d",
			w.j, w.sign, w.k), func(r []float64) float64 { return math.Round(of(r) / grid) }))
	}
	return all
}

// blurOf is the distance of sorted values below which they count as equal: sums are rounded.
func blurOf(sorted []float64) float64 {
	return max(0, 1e-9*(sorted[len(sorted)*3/4]-sorted[len(sorted)/4]))
}

// singles are the values that come most often, each a cell.
func singles(all [][]float64, j int) feature {
	return singlesOf(all, fmt.Sprintf("single values of coordinate %d", j), at(j))
}

func singlesOf(all [][]float64, name string, of func(r []float64) float64) feature {
	v := make([]float64, len(all))
	for i, r := range all {
		v[i] = of(r)
	}
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
	return feature{name, len(cell) + 1, func(r []float64) int { return cell[of(r)] }}
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
