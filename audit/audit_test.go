package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// binomialTail is P(X ≥ k) for X ~ Binomial(n, p), in exact rationals.
func binomialTail(k, n int, p float64) float64 {
	q := new(big.Float).SetPrec(200).SetFloat64(p)
	r := new(big.Float).SetPrec(200).Sub(big.NewFloat(1), q)
	sum := new(big.Float).SetPrec(200)
	for j := k; j <= n; j++ {
		term := new(big.Float).SetPrec(200).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
		for range j {
			term.Mul(term, q)
		}
		for range n - j {
			term.Mul(term, r)
		}
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return v
}

// TestClopperPearsonSolvesTheTails: at lo the upper tail, at hi the lower tail,
// has probability alpha.
func TestClopperPearsonSolvesTheTails(t *testing.T) {
	for _, c := range []struct{ k, n int }{{1, 10}, {7, 20}, {19, 20}, {3, 200}} {
		for _, alpha := range []float64{0.025, 1e-6} {
			lo, hi := ClopperPearson(c.k, c.n, alpha)
			if got := binomialTail(c.k, c.n, lo); math.Abs(got/alpha-1) > 1e-6 {
				t.Errorf("%d of %d: P(X ≥ k) at lo = %v, want %v", c.k, c.n, got, alpha)
			}
			if got := 1 - binomialTail(c.k+1, c.n, hi); math.Abs(got/alpha-1) > 1e-6 {
				t.Errorf("%d of %d: P(X ≤ k) at hi = %v, want %v", c.k, c.n, got, alpha)
			}
		}
	}
	if lo, hi := ClopperPearson(0, 10, 0.05); lo != 0 || math.Abs(hi-(1-math.Pow(0.05, 0.1))) > 1e-9 {
		t.Errorf("0 of 10: (%v, %v)", lo, hi)
	}
	if lo, hi := ClopperPearson(10, 10, 0.05); hi != 1 || math.Abs(lo-math.Pow(0.05, 0.1)) > 1e-9 {
		t.Errorf("10 of 10: (%v, %v)", lo, hi)
	}
}

// TestClopperPearsonFarOut: small levels and rare successes, against sums of a few
// terms.
func TestClopperPearsonFarOut(t *testing.T) {
	for _, n := range []int{1000, 25_000, 1_000_000} {
		for _, k := range []int{0, 1, 5, 40} {
			const alpha = 5e-7
			_, hi := ClopperPearson(k, n, alpha)
			tail := 0.0
			for j := range k + 1 {
				tail += binomial(n, j, hi)
			}
			if math.Abs(tail/alpha-1) > 1e-6 {
				t.Errorf("%d of %d: P(X ≤ k) at %v is %v", k, n, hi, tail)
			}
			lo, _ := ClopperPearson(n-k, n, alpha)
			if math.Abs((1-lo)/hi-1) > 1e-6 {
				t.Errorf("%d of %d: lo %v, hi %v are no mirror images", k, n, lo, hi)
			}
		}
	}
}

// TestFalseAlarms enumerates all outcomes of an attack on a mechanism that is
// exactly ε-DP (randomised response): the lower bound exceeds ε with probability
// at most the false alarm. One that used the plain rates would exceed it half of
// the time.
func TestFalseAlarms(t *testing.T) {
	const n, falseAlarm = 60, 0.05
	for _, eps := range []float64{0, 0.5, 2} {
		miss := 1 / (1 + math.Exp(eps))
		prob := make([]float64, n+1)
		for k := range prob {
			prob[k] = binomialTail(k, n, miss) - binomialTail(k+1, n, miss)
		}
		wrong, naive := 0.0, 0.0
		for fp, p := range prob {
			for fn, q := range prob {
				lower, err := Trials{n, n, fp, fn}.LowerEpsilon(0, falseAlarm)
				if err != nil {
					t.Fatal(err)
				}
				if lower > eps {
					wrong += p * q
				}
				if plain := math.Log(max(float64(n-fn)/float64(fp), float64(n-fp)/float64(fn))); plain > eps {
					naive += p * q
				}
			}
		}
		if wrong > falseAlarm {
			t.Errorf("ε = %v: exceeded with probability %v", eps, wrong)
		}
		if naive < 2*falseAlarm {
			t.Errorf("ε = %v: the plain rates exceed it with probability %v only", eps, naive)
		}
	}
}

// TestPublishedDenominators: errors within their class, not over all rounds. Of
// 2·10⁶ rounds, errors of 0.4 give 0.405 and a coin flip gives nothing; the
// published denominators give 1.386 and 1.0986 (peers F9).
func TestPublishedDenominators(t *testing.T) {
	const class = 1_000_000
	for _, c := range []struct{ rate, want, published float64 }{{0.4, 0.405465, 1.386294}, {0.5, 0, 1.098612}} {
		wrong := int(c.rate * class)
		got, err := Trials{class, class, wrong, wrong}.LowerEpsilon(0, 1e-6)
		if err != nil || got > c.want || got < c.want-0.02 {
			t.Errorf("errors of %v: ε ≥ %v (%v), want just below %v", c.rate, got, err, c.want)
		}
		mistaken, err := Trials{2 * class, 2 * class, wrong, wrong}.LowerEpsilon(0, 1e-6)
		if err != nil || math.Abs(mistaken-c.published) > 0.02 {
			t.Errorf("over all rounds: ε ≥ %v, published %v", mistaken, c.published)
		}
	}
}

func TestDeltaLowersTheBound(t *testing.T) {
	perfect := Trials{5000, 5000, 0, 0}
	strict, err := perfect.LowerEpsilon(0, 0.05)
	if err != nil || math.Abs(strict-math.Log(5000/3.7)) > 0.01 {
		t.Errorf("5000 of each and no error: ε ≥ %v, want 7.2", strict)
	}
	loose, err := perfect.LowerEpsilon(0.5, 0.05)
	if err != nil || math.Abs(strict-loose-math.Log(2)) > 0.01 {
		t.Errorf("δ = ½ takes %v off, want log 2", strict-loose)
	}
}

// logistic1 is a one-dimensional logistic model, its two data sets and an exact
// sampler by inversion.
type logistic1 struct {
	mechanism       *posterior.Mechanism
	absent, present targets.Rows
	target          *targets.Regression
	theta           []float64
	cdf             [2][]float64
}

const claimed = 1.0

func newLogistic1(t testing.TB) *logistic1 {
	t.Helper()
	beta, err := posterior.SolveBeta(claimed, posterior.Mass())
	if err != nil {
		t.Fatal(err)
	}
	loss := targets.Loss{Beta: beta}
	m := &logistic1{
		absent:  targets.Rows{X: []float64{1, 0.3}, P: 1, Y: []float64{1, 0}},
		present: targets.Rows{X: []float64{-1, 0.3}, P: 1, Y: []float64{1, 0}},
	}
	if m.target, err = targets.New(targets.RegressionConfig{Features: 1, Loss: loss,
		Prior: priors.Gaussian{SD: 9}}); err != nil {
		t.Fatal(err)
	}
	if m.mechanism, err = posterior.NewBounded(posterior.Config{Target: m.target, Epsilon: claimed}); err != nil {
		t.Fatal(err)
	}
	for k, rows := range []targets.Rows{m.absent, m.present} {
		p, err := m.mechanism.Density(rows)
		if err != nil {
			t.Fatal(err)
		}
		sum, grad := 0.0, make([]float64, 1)
		m.theta = m.theta[:0]
		for x := -60.0; x <= 60; x += 0.01 {
			sum += math.Exp(p.LogDensityGrad(grad, []float64{x}))
			m.theta, m.cdf[k] = append(m.theta, x), append(m.cdf[k], sum)
		}
	}
	return m
}

func (m *logistic1) draw(rng *rand.Rand, present bool) []float64 {
	cdf := m.cdf[0]
	if present {
		cdf = m.cdf[1]
	}
	return []float64{m.theta[sort.SearchFloat64s(cdf, rng.Float64()*cdf[len(cdf)-1])]}
}

func (m *logistic1) lossOf(rows targets.Rows) func([]float64) float64 {
	return func(theta []float64) float64 {
		var v [1]float64
		m.target.Loss(v[:], theta, rows.Slice(0, 1))
		return v[0]
	}
}

func (m *logistic1) logOdds(t testing.TB, rng *rand.Rand) func([]float64) float64 {
	t.Helper()
	var draws [][]float64
	for range 4000 {
		draws = append(draws, m.draw(rng, false))
	}
	f, err := PosteriorLogOdds(m.mechanism.Weight(), m.lossOf(m.absent), m.lossOf(m.present), draws)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestOddsAreTheLikelihoodRatio against the tabulated laws, within the Monte Carlo
// error of the constant.
func TestOddsAreTheLikelihoodRatio(t *testing.T) {
	m, rng := newLogistic1(t), rand.New(rand.NewPCG(1, 1))
	odds := m.logOdds(t, rng)
	mass := func(k, i int) float64 { return (m.cdf[k][i] - m.cdf[k][i-1]) / m.cdf[k][len(m.cdf[k])-1] }
	for _, i := range []int{5000, 5900, 6000, 6300, 7500} {
		if want, got := math.Log(mass(1, i)/mass(0, i)), odds(m.theta[i:i+1]); math.Abs(got-want) > 0.05 {
			t.Errorf("θ = %v: log odds %v, want %v", m.theta[i], got, want)
		}
	}
}

// TestExactDrawsKeepTheirPromise and draws from a chain that had no time do not:
// the latter start at the data's own optimum and are caught. False alarm 1e-6.
func TestExactDrawsKeepTheirPromise(t *testing.T) {
	m, rng := newLogistic1(t), rand.New(rand.NewPCG(2, 3))
	odds := m.logOdds(t, rng)
	game := Game{LogOdds: odds, Rounds: 20_000, Coin: rng}
	game.Release = func(present bool) ([]float64, error) { return m.draw(rng, present), nil }
	exact, err := Play(context.Background(), game)
	if err != nil {
		t.Fatal(err)
	}
	lower, err := exact.LowerEpsilon(0, 1e-6)
	if err != nil || lower > claimed {
		t.Errorf("exact draws: ε ≥ %v (%v), claimed %v", lower, err, claimed)
	}
	if limit := (math.E - 1) / (math.E + 1); exact.Advantage() > limit || exact.Advantage() < 0.1 {
		t.Errorf("advantage %v, want within (0.1, %v)", exact.Advantage(), limit)
	}
	game.Release = func(present bool) ([]float64, error) {
		start := 3.0 // where each data set's likelihood points
		if present {
			start = -3
		}
		return []float64{start + rng.NormFloat64()}, nil
	}
	short, err := Play(context.Background(), game)
	if err != nil {
		t.Fatal(err)
	}
	if lower, err := short.LowerEpsilon(0, 1e-6); err != nil || lower < 2*claimed {
		t.Errorf("a chain that had no time: ε ≥ %v (%v), expected well above %v", lower, err, claimed)
	}
}

func TestRefusals(t *testing.T) {
	ok := Game{
		Release: func(bool) ([]float64, error) { return []float64{0}, nil },
		LogOdds: func([]float64) float64 { return 0 },
		Rounds:  50, Coin: rand.New(rand.NewPCG(1, 2)),
	}
	for name, spoil := range map[string]func(*Game){
		"release": func(g *Game) { g.Release = nil },
		"odds":    func(g *Game) { g.LogOdds = nil },
		"coin":    func(g *Game) { g.Coin = nil },
		"rounds":  func(g *Game) { g.Rounds = 1 },
		"failure": func(g *Game) { g.Release = func(bool) ([]float64, error) { return nil, errors.New("no") } },
	} {
		g := ok
		spoil(&g)
		if _, err := Play(context.Background(), g); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Play(ctx, ok); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, bad := range []Trials{{}, {10, 0, 1, 0}, {10, 10, 11, 0}, {10, 10, 0, -1}} {
		if _, err := bad.LowerEpsilon(0, 0.05); err == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	for _, p := range [][2]float64{{-1, 0.05}, {1, 0.05}, {math.NaN(), 0.05}, {0, 0}, {0, 1}} {
		if _, err := (Trials{5, 5, 0, 0}).LowerEpsilon(p[0], p[1]); err == nil {
			t.Errorf("delta %v, false alarm %v accepted", p[0], p[1])
		}
	}
	if _, err := PosteriorLogOdds(1, nil, nil, nil); err == nil {
		t.Error("no draws accepted")
	}
}

func ExampleTrials_LowerEpsilon() {
	t := Trials{Absent: 5000, Present: 5000, FalsePositives: 2000, FalseNegatives: 2000}
	lower, err := t.LowerEpsilon(0, 0.05)
	fmt.Printf("advantage %.2f, ε ≥ %.3f with 95%% confidence %v\n", t.Advantage(), lower, err)
	// Output: advantage 0.20, ε ≥ 0.349 with 95% confidence <nil>
}

// BenchmarkPlay is a round of the game with the optimal attacker.
func BenchmarkPlay(b *testing.B) {
	m, rng := newLogistic1(b), rand.New(rand.NewPCG(4, 4))
	odds := m.logOdds(b, rng)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Play(context.Background(), Game{
			Release: func(present bool) ([]float64, error) { return m.draw(rng, present), nil },
			LogOdds: odds, Rounds: 100, Coin: rng,
		}); err != nil {
			b.Fatal(err)
		}
	}
}
