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

// quantile is the place of coordinate j of theta in its density given the others, by a quadrature
// that halves panels until it is good to 4·10⁻⁴; NaN if it is not after many.
func quantile(target targets.Target, theta []float64, j int, where about) float64 {
	at, here := slices.Clone(theta), theta[j]
	log := func(v float64) float64 {
		at[j] = v
		return target.LogPrior(at)
	}
	nodes := where.nodes(here)
	values, top := make([]float64, len(nodes)), math.Inf(-1)
	for i, v := range nodes {
		values[i] = log(v)
		top = max(top, values[i]) // NaN stays
	}
	if math.IsNaN(top) || math.IsInf(top, 0) || !(where.width > 0) {
		return math.NaN()
	}
	density := func(v float64) float64 { return math.Exp(log(v) - top) }
	panels := make([]panel, 0, 2*len(nodes))
	for i := 1; i < len(nodes); i++ {
		a, b := nodes[i-1], nodes[i]
		panels = append(panels, between2(a, b, math.Exp(values[i-1]-top), density(a+(b-a)/2), math.Exp(values[i]-top),
			density))
	}
	const most = 3000
	for range 60 {
		whole, off := 0.0, 0.0
		for _, p := range panels {
			whole, off = whole+p.value(), off+p.off()
		}
		if !finite(whole) || len(panels) > most {
			return math.NaN()
		}
		if off < 4e-4*whole {
			break
		}
		for i, n := 0, len(panels); i < n; i++ {
			if panels[i].off() > 2e-4*whole/float64(n) {
				halves := panels[i].halved(density)
				panels[i] = halves[0]
				panels = append(panels, halves[1])
			}
		}
	}
	below, whole := 0.0, 0.0
	for _, p := range panels {
		if whole += p.value(); p.b <= here {
			below += p.value()
		}
	}
	return below / whole
}
