package kernels_test

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestShapedProposals: second moments of 20000 moves are within 6 standard errors
// of scale²·LLᵀ (false alarm 10⁻⁸), which those of Lᵀ or of no shape are not.
func TestShapedProposals(t *testing.T) {
	const n, scale = 20_000, 0.5
	factor := []float64{0.8, 0, -0.5, 0.2}
	p := kernels.Shaped(scale, factor)
	if err := p.Check(2); err != nil {
		t.Fatal(err)
	}
	if p.Check(3) == nil || kernels.Shaped(0, factor).Check(2) == nil {
		t.Error("a factor of the wrong size, or a scale of 0, was accepted")
	}
	rng := kernels.Stream(3, 0)
	theta, next := []float64{10, -20}, make([]float64, 2)
	var aa, ab, bb float64
	for range n {
		p.Propose(rng, next, theta)
		a, b := next[0]-10, next[1]+20
		aa, ab, bb = aa+a*a, ab+a*b, bb+b*b
	}
	for name, v := range map[string][2]float64{"first": {aa, 0.64}, "both": {ab, -0.4}, "second": {bb, 0.29}} {
		if got, want := v[0]/n, scale*scale*v[1]; math.Abs(got-want) > 6*scale*scale*math.Sqrt(2.0/n) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
