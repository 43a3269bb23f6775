package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/priors"
)

// hiddenColumns are released statistics of 3000 records with ten numbers of small effects, whose spreads noise hides.
func hiddenColumns(seed uint64) (Config, []float64) {
	const d, n, level, spread, effect = 11, 3000, 0.3, 0.1, 0.3
	rng := rand.New(rand.NewPCG(seed, 21))
	s := Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: 5, Moment: make([]float64, d*d),
		MomentSD: 12, Records: n, Radius: 1, Columns: []Column{{Kind: Constant, Upper: level}}}
	truth, x := make([]float64, d), make([]float64, d)
	for j := 1; j < d; j++ {
		s.Columns = append(s.Columns, Column{Lower: -0.3, Upper: 0.3})
		truth[j] = effect / spread * rng.NormFloat64()
		s.Anchor[j] = truth[j] / 2
	}
	x[0] = level
	for range n {
		for j := 1; j < d; j++ {
			x[j] = spread * rng.NormFloat64()
		}
		y := logisticResponse.draw(dot(x, truth), rng)
		floats.AddScaled(s.Score, convex.Halved().Slope(dot(x, s.Anchor), y), x)
		for j, u := range x {
			floats.AddScaled(s.Moment[j*d:(j+1)*d], u, x)
		}
	}
	for j := range s.Score {
		s.Score[j] += s.ScoreSD * rng.NormFloat64()
	}
	noisySquares(s.Moment, d, s.MomentSD, rng)
	return Config{Statistics: s, Link: halved{}, Prior: priors.Gaussian{SD: 10}, Effect: 1.5, Seed: seed}, truth
}

// TestLawsAreChosenByTheirEvidence: laws have about the same evidence once what chose them is divided out, so that most
// count. The score's own evidence, the mutant, spreads. Seeds are fixed.
func TestLawsAreChosenByTheirEvidence(t *testing.T) {
	spreads := map[bool]float64{}
	const sets = 3
	for seed := range uint64(sets) {
		c, _ := hiddenColumns(seed)
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := p.parts()
		if err != nil {
			t.Fatal(err)
		}
		chosen, plain := make([]float64, len(parts)), make([]float64, len(parts))
		for k, part := range parts {
			draws := quick(t, part, seed)
			chosen[k], _ = evidence(part.Density(), draws, spread{}, rand.New(rand.NewPCG(seed, 1)))
			plain[k] = chosen[k] + p.imputations[k].chosen
		}
		spreads[true] += stat.StdDev(chosen, nil) / sets
		spreads[false] += stat.StdDev(plain, nil) / sets
	}
	t.Logf("standard deviations of log evidence: %.2f, and %.2f of the score alone", spreads[true], spreads[false])
	if spreads[true] > 0.4 || spreads[false] < 0.6 {
		t.Errorf("log evidences spread by %v, and by %v of the score alone; at most 0.4, and 0.6 at least are meant",
			spreads[true], spreads[false])
	}
}

// TestEffectsAreLearnt: where noise hides how far columns spread, effects of 0.3 are found to be small. Truths are as
// far from means as draws say, and widths are at most half of those under the largest effects, the mutant.
// The mean square of 40 standardized distances is above 2.4 once in 10⁶ runs or less, if they are independent and
// normal. Seeds are fixed.
func TestEffectsAreLearnt(t *testing.T) {
	square, ratio := 0.0, 0.0
	const sets = 4
	for seed := range uint64(sets) {
		c, truth := hiddenColumns(10 + seed)
		widths := func(shares []float64) (widths, means []float64) {
			before := effectShares
			effectShares = shares
			defer func() { effectShares = before }()
			p, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			draws := quick(t, p, seed)
			for j := 1; j < len(truth); j++ {
				all := pooledColumn(draws, j)
				widths, means = append(widths, stat.StdDev(all, nil)), append(means, stat.Mean(all, nil))
			}
			return widths, means
		}
		learnt, means := widths(effectShares)
		alone, _ := widths([]float64{1000})
		for j, w := range learnt {
			z := (means[j] - truth[j+1]) / w
			square += z * z / (sets * float64(len(learnt)))
			ratio += math.Log(w/alone[j]) / (sets * float64(len(learnt)))
		}
	}
	t.Logf("mean square %.2f, and %.2f of the width alone", square, math.Exp(ratio))
	if square > 2.4 || ratio > math.Log(0.5) {
		t.Errorf("mean square %v and %v of the width alone; at most 2.4 and 0.5 are meant", square, math.Exp(ratio))
	}
}

func pooledColumn(draws Draws, j int) (all []float64) {
	for _, chain := range draws.Column(j) {
		all = append(all, chain...)
	}
	return all
}
