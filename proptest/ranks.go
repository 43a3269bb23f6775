package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// levels are the quantiles whose borders cut a direction into cells.
var levels = []float64{0.0005, 0.002, 0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.4, 0.5,
	0.6, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99, 0.998, 0.9995}

const cells = 20 // one more than there are levels

// direction is a function of a state, as a rank among a sample of an exact law:
// a coordinate, a whitened one, or the distance from the mean.
type direction struct {
	name   string
	value  func(theta []float64) float64
	sorted []float64
	guide  []int   // how many of sorted lie below each of as many even steps
	pace   float64 // steps of guide for a unit of value
	cellOf []uint8 // by rank
}

// rank is a state's place along one direction.
type rank struct {
	u    float64 // in (0, 1)
	cell uint8
}

func (d *direction) of(theta []float64) rank {
	v, i, n := d.value(theta), 0, len(d.sorted)
	if k := d.stepOf(v); k >= 0 && k < float64(len(d.guide)-1) {
		i, n = d.guide[int(k)], d.guide[int(k)+1]
	}
	for i < n { // the first that is not below v
		if m := int(uint(i+n) >> 1); d.sorted[m] < v {
			i = m + 1
		} else {
			n = m
		}
	}
	return rank{(float64(i) + 0.5) / float64(len(d.sorted)+1), d.cellOf[i]}
}

func (d *direction) stepOf(v float64) float64 { return (v - d.sorted[0]) * d.pace }

// border is the value at the upper end of a cell.
func (d *direction) border(cell int) float64 {
	return d.sorted[min(len(d.sorted)-1, int(levels[cell]*float64(len(d.sorted))))]
}

func (d *direction) fix(draws [][]float64) {
	for _, theta := range draws {
		d.sorted = append(d.sorted, d.value(theta))
	}
	slices.Sort(d.sorted)
	if n := len(d.sorted); d.sorted[n-1] > d.sorted[0] {
		d.pace = float64(n) / (d.sorted[n-1] - d.sorted[0])
		d.guide = make([]int, n+1)
		for k, i := 0, 0; k <= n; k++ {
			for i < n && d.stepOf(d.sorted[i]) < float64(k) {
				i++
			}
			d.guide[k] = i
		}
	}
	for i := range len(d.sorted) + 1 {
		u := (float64(i) + 0.5) / float64(len(d.sorted)+1)
		d.cellOf = append(d.cellOf, uint8(sort.SearchFloat64s(levels, u)))
	}
}

// maxDirections bounds how many coordinates are looked at.
const maxDirections = 12

// directions fixes the functions that states are compared by, from a sample that
// is used for nothing else.
func directions(draws [][]float64) []*direction {
	d := len(draws[0])
	var all []*direction
	for _, j := range someOf(d, maxDirections) {
		all = append(all, &direction{name: fmt.Sprintf("parameter %d", j),
			value: func(theta []float64) float64 { return theta[j] }})
	}
	mean, white := whitening(draws)
	if white != nil {
		z := make([]float64, d)
		standard := func(theta []float64, row int) float64 {
			sum := 0.0
			for k := range row + 1 {
				sum += white.At(row, k) * (theta[k] - mean[k])
			}
			return sum
		}
		for _, j := range someOf(d, maxDirections)[1:] {
			all = append(all, &direction{name: fmt.Sprintf("parameter %d given those before it", j),
				value: func(theta []float64) float64 { return standard(theta, j) }})
		}
		all = append(all, &direction{name: "the standardised distance from the mean", value: func(theta []float64) float64 {
			sum := 0.0
			for j := range z {
				z[j] = standard(theta, j)
				sum += z[j] * z[j]
			}
			return sum
		}})
	}
	for _, one := range all {
		one.fix(draws)
	}
	return all
}

// whitening returns the mean and the inverse of the Cholesky factor of a
// sample's covariance; nil if it is singular.
func whitening(draws [][]float64) ([]float64, *mat.TriDense) {
	d, n := len(draws[0]), float64(len(draws))
	mean, cov := make([]float64, d), mat.NewSymDense(d, nil)
	for _, theta := range draws {
		for j, v := range theta {
			mean[j] += v / n
		}
	}
	for _, theta := range draws {
		for j := range d {
			for k := range j + 1 {
				cov.SetSym(j, k, cov.At(j, k)+(theta[j]-mean[j])*(theta[k]-mean[k])/n)
			}
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(cov) {
		return mean, nil
	}
	var lower, inverse mat.TriDense
	factor.LTo(&lower)
	if inverse.InverseTri(&lower) != nil {
		return mean, nil
	}
	return mean, &inverse
}

// polynomials are those of Legendre on (0, 1), of degree 1 to 4.
func polynomials(u float64) [4]float64 {
	x := 2*u - 1
	x2 := x * x
	return [4]float64{x, (3*x2 - 1) / 2, x * (5*x2 - 3) / 2, (35*x2*x2 - 30*x2 + 3) / 8}
}

// spans are the lengths of the intervals that differences of polynomials lie in.
var spans = [4]float64{4, 3, 4, 2.9}

// tally compares pairs of states that are to have the same law.
type tally struct {
	dirs  []*direction
	n     int
	flows [][cells][cells]int // by direction, from the cell of one to that of the other
	poly  [][4]moment
	cross []moment // products of degree 1 of two directions
	joint []corner // of two directions
	turn  []moment // how much further one state has turned than the other, from one direction to another
}

func newTally(dirs []*direction) *tally {
	t := &tally{dirs: dirs, flows: make([][cells][cells]int, len(dirs)), poly: make([][4]moment, len(dirs))}
	for i := range t.poly {
		for k := range t.poly[i] {
			t.poly[i][k].span = spans[k]
		}
	}
	for range len(dirs) * (len(dirs) - 1) / 2 {
		t.cross = append(t.cross, moment{span: 4})
		t.turn = append(t.turn, moment{span: 4})
	}
	t.joint = make([]corner, len(t.cross))
	return t
}

// corner counts what entered and left the cells that the quantiles of two directions
// cut: corners, edges and the middle.
type corner struct{ in, out [16]int }

// coarse are the cells at whose upper ends quarters meet: at the levels 0.13, 0.5, 0.87.
var coarse = [3]uint8{5, 9, 13}

// quarter is that of a cell, from 0.
func quarter(cell uint8) (k int) {
	for k < len(coarse) && cell > coarse[k] {
		k++
	}
	return k
}

// quarter writes the values in a quarter.
func (d *direction) quarter(k int) string {
	low, high := math.Inf(-1), math.Inf(1)
	if k > 0 {
		low = d.border(int(coarse[k-1]))
	}
	if k < len(coarse) {
		high = d.border(int(coarse[k]))
	}
	return fmt.Sprintf("(%.4g, %.4g] of %s", low, high, d.name)
}

// place ranks a state along every direction.
func (t *tally) place(dst []rank, theta []float64) []rank {
	dst = dst[:0]
	for _, d := range t.dirs {
		dst = append(dst, d.of(theta))
	}
	return dst
}

// add counts one pair.
func (t *tally) add(a, b []rank) {
	t.n++
	next := 0
	for i := range a {
		t.flows[i][a[i].cell][b[i].cell]++
		before, after := polynomials(a[i].u), polynomials(b[i].u)
		for k := range before {
			t.poly[i][k].add(after[k] - before[k])
		}
		for j := range i {
			ai, aj, bi, bj := 2*a[i].u-1, 2*a[j].u-1, 2*b[i].u-1, 2*b[j].u-1
			t.cross[next].add(bi*bj - ai*aj)
			t.turn[next].add(ai*bj - aj*bi)
			was, is := 4*quarter(a[i].cell)+quarter(a[j].cell), 4*quarter(b[i].cell)+quarter(b[j].cell)
			if was != is {
				t.joint[next].out[was]++
				t.joint[next].in[is]++
			}
			next++
		}
	}
}

// crossings are those of the border above a cell: upwards and downwards.
func (t *tally) crossings(dir, cell int) (up, down int) {
	for a := range cells {
		for b := range cells {
			switch n := t.flows[dir][a][b]; {
			case a <= cell && b > cell:
				up += n
			case a > cell && b <= cell:
				down += n
			}
		}
	}
	return up, down
}

// over counts the pairs that pass over the given number of cells, either way.
func (t *tally) over(dir, cell, width int) (n int) {
	for a := range cell {
		for b := cell + width; b < cells; b++ {
			n += t.flows[dir][a][b] + t.flows[dir][b][a]
		}
	}
	return n
}

// equal adds the evidence that the two states of a pair have different laws.
func (t *tally) equal(e *evidence, what string) {
	for i, d := range t.dirs {
		for c := range cells - 1 {
			up, down := t.crossings(i, c)
			e.see(fair(up, down), func() string {
				return fmt.Sprintf("%s %d went above and %d below %.4g in %s, where as many should", what, up, down, d.border(c),
					d.name)
			})
		}
		for c := range cells {
			in, out := 0, 0
			for b := range cells {
				if b != c {
					in, out = in+t.flows[i][b][c], out+t.flows[i][c][b]
				}
			}
			e.see(fair(in, out), func() string {
				return fmt.Sprintf("%s %d entered and %d left %s of %s, where as many should", what, in, out, t.cell(d, c), d.name)
			})
		}
		for k := range t.poly[i] {
			m := &t.poly[i][k]
			e.see(m.p(), func() string {
				return fmt.Sprintf("%s the mean of the Legendre polynomial of degree %d of the rank of %s changed by %.2g", what,
					k+1, d.name, m.mean())
			})
		}
	}
	next := 0
	for i := range t.dirs {
		for j := range i {
			m, c := &t.cross[next], &t.joint[next]
			next++
			for k := range c.in {
				e.see(fair(c.in[k], c.out[k]), func() string {
					return fmt.Sprintf("%s %d entered and %d left where %s meets %s", what, c.in[k], c.out[k],
						t.dirs[i].quarter(k/4), t.dirs[j].quarter(k%4))
				})
			}
			e.see(m.p(), func() string {
				return fmt.Sprintf("%s the rank covariance of %s and %s changed by %.2g", what, t.dirs[i].name,
					t.dirs[j].name, m.mean())
			})
		}
	}
}

// symmetric adds the evidence that the pairs are not exchangeable.
func (t *tally) symmetric(e *evidence, what string) {
	next := 0
	for i := range t.dirs {
		for j := range i {
			m := &t.turn[next]
			next++
			e.see(m.p(), func() string {
				return fmt.Sprintf("%s the chain turns from %s towards %s: the mean product of ranks, less the reverse, is %.2g",
					what, t.dirs[i].name, t.dirs[j].name, m.mean())
			})
		}
	}
	for i, d := range t.dirs {
		for a := range cells {
			for b := range a {
				there, back := t.flows[i][b][a], t.flows[i][a][b]
				e.see(fair(there, back), func() string {
					return fmt.Sprintf("%s %d went from %s to %s of %s and %d back", what, there, t.cell(d, b), t.cell(d, a),
						d.name, back)
				})
			}
		}
	}
}

func (t *tally) cell(d *direction, c int) string {
	low, high := math.Inf(-1), math.Inf(1)
	if c > 0 {
		low = d.border(c - 1)
	}
	if c < cells-1 {
		high = d.border(c)
	}
	return fmt.Sprintf("(%.4g, %.4g]", low, high)
}

// sample makes n draws.
func sample(n, dim int, rng *rand.Rand, draw func(rng *rand.Rand, theta []float64)) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, dim)
		draw(rng, all[i])
	}
	return all
}
