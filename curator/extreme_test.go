package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestBoundsThatNoGridHoldsAreRefused: where a bound is so small that its grid step
// vanishes, or so large that it overflows, no integers hold a record's part, and no
// mechanism has a price.
func TestBoundsThatNoGridHoldsAreRefused(t *testing.T) {
	facts := Facts{Records: 10, Features: 1, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for clip, fine := range map[float64]bool{5e-324: false, 1e-310: false, 1e-201: false, 1e-200: true, 1: true,
		1e201: false, math.MaxFloat64: false, math.NaN(): false, math.Inf(1): false, -1: false} {
		_, bit := AcceptanceBit{Target: square{}, Clip: clip}.Event(facts)
		_, thinned := ThinnedBit{Target: square{}, Clip: clip, Rate: 0.9}.Event(facts)
		_, ratio := NoisyRatio{Target: square{}, Clip: clip, NoiseMultiplier: 1}.Event(facts)
		_, gradient := NoisyGradient{Target: squareGrad{}, Clip: clip, NoiseMultiplier: 1}.Event(facts)
		_, signs := GradientSigns{Target: squareGrad{}, Clip: clip, Scale: 1}.Event(facts)
		for name, err := range map[string]error{"bit": bit, "thinned bit": thinned, "ratio": ratio, "gradient": gradient,
			"signs": signs} {
			if fine != (err == nil) {
				t.Errorf("%s with clip %v: %v", name, clip, err)
			}
		}
	}
}
