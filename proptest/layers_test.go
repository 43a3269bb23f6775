package proptest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLayers: normal and Laplace noise pass, and normal noise that is level from 1 to 1.12 standard deviations does
// not.
func TestLayers(t *testing.T) {
	const n = 2_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	level := func(z float64) float64 {
		if a := math.Abs(z); a > 1 && a < 1.12 {
			return math.Copysign(1+0.12*rng.Float64(), z)
		}
		return z
	}
	for _, c := range []struct {
		name   string
		s      stated
		draw   func() float64
		passes bool
	}{
		{"normal", stated{true, 2, 0}, rng.NormFloat64, true},
		{"Laplace", stated{false, 2, 0}, func() float64 { return rng.ExpFloat64() - rng.ExpFloat64() }, true},
		{"level", stated{true, 2, 0}, func() float64 { return level(rng.NormFloat64()) }, false},
	} {
		v := make([]float64, n)
		for i := range v {
			v[i] = 1.3 + 2*c.draw()
		}
		e := &evidence{}
		c.s.layers(e, v, 0)
		if p := e.family(); (p > 1e-7) != c.passes {
			t.Errorf("%s: p = %v in %d comparisons: %s", c.name, p, e.count, e.about)
		}
	}
}
