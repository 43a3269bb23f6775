package surrogates

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
)

// normalPart is a normal density of a given integral.
type normalPart struct {
	mean []float64
	sd   float64
	log  float64 // of the integral
}

func (p normalPart) parameters() int { return len(p.mean) }

func (p normalPart) Density() nuts.LogDensity {
	d := len(p.mean)
	peak := p.log - float64(d)*math.Log(p.sd*math.Sqrt(2*math.Pi))
	return nuts.Func(d, func(grad, theta []float64) float64 {
		log := peak
		for j, v := range theta {
			z := (v - p.mean[j]) / p.sd
			grad[j] = -z / p.sd
			log -= z * z / 2
		}
		return log
	})
}

func (p normalPart) centre() (mean, factor []float64, err error) {
	d := len(p.mean)
	factor = make([]float64, d*d)
	for j := range d {
		factor[j*d+j] = p.sd
	}
	return p.mean, factor, nil
}

// together is a mixture of them.
type together struct {
	normalPart
	all []Posterior
}

func (t together) parts() ([]Posterior, error) { return t.all, nil }

// shareLeft is the share of draws left of 0, of parts far on either side with evidences 1 and 3.
func shareLeft(t *testing.T, told float64, seed uint64) float64 {
	t.Helper()
	left := normalPart{mean: []float64{-50, 0, 0}, sd: 1, log: 7}
	right := normalPart{mean: []float64{50, 0, 0}, sd: 3, log: 7 + told}
	both := together{left, []Posterior{left, right}}
	draws, err := Sample(context.Background(), both, SampleConfig{Draws: 400, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	if !draws.Explored {
		t.Errorf("seed %d: not explored: ESS %v, R-hat %v", seed, draws.LeastESS, draws.MostRHat)
	}
	count, of := 0, 0
	for _, x := range draws.Column(0) {
		for _, v := range x {
			of++
			if v < 0 {
				count++
			}
		}
	}
	return float64(count) / float64(of)
}

// TestPartsCountByTheirEvidence: parts that no sampler passes between have their shares. Standard
// errors of a log evidence from 800 draws are about .03, of the share .006. The limit is six of
// them, which raises an alarm once in 10⁸. The mutant takes both parts for as likely.
func TestPartsCountByTheirEvidence(t *testing.T) {
	const want, limit = 0.25, 0.04
	if got := shareLeft(t, math.Log(3), 1); math.Abs(got-want) > limit {
		t.Errorf("a part with a quarter of the evidence has %v of the draws", got)
	}
	if got := shareLeft(t, 0, 1); math.Abs(got-want) < limit {
		t.Errorf("parts as likely as each other have %v: the test tells nothing apart", got)
	}
}

// TestSplit: counts add up, and are shares to within one.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "shares")
		shares[0]++
		floats.Scale(1/floats.Sum(shares), shares)
		n := rapid.IntRange(20, 5000).Draw(t, "n")
		total := 0
		for k, count := range split(n, shares) {
			total += count
			if off := float64(count) - shares[k]*float64(n); math.Abs(off) > 1+1e-6 {
				t.Fatalf("a share of %v of %d has %d", shares[k], n, count)
			}
		}
		if total != n {
			t.Fatalf("%d of %d", total, n)
		}
	})
}

// TestPartsAreTheWhole: draws of imputations by their evidence have the means of draws of the
// averaged likelihood, to six standard errors of both.
func TestPartsAreTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := columnsOf(4000, 60, []float64{0.1, 0, -0.1}, []float64{0.2, 0.15, 0.3}, rng)
	s.Score, s.ScoreSD, s.Radius = []float64{40, -25, 30, 60}, 12, 1
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: 3}, Imputations: 4})
	if err != nil {
		t.Fatal(err)
	}
	c := SampleConfig{Chains: 4, Draws: 500, LeastESS: 400, MostRHat: 1.02, Seed: 5}
	byPart, err := Sample(context.Background(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	mean, factor, err := p.centre()
	if err != nil {
		t.Fatal(err)
	}
	c.Draws = 1500
	whole, err := sampleOnce(context.Background(), p, c, mean, factor)
	if err != nil {
		t.Fatal(err)
	}
	if !byPart.Explored || !whole.Explored {
		t.Fatalf("not explored: ESS %v, %v", byPart.LeastESS, whole.LeastESS)
	}
	for j := range p.dim {
		m, sd := meanOf(byPart.Column(j))
		want, other := meanOf(whole.Column(j))
		if error := math.Sqrt((sd*sd + other*other) / 400); math.Abs(m-want) > 6*error {
			t.Errorf("coefficient %d: mean %v, of the whole %v", j, m, want)
		}
		if math.Abs(math.Log(sd/other)) > 0.3 {
			t.Errorf("coefficient %d: standard deviation %v, of the whole %v", j, sd, other)
		}
	}
}

func meanOf(column [][]float64) (mean, sd float64) {
	var all []float64
	for _, x := range column {
		all = append(all, x...)
	}
	return stat.MeanStdDev(all, nil)
}

// Evidences that are told badly are those of more draws in the next attempt.
func TestAttemptsTellEvidencesBetter(t *testing.T) {
	parts := []Posterior{normalPart{mean: []float64{-50, 0, 0}, sd: 1}, normalPart{mean: []float64{50, 0, 0}, sd: 3}}
	gradients := func(again int) int {
		out, err := sampleParts(context.Background(), parts, SampleConfig{Chains: 2, Draws: 20, again: again})
		if err != nil {
			t.Fatal(err)
		}
		return out.Gradients
	}
	if first, third := gradients(0), gradients(2); third < 3*first/2 {
		t.Errorf("%d gradients at first and %d in the third attempt", first, third)
	}
}

// TestWorstToldEvidence: a part whose evidence seems small counts as badly told if that is hardly known.
func TestWorstToldEvidence(t *testing.T) {
	a := among{parts: make([]Posterior, 2), logs: []float64{0, -2}, off: []float64{0.2, 1.2}}
	shares, relative, worst := a.shares()
	if worst != 1 || relative <= mostError {
		t.Errorf("evidences of shares %v, off by %v: the error is %v, and part %d is worst told", shares, a.off, relative,
			worst)
	}
}
