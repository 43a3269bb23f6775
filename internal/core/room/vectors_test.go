package room

import (
	"math"
	"testing"
)

func TestRoundSmall(t *testing.T) {
	for _, v := range []float64{0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1 << 31, -(1<<31 - 0.5),
		1e-300, -7.25} {
		if got := roundSmall(v); got != int64(math.RoundToEven(v)) {
			t.Errorf("%v rounds to %d", v, got)
		}
	}
}
