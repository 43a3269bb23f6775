package chaudhuri

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

func mechanism(t testing.TB, cfg Config) *Mechanism {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func config(method Method) Config {
	return Config{Method: method, Features: 1, Records: 3, Radius: 1, Lambda: 0.4, Epsilon: 1}
}

// TestSensitivityIsRightAndNearlyAttained over all adjacent pairs of small data
// sets in the plane. Half of it would not do.
func TestSensitivityIsRightAndNearlyAttained(t *testing.T) {
	cfg := Config{Method: Output, Features: 2, Records: 2, Radius: 1, Lambda: 20, Epsilon: 1}
	m := mechanism(t, cfg)
	var minima [][]float64
	for k := range 16 {
		angle := 2 * math.Pi * float64(k) / 16
		rows := targets.Rows{X: []float64{math.Cos(angle), math.Sin(angle), 0, 1}, P: 2, Y: []float64{1, 0}}
		theta, err := erm.Objective{Shape: m.shape(), X: rows.X, Y: rows.Y}.Minimise(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		minima = append(minima, theta)
	}
	largest := 0.0
	for _, a := range minima {
		for _, b := range minima {
			largest = max(largest, floats.Distance(a, b, 2))
		}
	}
	// Slopes of the log loss near θ = 0 are ½, so half the bound is what strong
	// regularisation can attain.
	if s := m.Sensitivity(); largest > s || largest < 0.48*s {
		t.Errorf("largest change %v, sensitivity %v", largest, s)
	}
}

// logDensityOfObjective is the log density of the exact minimum of a
// one-dimensional perturbed objective at theta: the linear term that makes it the
// minimum, and the Jacobian of that map.
func logDensityOfObjective(m *Mechanism, rows targets.Rows, theta float64) float64 {
	slope, curvature := m.ridge*theta, m.ridge
	for i, x := range rows.X {
		p := 1 / (1 + math.Exp(-x*theta))
		slope += (p - rows.Y[i]) * x
		curvature += p * (1 - p) * x * x
	}
	return -math.Abs(slope)/m.scale - math.Log(2*m.scale) + math.Log(curvature)
}

func logDensityOfOutput(t testing.TB, m *Mechanism, rows targets.Rows) func(theta float64) float64 {
	min, err := erm.Objective{Shape: m.shape(), X: rows.X, Y: rows.Y}.Minimise(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return func(theta float64) float64 { return -math.Abs(theta-min[0])/m.scale - math.Log(2*m.scale) }
}

// TestPureDPByEnumeration: the log density ratio of every adjacent pair of
// one-dimensional data sets is within ε, and comes close to it.
func TestPureDPByEnumeration(t *testing.T) {
	for _, method := range []Method{Output, OutputL1, Objective} {
		m := mechanism(t, config(method))
		var densities []func(float64) float64
		for _, x := range []float64{-1, -0.5, 0, 0.5, 1} {
			for _, y := range []float64{0, 1} {
				rows := targets.Rows{X: []float64{x, 0.7, -0.2}, P: 1, Y: []float64{y, 1, 1}}
				if method == Objective {
					densities = append(densities, func(theta float64) float64 { return logDensityOfObjective(m, rows, theta) })
				} else {
					densities = append(densities, logDensityOfOutput(t, m, rows))
				}
			}
		}
		worst := 0.0
		for theta := -40.0; theta <= 40; theta += 0.05 {
			for _, p := range densities {
				for _, q := range densities {
					worst = max(worst, p(theta)-q(theta))
				}
			}
		}
		// In one dimension two records pull apart by R, not 2R.
		if eps := m.cfg.Epsilon; worst > eps || worst < 0.3*eps {
			t.Errorf("method %d: log ratio %v, claimed %v", method, worst, eps)
		}
	}
}

// TestObjectiveDensity: the density used above integrates to one, so it is that
// of the minimum.
func TestObjectiveDensity(t *testing.T) {
	m := mechanism(t, config(Objective))
	rows := targets.Rows{X: []float64{1, 0.7, -0.2}, P: 1, Y: []float64{1, 0, 1}}
	sum := 0.0
	const step = 0.01
	for theta := -200.0; theta < 200; theta += step {
		sum += math.Exp(logDensityOfObjective(m, rows, theta)) * step
	}
	if math.Abs(sum-1) > 1e-4 {
		t.Errorf("integral %v", sum)
	}
}

// TestNoiseScales: L1 noise grows by √d, objective noise does not depend on n,
// and a small λ is raised.
func TestNoiseScales(t *testing.T) {
	cfg := Config{Method: Output, Features: 9, Records: 1000, Radius: 2, Lambda: 0.01, Epsilon: 0.5}
	l2 := mechanism(t, cfg)
	if want := 2 * 2.0 / (1000 * 0.01) / 0.5; math.Abs(l2.Noise()-want) > 1e-5*want {
		t.Errorf("noise %v, want %v", l2.Noise(), want)
	}
	cfg.Method = OutputL1
	if l1 := mechanism(t, cfg); math.Abs(l1.Noise()/l2.Noise()-3) > 1e-12 {
		t.Errorf("L1 noise is %v times the L2 one, want √9", l1.Noise()/l2.Noise())
	}
	cfg.Method, cfg.Lambda = Objective, 1e-9
	if m := mechanism(t, cfg); math.Log1p(1/m.Ridge()) > 0.25 {
		t.Errorf("ridge %v leaves the determinant %v of ε = 0.5", m.Ridge(), math.Log1p(1/m.Ridge()))
	}
}

// TestRefusedLinearTermsAreCharged: the chance that a linear term is refused, of its exact
// gamma law, is below what the δ has for it. Without the 3ε it would not be.
func TestRefusedLinearTermsAreCharged(t *testing.T) {
	narrow := 0
	for _, d := range []int{1, 2, 10, 100, 1000} {
		for _, eps := range []float64{0.01, 1, 20, 200} {
			m := mechanism(t, Config{Method: Objective, Features: d, Records: 100, Radius: 1, Lambda: 1, Epsilon: eps})
			bound := m.shape().Linear / m.scale
			if p := mathext.GammaIncRegComp(float64(d), bound); p > m.beyond() {
				t.Errorf("d = %d, ε = %v: refused with probability %v, charged %v", d, eps, p, m.beyond())
			}
			if mathext.GammaIncRegComp(float64(d), bound-3*eps) > m.beyond() {
				narrow++
			}
			cost, err := m.Cost()
			if err != nil {
				t.Fatal(err)
			}
			if delta := cost.Event.FailureProbability(); delta < (1+math.Exp(eps))*m.beyond() ||
				delta > float64(d+4)*0x1p-100 {
				t.Errorf("d = %d, ε = %v: δ is %v", d, eps, delta)
			}
		}
	}
	if narrow == 0 {
		t.Error("the bound might as well not grow with ε")
	}
}

func simulated(n int) targets.Rows {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	rows := targets.Rows{P: 2}
	for range n {
		x := 2*rng.Float64() - 1
		rows.X = append(rows.X, x/2, 0.5)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-4*x)) {
			y = 1
		}
		rows.Y = append(rows.Y, y)
	}
	return rows
}

// TestReleaseIsOnTheGridAndUnbiased: the mean of 400 releases is within 6
// standard errors of the minimum (per coordinate; false alarm 1e-8).
func TestReleaseIsOnTheGridAndUnbiased(t *testing.T) {
	rows := simulated(2000)
	for _, method := range []Method{Output, OutputL1, Objective} {
		m := mechanism(t, Config{Method: method, Features: 2, Records: 2000, Radius: 1, Lambda: 0.05, Epsilon: 2})
		want, err := erm.Objective{Shape: m.shape(), X: ops.Project(rows, 1).X, Y: rows.Y}.Minimise(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		src := ops.NewInsecureSource(sha256.Sum256([]byte{byte(method)}))
		const draws = 400
		var sum, squares [2]float64
		for range draws {
			theta, err := m.Release(src, rows)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range theta {
				sum[j] += v
				squares[j] += v * v
				if k := v * 0x1p60; k != math.Trunc(k) {
					t.Fatalf("%v is not on a grid", v)
				}
			}
		}
		for j := range sum {
			mean := sum[j] / draws
			se := math.Sqrt((squares[j]/draws - mean*mean) / draws)
			if math.Abs(mean-want[j]) > 6*se+1e-3*math.Abs(want[j]) {
				t.Errorf("method %d: mean %v ± %v, want %v", method, mean, se, want[j])
			}
			if !(se > 0) {
				t.Errorf("method %d: no noise", method)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"method":   func(c *Config) { c.Method = 0 },
		"features": func(c *Config) { c.Features = 0 },
		"records":  func(c *Config) { c.Records = 0 },
		"radius":   func(c *Config) { c.Radius = 0 },
		"lambda":   func(c *Config) { c.Lambda = math.NaN() },
		"epsilon":  func(c *Config) { c.Epsilon = 0 },
		"infinite": func(c *Config) { c.Epsilon = math.Inf(1) },
	} {
		cfg := config(Output)
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := mechanism(t, config(Output)).Release(ops.NewInsecureSource([32]byte{}), simulated(2)); err == nil {
		t.Error("records of another shape and number: accepted")
	}
}

func ExampleNew() {
	m, err := New(Config{Method: Output, Features: 2, Records: 10_000, Radius: 1, Lambda: 0.01, Epsilon: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, _ := m.Cost()
	fmt.Printf("noise scale %.4f, %v\n", m.Noise(), cost.Kind)
	// Output: noise scale 0.0200, unconditional
}

func BenchmarkRelease(b *testing.B) {
	rows := simulated(2000)
	m := mechanism(b, Config{Method: Objective, Features: 2, Records: 2000, Radius: 1, Lambda: 0.05, Epsilon: 2})
	src := ops.NewInsecureSource([32]byte{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Release(src, rows); err != nil {
			b.Fatal(err)
		}
	}
}
