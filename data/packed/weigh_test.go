package packed_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestMappedRowsWeigh: linear regression takes its radius of least predicted error for a packed
// file as for the CSV file, and releases the same sums. Rows stay in the mapping, and responses
// there do not change.
func TestMappedRowsWeigh(t *testing.T) {
	const n = 5000
	schema := &data.Schema{Confirmed: true, Records: n, Columns: []data.Column{
		{Name: "x", Role: data.Feature, Kind: data.Number, Lower: -50, Upper: 50, Scale: 1},
		{Name: "y", Role: data.Target, Kind: data.Number, Lower: -20, Upper: 20, Scale: 1}}}
	rng := rand.New(rand.NewPCG(3, 1))
	var b strings.Builder
	b.WriteString("x,y\n")
	for range n {
		x := 2 * rng.NormFloat64() // so that many rows are long
		fmt.Fprintf(&b, "%.3f,%.3f\n", x, 1+x+rng.NormFloat64())
	}
	csv := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(csv, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := data.Load(context.Background(), csv, schema)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("linear", &loaded.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, radius := sums(t, model, loaded)
	if !(radius < loaded.Radius) {
		t.Fatalf("the radius is %v of %v: the test sees nothing", radius, loaded.Radius)
	}
	for _, single := range []bool{false, true} {
		file := pack(t, csv, schema, packed.Options{Single: single})
		own, err := models.New("linear", &file.Table.Shape, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		weighed := own.Weigh(&file.Table)
		if !weighed.Weighed || !weighed.Shared || !slices.Equal(file.Table.Y, loaded.Y) ||
			slices.Equal(weighed.Y, loaded.Y) || !single && &weighed.X[0] != &file.Table.X[0] ||
			single && &weighed.X32[0] != &file.Table.X32[0] {
			t.Errorf("single precision %v: rows were copied, or responses are not weighed", single)
		}
		got, at := sums(t, own, &file.Table)
		for e, v := range got {
			if at != radius || math.Abs(v-want[e]) > 1e-12*n && !single || math.Abs(v-want[e]) > 1e-6*n {
				t.Errorf("single precision %v: radius %v and %v, of the CSV file %v and %v", single, at, v, radius, want[e])
			}
		}
	}
	if raw, _ := sums(t, nil, loaded); math.Abs(raw[0]-want[0]) < 1e-3*n {
		t.Error("rows that are not weighed give the same sums: the test sees nothing")
	}
}

// sums are released second moments, with a fixed seed and hardly any noise, and the radius that
// they have a price for.
func sums(t *testing.T, m *models.Model, table *data.Table) ([]float64, float64) {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e15, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := chains.Seal(m, table, budget, curator.InsecureSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	moment := curator.SecondMoment{Response: 20, NoiseMultiplier: 1e-6}
	g, err := curator.Charge(sealed, moment, 1)
	if err != nil {
		t.Fatal(err)
	}
	size := moment.Size(sealed.Facts())
	dst := make([]float64, size*size)
	if err := g.Release(dst, nil); err != nil {
		t.Fatal(err)
	}
	return dst, sealed.Facts().Radius
}
