package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTabulate: moments, marginal and draws of a grid of a normal law.
func TestTabulate(t *testing.T) {
	logp := make([]float64, mixSide*mixSide)
	for i := range logp {
		p := mixPoint(i)
		a, b := (p[0]-0.5)/0.3, p[1]/0.6
		logp[i] = -(a*a + b*b) / 2
	}
	m := tabulate(logp)
	for name, pair := range map[string][2]float64{
		"mean 1": {m.mean[0], 0.5}, "mean 2": {m.mean[1], 0}, "variance 1": {m.variance[0], 0.09},
		"variance 2": {m.variance[1], 0.36}, "covariance": {m.covariant, 0},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	line := m.marginal()
	if peak := line.Y[mixSide/2]; math.Abs(peak-1/(0.6*math.Sqrt(2*math.Pi))) > 2e-3 {
		t.Errorf("the marginal's peak is %v", peak)
	}
	rng, sum := rand.New(rand.NewPCG(1, 1)), 0.0
	const draws = 20_000
	for range draws {
		sum += m.draw(rng)[0]
	}
	if off := sum/draws - 0.5; math.Abs(off) > 6*0.3/math.Sqrt(draws) { // false alarm 2e-9
		t.Errorf("draws of θ₁ have a mean %v away", off)
	}
}

// TestPublishedPrices are figures of the published accountant (5000 steps, and a ratio
// of 0.001).
func TestPublishedPrices(t *testing.T) {
	for _, c := range []struct {
		batch, steps int64
		want         float64
	}{{1000, 5000, 0.499}, {2000, 5000, 0.998}, {10_000, 5000, 5.292}, {1000, 1000, 0.226}, {1000, 100_000, 2.277}} {
		e, err := mixPrice(c.batch, c.steps, "published")
		if err != nil {
			t.Fatal(err)
		}
		g, err := e.ClassicEpsilon(mixDelta)
		if err != nil || math.Abs(g.Epsilon-c.want) > 6e-4 {
			t.Errorf("b = %d, %d steps: ε = %v (%v), published %v", c.batch, c.steps, g.Epsilon, err, c.want)
		}
	}
}
