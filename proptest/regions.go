package proptest

import (
	"math"
	"slices"
)

// regions are the leaves of a tree that cuts coordinates, and distances from what the worlds have in the
// middle, where the worlds differ most: noise of several numbers may tell records by all of them together.
func regions(onA, onB [][]float64, some []int) feature {
	const most = 128
	onA, onB = firstOfThem(onA, 25_000), firstOfThem(onB, 25_000)
	var of []func(r []float64) float64
	for _, j := range some {
		of = append(of, at(j))
	}
	for _, middle := range [][]float64{medians(onA), medians(onB)} {
		for _, norm := range []func(a, b []float64) float64{distance, widest} {
			of = append(of, func(r []float64) float64 { return norm(r, middle) })
		}
	}
	g := &grove{of: of, cells: 1, nodes: []branch{{cell: 0}}}
	var root part
	for k, all := range [][][]float64{onA, onB} {
		for _, r := range all {
			v := make([]float64, len(of))
			for i, f := range of {
				v[i] = ordered(f(r))
			}
			root[k] = append(root[k], v)
		}
	}
	leaves := []leaf{g.leaf(0, root)}
	for len(leaves) < most {
		best := 0
		for i, l := range leaves {
			if l.gain > leaves[best].gain {
				best = i
			}
		}
		if leaves[best].gain < 4 { // what chance gives
			break
		}
		low, high := g.split(leaves[best])
		leaves[best] = low
		leaves = append(leaves, high)
	}
	return feature{"all coordinates together", g.cells, g.cell}
}

func medians(all [][]float64) []float64 {
	middle := make([]float64, len(all[0]))
	for j := range middle {
		v := column(all, j)
		slices.Sort(v)
		middle[j] = v[len(v)/2]
	}
	return middle
}

// distance is the Euclidean distance, and widest that of the coordinates that differ most.
func distance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return math.Sqrt(sum)
}

func widest(a, b []float64) (most float64) {
	for j, v := range a {
		most = max(most, math.Abs(v-b[j]))
	}
	return most
}

type (
	// grove is a tree over functions of a release.
	grove struct {
		of    []func(r []float64) float64
		cells int
		nodes []branch
	}
	// branch sends what is below its border in a function to low, and else to high; where both are 0 it
	// is a leaf.
	branch struct {
		function, low, high, cell int
		border                    float64
	}
	// part are the functions' values of releases of both worlds.
	part [2][][]float64
	leaf struct {
		node   int
		inside part
		branch
		gain float64
	}
)

func (g *grove) cell(r []float64) int {
	at := 0
	for g.nodes[at].high > 0 {
		if b := g.nodes[at]; ordered(g.of[b.function](r)) < b.border {
			at = b.low
		} else {
			at = b.high
		}
	}
	return g.nodes[at].cell
}

// leaf finds the cut of a node that tells the worlds best, by its likelihood ratio, among quantiles of
// every function.
func (g *grove) leaf(node int, inside part) leaf {
	l := leaf{node: node, inside: inside}
	a, b := len(inside[0]), len(inside[1])
	if a+b < 200 {
		return l
	}
	for i := range g.of {
		borders := bordersOfPart(inside, i)
		var counts [2][]int
		for k, all := range inside {
			counts[k] = make([]int, len(borders)+1)
			for _, v := range all {
				at, found := slices.BinarySearch(borders, v[i])
				if found {
					at++
				}
				counts[k][at]++
			}
		}
		p, q := 0, 0
		for k, border := range borders {
			p, q = p+counts[0][k], q+counts[1][k]
			if p+q < 50 || a+b-p-q < 50 {
				continue
			}
			if gain := sureness(p, q) + sureness(a-p, b-q) - sureness(a, b); gain > l.gain {
				l.gain, l.branch = gain, branch{function: i, border: border}
			}
		}
	}
	return l
}

// bordersOfPart are up to 15 quantiles of some of the values.
func bordersOfPart(inside part, i int) []float64 {
	var v []float64
	for _, all := range inside {
		for k := 0; k < len(all); k += 1 + len(all)/200 {
			v = append(v, all[k][i])
		}
	}
	slices.Sort(v)
	var borders []float64
	for k := 1; k < 16; k++ {
		borders = append(borders, v[k*len(v)/16])
	}
	return slices.Compact(borders)
}

// sureness is the logarithm of the likelihood of two counts.
func sureness(a, b int) float64 {
	of := func(k int) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(float64(k)/float64(a+b))
	}
	return of(a) + of(b)
}

func (g *grove) split(l leaf) (low, high leaf) {
	var parts [2]part
	for k, all := range l.inside {
		for _, v := range all {
			side := 1
			if v[l.function] < l.border {
				side = 0
			}
			parts[side][k] = append(parts[side][k], v)
		}
	}
	n := len(g.nodes)
	g.nodes = append(g.nodes, branch{cell: g.nodes[l.node].cell}, branch{cell: g.cells})
	g.nodes[l.node] = branch{function: l.function, border: l.border, low: n, high: n + 1}
	g.cells++
	return g.leaf(n, parts[0]), g.leaf(n+1, parts[1])
}
