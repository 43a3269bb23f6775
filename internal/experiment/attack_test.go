package experiment

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestAdvantageByHand: rates are within their class, and the threshold is the one
// with the largest difference.
func TestAdvantageByHand(t *testing.T) {
	scores := [2][]float64{{1, 2, 3, 4}, {3, 5, 6}} // absent, present
	for from, want := range map[float64]float64{
		0: 0, 3: 1 - 2.0/4, 4: 1 - 1.0/4 - 1.0/3, 5: 1 - 1.0/3, 7: 0,
	} {
		if got := advantage(scores, from); math.Abs(got-want) > 1e-15 {
			t.Errorf("from %v the advantage is %v, want %v", from, got, want)
		}
	}
	if got := threshold(scores); got != 5 {
		t.Errorf("the threshold is %v, want 5", got)
	}
	if got := threshold([2][]float64{{5, 6}, {1, 2}}); !math.IsInf(got, 1) {
		t.Errorf("where present scores lower the threshold is %v; never to guess present is best", got)
	}
	if got := advantage(scores, math.NaN()); got != 0 {
		t.Errorf("an attack that never guesses present has advantage %v", got)
	}
}

// TestAttackSeesWhatPrivacyHides: of 12 records one is recognised at ε = 300 and
// not at all at ε = 0.01, whatever the model. At 0.01 the advantage of 100 rounds has
// a standard deviation of 0.1 and a mean below 0.005: above 0.55 the chance is below
// 10⁻⁷ each.
func TestAttackSeesWhatPrivacyHides(t *testing.T) {
	for _, c := range []struct{ data, method string }{
		{"simulate = \"logistic\"\nrecords = [12]\nfeatures = 1", "objective-perturbation"},
		{"simulate = \"bernoulli\"\nrecords = [12]", "noisy-counts\"\nsettings = { draws = 50 }\n#\""},
		{"simulate = \"linear\"\nrecords = [12]\nfeatures = 1", "noisy-moments\"\nsettings = { draws = 50 }\n#\""},
	} {
		text := fmt.Sprintf("name = \"attack\"\nepsilons = [0.01, 300]\ndelta = 1e-6\nrepeats = 1\nmetrics = "+
			"[\"membership\"]\n[data]\n%s\n[membership]\nrounds = 100\n[[method]]\nname = \"%s\"\n", c.data, c.method)
		r, err := plan(t, text, Options{}).Run(t.Context(), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hidden, seen := r.Cells[0].Metrics["membership"], r.Cells[1].Metrics["membership"]
		if !(math.Abs(hidden) < 0.55) || !(seen > 0.6) {
			t.Errorf("%s of %q: advantage %v at ε = 0.01 and %v at ε = 300 %s", c.method, c.data, hidden, seen, r.Cells[1].Error)
		}
	}
}

// TestCellsHaveNoiseOfTheirOwn: the same method under two labels, on the same data,
// releases different values.
func TestCellsHaveNoiseOfTheirOwn(t *testing.T) {
	text := small[:strings.Index(small, "[[method]]")] +
		"[[method]]\nname = \"dp-sgd\"\n[[method]]\nname = \"dp-sgd\"\nlabel = \"again\"\n"
	r, err := plan(t, text, Options{}).Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]string{}
	for _, c := range r.Cells {
		if other := seen[c.Mean[0]]; other != "" {
			t.Errorf("%s and %s released the same", c.Cell, other)
		}
		seen[c.Mean[0]] = c.Cell
	}
}
