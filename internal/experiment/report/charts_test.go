package report

import (
	"math"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

// TestCurve: bars are one standard error of the mean, and a method without a
// guarantee is a line across.
func TestCurve(t *testing.T) {
	r := &experiment.Results{
		Setups: []experiment.Setup{{Label: "a", Records: 9, Epsilon: 2}, {Label: "a", Records: 9, Epsilon: 1},
			{Label: "b", Records: 9}},
		Summary: []experiment.Summary{
			{Label: "a", Records: 9, Epsilon: 1, Metric: "x", N: 4, Mean: 5, SD: 2},
			{Label: "a", Records: 8, Epsilon: 1, Metric: "x", N: 4, Mean: 77, SD: 2},
			{Label: "a", Records: 9, Epsilon: 2, Metric: "x", N: 4, Mean: 0.5, SD: 2},
			{Label: "b", Records: 9, Metric: "x", N: 4, Mean: 3, SD: 2},
		},
	}
	l, ok := curve(r, metrics.Metric{Name: "x"}, 9, "a")
	if !ok || !slices.Equal(l.X, []float64{1, 2}) || !slices.Equal(l.Y, []float64{5, 0.5}) ||
		!slices.Equal(l.Low, []float64{4, -0.5}) || !slices.Equal(l.High, []float64{6, 1.5}) {
		t.Errorf("%+v", l)
	}
	if l, _ := curve(r, metrics.Metric{Name: "x", LogScale: true}, 9, "a"); !(l.Low[1] > 0) || math.IsNaN(l.Low[1]) {
		t.Errorf("a bar on a logarithmic axis goes down to %v", l.Low[1])
	}
	if l, _ := curve(r, metrics.Metric{Name: "x"}, 9, "b"); !l.Dashed || !slices.Equal(l.X, []float64{1, 2}) ||
		!slices.Equal(l.Y, []float64{3, 3}) {
		t.Errorf("%+v", l)
	}
	if _, ok := curve(r, metrics.Metric{Name: "y"}, 9, "a"); ok {
		t.Error("a metric that no cell has is a curve")
	}
}
