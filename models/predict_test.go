package models_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// people is a schema of two numbers and a category, wide enough that no row is
// shortened, with the given target.
func people(target data.Column) *data.Schema {
	return &data.Schema{Confirmed: true, Records: 10, Radius: 100, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 120, Center: 40, Scale: 15},
		{Name: "income", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 1e6, Center: 3e4, Scale: 2e4},
		{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"none", "part", "full"}},
		target,
	}}
}

const newPeople = "age,income,job\n40,30000,none\n71,12000,part\n18,250000,full\n"

// raw is the linear predictor of the rows of newPeople from coefficients in the units
// of the file.
func raw(b []float64) []float64 {
	return []float64{
		b[0] + 40*b[1] + 30000*b[2],
		b[0] + 71*b[1] + 12000*b[2] + b[3],
		b[0] + 18*b[1] + 250000*b[2] + b[4],
	}
}

func predicted(t *testing.T, name string, target data.Column, options models.Options, draws [][]float64) (*models.Model,
	[]models.Prediction) {
	t.Helper()
	schema := people(target)
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(name, shape, options)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := data.ReadNew(context.Background(), strings.NewReader(newPeople), "new", schema)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(draws, rows, 0.9, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// TestPredictionsAreTheModelsOwn: means equal those of textbook formulas on the
// coefficients in the units of the file, to 10⁻¹².
func TestPredictionsAreTheModelsOwn(t *testing.T) {
	draws := [][]float64{{0.3, -1, 0.5, 0.2, -0.4}, {-0.8, 0.6, 0.1, -0.2, 0.9}, {1.2, 0.4, -0.3, 0.7, 0.1}}
	binary := data.Column{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}}
	count := data.Column{Name: "y", Role: data.Target, Kind: data.Number, Lower: 0, Upper: 50, Center: 0, Scale: 1}
	number := data.Column{Name: "y", Role: data.Target, Kind: data.Number, Lower: 0, Upper: 500, Center: 170, Scale: 12}
	for name, c := range map[string]struct {
		target data.Column
		mean   func(eta float64) float64
	}{
		"logistic": {binary, func(eta float64) float64 { return 1 / (1 + math.Exp(-eta)) }},
		"probit":   {binary, func(eta float64) float64 { return math.Erfc(-eta/math.Sqrt2) / 2 }},
		"cloglog":  {binary, func(eta float64) float64 { return 1 - math.Exp(-math.Exp(eta)) }},
		"loglog":   {binary, func(eta float64) float64 { return math.Exp(-math.Exp(-eta)) }},
		"poisson":  {count, math.Exp},
		"linear":   {number, func(eta float64) float64 { return eta }},
	} {
		values := draws
		if name == "linear" {
			values = nil
			for _, d := range draws {
				values = append(values, append(append([]float64(nil), d...), 0.25)) // σ
			}
		}
		m, p := predicted(t, name, c.target, models.Options{}, values)
		want := make([]float64, 3)
		for _, v := range values {
			inUnits := make([]float64, len(v))
			m.InUnits(inUnits, v)
			for i, eta := range raw(inUnits) {
				want[i] += c.mean(eta) / float64(len(values))
			}
		}
		for i := range p {
			if d := math.Abs(p[i].Mean[0] - want[i]); !(d <= 1e-12*max(1, math.Abs(want[i]))) {
				t.Errorf("%s, row %d: %v, want %v", name, i, p[i].Mean[0], want[i])
			}
			if !(p[i].Low[0] < p[i].Mean[0] && p[i].Mean[0] < p[i].High[0]) {
				t.Errorf("%s, row %d: mean %v outside [%v, %v]", name, i, p[i].Mean[0], p[i].Low[0], p[i].High[0])
			}
		}
	}
}

// TestNewResponsesAreWiderThanMeans: the interval of a new response of a linear model
// is that of its normal law, in the units of the file. With 20 000 draws an end is good
// to 1% of σ; the tolerance is ten times that, so a false alarm is below 10⁻¹⁵.
func TestNewResponsesAreWiderThanMeans(t *testing.T) {
	number := data.Column{Name: "y", Role: data.Target, Kind: data.Number, Lower: 0, Upper: 500, Center: 170, Scale: 12}
	draws := make([][]float64, 20_000)
	for i := range draws {
		draws[i] = []float64{0, 0, 0, 0, 0, 0.5}
	}
	_, p := predicted(t, "linear", number, models.Options{}, draws)
	const sd, z = 6.0, 1.6448536269514722
	for i := range p {
		if p[i].Mean[0] != 170 || p[i].Low[0] != 170 || p[i].High[0] != 170 {
			t.Errorf("row %d: mean %v in [%v, %v], want 170", i, p[i].Mean[0], p[i].Low[0], p[i].High[0])
		}
		if math.Abs(p[i].NewLow-(170-z*sd)) > 0.1*sd || math.Abs(p[i].NewHigh-(170+z*sd)) > 0.1*sd {
			t.Errorf("row %d: new responses in [%v, %v], want 170 ± %v", i, p[i].NewLow, p[i].NewHigh, z*sd)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	binary := data.Column{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}}
	schema := people(binary)
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("logistic", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := &data.Table{Shape: *shape}
	draw := make([]float64, 5)
	for want, call := range map[string]func() error{
		"no draws": func() error { _, err := m.Predict(nil, rows, 0.9, nil); return err },
		"have 4":   func() error { _, err := m.Predict([][]float64{draw[:4]}, rows, 0.9, nil); return err },
		"level":    func() error { _, err := m.Predict([][]float64{draw}, rows, 1, nil); return err },
		"1 entries": func() error {
			_, err := m.Predict([][]float64{draw}, &data.Table{Shape: data.Shape{Terms: shape.Terms[:1]}}, 0.9, nil)
			return err
		},
		"no response": func() error {
			c, _ := models.Custom("mine", m.Target)
			_, err := c.Predict([][]float64{draw}, rows, 0.9, nil)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
