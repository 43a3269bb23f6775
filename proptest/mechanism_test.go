package proptest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// noisySum is a mechanism written by a user: the sum of clipped records with
// Gaussian noise. Its fields are what the mutants break. Its floating-point
// noise would not protect anybody; it is a double for tests.
type noisySum struct {
	clip, noise float64 // noise in multiples of twice the clip
	claim       accountant.Event
	unclipped   bool
}

func (s noisySum) Claim() accountant.Event { return s.claim }

func (s noisySum) Sensitivity() float64 { return 2 * s.clip }

func (s noisySum) Step() float64 { return 0 }

func (s noisySum) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	sum := 0.0
	for _, x := range r.X {
		switch {
		case s.unclipped:
		case math.IsNaN(x):
			x = 0
		default:
			x = max(-s.clip, min(s.clip, x))
		}
		sum += x
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]float64, count)
	for i := range all {
		all[i] = []float64{sum + 2*s.clip*s.noise*rng.NormFloat64()}
	}
	return all, nil
}

// bitOf is an acceptance bit of the sum of clipped records: a double whose
// probability the mutants compute wrongly.
type bitOf struct {
	claim  accountant.Event
	accept func(sum float64) float64
}

func (b bitOf) Claim() accountant.Event { return b.claim }

func (b bitOf) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	sum := 0.0
	for _, x := range r.X {
		if !math.IsNaN(x) {
			sum += max(-1, min(x, 1))
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]float64, count)
	for i := range all {
		all[i] = []float64{0}
		if rng.Float64() < b.accept(sum) {
			all[i][0] = 1
		}
	}
	return all, nil
}

func event(t testing.TB) func(accountant.Event, error) accountant.Event {
	return func(e accountant.Event, err error) accountant.Event {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// pair are neighbours whose first records are at the two ends of [-1, 1].
func pair(rest ...float64) proptest.MechanismOptions {
	return proptest.MechanismOptions{
		A:     curator.Records{X: append([]float64{1}, rest...), Features: 1},
		B:     curator.Records{X: append([]float64{-1}, rest...), Features: 1},
		Delta: 1e-6, Effort: proptest.Quick,
	}
}

func honestSum(t testing.TB) noisySum {
	return noisySum{clip: 1, noise: 1, claim: event(t)(accountant.Gaussian(accountant.Substitute, 1))}
}

// probit is a test whose log-odds get steeper further out, so that it has a
// bounded range only on a clamped domain.
func probit(clamp float64) func(u float64) float64 {
	return func(u float64) float64 { return math.Erfc(-max(-clamp, min(clamp, u))/math.Sqrt2) / 2 }
}

// probitSlope is the largest slope of probit's log-odds on |u| ≤ 1: that at 1.
var probitSlope = math.Exp(-0.5) / math.Sqrt(2*math.Pi) / (probit(8)(1) * probit(8)(-1))

func TestHonestMechanismsPass(t *testing.T) {
	logistic := func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
	bit := event(t)(accountant.Bit{Contribution: 1}.Event(accountant.Substitute))
	audit := proptest.CheckMechanism(t, honestSum(t), pair(0.3))
	if share := audit.LowerRDP / audit.ClaimedRDP; share < 0.4 {
		t.Errorf("the distinguisher shows only %.2f of what an exact claim allows", share)
	}
	proptest.CheckMechanism(t, bitOf{bit, logistic}, pair(-1))
	steep := event(t)(accountant.Bit{Contribution: probitSlope}.Event(accountant.Substitute))
	proptest.CheckMechanism(t, bitOf{steep, probit(1)}, pair(-1))
}

// bare is a mechanism whose noise is not known to depend on the seed alone.
type bare struct{ proptest.Mechanism }

// TestFailuresElsewhere: A and B may differ in any row. What fails there is shown with that row, and fails.
func TestFailuresElsewhere(t *testing.T) {
	quiet := honestSum(t)
	quiet.noise = 0.5
	for place := range 3 {
		o := pair(0.3, 0.2)
		o.A.X[0], o.A.X[place] = o.A.X[place], o.A.X[0]
		o.B.X[0], o.B.X[place] = o.B.X[place], o.B.X[0]
		mustReject(t, "A: curator.Records{X: []float64{1}, Features: 1},\n\t\t\tB: curator.Records{X: []float64{-1}",
			func(t rapid.TB) { proptest.CheckMechanism(t, bare{quiet}, o) })
	}
}

// reservoir is a noisy sum of two records of six, each kept with probability a third, or too often the later
// it comes.
type reservoir struct {
	claim accountant.Event
	early int
}

func (m reservoir) Claim() accountant.Event { return m.claim }

func (m reservoir) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	rng, all := rand.New(rand.NewPCG(seed, 0)), make([][]float64, count)
	for i := range all {
		var kept [2]float64
		for k, x := range r.X {
			if j := k; k < 2 || rng.IntN(k+1-m.early) < 2 {
				if k >= 2 {
					j = rng.IntN(2)
				}
				kept[j] = max(-1, min(x, 1))
				if math.IsNaN(x) {
					kept[j] = 0
				}
			}
		}
		all[i] = []float64{kept[0] + kept[1] + rng.NormFloat64()}
	}
	return all, nil
}

// TestSamplesAreHeldToTheirCurve: the δ of a sample, composed numerically, is a third of what its Rényi curve
// gives, so that a sample of the last record at 2/5 for 1/3 is rejected.
func TestSamplesAreHeldToTheirCurve(t *testing.T) {
	claim := event(t)(event(t)(accountant.Gaussian(accountant.Substitute, 0.5)).SubsetSampled(6, 2))
	o := proptest.MechanismOptions{Delta: 1e-6, Effort: proptest.Quick,
		A: curator.Records{X: []float64{0.3, -0.2, 0.4, -0.5, 0.1, 1}, Features: 1},
		B: curator.Records{X: []float64{0.3, -0.2, 0.4, -0.5, 0.1, -1}, Features: 1}}
	proptest.CheckMechanism(t, reservoir{claim, 0}, o)
	o.Effort = proptest.Standard
	mustReject(t, "the mechanism costs more than sampled", func(t rapid.TB) {
		proptest.CheckMechanism(t, reservoir{claim, 1}, o)
	})
}

// TestDishonestMechanismsAreRejected holds the mutants that the check is for.
func TestDishonestMechanismsAreRejected(t *testing.T) {
	logistic := func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
	quiet, unclipped, halved, wrong := honestSum(t), honestSum(t), honestSum(t), honestSum(t)
	quiet.noise *= 0.7
	unclipped.unclipped = true
	halved.noise = 0.5 // noise for the clip, charged as for twice the clip
	// What adding or removing a record costs, said of substitution.
	wrong.noise, wrong.claim = 1, event(t)(accountant.Gaussian(accountant.Substitute, 2))
	beyond := pair(0)
	beyond.B.X[0] = 3
	for name, c := range map[string]struct {
		words string
		m     proptest.Mechanism
		o     proptest.MechanismOptions
	}{
		"noise × 0.7":        {"where 2 is stated", quiet, pair(0.3)},
		"clip not applied":   {"more than the sensitivity", unclipped, pair(0.3)},
		"clip beyond a pair": {"more than the sensitivity", unclipped, beyond},
		"sensitivity halved": {"where 2 is stated", halved, pair(0.3)},
		"bit of half the cost": {"costs more than", bitOf{
			event(t)(accountant.Bit{Contribution: 0.5}.Event(accountant.Substitute)), logistic}, pair(0)},
		"bit not clamped": {"costs more than", bitOf{
			event(t)(accountant.Bit{Contribution: probitSlope}.Event(accountant.Substitute)), probit(8)}, pair(-1, -0.5)},
		"add/remove cost": {"where 4 is stated", wrong, pair(0.3)},
		"not neighbours": {"differ in more than", honestSum(t), proptest.MechanismOptions{
			A: curator.Records{X: []float64{1, 1}, Features: 1}, B: curator.Records{X: []float64{-1, 0}, Features: 1},
			Delta: 1e-6}},
		"other adjacency": {"no neighbours under", noisySum{clip: 1, noise: 1,
			claim: event(t)(accountant.Gaussian(accountant.AddRemove, 1))}, pair(0)},
	} {
		t.Run(name, func(t *testing.T) {
			mustReject(t, c.words, func(t rapid.TB) { proptest.CheckMechanism(t, c.m, c.o) })
		})
	}
}

// offGrid says that it lies on a grid, and does not.
type offGrid struct{ noisySum }

func (offGrid) Step() float64 { return 0.25 }

func TestReleasesOffTheGridAreRejected(t *testing.T) {
	mustReject(t, "not a whole number", func(t rapid.TB) {
		proptest.CheckMechanism(t, offGrid{honestSumOf(t)}, pair(0.3))
	})
}

func honestSumOf(t rapid.TB) noisySum {
	claim, err := accountant.Gaussian(accountant.Substitute, 1)
	if err != nil {
		t.Fatal(err)
	}
	return noisySum{clip: 1, noise: 1, claim: claim}
}

// A mechanism says what it costs and makes releases. The second one adds 0.7
// times the noise it is charged for.
func ExampleCheckMechanism() {
	for _, noise := range []float64{1, 0.7} {
		_, failed := proptest.Try("TestNoisySum", func(t rapid.TB) {
			m := honestSumOf(t)
			m.noise = noise
			proptest.CheckMechanism(t, m, pair(0.3))
		})
		fmt.Println("noise", noise, "failed", failed)
	}
	// Output:
	// noise 1 failed false
	// noise 0.7 failed true
}

// line has the loss x·θ, so that a record chooses its own contribution to a move
// and its own gradient.
type line struct{ dim int }

func (l line) Dim() int                                     { return l.dim }
func (l line) Shape() (int, bool)                           { return l.dim, false }
func (l line) LogPrior([]float64) float64                   { return 0 }
func (l line) GradLogPrior(dst, _ []float64)                { clear(dst) }
func (l line) LossGrad(dst, _ []float64, rows targets.Rows) { copy(dst, rows.X) }
func (l line) LossAt(dst, eta, _ []float64)                 { copy(dst, eta) }
func (l line) SlopeAt(dst, _, _ []float64)                  { scale(dst, 0); dst[0]++ }
func (l line) PredictorLipschitz() float64                  { return 1 }
func (l line) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = 0
		for j, x := range rows.Row(i) {
			dst[i] += x * theta[j]
		}
	}
}

// TestCuratorMechanisms holds the curator's releases to what they charge, on
// pairs at the ends of the clip, with every batch scheme and adjacency. It is by Quick, and by Standard
// with -tags slow.
func TestCuratorMechanisms(t *testing.T) {
	facts := curator.Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	removed := facts
	removed.Adjacency = accountant.AddRemove
	one, zero := []float64{1}, []float64{0}
	for _, batch := range []curator.Batch{{}, {Rate: 0.5}, {Size: 2}} {
		tests := []curator.Test{{}, {Corrected: 1}}
		switch {
		case batch.IsFull():
			tests = append(tests, curator.Test{Penalty: 1}) // on batches it costs too much to tell anything
		case batch.Size > 0 && !slow:
			tests = nil // a minute each, and package audit attacks them
		}
		for _, test := range tests {
			t.Run(fmt.Sprint(test, " ", batch), func(t *testing.T) {
				m, err := proptest.Bit(curator.AcceptanceBit{Target: line{1}, Clip: 0.5, Batch: batch, Test: test}, facts,
					zero, one, 0.1)
				if err != nil {
					t.Fatal(err)
				}
				o := pair(0, 0.2, -0.2)
				if !slow {
					o.Effort = proptest.Quick
				}
				proptest.CheckMechanism(t, m, o)
			})
		}
		ratio, err := proptest.Ratio(curator.NoisyRatio{Target: line{1}, Clip: 0.5, NoiseMultiplier: 0.7, Batch: batch},
			facts, zero, one)
		if err != nil {
			t.Fatal(err)
		}
		proptest.CheckMechanism(t, ratio, pair(0, 0.2, -0.2))
		gradient, err := proptest.Gradient(curator.NoisyGradient{Target: line{1}, Clip: 0.5, NoiseMultiplier: 0.7,
			Batch: batch}, facts, zero)
		if err != nil {
			t.Fatal(err)
		}
		proptest.CheckMechanism(t, gradient, pair(0, 0.2, -0.2))
	}
	shorter := pair(0, 0.2, -0.2)
	shorter.B.X = shorter.B.X[1:]
	ratio, err := proptest.Ratio(curator.NoisyRatio{Target: line{1}, Clip: 0.5, PerLength: true, NoiseMultiplier: 0.7},
		removed, zero, one)
	if err != nil {
		t.Fatal(err)
	}
	proptest.CheckMechanism(t, ratio, shorter)
	bit, err := proptest.Bit(curator.AcceptanceBit{Target: line{1}, Clip: 0.5}, removed, zero, one, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	proptest.CheckMechanism(t, bit, shorter)
}

// TestDrawnMoves: a move that the curator draws is part of the release, and its
// price averages over it.
func TestDrawnMoves(t *testing.T) {
	facts := curator.Facts{Records: 1, Features: 1, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	m, err := proptest.Bit(curator.AcceptanceBit{Target: line{1}, Proposal: curator.Proposal{Scale: 1}}, facts,
		[]float64{0}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := pair()
	o.A.Radius, o.B.Radius = 1, 1
	// The bit says on which side of 0 the record's slope is, if the move is long.
	o.Statistic = func(release []float64) float64 { return release[0] * (2*release[1] - 1) }
	audit := proptest.CheckMechanism(t, m, o)
	if share := audit.LowerRDP / audit.ClaimedRDP; share < 0.3 {
		t.Errorf("the distinguisher shows only %.2f of the price: %v", share, audit)
	}
}

// TestGradientSensitivityInSeveralDimensions: the clip is Euclidean.
func TestGradientSensitivityInSeveralDimensions(t *testing.T) {
	facts := curator.Facts{Records: 2, Features: 3, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	m, err := proptest.Gradient(curator.NoisyGradient{Target: line{3}, Clip: 0.5, NoiseMultiplier: 1}, facts,
		make([]float64, 3))
	if err != nil {
		t.Fatal(err)
	}
	proptest.CheckMechanism(t, m, proptest.MechanismOptions{
		A:     curator.Records{X: []float64{3, -4, 5, 0, 0, 0}, Features: 3},
		B:     curator.Records{X: []float64{-3, 4, -5, 0, 0, 0}, Features: 3},
		Delta: 1e-6, Effort: proptest.Quick,
	})
}

// TestNeighboursAreChosenByTwoMeasures: neither measure keeps the other's best from being compared
// again, and two at least are.
func TestNeighboursAreChosenByTwoMeasures(t *testing.T) {
	promise := []float64{0.9, 0.1, 0.2, 0.8, 0.3, 0.4, 0.5, 0.6}
	near := []float64{-3, 2, 1, -4, -5, -6, -7, -8}
	if got := proptest.MostPromising(promise, near); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("of eight neighbours %v are compared again, not the best of each measure", got)
	}
	if got := proptest.MostPromising(promise[:1], near[:1]); !slices.Equal(got, []int{0}) {
		t.Errorf("of one neighbour %v", got)
	}
}
