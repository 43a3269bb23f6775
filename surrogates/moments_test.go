package surrogates

import (
	"math"
	"testing"
)

// TestIndependentColumns: where noise hides the product of two columns, it is drawn about that of independent ones with
// their means. Standard errors of means of 4000 draws are below .004, so an alarm at .03 is one in 10¹². Drawn about
// 0, the mutant, which halves it, it is off by .1.
func TestIndependentColumns(t *testing.T) {
	const d, mean = 6, 0.45
	released := make([]float64, d*d)
	for j := range d {
		for k := range d {
			released[j*d+k] = mean * mean
			if j == k {
				released[j*d+k] = 1
			} else if j == 0 || k == 0 {
				released[j*d+k] = mean
			}
		}
	}
	columns := make([]Column, d)
	columns[0] = Column{Kind: Constant, Upper: 1}
	m := newMoments(released, 0, d, columns, d)
	for e := range m.noise {
		if e/d != e%d && e%d != 0 && e/d != 0 {
			m.noise[e] = 0.04
		}
	}
	rng, scale, sum := newRand(), []float64{1, 1, 1, 1, 1, 1}, 0.0
	const draws = 4000
	for range draws {
		sum += m.correlations(scale, rng).At(1, 2) / draws
	}
	if math.Abs(sum-mean*mean) > 0.03 {
		t.Errorf("a product is drawn about %v, and of independent columns it is %v", sum, mean*mean)
	}
}
