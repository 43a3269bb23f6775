package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Project returns a copy of rows in which no row of X is longer than radius in
// the Euclidean norm: longer rows are scaled down, rows that hold a NaN or an
// infinity become zero. This is a function of each record alone, and leaves a row
// that it made as it is. So a sensitivity that assumes ‖x‖₂ ≤ radius holds for
// whatever was passed in. Y is shared with rows. It panics unless radius is
// positive and finite.
func Project(rows targets.Rows, radius float64) targets.Rows {
	if !(radius > 0) || math.IsInf(radius, 1) {
		panic(fmt.Sprintf("ops: Project: radius %v: must be positive and finite", radius))
	}
	rows.X = slices.Clone(rows.X)
	for i := range rows.Len() {
		record.Project(rows.Row(i), radius)
	}
	return rows
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
