package curator

import (
	"math"
	"testing"
)

// TestStatesAreChecked: of the right length, and finite where the chain is.
func TestStatesAreChecked(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		theta, next []float64
		fine        bool
	}{{[]float64{1, 2}, []float64{nan, inf}, true}, {[]float64{1}, []float64{1, 2}, false},
		{[]float64{1, 2}, []float64{1}, false}, {[]float64{1, nan}, []float64{1, 2}, false},
		{[]float64{-inf, 1}, []float64{1, 2}, false}, {[]float64{1, inf}, []float64{1, 2}, false}} {
		if err := checkStates(2, c.theta, c.next); c.fine != (err == nil) {
			t.Errorf("%v and %v: %v", c.theta, c.next, err)
		}
	}
}
