package dpsgd

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func source(name string) *ops.Source {
	return ops.NewInsecureSource(sha256.Sum256([]byte(name)))
}

func logistic(t testing.TB, d int) *targets.Regression {
	t.Helper()
	target, err := targets.New(targets.RegressionConfig{Features: d, Prior: priors.Gaussian{SD: 10}})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// TestClippedGradientsStayWithinTheClip, for any float64s, exactly: the squared
// steps are summed as integers.
func TestClippedGradientsStayWithinTheClip(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-3, 3),
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), 0, 5e-324}))
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SliceOfN(value, 1, 6).Draw(t, "gradient")
		clip := rapid.Float64Range(0.01, 100).Draw(t, "clip")
		_, e := math.Frexp(clip)
		step := math.Ldexp(1, e-28)
		total := make([]int64, len(g))
		addClipped(total, g, clip, step)
		square := 0.0
		for _, k := range total {
			square += float64(k) * float64(k)
		}
		norm := math.Sqrt(square) * step
		if norm > clip {
			t.Fatalf("norm %v > clip %v", norm, clip)
		}
		if n := floats.Norm(g, 2); n > 2*clip && n < 1e150 && norm < clip*(1-1e-6) {
			t.Fatalf("a gradient of norm %v was clipped to %v, not %v", n, norm, clip)
		}
		if n := floats.Norm(g, 2); n < clip/2 {
			for i, k := range total {
				if math.Abs(float64(k)*step-g[i]) > 2*step {
					t.Fatalf("%v became %v steps of %v", g[i], k, step)
				}
			}
		}
	})
}

// TestNoiseHasTheChargedDeviation: one step on records whose gradients vanish
// returns the noise. Dvoretzky-Kiefer-Wolfowitz at false alarm 1e-7; noise that
// took the sensitivity for Clip, not 2·Clip, is rejected.
func TestNoiseHasTheChargedDeviation(t *testing.T) {
	cfg := Config{Target: logistic(t, 1), Records: 10, Rate: 0.5, Steps: 1, Clip: 3, LearningRate: 1, Epsilon: 1,
		Delta: 1e-5}
	rows := targets.Rows{X: make([]float64, 10), P: 1, Y: make([]float64, 10)}
	right, err := newMechanism(cfg, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1.5 * 2 * 3; math.Abs(right.Noise()-want) > 1e-9 {
		t.Errorf("noise %v, want %v", right.Noise(), want)
	}
	halved, err := newMechanism(cfg, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	src := source("noise")
	for m, fine := range map[*Mechanism]bool{right: true, halved: false} {
		draws := make([]float64, 5000)
		for i := range draws {
			theta, err := m.Release(src, rows)
			if err != nil {
				t.Fatal(err)
			}
			draws[i] = -theta[0] * 10 * 0.5 // undo the learning rate, n and the rate
		}
		slices.Sort(draws)
		gap := 0.0
		for i, v := range draws {
			f := math.Erfc(-v/9/math.Sqrt2) / 2
			gap = max(gap, math.Abs(f-float64(i)/5000), math.Abs(f-float64(i+1)/5000))
		}
		if within := gap <= math.Sqrt(math.Log(2e7)/(2*5000)); within != fine {
			t.Errorf("noise of %v taken for 9: %v, want %v", m.Noise(), within, fine)
		}
	}
}

// TestBatchesArePoisson: sizes have the binomial mean and variance, and a record
// is in a batch with the rate, whatever another does (6 standard errors each).
func TestBatchesArePoisson(t *testing.T) {
	const n, rate, draws = 50, 0.3, 20000
	b, err := newBatcher(targets.Rows{X: make([]float64, n), P: 1}, rate)
	if err != nil {
		t.Fatal(err)
	}
	src := source("batch")
	var sum, squares, both, first float64
	for range draws {
		index := b.next(src).index
		size := float64(len(index))
		sum += size
		squares += size * size
		if slices.Contains(index, 7) {
			first++
			if slices.Contains(index, 31) {
				both++
			}
		}
	}
	mean := sum / draws
	variance := squares/draws - mean*mean
	if se := math.Sqrt(n * rate * (1 - rate) / draws); math.Abs(mean-n*rate) > 6*se {
		t.Errorf("mean size %v, want %v", mean, n*rate)
	}
	if want := n * rate * (1 - rate); math.Abs(variance-want) > 6*want*math.Sqrt(2.0/draws) {
		t.Errorf("variance of the size %v, want %v; batches of one size have 0", variance, want)
	}
	if p := both / first; math.Abs(p-rate) > 6*math.Sqrt(rate*(1-rate)/first) {
		t.Errorf("a record is in a batch with another with probability %v, want %v", p, rate)
	}
}

func TestCostMeetsTheTarget(t *testing.T) {
	m, err := New(Config{Target: logistic(t, 1), Records: 1000, Rate: 0.05, Steps: 200, Clip: 1, LearningRate: 1,
		Epsilon: 1, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Cost().At(1e-5)
	if err != nil || s.Epsilon > 1 || s.Epsilon < 0.999 || s.Kind != ops.Unconditional {
		t.Errorf("%v, %v, want just below 1", s, err)
	}
	if renyi, err := m.Cost().Event.Epsilon(1e-5); err != nil || renyi.Epsilon < 1.05 {
		t.Errorf("the Rényi bound of the noise is %v, %v: calibrated by it, there was 9%% more", renyi.Epsilon, err)
	}
}

func records(rng *rand.Rand, n int, response func(x float64) float64) targets.Rows {
	rows := targets.Rows{P: 2}
	for range n {
		x := 2*rng.Float64() - 1
		rows.X = append(rows.X, x, 1)
		rows.Y = append(rows.Y, response(x))
	}
	return rows
}

func release(t testing.TB, cfg Config, rows targets.Rows) []float64 {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	theta, err := m.Release(source("train"), rows)
	if err != nil {
		t.Fatal(err)
	}
	return theta
}

// TestTrains a logistic regression, a linear regression and a network at ε = 2 to
// within reach of the truth. The seed is fixed.
func TestTrains(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 8000
	base := Config{Records: n, Rate: 0.02, Steps: 600, Clip: 1, Epsilon: 2, Delta: 1e-5, Average: 0.5}

	cfg := base
	cfg.Target, cfg.LearningRate = logistic(t, 2), 2
	rows := records(rng, n, func(x float64) float64 {
		if rng.Float64() < 1/(1+math.Exp(-3*x+1)) {
			return 1
		}
		return 0
	})
	if theta := release(t, cfg, rows); math.Hypot(theta[0]-3, theta[1]+1) > 0.5 {
		t.Errorf("logistic: %v, want (3, −1)", theta)
	}

	linear, err := targets.New(targets.LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 10}, MinScale: 0.3,
		ScalePrior: priors.HalfNormal{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Target, cfg.LearningRate = linear, 0.1
	rows = records(rng, n, func(x float64) float64 { return 0.8*x - 0.5 + 0.4*rng.NormFloat64() })
	if theta := release(t, cfg, rows); math.Hypot(theta[0]-0.8, theta[1]+0.5) > 0.15 {
		t.Errorf("linear: %v, want (0.8, −0.5, …)", theta)
	}

	network, err := targets.New(targets.NetworkConfig{Features: 2, Hidden: 6, Scale: 0.5,
		Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	curve := func(x float64) float64 { return math.Abs(2*x) - 1 }
	cfg.Target, cfg.LearningRate, cfg.Start = network, 0.1, make([]float64, network.Dim())
	priors.Gaussian{SD: 1}.Sample(cfg.Start, rng)
	rows = records(rng, n, func(x float64) float64 { return curve(x) + 0.1*rng.NormFloat64() })
	theta := release(t, cfg, rows)
	loss, before := make([]float64, n), make([]float64, n)
	network.Loss(loss, theta, rows)
	network.Loss(before, make([]float64, network.Dim()), rows)
	if got, flat := floats.Sum(loss)/n, floats.Sum(before)/n; got > flat-0.3 {
		t.Errorf("network: mean loss %v, that of a constant is %v", got, flat)
	}
}

func TestRefusals(t *testing.T) {
	good := Config{Target: logistic(t, 1), Records: 2, Rate: 0.5, Steps: 3, Clip: 1, LearningRate: 1, Epsilon: 1,
		Delta: 1e-3}
	for name, spoil := range map[string]func(*Config){
		"target":  func(c *Config) { c.Target = nil },
		"records": func(c *Config) { c.Records = 0 },
		"rate":    func(c *Config) { c.Rate = 0 },
		"steps":   func(c *Config) { c.Steps = 0 },
		"clip":    func(c *Config) { c.Clip = math.NaN() },
		"rate 2":  func(c *Config) { c.Rate = 2 },
		"epsilon": func(c *Config) { c.Epsilon = 0 },
		"delta":   func(c *Config) { c.Delta = 0 },
		"start":   func(c *Config) { c.Start = make([]float64, 2) },
		"average": func(c *Config) { c.Average = -1 },
		"lr":      func(c *Config) { c.LearningRate = 0 },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	m, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Release(source("x"), targets.Rows{X: []float64{1, 2, 3}, P: 1, Y: make([]float64, 3)}); err == nil {
		t.Error("three records for two: accepted")
	}
}

func ExampleNew() {
	target, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := New(Config{Target: target, Records: 10_000, Rate: 0.01, Steps: 1000, Clip: 1, LearningRate: 1, Epsilon: 1,
		Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := m.Cost().At(1e-6)
	fmt.Printf("ε = %.2f, %v, %v\n", s.Epsilon, s.Adjacency, s.Kind)
	// Output: ε = 1.00, substitute, unconditional
}

func BenchmarkStep(b *testing.B) {
	rows := records(rand.New(rand.NewPCG(1, 2)), 100_000, func(x float64) float64 { return x })
	m, err := newMechanism(Config{Target: logistic(b, 2), Records: 100_000, Rate: 0.01, Steps: 1, Clip: 1,
		LearningRate: 1}, 1)
	if err != nil {
		b.Fatal(err)
	}
	batches, err := newBatcher(rows, 0.01)
	if err != nil {
		b.Fatal(err)
	}
	src, sum, theta := source("bench"), make([]float64, 2), make([]float64, 2)
	b.ReportAllocs()
	for b.Loop() {
		m.noisySum(src, sum, theta, batches.next(src))
	}
}
