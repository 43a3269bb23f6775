package proptest

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// extremes are the numbers that break things: zeros of both signs, the ends of
// the range, subnormal numbers, integers that float64 just holds, and what is
// not a number.
var extremes = []float64{
	0, math.Copysign(0, -1), 0.5, 1, -1,
	math.NaN(), math.Inf(1), math.Inf(-1),
	math.SmallestNonzeroFloat64, -2.2e-308, 1e-300,
	1 << 53, -(1<<53 - 1), 1e8, -1e8, 1e300, -math.MaxFloat64,
}

// Wild generates numbers of every kind that a table could hold: ordinary ones
// three times in four, else NaN, ±Inf, ±0, subnormal and huge ones.
func Wild() *rapid.Generator[float64] {
	ordinary := rapid.Float64Range(-3, 3)
	return rapid.OneOf(ordinary, ordinary, ordinary, rapid.SampledFrom(extremes))
}

// stream draws a seed and returns its random stream, for values too many to be
// drawn and shrunk one at a time.
func stream(rt *rapid.T, label string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, label), 0))
}

// rows draws n plausible records, up to four of whose values are wild.
func (o TargetOptions) rows(rt *rapid.T, target targets.Target, n int) targets.Rows {
	rows := o.plausible(stream(rt, "records"), target, n)
	if n == 0 {
		return rows
	}
	for range rapid.IntRange(0, 4).Draw(rt, "wild values") {
		at, v := rapid.IntRange(0, n-1).Draw(rt, "record"), Wild().Draw(rt, "value")
		column := rapid.IntRange(0, rows.P).Draw(rt, "column")
		switch {
		case column < rows.P:
			rows.X[at*rows.P+column] = v
		case rows.Y != nil:
			rows.Y[at] = v
		}
	}
	return rows
}

// plausible returns n records as Record makes them.
func (o TargetOptions) plausible(rng *rand.Rand, target targets.Target, n int) targets.Rows {
	p, response := target.Shape()
	rows := targets.Rows{X: make([]float64, n*p), P: p}
	if response {
		rows.Y = make([]float64, n)
	}
	for i := range n {
		y := o.Record(rng, rows.Row(i))
		if response {
			rows.Y[i] = y
		}
	}
	return rows
}

// state draws a plausible parameter.
func (o TargetOptions) state(rng *rand.Rand, target targets.Target) []float64 {
	o.watch.goesOn()
	theta := make([]float64, target.Dim())
	o.State(rng, theta)
	for try := 0; o.normal && try < 1000 && math.IsInf(target.LogPrior(theta), -1); try++ {
		o.State(rng, theta)
	}
	return theta
}

func normals(rng *rand.Rand, dst []float64) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}

// same reports whether two numbers are equal or both NaN.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
