package surrogates

import (
	"math"
	"testing"
)

// TestCentredSlopes: a slope at the predictor that counts are drawn at has the mean 0, and its weight is
// how fast the mean rises. That of the loss has one of up to a tenth where hardly a count is beyond the
// largest, the mutant.
func TestCentredSlopes(t *testing.T) {
	for _, plain := range []cutCount{roots{0.5, 20}, counts{1, 20, 1}, counts{2, 20, 0.1}} {
		link, ok := Centre(plain)
		if !ok {
			t.Fatalf("%T have no centre", plain)
		}
		off, worst := 0.0, 0.0
		for eta := -15.0; eta < 12; eta += 0.013 {
			m, v, _, _ := link.Slope(eta, eta)
			sum := 0.0
			for y := range 21 { // of which the last stands for more
				p := chanceOf(plain.response(), float64(y), mean(eta))
				if s := link.Of(eta, float64(y)); math.Abs(s) <= link.Most() {
					sum += p * s
				} else {
					t.Fatalf("%T: a slope of %v at %v", plain, s, eta)
				}
			}
			if math.Abs(m-sum) > 1e-9 || v < 0 {
				t.Errorf("%T: at %v the mean is %v by the law, %v by counts", plain, eta, m, sum)
			}
			worst = max(worst, math.Abs(m))
			if m, _, _, _ = plain.Slope(eta, eta); eta < 2 {
				off = max(off, math.Abs(m))
			}
		}
		if worst > 4e-3*link.Most() || off < 0.05 {
			t.Errorf("%T: mean slopes of up to %v where they are centred, %v where not", plain, worst, off)
		}
		for eta := -6.0; eta < 3; eta += 0.5 {
			above, _, _, _ := link.Slope(eta+0.1, eta)
			below, _, _, _ := link.Slope(eta-0.1, eta)
			rises, weight := (above-below)/0.2, link.Weight(eta, eta)
			if math.Abs(rises-weight) > 0.1*rises {
				t.Errorf("%T: at %v a weight of %v, and the mean rises by %v", plain, eta, weight, rises)
			}
		}
	}
	for _, link := range []Link{Logistic, counts{2, 20, 0}, counts{math.Inf(1), 20, 1}} {
		if _, ok := Centre(link); ok {
			t.Errorf("%T is centred", link)
		}
	}
}

// chanceOf is that of a count, the largest of which stands for more.
func chanceOf(f counts, y, m float64) float64 {
	below, above := f.tail(y, m).chance, f.tail(y+1, m).chance
	if y == f.most {
		above = 0
	}
	return below - above
}
