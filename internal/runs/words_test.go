package runs

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
)

// Odds ratios of several labels are of each and the first, and have no intercept. They are those of
// the differences of draws, whose spread is another than that of either coefficient.
func TestOddsRatiosOfLabels(t *testing.T) {
	shape, err := models.StandardShape("softmax", 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("softmax", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	f := &Run{Model: m, Draws: make([][][]float64, 2)}
	var apart [2][]float64
	p := shape.Features()
	const term, label = 2, 1
	for c := range f.Draws {
		for range 50 {
			draw := make([]float64, 3*p)
			common := 5 * rng.NormFloat64()
			for j := range draw {
				draw[j] = common + 0.1*rng.NormFloat64() + float64(j)
			}
			f.Draws[c] = append(f.Draws[c], draw)
			apart[c] = append(apart[c], draw[label*p+term]-draw[term])
		}
	}
	want := diag.Summarize(apart[:])
	lines := strings.Split(strings.TrimSpace(f.oddsRatios(true)), "\n")
	if len(lines) != 1+2*2 {
		t.Fatalf("%d lines for 2 labels beside the first, and 2 terms:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	got := strings.Fields(strings.TrimPrefix(lines[2], shape.Terms[term].Name+", 2 to 1"))
	for i, v := range []float64{want.Median, want.Q5, want.Q95} {
		if i >= len(got) || got[i] != figure4(math.Exp(v)) {
			t.Errorf("figure %d of %q is not %s", i, lines[2], figure4(math.Exp(v)))
		}
	}
}
