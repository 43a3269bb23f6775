package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/data"
)

// kinds are the simulated linear regressions that were not tuned to: what each makes of
// the rows and the errors of builtin:linear.
var kinds = map[string]struct {
	row   func(x []float64, rng *rand.Rand)
	err   func(rng *rand.Rand) float64
	bound float64 // of responses, over the largest that the model makes
}{
	"plain":     {func([]float64, *rand.Rand) {}, normalError, 1},
	"heavy":     {heavyRow, func(rng *rand.Rand) float64 { return normalError(rng) / math.Sqrt(rng.ExpFloat64()) }, 1},
	"outliers":  {func([]float64, *rand.Rand) {}, contaminated, 1},
	"wide":      {func(x []float64, _ *rand.Rand) { scale(x[1:], 0.1) }, normalError, 10},
	"collinear": {collinearRow, normalError, 1},
}

func normalError(rng *rand.Rand) float64 { return 0.5 * rng.NormFloat64() }

// contaminated errors are 20 times as large in one record of 50.
func contaminated(rng *rand.Rand) float64 {
	e := normalError(rng)
	if rng.IntN(50) == 0 {
		e *= 20
	}
	return e
}

// heavyRow divides the features by the root of an exponential: Student-t with 2 degrees
// of freedom, cut to the unit ball.
func heavyRow(x []float64, rng *rand.Rand) {
	scale(x[1:], 0.5/math.Sqrt(rng.ExpFloat64()))
	norm := 0.0
	for _, v := range x {
		norm += v * v
	}
	if norm > 1 {
		scale(x, 1/math.Sqrt(norm))
	}
}

// collinearRow makes the features of one, all but a twentieth.
func collinearRow(x []float64, _ *rand.Rand) {
	for j := 2; j < len(x); j++ {
		x[j] = 0.95*x[1] + 0.05*x[j]
	}
}

func scale(x []float64, by float64) {
	for j := range x {
		x[j] *= by
	}
}

// simulatedTable draws records of a kind; responses are cut to their bounds.
func simulatedTable(kind string, rng *rand.Rand) (*data.Table, error) {
	k, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("there is no simulated table %q", kind)
	}
	sim, err := data.Builtin(fmt.Sprintf("builtin:linear?n=%d&d=%d&seed=%d", *records, *features-1, rng.Uint32()))
	if err != nil {
		return nil, err
	}
	t := sim.Table
	t.Target.Lower, t.Target.Upper = k.bound*t.Target.Lower, k.bound*t.Target.Upper
	for i := range t.Y {
		row := t.Row(i)
		eta := 0.0
		if kind != "wide" { // whose coefficients are ten times the built-in ones
			k.row(row, rng)
		}
		for j, x := range row {
			eta += x * sim.Truth[j]
		}
		if kind == "wide" {
			k.row(row, rng)
		}
		t.Y[i] = max(t.Target.Lower, min(t.Target.Upper, eta+k.err(rng)))
	}
	return t, nil
}
