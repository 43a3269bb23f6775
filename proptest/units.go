package proptest

import (
	"math"
	"slices"
)

// unitOf is the power of ten that numbers are of, and 1 if that is nearly so: sizes at which a
// coordinate is looked at, and steps of differences, are multiples of it.
func unitOf(numbers []float64) float64 {
	sizes := make([]float64, len(numbers))
	for i, v := range numbers {
		sizes[i] = math.Abs(v)
	}
	slices.Sort(sizes)
	switch m := sizes[len(sizes)/2]; {
	case !(m > 0) || math.IsInf(m, 0) || m > 0.03 && m < 30:
		return 1
	default:
		return math.Pow(10, math.Round(math.Log10(m)))
	}
}

// measure finds the units of parameters and of features, by a stream of its own.
func (g *stage) measure() {
	draws := stage{o: g.o, target: g.target, rng: rand64(g.o.Seed, 60), d: g.d, p: g.p}
	var thetas, records [][]float64
	for range 41 {
		thetas = append(thetas, g.o.state(draws.rng, g.target))
		records = append(records, draws.record().X)
	}
	g.unit, g.unitX = make([]float64, g.d), make([]float64, g.p)
	for j := range g.unit {
		g.unit[j] = unitOf(column(thetas, j))
	}
	for j := range g.unitX {
		g.unitX[j] = unitOf(column(records, j))
	}
}

// inUnits are numbers divided by their units.
func inUnits(v, unit []float64) []float64 {
	out := slices.Clone(v)
	for j := range out {
		out[j] /= unit[j]
	}
	return out
}
