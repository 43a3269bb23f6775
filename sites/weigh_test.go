package sites_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestSitesWeighRows: one model, of a shape with the records of all sites, gives each of them
// the radius of least predicted error, and their draws find the coefficients that responses to
// whole rows have, to five standard deviations (false alarm 10⁻⁶). Those of rows that are
// shortened alone are farther off.
func TestSitesWeighRows(t *testing.T) {
	const k, n = 4, 5000
	number := data.Column{Role: data.Feature, Kind: data.Number, Lower: -50, Upper: 50, Scale: 1}
	schema := &data.Schema{Confirmed: true, Records: k * n, Columns: []data.Column{number, number, number}}
	schema.Columns[0].Name, schema.Columns[1].Name, schema.Columns[2].Name = "a", "b", "y"
	schema.Columns[2].Role = data.Target
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("linear", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, truth := model.Target.(*targets.Linear), []float64{1, 3, -2}
	off := map[bool]float64{}
	for _, weighed := range []bool{true, false} {
		var apart []sites.LinearSums
		for i := range uint64(k) {
			rng := rand.New(rand.NewPCG(i, 1))
			free := *shape
			free.Records, free.Radius = n, 1e6
			table := free.Simulate(rng, nil, func(row []float64) float64 {
				row[1], row[2] = 2*row[1], 2*row[2] // so that many rows are long
				return truth[0]*row[0] + truth[1]*row[1] + truth[2]*row[2] + rng.NormFloat64()/2
			})
			table.Radius, table.Usual = shape.Radius, shape.Usual
			for r := range n {
				table.Shorten(table.Row(r))
			}
			by := model
			if !weighed {
				by, table.Radius = nil, model.Shape.Radius
			}
			records, err := chains.Seal(by, table, budgetOf(t, 20), curator.InsecureSeed(i))
			if err != nil {
				t.Fatal(err)
			}
			if f := records.Facts(); f.Radius != model.Shape.Radius || !(f.Radius < shape.Radius) {
				t.Fatalf("a site's radius is %v, the model's %v, the schema's %v", f.Radius, model.Shape.Radius, shape.Radius)
			}
			c, err := sites.AffordLinear(sites.LinearConfig{Target: target, Response: responseBound}, records.Facts(), 20, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			sums, err := sites.ReleaseLinear(c, records)
			if err != nil {
				t.Fatal(err)
			}
			apart = append(apart, sums)
		}
		r, err := sites.FitLinear(context.Background(), sites.FitLinearConfig{Target: target,
			Columns: chains.Columns(model.Shape, weighed), Sample: few(1)}, apart...)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range truth {
			found := diag.Summarize(r.Draws.Column(j))
			off[weighed] = max(off[weighed], math.Abs(found.Mean-want)/found.SD)
		}
	}
	if off[true] > 5 || off[false] < 5 {
		t.Errorf("%v standard deviations off, and %v where responses stay", off[true], off[false])
	}
}
