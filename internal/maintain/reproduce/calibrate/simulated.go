package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/data"
)

// kind is a simulated linear regression that was not tuned to: what it makes of the rows
// and the errors of builtin:linear.
type kind struct {
	row     func(x []float64, rng *rand.Rand)
	err     func(x []float64, rng *rand.Rand) float64
	bound   float64 // of responses, over the largest that the model makes
	shrinks bool    // rows change after responses are drawn
}

var kinds = map[string]kind{
	"plain":           {asIs, normalError, 1, false},
	"heavy":           {heavyRow, studentError(2), 1, false},
	"student":         {asIs, studentError(3), 1, false},
	"heteroscedastic": {asIs, heteroscedastic, 1, false},
	"outliers":        {asIs, contaminated, 1, false},
	"wide":            {func(x []float64, _ *rand.Rand) { floats.Scale(0.1, x[1:]) }, normalError, 10, true},
	"loose":           {asIs, normalError, 10, false},
	"tight":           {asIs, normalError, 0.2, false},
	"uncentred":       {uncentredRow, normalError, 1, false},
	"rare":            {rareRow, normalError, 1, false},
	"collinear":       {collinearRow, normalError, 1, false},
}

func asIs([]float64, *rand.Rand) {}

func normalError(_ []float64, rng *rand.Rand) float64 { return 0.5 * rng.NormFloat64() }

// studentError has whole degrees of freedom.
func studentError(freedom int) func([]float64, *rand.Rand) float64 {
	return func(x []float64, rng *rand.Rand) float64 {
		square := 0.0
		for range freedom {
			z := rng.NormFloat64()
			square += z * z / float64(freedom)
		}
		return normalError(x, rng) / math.Sqrt(square)
	}
}

// heteroscedastic errors are from a fifth to twice as large, by the first feature.
func heteroscedastic(x []float64, rng *rand.Rand) float64 {
	return normalError(x, rng) * (0.2 + min(2, math.Abs(x[1]/x[0])))
}

// contaminated errors are 20 times as large in one record of 50.
func contaminated(x []float64, rng *rand.Rand) float64 {
	e := normalError(x, rng)
	if rng.IntN(50) == 0 {
		e *= 20
	}
	return e
}

// uncentredRow has features whose mean is three of their standard deviations from 0.
func uncentredRow(x []float64, _ *rand.Rand) {
	for j := range x[1:] {
		x[j+1] = 0.75*x[0] + x[j+1]/4
	}
}

// rareRow has features that are 0 but for one record of 50.
func rareRow(x []float64, rng *rand.Rand) {
	for j := range x[1:] {
		x[j+1] = 0
		if rng.IntN(50) == 0 {
			x[j+1] = x[0]
		}
	}
}

// heavyRow divides the features by the root of an exponential: Student-t with 2 degrees
// of freedom, cut to the unit ball.
func heavyRow(x []float64, rng *rand.Rand) {
	floats.Scale(0.5/math.Sqrt(rng.ExpFloat64()), x[1:])
	if norm := floats.Dot(x, x); norm > 1 {
		floats.Scale(1/math.Sqrt(norm), x)
	}
}

// collinearRow makes the features of one, all but a twentieth.
func collinearRow(x []float64, _ *rand.Rand) {
	for j := 2; j < len(x); j++ {
		x[j] = 0.95*x[1] + 0.05*x[j]
	}
}

// simulatedTable draws records of a kind. Responses may be beyond their bounds.
func simulatedTable(name string, rng *rand.Rand) (*data.Table, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no simulated table %q", name)
	}
	sim, err := data.Builtin(fmt.Sprintf("builtin:linear?n=%d&d=%d&seed=%d", *records, *features-1, rng.Uint32()))
	if err != nil {
		return nil, err
	}
	t := sim.Table
	t.Target.Lower, t.Target.Upper = k.bound*t.Target.Lower, k.bound*t.Target.Upper
	for i := range t.Y {
		row := t.Row(i)
		if !k.shrinks {
			k.row(row, rng)
		}
		t.Y[i] = k.err(row, rng)
		for j, x := range row {
			t.Y[i] += x * sim.Truth[j]
		}
		if k.shrinks { // coefficients are then as much larger
			k.row(row, rng)
		}
	}
	return t, nil
}
