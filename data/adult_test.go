package data_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/shared"
)

// adult loads UCI Adult under the repository's schema, changed.
func adult(t *testing.T, change func(*data.Schema)) *data.Table {
	t.Helper()
	schema, err := schemafile.Read("testdata/adult.toml")
	if err != nil {
		t.Fatal(err)
	}
	change(schema)
	table, err := data.Load(context.Background(), shared.Path(t, "data/adult.csv"), schema)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Counts as in shared/data/README.md and by `cut -d, -f15 adult.csv | sort | uniq -c`.
func TestAdultLoads(t *testing.T) {
	table := adult(t, func(*data.Schema) {})
	if table.Records != 32561 || table.Features() != 6 || floats.Sum(table.Y) != 7841 {
		t.Errorf("N = %d, P = %d, %v positive", table.Records, table.Features(), floats.Sum(table.Y))
	}
	// The first record of the file: 39,…,13,…,2174,0,40,…,<=50K.
	k := math.Sqrt(6)
	want := []float64{1 / k, -1. / 15 / k, 3. / 3 / k, 0, 2174. / 5000 / k, 0}
	if !floats.EqualApprox(table.Row(0), want, 1e-15) || table.Y[0] != 0 {
		t.Errorf("first row %v, response %v; want %v, 0", table.Row(0), table.Y[0], want)
	}
	for i := range table.Records {
		if record.Norm(table.Row(i)) > table.Radius {
			t.Fatalf("row %d has norm %v", i, record.Norm(table.Row(i)))
		}
	}
}

// TestAdultProjectionMovesNoCoefficient: of a fit that is not private, shortening the rows
// beyond the radius that the schema gives moves coefficients by less than 0.8 of their
// standard errors as a root mean square. The unit ball moves them by more than 3.
func TestAdultProjectionMovesNoCoefficient(t *testing.T) {
	fit := func(radius float64) ([]float64, *mat.SymDense) {
		return fitLogistic(adult(t, func(s *data.Schema) { s.Radius = radius }))
	}
	whole, curvature := fit(1e6)
	var errors mat.Dense
	if err := errors.Inverse(curvature); err != nil {
		t.Fatal(err)
	}
	moved := func(radius float64) float64 {
		square, theta := 0.0, []float64(nil)
		theta, _ = fit(radius)
		for j := range theta {
			off := theta[j] - whole[j]
			square += off * off / errors.At(j, j) / float64(len(theta))
		}
		return math.Sqrt(square)
	}
	usual, unit := moved(0), moved(1)
	t.Logf("coefficients move by %.2f standard errors, in the unit ball by %.2f", usual, unit)
	if usual > 0.8 || unit < 3 {
		t.Errorf("coefficients move by %.2f standard errors, want at most 0.8; in the unit ball %.2f", usual, unit)
	}
}

// A chain's cost of relaxing grows with the posterior variances and the square of the
// radius (theory §5.2), and their product is far smaller with centers and scales than
// with bounds alone.
func TestAdultScalesNarrowThePosterior(t *testing.T) {
	variances := func(change func(*data.Schema)) float64 {
		table := adult(t, change)
		_, curvature := fitLogistic(table)
		var inverse mat.Dense
		if err := inverse.Inverse(curvature); err != nil {
			t.Fatal(err)
		}
		return mat.Trace(&inverse) * table.Radius * table.Radius
	}
	scaled := variances(func(*data.Schema) {})
	bounded := variances(func(s *data.Schema) {
		for i := range s.Columns {
			s.Columns[i].Center, s.Columns[i].Scale = 0, 0
		}
	})
	t.Logf("sum of posterior variances, times R²: %.4f with centers and scales, %.4f with bounds alone, ratio %.0f",
		scaled, bounded,
		bounded/scaled)
	if bounded < 20*scaled {
		t.Errorf("sum of posterior variances %v with centers and scales, %v with bounds alone", scaled, bounded)
	}
}

// fitLogistic returns the posterior mode under independent N(0, 3²) priors, by
// Newton's method, and the Hessian of the negative log posterior there.
func fitLogistic(t *data.Table) (beta []float64, curvature *mat.SymDense) {
	beta = make([]float64, t.Features())
	for range 12 {
		gradient := mat.NewVecDense(t.Features(), nil)
		curvature = mat.NewSymDense(t.Features(), nil)
		for j, b := range beta {
			gradient.SetVec(j, -b/9)
			curvature.SetSym(j, j, 1./9)
		}
		for i := range t.Records {
			row := mat.NewVecDense(t.Features(), t.Row(i))
			p := 1 / (1 + math.Exp(-floats.Dot(t.Row(i), beta)))
			gradient.AddScaledVec(gradient, t.Y[i]-p, row)
			curvature.SymRankOne(curvature, p*(1-p), row)
		}
		var step mat.VecDense
		if err := step.SolveVec(curvature, gradient); err != nil {
			panic(err)
		}
		floats.Add(beta, step.RawVector().Data)
	}
	return beta, curvature
}
