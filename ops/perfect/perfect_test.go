package perfect

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func source(name string) *ops.Source {
	return ops.NewInsecureSource(sha256.Sum256([]byte(name)))
}

// config is the β posterior of a one-dimensional logistic regression.
func config(t testing.TB, n int, epsilon float64) Config {
	t.Helper()
	loss := targets.Loss{Beta: 1 + 2/epsilon}
	prior := priors.Gaussian{SD: 2}
	target, err := targets.New(targets.RegressionConfig{Features: 1, Loss: loss, Prior: prior})
	if err != nil {
		t.Fatal(err)
	}
	return Config{Target: target, Prior: prior, MinLoss: 0, MaxLoss: epsilon / 2, Records: n, Epsilon: epsilon}
}

// records lie mostly on one side of a line through 0.
func records(n int) targets.Rows {
	rows := targets.Rows{P: 1}
	for i := range n {
		rows.X = append(rows.X, 2*float64(i%5)/5+0.3)
		y := 1.0
		if i%4 == 3 {
			y = 0
		}
		rows.Y = append(rows.Y, y)
	}
	return rows
}

// exactCDF is the posterior's distribution function by summation on a grid.
func exactCDF(t testing.TB, p posterior, rows targets.Rows) func(float64) float64 {
	t.Helper()
	r, err := p.start(source("cdf"), rows)
	if err != nil {
		t.Fatal(err)
	}
	const width, step = 16.0, 0.002
	var theta, cdf []float64
	sum := 0.0
	for x := -width; x <= width; x += step {
		sum += math.Exp(r.logWeight([]float64{x}) + p.cfg.Prior.LogDensity([]float64{x}))
		theta, cdf = append(theta, x+step/2), append(cdf, sum)
	}
	return func(x float64) float64 {
		i := min(sort.SearchFloat64s(theta, x), len(cdf)-1)
		return cdf[i] / sum
	}
}

// far is the Dvoretzky-Kiefer-Wolfowitz test at false alarm 1e-7, with 1e-3 for
// the grid of the distribution function.
func far(x []float64, cdf func(float64) float64) bool {
	slices.Sort(x)
	n, gap := float64(len(x)), 0.0
	for i, v := range x {
		gap = max(gap, math.Abs(cdf(v)-float64(i)/n), math.Abs(cdf(v)-float64(i+1)/n))
	}
	return gap > math.Sqrt(math.Log(2e7)/(2*n))+1e-3
}

type sampler interface {
	Release(context.Context, *ops.Source, targets.Rows) (Draw, error)
}

func draws(t testing.TB, s sampler, rows targets.Rows, n int) []float64 {
	t.Helper()
	src := source("draws")
	out := make([]float64, n)
	for i := range out {
		d, err := s.Release(context.Background(), src, rows)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = d.Theta[0]
	}
	return out
}

const n, epsilon = 10, 1.0

// TestDrawsAreExact against quadrature, for every sampler and several levels of
// the atom. The prior, and a tour stopped at a geometric time without thinning,
// are rejected.
func TestDrawsAreExact(t *testing.T) {
	cfg, rows := config(t, n, epsilon), records(n)
	open, err := NewRejection(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	cdf := exactCDF(t, open.posterior, rows)
	samplers := map[string]sampler{"rejection": open}
	for _, level := range []float64{0.05, 0.2, 0.5} {
		if samplers[fmt.Sprintf("atom %v", level)], err = newAtom(cfg, atomConfig{Step: 1, Level: level}); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range samplers {
		if far(draws(t, s, rows, 6000), cdf) {
			t.Errorf("%s: not the posterior", name)
		}
	}
	if !far(draws(t, unthinned{samplers["atom 0.05"].(*atom)}, rows, 6000), cdf) {
		t.Error("the test takes a tour without thinning for exact")
	}
}

// unthinned is the mutant that forgets the hazard of returning to the atom.
type unthinned struct{ *atom }

func (s unthinned) Release(_ context.Context, src *ops.Source, rows targets.Rows) (Draw, error) {
	r, err := s.start(src, rows)
	if err != nil {
		return Draw{}, err
	}
	w := &walk{run: r, step: s.step}
	w.at(r.prior())
	for {
		if r.happens(s.logKappa) {
			return Draw{Theta: w.theta}, nil
		}
		w.move()
	}
}

// TestFixedProposals: always the same number of passes, a law within δ/(1+e^ε) of
// the posterior in total variation in the worst case, by the exact acceptance
// probability.
func TestFixedProposals(t *testing.T) {
	const delta = 1e-3
	cfg := config(t, 6, epsilon)
	s, err := NewRejection(cfg, delta)
	if err != nil {
		t.Fatal(err)
	}
	worst := math.Pow(-math.Expm1(s.least()), float64(s.Proposals()))
	if bound := delta / (1 + math.E); worst > bound || worst < bound/2 {
		t.Errorf("%d proposals all fail with probability %v, wanted just below %v", s.Proposals(), worst, bound)
	}
	if math.Abs(s.least()+6*epsilon/2) > 1e-9 {
		t.Errorf("least log weight %v, want −nε/2", s.least())
	}
	src := source("fixed")
	for range 20 {
		d, err := s.Release(context.Background(), src, records(6))
		if err != nil {
			t.Fatal(err)
		}
		if d.Passes != s.Proposals() {
			t.Errorf("%d passes, want %d whatever the records say", d.Passes, s.Proposals())
		}
	}
	cost, err := s.Cost()
	if err != nil {
		t.Fatal(err)
	}
	at, err := cost.At(delta)
	if err != nil || math.Abs(at.Epsilon-epsilon) > 1e-9 {
		t.Errorf("%v, %v, want (1, %v)", at, err, delta)
	}
	if _, err := NewRejection(config(t, 200, epsilon), delta); err == nil {
		t.Error("200 records at ε = 1 are accepted")
	}
}

// TestTheRunningTimeLeaks: two adjacent data sets whose passes differ in law, seen
// without any θ. Bernoulli(p) at ratio e^0.2 or more by quadrature.
func TestTheRunningTimeLeaks(t *testing.T) {
	s, err := NewRejection(config(t, 2, 6), 0)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(y float64) float64 {
		src, total := source("time"), int64(0)
		rows := targets.Rows{X: []float64{3, 3}, P: 1, Y: []float64{1, y}}
		for range 3000 {
			d, err := s.Release(context.Background(), src, rows)
			if err != nil {
				t.Fatal(err)
			}
			total += d.Passes
		}
		return float64(total) / 3000
	}
	if agree, disagree := mean(1), mean(0); disagree < 1.5*agree {
		t.Errorf("%v and %v passes: expected a visible difference", agree, disagree)
	}
}

// TestWeightsAreClamped: a target that breaks its bounds cannot move a weight
// beyond what is charged.
func TestWeightsAreClamped(t *testing.T) {
	cfg := config(t, 3, epsilon)
	cfg.Target = liar{}
	p, err := newPosterior(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.start(source("liar"), targets.Rows{X: make([]float64, 3), P: 1, Y: make([]float64, 3)})
	if err != nil {
		t.Fatal(err)
	}
	// Losses of +Inf, NaN and −5 count as MaxLoss, MinLoss and MinLoss.
	if got := r.logWeight([]float64{0}); math.Abs(got+epsilon/2) > 1e-12 {
		t.Errorf("log weight %v, want %v", got, -epsilon/2)
	}
}

type liar struct{}

func (liar) Dim() int                   { return 1 }
func (liar) Shape() (int, bool)         { return 1, true }
func (liar) LogPrior([]float64) float64 { return 0 }
func (liar) Loss(dst, _ []float64, _ targets.Rows) {
	copy(dst, []float64{math.Inf(1), math.NaN(), -5})
}

// TestRoundingIsCharged: log weights are within a quarter of what the range is enlarged by
// of exact sums, and the range and the enlargement make up ε. Plain sums are off by more
// than nothing.
func TestRoundingIsCharged(t *testing.T) {
	off := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		cfg := Config{Target: &fixed{losses: rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "losses")},
			Prior: priors.Gaussian{SD: 1}, MinLoss: rapid.Float64Range(-1, 0.2).Draw(t, "least"), MaxLoss: 0.9, Records: n,
			Epsilon: rapid.Float64Range(1e-3, 4).Draw(t, "epsilon")}
		p, err := newPosterior(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.start(source("rounding"), targets.Rows{P: 1, X: make([]float64, n)})
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Float).SetPrec(300)
		for _, l := range cfg.Target.(*fixed).losses {
			l = max(cfg.MinLoss, min(l, cfg.MaxLoss))
			sum.Add(sum, new(big.Float).SetPrec(300).Sub(big.NewFloat(l), big.NewFloat(cfg.MinLoss)))
		}
		sum.Mul(sum, big.NewFloat(-p.weight))
		exact, _ := sum.Float64()
		sum.Sub(sum, big.NewFloat(r.logWeight([]float64{0})))
		err64, _ := sum.Float64()
		// An exponential errs by 2⁻⁵² more.
		if exact > leastLog && math.Abs(err64)+0x1p-52 > cfg.rounding()/4 {
			t.Errorf("a log weight %v is off by %v, charged %v", exact, err64, cfg.rounding()/4)
		}
		if err64 != 0 {
			off++
		}
		whole := 2*p.weight*(cfg.MaxLoss-cfg.MinLoss) + cfg.rounding()
		if charged := p.event.Mechanisms()[0].Params["range"]; charged < whole*(1-1e-15) || charged > cfg.Epsilon {
			t.Errorf("charged %v of ε = %v, for %v", charged, cfg.Epsilon, whole)
		}
	})
	if off == 0 {
		t.Error("no sum was rounded: the test shows nothing")
	}
}

// fixed has the same losses everywhere.
type fixed struct{ losses []float64 }

func (*fixed) Dim() int                                { return 1 }
func (*fixed) Shape() (features int, response bool)    { return 1, false }
func (*fixed) LogPrior([]float64) float64              { return 0 }
func (f *fixed) Loss(dst, _ []float64, _ targets.Rows) { copy(dst, f.losses) }

func TestStopping(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg := config(t, n, epsilon)
	open, err := NewRejection(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	regenerating, err := newAtom(cfg, atomConfig{Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []sampler{open, regenerating} {
		if _, err := s.Release(ctx, source("x"), records(n)); err == nil {
			t.Errorf("%T goes on after its context is done", s)
		}
		if _, err := s.Release(context.Background(), source("x"), records(3)); err == nil {
			t.Errorf("%T accepts another number of records", s)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"target":   func(c *Config) { c.Target = nil },
		"prior":    func(c *Config) { c.Prior = priors.Gaussian{} },
		"bounds":   func(c *Config) { c.MaxLoss = c.MinLoss },
		"NaN":      func(c *Config) { c.MaxLoss = math.NaN() },
		"records":  func(c *Config) { c.Records = 0 },
		"epsilon":  func(c *Config) { c.Epsilon = 0 },
		"rounding": func(c *Config) { c.Epsilon = 1e-15 },
	} {
		cfg := config(t, n, epsilon)
		spoil(&cfg)
		if _, err := NewRejection(cfg, 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := newAtom(cfg, atomConfig{Step: 1}); err == nil {
			t.Errorf("%s: accepted by newAtom", name)
		}
	}
	for _, a := range []atomConfig{{}, {Step: math.NaN()}, {Step: 1, Level: 2}} {
		if _, err := newAtom(config(t, n, epsilon), a); err == nil {
			t.Errorf("%+v accepted", a)
		}
	}
	for _, delta := range []float64{-1, 1, math.NaN()} {
		if _, err := NewRejection(config(t, n, epsilon), delta); err == nil {
			t.Errorf("delta %v accepted", delta)
		}
	}
}

func ExampleNewRejection() {
	loss := targets.Loss{Beta: 1 + 2/0.5}
	prior := priors.Gaussian{SD: 2}
	target, err := targets.New(targets.RegressionConfig{Features: 1, Loss: loss, Prior: prior})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int{10, 40} {
		s, err := NewRejection(Config{Target: target, Prior: prior, MaxLoss: 0.25, Records: n, Epsilon: 0.5}, 1e-6)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n, "records:", s.Proposals(), "proposals")
	}
	// Output:
	// 10 records: 174 proposals
	// 40 records: 325756 proposals
}

// BenchmarkPasses reports the mean number of passes over the records for one
// draw at ε = 1: the table of docs/ops.md. Beyond a second it gives up.
func BenchmarkPasses(b *testing.B) {
	for _, n := range []int{5, 10, 20, 40, 80} {
		cfg, rows := config(b, n, 1), records(n)
		open, err := NewRejection(cfg, 0)
		if err != nil {
			b.Fatal(err)
		}
		all := map[string]sampler{"rejection": open}
		for _, level := range []float64{0.1, 0.5} {
			if all[fmt.Sprintf("atom-%v", level)], err = newAtom(cfg, atomConfig{Step: 1, Level: level}); err != nil {
				b.Fatal(err)
			}
		}
		for name, s := range all {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				src, passes := noise.NewInsecure([32]byte{}), int64(0)
				for b.Loop() {
					d, err := s.Release(ctx, src, rows)
					if err != nil {
						b.Skip("more than a second")
					}
					passes += d.Passes
				}
				b.ReportMetric(float64(passes)/float64(b.N), "passes/draw")
			})
		}
	}
}
