package models_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// longSchema has two numbers of scale 1 and a response.
func longSchema(records int, radius float64) *data.Schema {
	number := data.Column{Role: data.Feature, Kind: data.Number, Lower: -100, Upper: 100, Scale: 1}
	s := &data.Schema{Confirmed: true, Records: records, Radius: radius, Columns: []data.Column{number, number,
		{Name: "y", Role: data.Target, Kind: data.Number, Lower: -1000, Upper: 1000, Scale: 1}}}
	s.Columns[0].Name, s.Columns[1].Name = "a", "b"
	return s
}

func longModel(t interface {
	Helper()
	Fatal(...any)
}, name string, records int, radius float64) *models.Model {
	t.Helper()
	shape, err := longSchema(records, radius).Shape()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(name, shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// weighing are the models that weigh long rows.
var weighing = []string{"linear", "median"}

// TestWeighedRowsLeaveCoefficients: at the parameters that records were drawn with, gradients in
// coefficients have mean 0, though most rows are longer than the radius: to 5.5 standard errors,
// of three coefficients (false alarm 10⁻⁷ a model). Where rows stay shortened they are farther
// off.
func TestWeighedRowsLeaveCoefficients(t *testing.T) {
	const records = 100_000
	for _, name := range weighing {
		m := longModel(t, name, records, 0.8)
		theta := []float64{0.3, 1.2, -0.9, 0}[:m.Target.Dim()]
		values := slices.Clone(theta)
		m.Output(values, theta)
		weighed := m.Simulate(values, rand.New(rand.NewPCG(1, 2)))
		free, shape := *m, *m.Shape
		shape.Radius, free.Shape = 1e6, &shape
		cut := free.Simulate(values, rand.New(rand.NewPCG(1, 2)))
		cut.Shape = *m.Shape
		for i := range cut.Records {
			cut.Shorten(cut.Row(i))
		}
		if !weighed.Weighed || !slices.Equal(cut.X, weighed.X) || !slices.Equal(m.Weigh(cut).Y, weighed.Y) {
			t.Errorf("%s: simulated records are not those that are read and weighed", name)
		}
		if off := farthest(m, theta, weighed); off > 5.5 {
			t.Errorf("%s: the mean gradient is %.3g standard errors off", name, off)
		}
		if off := farthest(m, theta, cut); off < 10 {
			t.Errorf("%s: of shortened rows it is %.3g standard errors off: the test sees nothing", name, off)
		}
	}
}

// farthest is the largest mean gradient of a coefficient, in its standard errors.
func farthest(m *models.Model, theta []float64, t *data.Table) (most float64) {
	n, d := t.Records, len(theta)
	gradients := make([]float64, n*d)
	m.Target.(targets.GradTarget).LossGrad(gradients, theta, targets.Rows{X: t.X, P: t.Features(), Y: t.Y})
	for j := range t.Features() {
		sum, square := 0.0, 0.0
		for i := range n {
			g := gradients[i*len(theta)+j]
			sum, square = sum+g, square+g*g
		}
		most = max(most, math.Abs(sum)/math.Sqrt(square))
	}
	return most
}

// TestWeighIsOfOneRecord: what becomes of a record does not depend on others, its row stays as it
// is and its response gets no longer, and records within the radius and the table itself do not
// change. Rows may be as long as bounds allow.
func TestWeighIsOfOneRecord(t *testing.T) {
	entry := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-100, 100),
		rapid.SampledFrom([]float64{0, 100, -100, 1e-300, math.Sqrt2, 1}))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(weighing).Draw(t, "model")
		m := longModel(t, name, 3, rapid.SampledFrom([]float64{1e-3, 0.3, 1, 2}).Draw(t, "radius"))
		table := &data.Table{Shape: *m.Shape}
		long := make([]bool, 3)
		for i := range long {
			row := []float64{1 / m.Shape.Spread, entry.Draw(t, "a") / m.Shape.Spread, entry.Draw(t, "b") / m.Shape.Spread}
			long[i] = floats.Norm(row, 2) > m.Shape.Radius*(1+1e-6)
			m.Shape.Shorten(row)
			table.X, table.Y = append(table.X, row...), append(table.Y, float64(rapid.IntRange(0, 2).Draw(t, "y")))
		}
		x, y := slices.Clone(table.X), slices.Clone(table.Y)
		all := m.Weigh(table)
		if again := m.Weigh(all); again != all || !slices.Equal(table.X, x) || !slices.Equal(table.Y, y) {
			t.Fatalf("%s: weighed twice, or the table changed", name)
		}
		for i := range long {
			alone := &data.Table{Shape: *m.Shape, X: slices.Clone(table.Row(i)), Y: []float64{y[i]}}
			alone.Records = 1
			alone = m.Weigh(alone)
			if !slices.Equal(alone.X, all.Row(i)) || alone.Y[0] != all.Y[i] {
				t.Fatalf("%s: record %d is %v, %v and by itself %v, %v", name, i, all.Row(i), all.Y[i], alone.X, alone.Y)
			}
			if !slices.Equal(all.X, x) || math.Abs(alone.Y[0]) > math.Abs(y[i]) {
				t.Fatalf("%s: a row changed or a response became longer: %v, %v", name, alone.X, alone.Y)
			}
			short := floats.Norm(table.Row(i), 2) < m.Shape.Radius*(1-1e-6)
			if short && all.Y[i] != y[i] || long[i] && all.Y[i] == y[i] && y[i] != 0 {
				t.Fatalf("%s: row %v, too long: %v, with response %v: %v", name, all.Row(i), long[i], y[i], all.Y[i])
			}
		}
	})
}

// TestLinearRegressionTightens: with normal errors and no radius stated its rows are shorter
// than the schema's radius, and weigh what they would if the schema stated that radius. Under
// other losses and errors, in other models and under a stated radius it stays.
func TestLinearRegressionTightens(t *testing.T) {
	shape, err := longSchema(500, 0).Shape()
	if err != nil {
		t.Fatal(err)
	}
	model := func(name string, shape *data.Shape, o models.Options) *models.Model {
		m, err := models.New(name, shape, o)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := model("linear", shape, models.Options{})
	if share, _ := m.Shape.Longer(); m.Shape.Radius > 0.8*shape.Radius || share < 0.1 || !m.Weighs() {
		t.Errorf("a radius of %v became %v, which %v of rows exceed", shape.Radius, m.Shape.Radius, share)
	}
	if again := model("linear", m.Shape, models.Options{}); again.Shape != m.Shape {
		t.Errorf("a model of its shape has another: %v, then %v", m.Shape.Radius, again.Shape.Radius)
	}
	stated, err := longSchema(500, m.Shape.Radius).Shape()
	if err != nil {
		t.Fatal(err)
	}
	read := func(shape *data.Shape) *data.Table {
		rng := rand.New(rand.NewPCG(1, 3))
		return shape.Simulate(rng, nil, func([]float64) float64 { return rng.NormFloat64() })
	}
	of := model("linear", stated, models.Options{})
	got, want := m.Weigh(read(shape)), of.Weigh(read(stated))
	if got.Radius != stated.Radius || !got.Weighed || of.Shape != stated ||
		!floats.EqualApprox(got.X, want.X, 1e-12) || !floats.EqualApprox(got.Y, want.Y, 1e-12) {
		t.Errorf("rows at a radius of %v are not those of a schema that states %v", got.Radius, stated.Radius)
	}
	for name, o := range map[string]models.Options{"linear": {Loss: "beta", Beta: 1.5}, "median": {},
		"heteroscedastic": {}, "network": {}} {
		if m := model(name, shape, o); m.Shape != shape {
			t.Errorf("%s %v: the radius is %v, want %v", name, o, m.Shape.Radius, shape.Radius)
		}
	}
	if m := model("linear", shape, models.Options{DegreesOfFreedom: 4}); m.Shape != shape {
		t.Errorf("Student errors: the radius is %v, want %v", m.Shape.Radius, shape.Radius)
	}
}

// TestRowsThatStay are those of models without a response, of networks, of tables without an
// intercept and of simulated ones.
func TestRowsThatStay(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		schema func(*data.Schema)
		shape  func(*data.Shape)
	}{
		"a network":    {model: "network"},
		"no response":  {model: "mean", schema: func(s *data.Schema) { s.Columns = s.Columns[:2] }},
		"two scales":   {model: "heteroscedastic"},
		"no intercept": {schema: func(s *data.Schema) { s.NoIntercept = true }},
		"none longer":  {schema: func(s *data.Schema) { s.Radius = 1000 }},
		"drawn inside": {shape: func(s *data.Shape) { s.Inside = true }},
	} {
		schema := longSchema(10, 0.1)
		if c.schema != nil {
			c.schema(schema)
		}
		shape, err := schema.Shape()
		if err != nil {
			t.Fatal(err)
		}
		if c.shape != nil {
			c.shape(shape)
		}
		m, err := models.New(cmp.Or(c.model, "linear"), shape, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table := shape.Simulate(rand.New(rand.NewPCG(1, 1)), nil, func([]float64) float64 { return 1 })
		if m.Weighs() || m.Weigh(table) != table {
			t.Errorf("%s: rows are weighed", name)
		}
	}
}
