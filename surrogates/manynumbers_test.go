package surrogates

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/priors"
)

// hiddenNumbers are released statistics of records with 30 numbers, whose correlations noise hides, at an anchor
// half-way to the truth, and the truth.
func hiddenNumbers(rng *rand.Rand) (Config, []float64) {
	const d, n, level, spread = 31, 20_000, 0.4, 0.045
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 5, Moment: make([]float64, d*d),
		MomentSD: 10, Records: n, Radius: 1, Columns: []Column{{Kind: Constant, Upper: level}}}
	truth, x := make([]float64, d), make([]float64, d)
	for j := range d {
		if j > 0 {
			s.Columns = append(s.Columns, Column{Lower: -4 * spread, Upper: 4 * spread})
		}
		truth[j] = 0.3 / spread * rng.NormFloat64()
		s.Anchor[j] = truth[j] / 2
	}
	slope := convex.Halved().Slope
	x[0] = level
	for range n {
		for j := 1; j < d; j++ {
			x[j] = spread * rng.NormFloat64()
		}
		y := logisticResponse.draw(dot(x, truth), rng)
		floats.AddScaled(s.Score, slope(dot(x, s.Anchor), y), x)
		for j, u := range x {
			floats.AddScaled(s.Moment[j*d:(j+1)*d], u, x)
		}
	}
	for j := range s.Score {
		s.Score[j] += s.ScoreSD * rng.NormFloat64()
	}
	noisySquares(s.Moment, d, s.MomentSD, rng)
	return Config{Statistics: s, Link: halved{}, Prior: priors.Gaussian{SD: 100}, Seed: rng.Uint64()}, truth
}

// TestManyNumbersThatNoiseHides: truths are as far from the mean as draws say. The mean square of 31 standardized
// distances is above 2.6 once in 10⁶ runs or less, if they are independent and normal. The seed is fixed. Where columns
// do not tell of each other how they fill their bounds, the mutant, intervals are half as wide again.
func TestManyNumbersThatNoiseHides(t *testing.T) {
	c, truth := hiddenNumbers(rand.New(rand.NewPCG(1, 12)))
	c.Effect, c.Prior = 1.5, priors.Gaussian{SD: 10}
	off := func() (square, width float64) {
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		draws, widths := quick(t, p, 1), make([]float64, len(truth))
		for j, v := range truth {
			all := pooledColumn(draws, j)
			widths[j] = stat.StdDev(all, nil)
			z := (stat.Mean(all, nil) - v) / widths[j]
			square += z * z / float64(len(truth))
		}
		return square, stat.Mean(widths, nil)
	}
	square, width := off()
	before := fills
	fills = []fill{{0, spreadSD}}
	defer func() { fills = before }()
	_, alone := off()
	t.Logf("mean square %.2f, and widths %.2f, alone %.2f", square, width, alone)
	if square > 2.6 || alone < 1.5*width {
		t.Errorf("mean square %v, and widths %v and %v; at most 2.6, and half as much again are meant", square, width, alone)
	}
}
