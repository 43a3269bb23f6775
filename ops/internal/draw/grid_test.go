package draw

import (
	"math"
	"testing"
)

// TestGridGaussian: values are whole steps, the noise has the stated law and the
// standard deviation covers the sensitivity after rounding.
func TestGridGaussian(t *testing.T) {
	const multiplier, sensitivity, dim = 3.0, 0.7, 4
	g, err := NewGridGaussian(multiplier, sensitivity, dim)
	if err != nil {
		t.Fatal(err)
	}
	if rounded := sensitivity + math.Sqrt(dim)*g.step; g.Sigma() < multiplier*rounded ||
		g.Sigma() > multiplier*rounded*(1+1e-8) {
		t.Errorf("σ = %v, want %v times %v", g.Sigma(), multiplier, rounded)
	}
	src := source("grid")
	x := sample(func() float64 {
		v := []float64{0.1}
		g.Add(src, v)
		if steps := v[0] / g.step; steps != math.Trunc(steps) {
			t.Fatalf("%v is not a multiple of %v", v[0], g.step)
		}
		return v[0] - 0.1
	})
	normal := func(sd float64) func(float64) float64 {
		return func(z float64) float64 { return math.Erfc(-z/sd/math.Sqrt2) / 2 }
	}
	if farFrom(x, normal(g.Sigma())) || !farFrom(x, normal(0.9*g.Sigma())) {
		t.Errorf("not noise of standard deviation %v", g.Sigma())
	}
	for _, bad := range [][2]float64{{0, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}, {1e12, 1}} {
		if _, err := NewGridGaussian(bad[0], bad[1], 1); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}
