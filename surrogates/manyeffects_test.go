package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// manyEffects are released statistics of n records as of rareAmong, at an anchor of 0, and the truth. Effects of levels
// have that standard deviation. Noise hides which levels go together.
func manyEffects(rng *rand.Rand, n int, sd float64) (Config, []float64) {
	const categories, levels, d = 5, 5, 2 + 25
	s := rareStatistics(n, categories, levels, d, 4)
	s.ScoreSD, s.MomentSD = 60, 300
	truth := make([]float64, d)
	for j := 1; j < d; j++ {
		truth[j] = sd * rng.NormFloat64()
	}
	addRecords(&s, rng, n, truth, func(x []float64) { rareRecord(x, categories, levels, rng) })
	return Config{Statistics: s, Link: halved{}, Prior: priors.Gaussian{SD: 3}, Effect: 1.5, Seed: rng.Uint64()}, truth
}

// squareFrom is the mean square of how far a truth is from the mode, in standard deviations.
func (p *Score) squareFrom(truth []float64) (mean float64) {
	for j, v := range truth {
		z := (p.mean[j] - v) / p.sd(j)
		mean += z * z / float64(p.dim)
	}
	return mean
}

// TestManyEffects: of 20 000 records with 27 columns intervals are at most five sixths as wide as under the largest
// scale of effects, and truths of standard deviation 1 are no farther from the mode than they say. The mean square of
// 270 standardized distances is above 1.5 once in 10⁷ if independent, and seeds are fixed. A mutant of hardly any
// effects has a larger one.
func TestManyEffects(t *testing.T) {
	const sets, narrow, chosen = 10, 1.0 / 64, 0 // chosen stands for the scale that assemble set
	squares, width := map[float64]float64{}, 0.0
	for seed := range uint64(sets) {
		c, truth := manyEffects(rand.New(rand.NewPCG(seed, 8)), 20_000, 1)
		p, m, err := assemble(c)
		if err != nil {
			t.Fatal(err)
		}
		given := c.Statistics.priorGiven(c.Effect, c.Prior, p.dim, p.scale, nil)
		sds := map[float64]float64{}
		for _, share := range []float64{chosen, effectShares[0], narrow} {
			if share != chosen {
				given(&p.imputations[0].ownPrior, nil, share)
			}
			if err := p.settle(m); err != nil {
				t.Fatal(err)
			}
			squares[share] += p.squareFrom(truth) / sets
			for j := range truth {
				sds[share] += math.Log(p.sd(j)) / float64(p.dim)
			}
		}
		width += (sds[chosen] - sds[effectShares[0]]) / sets
	}
	square := squares[chosen]
	t.Logf("mean square %.2f, widths %.2f; %.2f of the mutant", square, math.Exp(width), squares[narrow])
	if square > 1.5 || math.Exp(width) > 5.0/6 || squares[narrow] < 1.5 {
		t.Errorf("mean square %v, widths %v, and mean square %v of the mutant", square, math.Exp(width), squares[narrow])
	}
}

// TestCheckPriorOfManyEffects: strong effects are held against the one scale that they were sampled with. Against
// larger ones too, the mutant, more of the prior is as far out. Seeds are fixed.
func TestCheckPriorOfManyEffects(t *testing.T) {
	c, _ := manyEffects(rand.New(rand.NewPCG(3, 8)), 200_000, 4)
	p, m, err := assemble(c)
	if err != nil {
		t.Fatal(err)
	}
	least := effectShares[len(effectShares)-1]
	c.Statistics.priorGiven(c.Effect, c.Prior, p.dim, p.scale, nil)(&p.imputations[0].ownPrior, nil, least)
	if err := p.settle(m); err != nil {
		t.Fatal(err)
	}
	own, err := p.CheckPrior(Draws{})
	if err != nil {
		t.Fatal(err)
	}
	if mutant := tail(p.priors().drawn(p.scale, false), p.approximate(), p.dim, c.Seed); own.Tail > mutant-0.02 {
		t.Errorf("%v of the prior is as far out, and %v of larger scales too", own.Tail, mutant)
	}
}

// TestScaleOfManyEffects: truths of standard deviation 2, with 200 000 records, are no farther from the mode than it
// says. Under the smallest scale, the mutant, they are. The rate is that of TestManyEffects.
func TestScaleOfManyEffects(t *testing.T) {
	const sets = 10
	square, mutant := 0.0, 0.0
	for seed := range uint64(sets) {
		c, truth := manyEffects(rand.New(rand.NewPCG(seed, 8)), 200_000, 2)
		p, m, err := assemble(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, sum := range []*float64{&square, &mutant} {
			if sum == &mutant {
				c.Statistics.priorGiven(c.Effect, c.Prior, p.dim, p.scale, nil)(&p.imputations[0].ownPrior, nil,
					effectShares[len(effectShares)-1])
			}
			if err := p.settle(m); err != nil {
				t.Fatal(err)
			}
			*sum += p.squareFrom(truth) / sets
		}
	}
	t.Logf("mean square %.2f, %.2f of the mutant", square, mutant)
	if square > 1.5 || mutant < 1.5 {
		t.Errorf("mean square %v, and %v of the mutant", square, mutant)
	}
}

// TestLargestScale: strong effects have the largest scale, and ordinary ones of 20 000 records the smallest. No larger
// one is nearly as likely. Seeds are fixed.
func TestLargestScale(t *testing.T) {
	for _, c := range []struct {
		records    int
		sd, wanted float64
	}{{20_000, 1, effectShares[len(effectShares)-1]}, {200_000, 4, effectShares[0]}} {
		config, _ := manyEffects(rand.New(rand.NewPCG(3, 8)), c.records, c.sd)
		p, _, err := assemble(config)
		if err != nil {
			t.Fatal(err)
		}
		wanted := newEffects(p.imputations[0].effects.CentredGaussian, c.wanted, p.scale).alike
		if got := p.imputations[0].effects.alike; got[0].precise != wanted[0].precise {
			t.Errorf("%d records, effects of %v: scales %v, want those of a share of %v", c.records, c.sd,
				got[0].precise, c.wanted)
		}
	}
	for _, logs := range [][]float64{{-3, -2, -1.5, 0}, {-1.9, -1, 0, -5}, {0, 0, 0, 0}, {-9, -8, -2.1, 0}} {
		got := largestScale(effectShares, logs)
		for i, share := range effectShares {
			if nearly := logs[i] > slices.Max(logs)-nearlyAs; nearly && share > got || share == got && !nearly {
				t.Errorf("log evidences %v: %v", logs, got)
			}
		}
	}
}
