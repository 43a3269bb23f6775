package experiment

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestSummary: mean and standard deviation over the repeats that have the metric,
// method by method, ε by ε.
func TestSummary(t *testing.T) {
	a := &Mechanism{Label: "a", Records: 10, Epsilon: 1, Mechanism: &methods.Mechanism{}}
	b := &Mechanism{Label: "a", Records: 10, Epsilon: 2, Mechanism: &methods.Mechanism{}}
	r := &Results{Metrics: []metrics.Metric{{Name: "x"}, {Name: "y"}}}
	for i, v := range []float64{1, 2, 6} {
		r.Cells = append(r.Cells,
			Result{Label: "a", Records: 10, Epsilon: 1, Repeat: i, Metrics: map[string]float64{"x": v}},
			Result{Label: "a", Records: 20, Epsilon: 1, Repeat: i, Metrics: map[string]float64{"x": 100}})
	}
	r.Cells = append(r.Cells, Result{Label: "a", Records: 10, Epsilon: 2, Metrics: map[string]float64{"x": 7, "y": 8}})
	r.summarise([]*Mechanism{a, b})
	want := []Summary{
		{Records: 10, Label: "a", Epsilon: 1, Metric: "x", N: 3, Mean: 3, SD: math.Sqrt(7)},
		{Records: 10, Label: "a", Epsilon: 2, Metric: "x", N: 1, Mean: 7},
		{Records: 10, Label: "a", Epsilon: 2, Metric: "y", N: 1, Mean: 8},
	}
	if len(r.Summary) != len(want) {
		t.Fatalf("%+v, want %+v", r.Summary, want)
	}
	for i, s := range r.Summary {
		if d := math.Abs(s.SD - want[i].SD); d > 1e-12 {
			t.Errorf("standard deviation %v, want %v", s.SD, want[i].SD)
		}
		if s.SD = want[i].SD; s != want[i] {
			t.Errorf("%+v, want %+v", s, want[i])
		}
	}
}

// TestReportedParameters: results report σ of a linear model as its target has it,
// and other models as they are.
func TestReportedParameters(t *testing.T) {
	p := plan(t, "name = \"x\"\nepsilons = [1]\ndelta = 1e-5\n[data]\nsimulate = \"linear\"\nrecords = [50]\nfeatures = "+
		"1\n[model]\nmin-scale = 0.2\n[[method]]\nname = \"dp-sgd\"\n", Options{})
	m := p.problems[50].Model
	theta := []float64{1, 2, -0.7}
	got := report(m, [][][]float64{{theta}})[0][0]
	scale := m.Target.(*targets.Linear).Scale(theta)
	if got[0] != 1 || got[1] != 2 || math.Abs(got[2]-scale) > 1e-15 || m.ParameterNames()[2] != "sigma" {
		t.Errorf("%v is reported as %v of %v, want a scale of %v", theta, got, m.ParameterNames(), scale)
	}
	predicted := []float64{0}
	if predict(m, targets.Rows{X: []float64{3, 5}, P: 2})(predicted, got); predicted[0] != 13 {
		t.Errorf("predicted %v, want 1·3 + 2·5", predicted[0])
	}
}
