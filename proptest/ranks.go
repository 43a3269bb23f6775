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
	ladder guided
	cellOf []uint8 // by rank
}

// rank is a state's place along one direction.
type rank struct {
	x             float64 // in (−1, 1)
	cell, quarter uint8
}

func (d *direction) of(theta []float64) rank {
	i := d.ladder.below(d.value(theta))
	cell := d.cellOf[i]
	return rank{float64(2*i+1)/float64(len(d.cellOf)) - 1, cell, quarterOf[cell]}
}

// border is the value at the upper end of a cell.
func (d *direction) border(cell int) float64 {
	sorted := d.ladder.sorted
	return sorted[min(len(sorted)-1, int(levels[cell]*float64(len(sorted))))]
}

// maxDirections bounds how many coordinates are looked at.
const maxDirections = 12

// scale is a number of directions. Those that a state's parameters share a computation for read
// what prepare leaves them.
type scale struct {
	dirs    []*direction
	prepare func(theta []float64) // nil if there is none
}

// directions fixes the functions that states are compared by, from a sample that
// is used for nothing else.
func directions(draws [][]float64) scale {
	d := len(draws[0])
	var s scale
	for _, j := range someOf(d, maxDirections) {
		s.dirs = append(s.dirs, &direction{name: fmt.Sprintf("parameter %d", j),
			value: func(theta []float64) float64 { return theta[j] }})
	}
	if mean, white := whitening(draws); white != nil {
		z, far := make([]float64, d), 0.0
		s.prepare = func(theta []float64) {
			far = 0
			for j := range z {
				sum := 0.0
				for k, w := range white[j] {
					sum += w * (theta[k] - mean[k])
				}
				z[j] = sum
				far += sum * sum
			}
		}
		for _, j := range someOf(d, maxDirections)[1:] {
			s.dirs = append(s.dirs, &direction{name: fmt.Sprintf("parameter %d given those before it", j),
				value: func([]float64) float64 { return z[j] }})
		}
		s.dirs = append(s.dirs, &direction{name: "the standardised distance from the mean",
			value: func([]float64) float64 { return far }})
	}
	s.fix(draws)
	return s
}

// fix takes the ranks from draws.
func (s scale) fix(draws [][]float64) {
	values := make([][]float64, len(s.dirs))
	for _, theta := range draws {
		if s.prepare != nil {
			s.prepare(theta)
		}
		for i, d := range s.dirs {
			values[i] = append(values[i], d.value(theta))
		}
	}
	for i, d := range s.dirs {
		slices.Sort(values[i])
		d.ladder = guide(values[i])
		for k := range len(draws) + 1 {
			u := (float64(k) + 0.5) / float64(len(draws)+1)
			d.cellOf = append(d.cellOf, uint8(sort.SearchFloat64s(levels, u)))
		}
	}
}

// whitening returns the mean and the rows of the inverse of the Cholesky factor of a
// sample's covariance, up to the diagonal; nil if it is singular.
func whitening(draws [][]float64) (mean []float64, rows [][]float64) {
	d, n := len(draws[0]), float64(len(draws))
	mean = make([]float64, d)
	cov := mat.NewSymDense(d, nil)
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
	for j := range d {
		rows = append(rows, mat.Row(nil, j, &inverse)[:j+1])
	}
	return mean, rows
}

// polynomials are those of Legendre, of degree 1 to 4.
func polynomials(x float64) [4]float64 {
	x2 := x * x
	return [4]float64{x, (3*x2 - 1) / 2, x * (5*x2 - 3) / 2, (35*x2*x2 - 30*x2 + 3) / 8}
}

// spans are the lengths of the intervals that differences of polynomials lie in.
var spans = [4]float64{4, 3, 4, 2.9}

// tally compares pairs of states that are to have the same law.
type tally struct {
	scale
	n     int
	turns bool                // whether turns are looked at
	flows [][cells][cells]int // by direction, from the cell of one to that of another
	poly  [][4]moment
	cross []moment // products of degree 1 of two directions
	joint []corner // of two directions
	turn  []moment // how much further one state has turned than the other, from one direction to another
	// lean is how much longer moves along a direction are from one side of another's median to the
	// other than back, and from its middle half to the rest.
	lean  [][][2]moment
	usual []float64 // squares of moves along each direction, on average over the first few
	first int       // how many those are so far
	since int       // n when all of them are known
}

// few moves say what is usual; the others are compared with it.
const few = 2000

func newTally(s scale, turns bool) *tally {
	t := &tally{scale: s, turns: turns, flows: make([][cells][cells]int, len(s.dirs)),
		poly: make([][4]moment, len(s.dirs))}
	for i := range t.poly {
		for k := range t.poly[i] {
			t.poly[i][k].span = spans[k]
		}
	}
	for range len(s.dirs) * (len(s.dirs) - 1) / 2 {
		t.cross = append(t.cross, moment{span: 4})
		t.turn = append(t.turn, moment{span: 4})
	}
	t.joint = make([]corner, len(t.cross))
	t.usual = make([]float64, len(s.dirs))
	for range s.dirs {
		t.lean = append(t.lean, slices.Repeat([][2]moment{{{span: 2}, {span: 2}}}, len(s.dirs)))
	}
	return t
}

// corner counts what entered and left the cells that the quantiles of two directions
// cut: corners, edges and the middle.
type corner struct{ in, out [16]int }

// coarse are the cells at whose upper ends quarters meet: at the levels 0.13, 0.5, 0.87.
var coarse = [3]uint8{5, 9, 13}

// quarterOf is the quarter of a cell.
var quarterOf = func() (of [cells]uint8) {
	for c := range of {
		for _, end := range coarse {
			if c > int(end) {
				of[c]++
			}
		}
	}
	return of
}()

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
	if t.prepare != nil {
		t.prepare(theta)
	}
	dst = dst[:0]
	for _, d := range t.dirs {
		dst = append(dst, d.of(theta))
	}
	return dst
}

// stayed counts one pair of equal states.
func (t *tally) stayed() { t.n++ }

// add counts one pair.
func (t *tally) add(a, b []rank) {
	t.n++
	if t.turns {
		t.leans(a, b)
	}
	t.flow(a, b)
	next := 0
	for i := range a {
		before, after := polynomials(a[i].x), polynomials(b[i].x)
		for k := range before {
			t.poly[i][k].add(after[k] - before[k])
		}
		ai, bi := a[i].x, b[i].x
		cross, joint := t.cross[next:next+i], t.joint[next:next+i]
		was, is := 4*a[i].quarter, 4*b[i].quarter
		for j := range cross {
			cross[j].add(bi*b[j].x - ai*a[j].x)
			if from, to := was+a[j].quarter, is+b[j].quarter; from != to {
				joint[j].out[from&15]++
				joint[j].in[to&15]++
			}
		}
		if t.turns {
			for j := range i {
				t.turn[next+j].add(ai*b[j].x - a[j].x*bi)
			}
		}
		next += i
	}
}

// flow counts one pair's cells.
func (t *tally) flow(a, b []rank) {
	for i := range a {
		if a[i].cell != b[i].cell {
			t.flows[i][a[i].cell][b[i].cell]++
		}
	}
}

// leans counts one pair of different states, whose moves along every direction are of some length.
func (t *tally) leans(a, b []rank) {
	if t.first < few {
		if t.first++; t.first == few {
			t.since = t.n
		}
		for j := range t.usual {
			t.usual[j] += square(b[j].x-a[j].x) / few
		}
		return
	}
	for i := range a {
		up := sideOf(a[i].x > 0) - sideOf(b[i].x > 0)
		out := sideOf(math.Abs(a[i].x) > 0.5) - sideOf(math.Abs(b[i].x) > 0.5)
		if up == 0 && out == 0 {
			continue
		}
		for j, usual := range t.usual {
			longer := square(b[j].x-a[j].x) - usual
			t.lean[i][j][0].add(up * longer)
			t.lean[i][j][1].add(out * longer)
		}
	}
}

// square is that of a change of ranks, at most 1.
func square(change float64) float64 { return min(1, change*change) }

func sideOf(high bool) float64 {
	if high {
		return 1
	}
	return 0
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
			m := t.poly[i][k].of(t.n)
			e.mean(m, func() string {
				return fmt.Sprintf("%s the mean of the Legendre polynomial of degree %d of the rank of %s changed by %.2g", what,
					k+1, d.name, m.mean())
			})
		}
	}
	next := 0
	for i := range t.dirs {
		for j := range i {
			m, c := t.cross[next].of(t.n), &t.joint[next]
			next++
			for k := range c.in {
				e.see(fair(c.in[k], c.out[k]), func() string {
					return fmt.Sprintf("%s %d entered and %d left where %s meets %s", what, c.in[k], c.out[k],
						t.dirs[i].quarter(k/4), t.dirs[j].quarter(k%4))
				})
			}
			e.mean(m, func() string {
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
			m := t.turn[next].of(t.n)
			next++
			e.mean(m, func() string {
				return fmt.Sprintf("%s the chain turns from %s towards %s: the mean product of ranks, less the reverse, is %.2g",
					what, t.dirs[i].name, t.dirs[j].name, m.mean())
			})
		}
	}
	for i, d := range t.dirs {
		for j := range t.lean[i] {
			for k, side := range [2]string{"above the median", "out of the middle half"} {
				m := t.lean[i][j][k].of(t.n - t.since)
				e.mean(m, func() string {
					return fmt.Sprintf("%s moves along %s are longer, or shorter, from %s of %s than back there: their scale follows "+
						"it (%.2g in squares of ranks)", what, t.dirs[j].name, side, d.name, m.mean())
				})
			}
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
