package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/priors"
)

// rareLaw is the normal law with the second moments of rows of a constant 1, a number, and a level that a fiftieth
// of them has. Given the level the number is N(0.3, 0.64) with it and N(−0.2, 0.64) without.
func rareLaw(anchor []float64) *normal {
	const p = 0.02
	mean := 0.3*p - 0.2*(1-p)
	square := 0.64 + 0.09*p + 0.04*(1-p)
	return newNormal(mat.NewSymDense(3, []float64{1, mean, p, mean, square, 0.3 * p, p, 0.3 * p, p}), 0, anchor)
}

var rareColumn = TwoValued{Along: []float64{0, 0, 1}, Upper: 1}

// TestSplitIsTheLawOfRows: split by a rare level a law says of the score what a fine grid of rows with the level and
// without says, in the mean and in the covariance, but for kinks of slopes that are cut. The normal law is off by a
// tenth of the level's mean score or more, at a coefficient of 5. Nothing is drawn.
func TestSplitIsTheLawOfRows(t *testing.T) {
	anchor, theta := []float64{-1, 0.5, 0.3}, []float64{-2, 0.7, 5}
	for name, link := range map[string]Link{"logistic": Logistic, "halved": halved{}, "probit": halvedBinary{probit},
		"roots": roots{0.5, 50}} {
		whole, tolerance := rareLaw(anchor), 1e-4
		if name == "roots" {
			tolerance = 0.01
		}
		want, squares := make([]float64, 3), make([]float64, 9)
		total := 0.0
		for z := -7.0; z <= 7; z += 0.01 {
			w := math.Exp(-z * z / 2)
			total += w
			for level, share := range []float64{0.98, 0.02} {
				x := []float64{1, 0.5*float64(level) - 0.2 + 0.8*z, float64(level)}
				m, v, _, _ := link.Slope(dot(x, anchor), dot(x, theta))
				for j := range x {
					want[j] += w * share * m * x[j]
					for k := range x {
						squares[3*j+k] += w * share * v * x[j] * x[k]
					}
				}
			}
		}
		law := func(n *normal) (mean, lower []float64) {
			mean, lower = make([]float64, 3), make([]float64, 9)
			newFeatures(n, link).scores().law(mean, lower, theta, total)
			return mean, lower
		}
		mean, lower := law(whole.split(rareColumn))
		normal, _ := law(whole)
		// One less the level is rarely its lower value.
		other, _ := law(whole.split(TwoValued{Along: []float64{1, 0, -1}, Upper: 1}))
		if !floats.EqualApprox(other, mean, 1e-9) {
			t.Errorf("%s: split by one less the level the score's mean is %v, not %v", name, other, mean)
		}
		for j := range 3 {
			if !scalar.EqualWithinRel(mean[j], want[j], tolerance) {
				t.Errorf("%s: the score's mean %d is %v, of rows %v", name, j, mean[j], want[j])
			}
			for k := range j + 1 {
				if !scalar.EqualWithinRel(lower[3*j+k], squares[3*j+k], tolerance) {
					t.Errorf("%s: the score's covariance %d, %d is %v, of rows %v", name, j, k, lower[3*j+k], squares[3*j+k])
				}
			}
		}
		if math.Abs(normal[2]/want[2]-1) < 0.1 {
			t.Errorf("%s: a normal law says %v of the level, of rows %v", name, normal[2], want[2])
		}
	}
}

// TestSplitCategory: the law of a category alone, split by its levels, is one of each level and one of none, in which
// no level varies, though a number does. Levels of other categories, the mutant, are not known to exclude each other.
func TestSplitCategory(t *testing.T) {
	// Of levels, none last, and the number's mean with each.
	chances, means := []float64{0.3, 0.25, 0.2, 0.25}, []float64{-0.4, 0.1, 0.5, 0.2}
	second := mat.NewSymDense(5, nil)
	for level, chance := range chances {
		x := []float64{1, 0, 0, 0, means[level]}
		if level < 3 {
			x[1+level] = 1
		}
		second.SymRankOne(second, chance, mat.NewVecDense(5, x))
	}
	second.SetSym(4, 4, second.At(4, 4)+0.64)
	split := func(group int) *normal {
		columns := []Column{{Kind: Constant, Upper: 1}, {Kind: Level, Upper: 1}, {Kind: Level, Upper: 1, Group: group},
			{Kind: Level, Upper: 1, Group: 2 * group}, {}}
		by := Config{Statistics: Statistics{Columns: columns}}.twoValued()
		return newNormal(second, 0, make([]float64, 5)).splitBy(by)
	}
	law := split(0)
	if len(law.parts) != len(chances) {
		t.Fatalf("a law of three levels has %d parts", len(law.parts))
	}
	for _, part := range law.parts {
		level := slices.IndexFunc(part.mean[1:4], func(m float64) bool { return math.Abs(m-1) < 1e-9 })
		if level < 0 {
			level = 3
		}
		if want := chances[level]; math.Abs(part.share-want) > 1e-9 {
			t.Errorf("level %d has the share %v, not %v", level, part.share, want)
		}
		if want := means[level]; math.Abs(part.mean[4]-want) > 1e-9 || math.Abs(part.spread[4*5+4]-0.64) > 1e-9 {
			t.Errorf("the number is N(%v, %v) with level %d, not N(%v, 0.64)", part.mean[4], part.spread[4*5+4], level, want)
		}
		if v := part.spread[6] + part.spread[12] + part.spread[18]; v > 1e-9 {
			t.Errorf("levels vary by %v beside level %d", v, level)
		}
	}
	if len(split(1).parts) == len(chances) {
		t.Error("levels that do not exclude each other have as few parts")
	}
}

// TestSplitKeepsMoments: however many columns split a law, shares add up to 1, and mean and covariance are the
// law's.
func TestSplitKeepsMoments(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.IntRange(2, 5).Draw(r, "d")
		root := mat.NewDense(d, d, nil)
		for j := range d {
			for k := range d {
				root.Set(j, k, float64(rapid.IntRange(-9, 9).Draw(r, "root"))/9)
			}
		}
		var spread mat.Dense
		spread.Mul(root, root.T())
		anchor := make([]float64, d)
		n := &normal{mean: make([]float64, d), spread: spread.RawMatrix().Data}
		n = n.from(anchor)
		whole := n
		for range rapid.IntRange(1, 4).Draw(r, "columns") {
			by := TwoValued{Along: make([]float64, d)}
			for j := range d {
				by.Along[j] = float64(rapid.IntRange(-3, 3).Draw(r, "along"))
				if rapid.IntRange(0, 4).Draw(r, "beside") == 0 {
					by.beside = append(by.beside, j)
				}
			}
			mean, variance, _ := n.combined(by.Along)
			rare := rapid.Float64Range(0.01, 0.5).Draw(r, "rare")
			by.Lower = mean - math.Sqrt(variance*rare/(1-rare))
			by.Upper = mean + math.Sqrt(variance*(1-rare)/rare)
			if by.body = rapid.Bool().Draw(r, "body"); by.body {
				by.Upper += rapid.Float64Range(0, 9).Draw(r, "farther")
			}
			n = n.split(by)
		}
		mean, square, total := make([]float64, d), make([]float64, d*d), 0.0
		for _, part := range n.parts {
			total += part.share
			if least := leastEigenvalue(part.spread, d); least < -1e-7 {
				r.Errorf("a part has a covariance with the eigenvalue %v", least)
			}
			for j := range d {
				mean[j] += part.share * part.mean[j]
				for k := range d {
					square[j*d+k] += part.share * (part.spread[j*d+k] + part.mean[j]*part.mean[k])
				}
			}
		}
		if n.parts == nil {
			return
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-7 }
		if !near(total, 1) {
			r.Errorf("shares add up to %v", total)
		}
		for j := range d {
			if !near(mean[j], whole.mean[j]) {
				r.Errorf("mean %d is %v, not %v", j, mean[j], whole.mean[j])
			}
			for k := range d {
				if !near(square[j*d+k], whole.spread[j*d+k]) {
					r.Errorf("covariance %d, %d is %v, not %v", j, k, square[j*d+k], whole.spread[j*d+k])
				}
			}
		}
	})
}

func leastEigenvalue(spread []float64, d int) float64 {
	var eigen mat.EigenSym
	eigen.Factorize(mat.NewSymDense(d, spread), false)
	return floats.Min(eigen.Values(nil))
}

// TestSplitLeavesRounding: a level beside one, of which splits have left but rounding, explains nothing of the rest. It
// gave a part a variance of -0.016.
func TestSplitLeavesRounding(t *testing.T) {
	n := &normal{mean: make([]float64, 2), spread: []float64{68. / 81, 8. / 81, 8. / 81, 20. / 81}}
	n = n.from(make([]float64, 2))
	first := TwoValued{Along: []float64{3, 0}, beside: []int{0}}
	second := TwoValued{Along: []float64{3, -3}, beside: []int{0, 1}}
	for _, by := range []TwoValued{first, second} {
		_, variance, _ := n.combined(by.Along)
		by.Lower, by.Upper = -math.Sqrt(variance), math.Sqrt(variance)
		n = n.split(by)
	}
	if len(n.parts) != 4 {
		t.Fatalf("the law has %d parts, not 4", len(n.parts))
	}
	for _, part := range n.parts {
		if least := leastEigenvalue(part.spread, 2); least < -1e-9 {
			t.Errorf("a part has a covariance with the eigenvalue %v", least)
		}
	}
}

// TestSplitOnlyTwoValues: a column splits a law if it varies about as one of two values with its mean does. A
// uniform one does not, nor one beyond its bounds.
func TestSplitOnlyTwoValues(t *testing.T) {
	for _, c := range []struct {
		mean, variance float64
		want           bool
	}{{0.02, 0.0196, true}, {0.02, 0.012, true}, {0.5, 1. / 12, false}, {0.02, 0.05, false}, {-0.01, 0.02, false},
		{1, 0, false}} {
		n := (&normal{mean: []float64{c.mean}, spread: []float64{c.variance}}).from([]float64{0})
		if got := n.split(TwoValued{Along: []float64{1}, Upper: 1}); (got.parts != nil) != c.want {
			t.Errorf("a column with mean %v and variance %v splits a law: %v", c.mean, c.variance, got.parts != nil)
		}
	}
}

// TestSplitGradients: densities have the gradients of their differences where a level splits the law of features, of
// every link.
func TestSplitGradients(t *testing.T) {
	for name, link := range testLinks() {
		c, _ := rareLevel(rand.New(rand.NewPCG(1, 2)), 5000)
		p, _, err := assemble(c)
		if err != nil {
			t.Fatal(err)
		}
		p.config.Link = link
		for k := range p.imputations {
			c.Link = link
			c.imputeLaw(&p.imputations[k], p.imputations[k].features.split(rareColumn))
			if len(p.imputations[k].features.parts) != 2 {
				t.Fatalf("%s: the law is not split", name)
			}
		}
		checkGradient(t, name, p.Density(), []float64{-1, 0.3, 1}, 0.5)
	}
}

// TestOnlyStrongLevelsSplit: laws are split by a level with a coefficient of 5, and stay as they are where it has
// none, so that draws of such tables take no longer. The score is that of the split law, and the seed of laws is
// fixed.
func TestOnlyStrongLevelsSplit(t *testing.T) {
	for _, coefficient := range []float64{0, 5} {
		c, _ := rareLevel(rand.New(rand.NewPCG(3, 4)), 5000)
		c.Statistics.Score = []float64{0, 0, 0}
		n, theta := newNormal(mat.NewSymDense(3, []float64{1, 0, 0.02, 0, 1, 0, 0.02, 0, 0.02}), 0, c.Statistics.Anchor),
			[]float64{-0.7, 0.2, coefficient}
		newFeatures(n.split(rareColumn), c.Link).scores().law(c.Statistics.Score, nil, theta, 5000)
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p.imputations {
			if got := p.imputations[k].features.parts != nil; got != (coefficient > 0) {
				t.Errorf("a level with the coefficient %v splits law %d: %v", coefficient, k, got)
			}
		}
	}
}

// rareLevel are released statistics of n records with a number and a level that one in fifty has, at an anchor that
// is far off, and the truth, of which the level's coefficient is as large as the prior says.
func rareLevel(rng *rand.Rand, n int) (Config, []float64) {
	const d = 3
	prior, truth := priors.Gaussian{SDs: []float64{1, 1, 4}}, make([]float64, d)
	prior.Sample(truth, rng)
	s := Statistics{Anchor: []float64{-0.5, 0, 0}, Score: make([]float64, d), ScoreSD: 5, Moment: make([]float64, d*d),
		MomentSD: 5, Records: int64(n), Radius: 4,
		Columns: []Column{{Kind: Constant, Upper: 1}, {Lower: -5, Upper: 5}, {Kind: Level, Upper: 1}}}
	addRecords(&s, rng, n, truth, func(x []float64) {
		x[0], x[1], x[2] = 1, rng.NormFloat64(), 0
		if rng.IntN(50) == 0 {
			x[2] = 1
		}
	})
	return Config{Statistics: s, Link: halved{}, Prior: prior, Imputations: 2, Seed: rng.Uint64()}, truth
}

// TestRareLevelCalibration: of 5000 records with a level that one in fifty has, ranks of coefficients from the prior
// are uniform: both statistics are within 5.6 standard errors, an alarm in 2·10⁷ runs. Those of the posterior under
// normal laws, the mutant, are not.
func TestRareLevelCalibration(t *testing.T) {
	const limit = 5.6
	ranks := func(split bool) func(seed uint64) []float64 {
		return func(seed uint64) []float64 {
			c, truth := rareLevel(rand.New(rand.NewPCG(seed, 0x7a7e)), 5000)
			p, m, err := assemble(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.settle(m); err != nil {
				t.Fatal(err)
			}
			if split {
				if p, err = New(c); err != nil {
					t.Fatal(err)
				}
			}
			draws := quick(t, p, seed)
			return []float64{rankOf(draws, 2, truth[2])}
		}
	}
	sets := 150
	if testing.Short() {
		sets = 40
	}
	if e := off(sets, ranks(true)); e > limit {
		t.Errorf("ranks are %.1f standard errors from uniform", e)
	} else {
		t.Logf("ranks are %.1f standard errors from uniform", e)
	}
	if e := off(240, ranks(false)); e < limit {
		t.Errorf("normal laws pass, %.1f standard errors from uniform", e)
	} else {
		t.Logf("of normal laws ranks are %.1f standard errors from uniform", e)
	}
}

// TestSplitJoinsScores: where a rare level splits laws of features, scores of counts at two anchors are joined under
// the split laws, by which the first says the second to a tenth of their difference. Under the normal law it is off by
// three times as much. Nothing is drawn but laws.
func TestSplitJoinsScores(t *testing.T) {
	link, ok := Centre(roots{0.5, 50})
	if !ok {
		t.Fatal("roots have no centre")
	}
	theta, first, last := []float64{-1, 0.3, 3}, []float64{-1, 0.3, 2.8}, []float64{-1, 0.3, 3.1}
	law := rareLaw(last)
	score := func(anchor []float64) []float64 {
		out := make([]float64, 3)
		newFeatures(law.split(rareColumn).from(anchor), link).scores().law(out, nil, theta, 5000)
		return out
	}
	c, _ := rareLevel(rand.New(rand.NewPCG(1, 2)), 5000)
	c.Statistics.Anchor, c.Statistics.Score, c.Link = last, score(last), link
	c.Earlier = []Look{{first, score(first), 5}}
	alone := []sharedLook{{c.Earlier[0], 1, 1}}
	off := func(law *normal) float64 {
		moved, _ := c.joint(alone, law)
		return math.Abs(moved[2] - c.Statistics.Score[2])
	}
	apart := math.Abs(c.Earlier[0].Score[2] - c.Statistics.Score[2])
	if split, whole := off(law.split(rareColumn)), off(law); split > apart/10 || whole < 3*split {
		t.Errorf("scores are %v apart: joined they are off by %v under the split law, %v under the normal one",
			apart, split, whole)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for k, im := range p.imputations {
		want, _ := c.joint(p.looked, im.features.normal)
		if im.features.parts == nil || !floats.EqualApprox(im.score, want, 1e-9) {
			t.Errorf("law %d, of %d parts: the score is %v, joined under it %v", k, len(im.features.parts), im.score, want)
		}
	}
}
