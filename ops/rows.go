package ops

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Project returns a copy of rows in which no row of X is longer than radius in
// the Euclidean norm: longer rows are scaled down, rows that hold a NaN or an
// infinity become zero. This is a function of each record alone, so a
// sensitivity that assumes ‖x‖₂ ≤ radius holds for whatever was passed in. Y is
// shared with rows. It panics unless radius is positive and finite.
func Project(rows targets.Rows, radius float64) targets.Rows {
	if !(radius > 0) || math.IsInf(radius, 1) {
		panic(fmt.Sprintf("ops: Project: radius %v: must be positive and finite", radius))
	}
	x := make([]float64, len(rows.X))
	for i := range rows.Len() {
		projectRow(x[i*rows.P:(i+1)*rows.P], rows.Row(i), radius)
	}
	rows.X = x
	return rows
}

func projectRow(dst, row []float64, radius float64) {
	largest := 0.0
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return // dst is zero
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return
	}
	sum := 0.0
	for _, v := range row {
		sum += (v / largest) * (v / largest)
	}
	// Norms are compared with a margin above their rounding, and the result is
	// shorter than radius by as much, so that it is never longer.
	const margin = 1 - 0x1p-40
	scale := 1.0
	if norm := math.Sqrt(sum); norm*largest > radius*margin {
		scale = radius * margin / norm / largest
		if scale == 0 { // the row is too long for its scale to be a number
			for j, v := range row {
				dst[j] = v / largest * (radius * margin / norm)
			}
			return
		}
	}
	for j, v := range row {
		dst[j] = v * scale
	}
}

// CheckShape refuses rows that do not have features columns and, if response is
// set, one response per row, or that are empty. The message names pkg.
func CheckShape(pkg string, rows targets.Rows, features int, response bool) error {
	switch {
	case rows.P != features:
		return fmt.Errorf("%s: records have %d features, the model has %d: pass records of the model's shape", pkg,
			rows.P, features)
	case rows.Len() == 0:
		return fmt.Errorf("%s: there are no records: pass at least one", pkg)
	case len(rows.X) != rows.Len()*rows.P:
		return fmt.Errorf("%s: X holds %d numbers, %d records of %d features need %d", pkg, len(rows.X), rows.Len(), rows.P,
			rows.Len()*rows.P)
	case response && len(rows.Y) != rows.Len():
		return fmt.Errorf("%s: %d responses for %d records: pass one each", pkg, len(rows.Y), rows.Len())
	}
	return nil
}
