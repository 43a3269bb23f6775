package curator

import (
	"flag"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// auditRuns is the number of runs a world of the end-to-end audits; .ci/audit asks for
// more, and for a million of single releases.
var auditRuns = flag.Int("audit", 0, "runs a world of the end-to-end audits; 0 for a few")

// auditDelta is the δ of the audited claims, large enough for attacks to show.
const auditDelta = 1e-2

// lowerEpsilon bounds ε at δ from below, at confidence 1 − alpha, by scores under two
// worlds: the threshold is chosen on the first halves and tested on the second.
func lowerEpsilon(t *testing.T, a, b []float64, delta, alpha float64) float64 {
	t.Helper()
	half := len(a) / 2
	above := func(v []float64, cut float64) int {
		n := 0
		for _, s := range v {
			if s >= cut {
				n++
			}
		}
		return n
	}
	best, cut, flipped := math.Inf(-1), 0.0, false
	for _, flip := range []bool{false, true} {
		x, y := slices.Clone(a[:half]), slices.Clone(b[:half])
		if flip {
			x, y = negated(b[:half]), negated(a[:half])
		}
		slices.Sort(x)
		slices.Sort(y)
		for i := 0; i < half; i += max(1, half/300) {
			hit := half - sorted(x, x[i])
			miss := half - sorted(y, x[i])
			lo, _ := clopperPearson(hit, half, alpha/2) // as it will be judged
			_, hi := clopperPearson(miss, half, alpha/2)
			if e := math.Log((lo - delta) / hi); e > best {
				best, cut, flipped = e, x[i], flip
			}
		}
	}
	x, y := a[half:], b[half:]
	if flipped {
		x, y = negated(b[half:]), negated(a[half:])
	}
	lo, _ := clopperPearson(above(x, cut), len(x), alpha/2)
	_, hi := clopperPearson(above(y, cut), len(y), alpha/2)
	if lo <= delta {
		return 0
	}
	return max(0, math.Log((lo-delta)/hi))
}

// clopperPearson bounds a probability after k successes in n trials, from either side
// at error alpha (as audit.ClopperPearson, which cannot be imported here).
func clopperPearson(k, n int, alpha float64) (lo, hi float64) {
	if hi = 1; k > 0 {
		lo = mathext.InvRegIncBeta(float64(k), float64(n-k+1), alpha)
	}
	if k < n {
		hi = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-alpha)
	}
	return lo, hi
}

func sorted(v []float64, x float64) int { i, _ := slices.BinarySearch(v, x); return i }

func negated(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

func sigmoid(u float64) float64 { return 1 / (1 + math.Exp(-u)) }

// bitScore is the log-likelihood ratio of a bit of probability p and q.
func bitScore(bit bool, p, q float64) float64 {
	if bit {
		return math.Log(p / q)
	}
	return math.Log((1 - p) / (1 - q))
}

// contest is a mechanism under attack: open pays for the steps of all runs in one world
// and returns a step, which releases once and scores the release by its exact
// log-likelihood ratio of the first world over the second.
type contest struct {
	name   string
	steps  int
	worlds [2]Records
	open   func(t *testing.T, c *Curator, count int64) (step func() float64, price accountant.Event)
}

// measure returns the claimed ε of a run, and scores under the two worlds.
func (c contest) measure(t *testing.T, runs int) (claimed accountant.Event, scores [2][]float64) {
	t.Helper()
	for w := range 2 {
		b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e12, Delta: auditDelta,
			Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := Seal(c.worlds[w], b)
		if err != nil {
			t.Fatal(err)
		}
		step, price := c.open(t, sealed, int64(c.steps*runs))
		for range runs {
			sum := 0.0
			for range c.steps {
				sum += step()
			}
			scores[w] = append(scores[w], sum)
		}
		if claimed, err = price.Times(int64(c.steps)); err != nil {
			t.Fatal(err)
		}
	}
	return claimed, scores
}

// pair and single are the worlds: a record at either end of its range beside one at 0,
// with two features; and five of one feature.
var (
	pair = [2]Records{{X: []float64{1, 0, 0, 0}, Features: 2, Radius: 1},
		{X: []float64{-1, 0, 0, 0}, Features: 2, Radius: 1}}
	single = [2]Records{{X: []float64{1, 0.2, -0.4}, Features: 1, Radius: 1},
		{X: []float64{-1, 0.2, -0.4}, Features: 1, Radius: 1}}
)

// drawnBits is a contest of bits of drawn moves; p is the chance of accepting a move of
// log-likelihood ratio r, the other record being at 0.
func drawnBits(name string, steps int, m AcceptanceBit, p func(r float64) float64) contest {
	return contest{name, steps, pair, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		b := grantBits(t, c, m, count)
		theta, next := make([]float64, 2), make([]float64, 2)
		flat := func([]float64) float64 { return 0 }
		return func() float64 {
			var ok bool
			var err error
			if m.Proposal.kind() == oneComponent {
				ok, err = b.MoveAlong(next, theta, []float64{1, -1}, flat)
			} else {
				ok, err = b.Move(next, theta, flat)
			}
			if err != nil {
				t.Fatal(err)
			}
			return bitScore(ok, p(-next[0]), p(next[0]))
		}, b.Event()
	}}
}

// fixedBits is a contest of bits of one move with some public log-odds, whose chances
// are enumerated.
func fixedBits(name string, steps int, public float64, m AcceptanceBit) contest {
	return contest{name, steps, single, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
		b := grantBits(t, c, m, count)
		p, q := acceptProbability(t, single[0].X, m, public), acceptProbability(t, single[1].X, m, public)
		return func() float64 {
			ok, err := b.Accept([]float64{-1}, []float64{0}, public)
			if err != nil {
				t.Fatal(err)
			}
			return bitScore(ok, p, q)
		}, b.Event()
	}}
}

// penaltyAcceptance is that of the penalty test of the given variance.
func penaltyAcceptance(v float64) func(u float64) float64 {
	s := math.Sqrt(v)
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return func(u float64) float64 { return phi(u/s-s/2) + math.Exp(u)*phi(-u/s-s/2) }
}

func contests() []contest {
	toy2, toy1 := newToy(2), newToy(1)
	thinned := func(r []float64, length, rate float64) float64 { return thinnedAcceptance(r, length, rate, 0) }
	all := []contest{
		drawnBits("logistic bit, isotropic moves", 40, AcceptanceBit{Target: toy2, Proposal: Proposal{Scale: 0.25}}, sigmoid),
		drawnBits("penalty bit of variance 1, coordinates along", 60,
			AcceptanceBit{Target: toy2, Proposal: Proposal{Scale: 0.25, OneComponent: true}, Test: Test{Penalty: 1}},
			penaltyAcceptance(1)),
		drawnBits("penalty bit of variance 4, isotropic", 40,
			AcceptanceBit{Target: toy2, Proposal: Proposal{Scale: 0.25}, Test: Test{Penalty: 4}}, penaltyAcceptance(4)),
		drawnBits("logistic bit, Poisson batches of 0.5", 60,
			AcceptanceBit{Target: toy2, Proposal: Proposal{Scale: 0.125}, Batch: Batch{Rate: 0.5}},
			func(r float64) float64 { return 0.25 + sigmoid(r/0.5)/2 }),
		fixedBits("logistic bit, clip", 10, 0.3, AcceptanceBit{Target: toy1, Clip: 0.3}),
		fixedBits("logistic bit, fixed batches", 20, 0.3, AcceptanceBit{Target: toy1, Clip: 0.3, Batch: Batch{Size: 2}}),
		fixedBits("corrected bit of variance 1", 10, 0.3, AcceptanceBit{Target: toy1, Clip: 0.3, Test: Test{Corrected: 1}}),
		fixedBits("corrected bit of variance 1, fixed batches", 20, 0.3,
			AcceptanceBit{Target: toy1, Clip: 0.2, Test: Test{Corrected: 1}, Batch: Batch{Size: 2}}),
		fixedBits("corrected bit of variance 2, Poisson batches", 20, 0.3,
			AcceptanceBit{Target: toy1, Clip: 0.2, Test: Test{Corrected: 2}, Batch: Batch{Rate: 0.6}}),
		fixedBits("penalty bit of variance 4, Poisson batches", 20, 0.3,
			AcceptanceBit{Target: toy1, Clip: 0.2, Test: Test{Penalty: 4}, Batch: Batch{Rate: 0.6}}),
		{"thinned bit", 40, pair, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
			const scale, rate = 0.1, 0.75
			b, err := Charge(c, ThinnedBit{Target: toy2, Proposal: Proposal{Scale: scale}, Rate: rate}, count)
			if err != nil {
				t.Fatal(err)
			}
			theta, next := make([]float64, 2), make([]float64, 2)
			return func() float64 {
				ok, err := b.Move(next, theta, func([]float64) float64 { return 0 })
				if err != nil {
					t.Fatal(err)
				}
				if l := record.Norm(next); l <= scale*(math.Sqrt2+4) {
					return bitScore(ok, thinned([]float64{-next[0], 0}, l, rate), thinned([]float64{next[0], 0}, l, rate))
				}
				return 0
			}, b.Event()
		}},
		signsContest("signs", 30, 0.25, false, toy2, 1), signsContest("signs and a bit", 30, 0.05, true, toy2, 1),
		signsContest("signs and a bit, wrong slopes", 30, 0.05, true, wrongSlopes{toy2}, -1),
		{"noisy ratio", 10, single, func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
			g, err := Charge(c, NoisyRatio{Target: toy1, Clip: 1, NoiseMultiplier: 2}, count)
			if err != nil {
				t.Fatal(err)
			}
			return func() float64 {
				v, err := g.Release([]float64{-1}, []float64{0}) // x₁ + x₂ + x₃
				if err != nil {
					t.Fatal(err)
				}
				return (v + 0.2) * 2 / (g.NoiseSD() * g.NoiseSD())
			}, g.Event()
		}},
		gradientContest("noisy gradient", 10, Batch{}),
		gradientContest("noisy gradient, Poisson batches of 0.5", 20, Batch{Rate: 0.5}),
		{"second moments", 10, [2]Records{{X: []float64{1, 0}, Features: 2, Radius: 1},
			{X: []float64{0, 1}, Features: 2, Radius: 1}},
			func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
				m := SecondMoment{NoiseMultiplier: 2}
				g, err := Charge(c, m, count)
				if err != nil {
					t.Fatal(err)
				}
				sd, err := m.NoiseSD(c.Facts())
				if err != nil {
					t.Fatal(err)
				}
				dst := make([]float64, 4)
				return func() float64 {
					if err := g.Release(dst, nil); err != nil {
						t.Fatal(err)
					}
					return (dst[0] - dst[3]) / (sd * sd)
				}, g.Event()
			}},
	}
	return all
}

// wrongSlopes is a target whose slopes have the wrong sign, so that the bit of an adjusted
// move tells most: it has the ratio and both slopes against it.
type wrongSlopes struct{ toy }

func (wrongSlopes) SlopeAt(dst, _, _ []float64) { fill(dst, -1) }

// signsContest scores the signs of a move, and the bit, by their laws. slope is that of a
// target that says it is.
func signsContest(name string, steps int, scale float64, adjusted bool, target targets.GradTarget,
	slope float64) contest {
	return contest{name, steps, [2]Records{{X: []float64{1, 0}, Features: 2, Radius: 1},
		{X: []float64{-1, 0}, Features: 2, Radius: 1}},
		func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
			g, err := Charge(c, GradientSigns{Target: target, Scale: scale, Adjusted: adjusted}, count)
			if err != nil {
				t.Fatal(err)
			}
			theta, next := make([]float64, 2), make([]float64, 2)
			return func() float64 {
				ok, err := g.Move(next, theta)
				if err != nil {
					t.Fatal(err)
				}
				w := next[0]
				score := -slope * w // log σ(−slope·w)/σ(slope·w): the gradient of the log posterior is −slope·x
				if adjusted {
					score += bitScore(ok, sigmoid(slope*w-w), sigmoid(w-slope*w))
				}
				return score
			}, g.Event()
		}}
}

// gradientContest scores the noisy gradient of one record on a batch.
func gradientContest(name string, steps int, batch Batch) contest {
	return contest{name, steps, [2]Records{{X: []float64{1}, Features: 1, Radius: 1},
		{X: []float64{-1}, Features: 1, Radius: 1}},
		func(t *testing.T, c *Curator, count int64) (func() float64, accountant.Event) {
			g, err := Charge(c, NoisyGradient{Target: newToy(1), Clip: 1, NoiseMultiplier: 2, Batch: batch}, count)
			if err != nil {
				t.Fatal(err)
			}
			rate := 1.0
			if !batch.IsFull() {
				rate = batch.Rate
			}
			dst := make([]float64, 1)
			density := func(v, at float64) float64 { return math.Exp(-(v - at) * (v - at) / 32) } // σ = 2·2·clip
			return func() float64 {
				if err := g.Release(dst, []float64{0}); err != nil {
					t.Fatal(err)
				}
				v := dst[0] * rate
				return math.Log((rate*density(v, 1) + (1-rate)*density(v, 0)) / (rate*density(v, -1) + (1-rate)*density(v, 0)))
			}, g.Event()
		}}
}

// TestEndToEnd plays every mechanism against neighbouring data by the exact
// log-likelihood ratio of each release: what is measured never exceeds what is claimed.
// False-alarm rate 10⁻⁷ a mechanism. With -audit it prints the table of docs/testing.md.
func TestEndToEnd(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 400
	}
	if *auditRuns > 0 {
		runs = *auditRuns
	}
	for _, c := range append(contests(), furtherContests()...) {
		event, scores := c.measure(t, runs)
		g, err := event.Epsilon(auditDelta)
		if err != nil {
			t.Fatal(err)
		}
		if *auditRuns > 0 {
			t.Logf("| %s | %d | %.3f | %.3f |", c.name, c.steps, g.Epsilon,
				lowerEpsilon(t, scores[0], scores[1], auditDelta, 0.05))
		}
		if got := lowerEpsilon(t, scores[0], scores[1], auditDelta, 1e-7); got > g.Epsilon {
			t.Errorf("%s: measured ε ≥ %.4f, claimed %.4f", c.name, got, g.Epsilon)
		}
	}
}

// TestSingleReleasesAreTight: of one bit, at δ = 0, and of one Gaussian release, the
// measured ε is at most what is claimed and at least 0.8 of it, with -audit of 10⁶ runs.
func TestSingleReleasesAreTight(t *testing.T) {
	runs, least := 20_000, 0.0
	if *auditRuns > 0 {
		runs, least = 50**auditRuns, 0.8
	}
	for _, c := range []struct {
		contest
		delta float64
	}{
		{fixedBits("one logistic bit", 1, -4, AcceptanceBit{Target: newToy(1), Clip: 0.5}), 0},
		{fixedBits("one corrected bit", 1, -4, AcceptanceBit{Target: newToy(1), Clip: 0.5, Test: Test{Corrected: 1}}), 0},
		{gradientContest("one noisy gradient", 1, Batch{}), auditDelta},
	} {
		event, scores := c.measure(t, runs)
		claimed := event.RDP(math.Inf(1))
		if c.delta > 0 {
			g, err := event.Epsilon(c.delta)
			if err != nil {
				t.Fatal(err)
			}
			claimed = g.Epsilon
		}
		t.Logf("| %s | 1 | %.3f | %.3f |", c.name, claimed, lowerEpsilon(t, scores[0], scores[1], c.delta, 0.05))
		if got := lowerEpsilon(t, scores[0], scores[1], c.delta, 1e-7); got > claimed {
			t.Errorf("%s: measured ε ≥ %.4f, claimed %.4f", c.name, got, claimed)
		}
		if got := lowerEpsilon(t, scores[0], scores[1], c.delta, 0.05); got < least*claimed {
			t.Errorf("%s: measured only ε ≥ %.4f of %.4f", c.name, got, claimed)
		}
	}
}

// TestAuditsNoticeAnUndercharge: the same attack on a bit that is charged for a ninth of
// its clip breaks the claim, so that the audits could fail.
func TestAuditsNoticeAnUndercharge(t *testing.T) {
	c := fixedBits("", 10, 0.3, AcceptanceBit{Target: newToy(1), Clip: 0.9})
	_, scores := c.measure(t, 10_000)
	ninth, err := AcceptanceBit{Target: newToy(1), Clip: 0.1}.Event(Facts{Records: 3, Features: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ninth.Times(10)
	if err != nil {
		t.Fatal(err)
	}
	g, err := all.Epsilon(auditDelta)
	if err != nil {
		t.Fatal(err)
	}
	if got := lowerEpsilon(t, scores[0], scores[1], auditDelta, 1e-7); got <= g.Epsilon {
		t.Errorf("measured ε ≥ %.4f where a ninth of the clip claims %.4f", got, g.Epsilon)
	}
}
