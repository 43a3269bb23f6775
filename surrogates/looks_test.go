package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// looked are three scores of counts at anchors that come nearer, without noise but for what is said,
// and the true mean squares.
func looked(t *testing.T) (Config, *mat.SymDense) {
	t.Helper()
	const n = 40_000
	r := centredResponse(true)
	link := r.link.(Centred)
	rng := rand.New(rand.NewPCG(8, 1))
	truth := []float64{0.5, 0.8}
	anchors := [][]float64{{0.1, 0.4}, {0.7, 0.6}, {0.55, 0.75}}
	scores, second := make([][]float64, 3), mat.NewSymDense(2, nil)
	for i := range scores {
		scores[i] = make([]float64, 2)
	}
	for range n {
		x := []float64{0.7, 0.3 * rng.NormFloat64()}
		y := r.draw(dot(x, truth), rng)
		for i, at := range anchors {
			floats.AddScaled(scores[i], link.Of(dot(x, at), y), x)
		}
		second.SymRankOne(second, 1, mat.NewVecDense(2, x))
	}
	const sd = 30
	c := Config{Link: link, Prior: priors.Gaussian{SD: 3}, Statistics: Statistics{Anchor: anchors[2], Score: scores[2],
		ScoreSD: sd, Moment: []float64{second.At(0, 0), second.At(0, 1), second.At(0, 1), second.At(1, 1)}, MomentSD: 300,
		Records: n, Radius: 1, Columns: []Column{{Kind: Constant, Upper: 0.7}, {Lower: -0.7, Upper: 0.7}}}}
	for i := range 2 {
		c.Earlier = append(c.Earlier, Look{anchors[i], scores[i], sd})
	}
	return c, second
}

// TestScoresAtOtherAnchors: given the second moments a score at another anchor says what it is at the
// last one, to a twentieth of the difference. Taken as it is, it does not. And scores fit the true
// second moments better than twice or half of those.
func TestScoresAtOtherAnchors(t *testing.T) {
	c, second := looked(t)
	s := c.Statistics
	looks, _ := c.looks()
	for i, l := range c.Earlier {
		alone := []sharedLook{{l, 1, 1}}
		moved, _ := c.joint(alone, c.law(second, 0))
		off, apart := floats.Distance(moved, s.Score, 2), floats.Distance(l.Score, s.Score, 2)
		if off > apart/20 {
			t.Errorf("score %d is %.1f off at the last anchor, and %.1f apart", i, off, apart)
		}
	}
	_, fits := c.joint(looks, c.law(second, 0))
	for _, by := range []float64{0.5, 2} {
		other := mat.NewSymDense(2, nil)
		other.ScaleSym(by, second)
		other.SetSym(0, 0, second.At(0, 0))
		if _, log := c.joint(looks, c.law(other, 0)); !(log < fits) {
			t.Errorf("%v of the sum of squares fits with %.2f, the true one with %.2f", by, log, fits)
		}
	}
}

// TestFarScoresHaveSmallShares: shares are as precise as scores are, and a score that is far off has
// less. Together scores are more precise than the last.
func TestFarScoresHaveSmallShares(t *testing.T) {
	c, _ := looked(t)
	looks, sd := c.looks()
	sum := 0.0
	for i, p := range looks {
		sum += p.share
		if i > 0 && p.share <= looks[i-1].share {
			t.Errorf("shares do not rise: %v and %v", looks[i-1].share, p.share)
		}
	}
	if math.Abs(sum-1) > 1e-12 || !(sd < c.Statistics.ScoreSD) || looks[0].share > 0.2 {
		t.Errorf("shares sum to %v, the first is %v, and noise is %v", sum, looks[0].share, sd)
	}
	c.Earlier = c.Earlier[1:]
	c.Earlier[0].Score = c.Statistics.Score
	if looks, sd := c.looks(); looks[0].share != 0.5 || math.Abs(sd*math.Sqrt2-c.Statistics.ScoreSD) > 1e-9 {
		t.Errorf("two scores that are alike have shares %v and noise %v", looks[0].share, sd)
	}
}

// TestEarlierScoresNarrowThePosterior: the posterior given all scores is narrower than that given the
// last, and errors of the configuration are told.
func TestEarlierScoresNarrowThePosterior(t *testing.T) {
	c, _ := looked(t)
	c.Statistics.ScoreSD = 1000 // it is most of what widens
	c.Earlier[0].ScoreSD, c.Earlier[1].ScoreSD = 1000, 1000
	all, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	last := c
	last.Earlier = nil
	one, err := New(last)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		if !(all.sd(j) < 0.9*one.sd(j)) {
			t.Errorf("coefficient %d has the standard deviation %v, and %v given the last score", j, all.sd(j), one.sd(j))
		}
	}
	for _, bad := range []Look{{c.Statistics.Anchor, nil, 1}, {c.Statistics.Anchor, c.Statistics.Score, 0}} {
		c.Earlier = []Look{bad}
		if _, err := New(c); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
