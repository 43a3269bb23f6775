package surrogates

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestTailsOfCounts: of counts without a cut the mean score has a closed form under a mixture of
// normal laws, and so has the shift.
func TestTailsOfCounts(t *testing.T) {
	s := Statistics{Anchor: []float64{0.3}, Score: []float64{-200}, ScoreSD: 20, Moment: []float64{1000}, Records: 1000,
		Radius: 10, Columns: []Column{{Lower: -20, Upper: 20}}}
	of := func(s Statistics, link Link) (*Score, float64) {
		p, err := New(Config{Statistics: s, Link: link, Prior: priors.Gaussian{SD: 10}, Imputations: 1})
		if err != nil {
			t.Fatal(err)
		}
		moved, err := p.Tails()
		if err != nil {
			t.Fatal(err)
		}
		return p, moved
	}
	p, got := of(s, counts{1e5, 1e5, 0})
	_, variance := p.imputations[0].features.moments(0)
	apart := 0.0
	for _, part := range [][2]float64{{-1, 1}, {0.9, 0.6 / 0.9}, {0.1, 4}} {
		v := part[1] * variance
		at := func(theta float64) float64 { return theta * v * math.Exp(theta*theta*v/2) }
		apart += 1000 * part[0] * (at(0.3) - at(p.mean[0]))
	}
	h := p.slope(p.mean).At(0, 0)
	want := math.Abs(apart) * h / (h + 400) * p.sd(0)
	if !(want > 1) || math.Abs(got/want-1) > 1e-4 {
		t.Errorf("tails move the coefficient by %v standard deviations, %v by a closed form", got, want)
	}
	if _, got := of(s, Normal{SD: 1}); math.Abs(got) > 1e-5 {
		t.Errorf("a mean score that second moments say is moved by %v", got)
	}
	s.Columns[0] = Column{Lower: -2, Upper: 2}
	if _, short := of(s, counts{1e5, 1e5, 0}); math.Abs(short/(0.4*got)-1) > 1e-9 {
		t.Errorf("shorter tails move the coefficient by %v, longer ones by %v", short, got)
	}
	s.Columns[0] = Column{Lower: -3, Upper: 3}
	if _, got := of(s, counts{1e5, 1e5, 0}); got > 0.1 {
		t.Errorf("bounds leave no room for tails, which would move the coefficient by %v", got)
	}
}
