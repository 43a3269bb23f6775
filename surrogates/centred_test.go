package surrogates

import (
	"math"
	"testing"
)

// TestCentredSlopes: a slope at the predictor that counts are drawn at has the mean 0. That of the
// loss has one of up to a tenth where hardly a count is beyond the largest, the mutant.
func TestCentredSlopes(t *testing.T) {
	plain := roots{0.5, 20}
	link, ok := Centre(plain)
	if !ok {
		t.Fatal("roots of counts have no centre")
	}
	off, worst := 0.0, 0.0
	for eta := -15.0; eta < 12; eta += 0.013 {
		m, v, _, _ := link.Slope(eta, eta)
		sum := 0.0
		for y := range 21 { // of which the last stands for more
			p := plain.response().mass(float64(y), mean(eta))
			if y == 20 {
				p = plain.response().tail(20, mean(eta)).chance
			}
			if s := link.Of(eta, float64(y)); math.Abs(s) <= link.Most() {
				sum += p * s
			} else {
				t.Fatalf("a slope of %v at %v", s, eta)
			}
		}
		if math.Abs(m-sum) > 1e-9 || v < 0 {
			t.Errorf("at %v the mean is %v by the law, %v by counts", eta, m, sum)
		}
		worst = max(worst, math.Abs(m))
		if m, _, _, _ = plain.Slope(eta, eta); eta < 2 {
			off = max(off, math.Abs(m))
		}
	}
	if worst > 2e-3 || off < 0.05 {
		t.Errorf("mean slopes of up to %v where they are centred, %v where not", worst, off)
	}
	if _, ok := Centre(Logistic); ok {
		t.Error("a logistic slope is centred as it is")
	}
}
