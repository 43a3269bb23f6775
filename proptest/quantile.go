package proptest

import (
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// about says where a parameter's draws lie: quantiles of some, from the least to the largest, and
// half the width of the middle half.
type about struct {
	draws []float64
	width float64
}

func aboutOf(draws []float64) about {
	slices.Sort(draws)
	n := len(draws)
	a := about{width: (draws[n*3/4] - draws[n/4]) / 2}
	if a.width == 0 {
		a.width = (draws[n-1] - draws[0]) / 2
	}
	const some = 24
	for i := range some + 1 {
		a.draws = append(a.draws, draws[i*(n-1)/some])
	}
	return a
}

// nodes are where the quadrature of a density begins: about here at every scale, at the draws, and
// outward from them.
func (a about) nodes(here float64) []float64 {
	at := append(make([]float64, 0, 80), a.draws...)
	at = append(at, here)
	for by := 1e-6 * a.width; by < 1e3*a.width; by *= 4 {
		at = append(at, here-by, here+by)
	}
	low, high := min(here, a.draws[0]), max(here, a.draws[len(a.draws)-1])
	for by := a.width; by < 1e15*a.width; by *= 8 {
		at = append(at, low-by, high+by)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// panel is a piece of an integral, by Simpson's rule on five points.
type panel struct{ a, b, fa, fl, fm, fr, fb float64 }

func (p panel) value() float64 { return (p.b - p.a) / 12 * (p.fa + 4*p.fl + 2*p.fm + 4*p.fr + p.fb) }

// off is how far three of the points are from all five.
func (p panel) off() float64 {
	return math.Abs(p.value() - (p.b-p.a)/6*(p.fa+4*p.fm+p.fb))
}

// halved are both halves of a panel.
func (p panel) halved(f func(v float64) float64) [2]panel {
	m := p.a + (p.b-p.a)/2
	return [2]panel{between2(p.a, m, p.fa, p.fl, p.fm, f), between2(m, p.b, p.fm, p.fr, p.fb, f)}
}

// between2 is the panel of which the ends and the middle are known.
func between2(a, b, fa, fm, fb float64, f func(v float64) float64) panel {
	return panel{a, b, fa, f(a + (b-a)/4), fm, f(b - (b-a)/4), fb}
}

// curveOf is the density of a coordinate given the others, over its largest value at some nodes.
type curveOf struct {
	nodes, values []float64
	density       func(v float64) float64
}

// curve is known at nodes about a value. Its density is nil where it is no number there, or nothing.
func (a about) curve(target targets.Target, theta []float64, j int, end float64) curveOf {
	c, at, top := curveOf{nodes: a.nodes(end)}, slices.Clone(theta), math.Inf(-1)
	log := func(v float64) float64 {
		at[j] = v
		return target.LogPrior(at)
	}
	for _, v := range c.nodes {
		c.values = append(c.values, log(v))
		top = max(top, c.values[len(c.values)-1]) // NaN stays
	}
	if !finite(top) || !(a.width > 0) {
		return c
	}
	for i, v := range c.values {
		c.values[i] = math.Exp(v - top)
	}
	c.density = func(v float64) float64 { return math.Exp(log(v) - top) }
	return c
}

// panels are pieces of its integral from one node to another, halved until it is good to a share of itself; none if it
// is not after many.
func (c curveOf) panels(from, to int, good float64) []panel {
	const most = 3000
	panels := make([]panel, 0, 2*len(c.nodes))
	for i := from; i < to; i++ {
		a, b := c.nodes[i], c.nodes[i+1]
		panels = append(panels, between2(a, b, c.values[i], c.density(a+(b-a)/2), c.values[i+1], c.density))
	}
	for range 60 {
		whole, off := 0.0, 0.0
		for _, p := range panels {
			whole, off = whole+p.value(), off+p.off()
		}
		if !finite(whole) || len(panels) > most {
			return nil
		}
		if off < good*whole {
			break
		}
		for i, n := 0, len(panels); i < n; i++ {
			if panels[i].off() > good/2*whole/float64(n) {
				halves := panels[i].halved(c.density)
				panels[i] = halves[0]
				panels = append(panels, halves[1])
			}
		}
	}
	return panels
}

// quantile is the place of coordinate j of theta in its density given the others, by a quadrature
// that is good to 4·10⁻⁴; NaN if there is none.
func quantile(target targets.Target, theta []float64, j int, where about) float64 {
	c := where.curve(target, theta, j, theta[j])
	if c.density == nil {
		return math.NaN()
	}
	below, whole := 0.0, 0.0
	for _, p := range c.panels(0, len(c.nodes)-1, 4e-4) {
		if whole += p.value(); p.b <= theta[j] {
			below += p.value()
		}
	}
	return below / whole
}

// outside are the probabilities of coordinate j below and above an end given the others, each good to a tenth of
// itself; NaN if there are none.
func outside(target targets.Target, theta []float64, j int, where about, end float64) (below, above float64) {
	c := where.curve(target, theta, j, end)
	if c.density == nil {
		return math.NaN(), math.NaN()
	}
	sum := func(from, to int) (sum float64) {
		for _, p := range c.panels(from, to, 0.02) {
			sum += p.value()
		}
		return sum
	}
	i, _ := slices.BinarySearch(c.nodes, end)
	below, above = sum(0, i), sum(i, len(c.nodes)-1)
	whole := sum(0, len(c.nodes)-1)
	return below / whole, above / whole
}
