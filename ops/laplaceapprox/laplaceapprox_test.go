package laplaceapprox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/surrogates"
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

// logDensity is that of the exact minimum of a one-dimensional objective with
// ridge and a normal linear term.
func logDensity(rows targets.Rows, ridge, sigma, theta float64) float64 {
	slope, curvature := ridge*theta, ridge
	for i, x := range rows.X {
		p := 1 / (1 + math.Exp(-x*theta))
		slope += (p - rows.Y[i]) * x
		curvature += p * (1 - p) * x * x
	}
	return -slope*slope/(2*sigma*sigma) + math.Log(curvature) - math.Log(sigma*math.Sqrt(2*math.Pi))
}

// TestObjectivePerturbationBound: over all adjacent pairs of one-dimensional data
// sets, the Rényi divergences of the exact minimum are within
// c + αs²/2 + log(folding)/(α−1), c = log(1 + R²/4Λ), and not within the Gaussian
// mechanism's αs²/2 alone.
func TestObjectivePerturbationBound(t *testing.T) {
	const step, reach = 0.01, 60.0
	naiveBroken := false
	for _, ridge := range []float64{0.05, 0.3, 2} {
		for _, sigma := range []float64{1, 3} {
			var tables [][]float64
			for _, x := range []float64{-1, -0.5, 0, 0.5, 1} {
				for _, y := range []float64{0, 1} {
					rows := targets.Rows{X: []float64{x}, P: 1, Y: []float64{y}}
					var table []float64
					for theta := -reach; theta < reach; theta += step {
						table = append(table, logDensity(rows, ridge, sigma, theta))
					}
					tables = append(tables, table)
				}
			}
			s := 1 / sigma // two slopes in one dimension are R apart at most, not 2R
			for _, order := range []float64{1.2, 2, 5, 20} {
				worst := 0.0
				for _, p := range tables {
					for _, q := range tables {
						sum := 0.0
						for i := range p {
							sum += math.Exp(order*p[i]+(1-order)*q[i]) * step
						}
						worst = max(worst, math.Log(sum)/(order-1))
					}
				}
				bound := math.Log1p(1/(4*ridge)) + order*s*s/2 + math.Log(folding)/(order-1)
				if worst > bound {
					t.Errorf("Λ = %v, σ = %v: D_%v = %v, bound %v", ridge, sigma, order, worst, bound)
				}
				naiveBroken = naiveBroken || worst > order*s*s/2*1.01
			}
		}
	}
	if !naiveBroken {
		t.Error("the Gaussian mechanism's curve was never exceeded, so the test proves little")
	}
}

func TestFolding(t *testing.T) {
	most := 0.0
	for x := -5.0; x < 5; x += 1e-4 {
		most = max(most, math.Erfc(-x/math.Sqrt2)/2+math.Exp(-x*x/2)/2)
	}
	if most > folding || most < folding-2e-4 {
		t.Errorf("the maximum is %v, folding %v", most, folding)
	}
}

// TestBudgetAddsUp: the three noises spend µ², and the whole costs ε at δ.
func TestBudgetAddsUp(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 8} {
		m := mechanism(t, Config{Features: 3, Records: 5000, Radius: 2, PriorSD: 3, Epsilon: eps, Delta: 1e-6})
		cost, err := m.Cost()
		if err != nil {
			t.Fatal(err)
		}
		s, err := cost.At(1e-6)
		if err != nil || s.Epsilon > eps || s.Epsilon < eps*(1-1e-5) || s.Kind != ops.Unconditional {
			t.Errorf("ε = %v: %v, %v", eps, s, err)
		}
		linear := 2 * 2 / m.linear
		_, frobenius := m.gram.Sensitivities(5000)
		hessian := frobenius / m.hessian.Sigma()
		output := 2 * (m.shape().Distance() + m.linear*math.Sqrt(3)*0x1p-39/m.ridge) / m.output.Sigma()
		if spent := math.Sqrt(linear*linear + hessian*hessian + output*output); spent > m.mu || spent < m.mu*(1-1e-4) {
			t.Errorf("ε = %v: the noises spend µ = %v of %v", eps, spent, m.mu)
		}
		determinant := math.Log1p(4 / (4 * m.ridge))
		if determinant > 0.1*eps*(1+1e-9) {
			t.Errorf("ε = %v: the determinant takes %v", eps, determinant)
		}
		if rest := m.beside() - determinant; rest < 3*0x1p-56 || rest > 1e-12 {
			t.Errorf("ε = %v: the grid of the linear term is charged %v", eps, rest)
		}
	}
}

// simulate draws coefficients from the prior and records from the model.
func simulate(rng *rand.Rand, n int, sd float64) (theta []float64, rows targets.Rows) {
	theta = []float64{sd * rng.NormFloat64(), sd * rng.NormFloat64()}
	rows.P = 2
	for range n {
		x := 2*rng.Float64() - 1
		rows.X = append(rows.X, 0.7*x, 0.7)
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-0.7*(theta[0]*x+theta[1]))) {
			y = 1
		}
		rows.Y = append(rows.Y, y)
	}
	return
}

// TestCoverage: over the prior, the 90% intervals contain the truth 90% of the
// time, within ±10% (120 intervals at fixed seeds, so there is no false alarm).
// Intervals that ignore the privacy noise do not.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 21))
	src := ops.NewInsecureSource(sha256.Sum256([]byte("coverage")))
	m := mechanism(t, Config{Features: 2, Records: 2000, Radius: 1, PriorSD: 2, Epsilon: 1, Delta: 1e-5})
	const runs, z90 = 60, 1.6448536269514722
	aware, ignorant := 0, 0
	for range runs {
		theta, rows := simulate(rng, 2000, 2)
		r, err := m.Release(src, rows)
		if err != nil {
			t.Fatal(err)
		}
		plain := mat.NewSymDense(2, nil)
		plain.CopySym(r.Hessian)
		for j := range 2 {
			plain.SetSym(j, j, plain.At(j, j)+0.25)
		}
		var inverse mat.Dense
		if err := inverse.Inverse(plain); err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			miss := math.Abs(r.Mean[j] - theta[j])
			if miss <= z90*math.Sqrt(r.Cov.At(j, j)) {
				aware++
			}
			if miss <= z90*math.Sqrt(math.Abs(inverse.At(j, j))) {
				ignorant++
			}
		}
	}
	rate, plain := float64(aware)/(2*runs), float64(ignorant)/(2*runs)
	t.Logf("noise-aware intervals cover %.3f, others %.3f", rate, plain)
	if math.Abs(rate-0.9) > 0.1 {
		t.Errorf("coverage %v, want 0.9", rate)
	}
	if plain > 0.8 {
		t.Errorf("intervals that ignore the noise cover %v: the test could not tell", plain)
	}
}

// TestLimits: a generous ε gives the Laplace approximation, a tiny one the prior,
// up to what moments of some hundred effective draws miss. Seeds are fixed.
func TestLimits(t *testing.T) {
	_, rows := simulate(rand.New(rand.NewPCG(5, 5)), 3000, 1)
	src := ops.NewInsecureSource(sha256.Sum256([]byte("limits")))
	cfg := Config{Features: 2, Records: 3000, Radius: 1, PriorSD: 2, Epsilon: 1e4, Delta: 1e-5}
	r, err := mechanism(t, cfg).Release(src, rows)
	if err != nil {
		t.Fatal(err)
	}
	f := erm.Objective{Shape: erm.Shape{Records: rows.Len(), Features: 2, Radius: 1, Ridge: 0.25},
		X: ops.Project(rows, 1).X, Y: rows.Y}
	mode, err := f.Minimise(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var cov mat.Dense
	if err := cov.Inverse(f.Hessian(mode)); err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		if math.Abs(r.Mean[j]-mode[j]) > 0.3*math.Sqrt(cov.At(j, j)) || math.Abs(r.Cov.At(j, j)/cov.At(j, j)-1) > 0.3 {
			t.Errorf("coordinate %d: N(%v, %v), Laplace approximation N(%v, %v)", j, r.Mean[j], r.Cov.At(j, j), mode[j],
				cov.At(j, j))
		}
	}
	cfg.Epsilon = 1e-3
	if r, err = mechanism(t, cfg).Release(src, rows); err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		if v := r.Cov.At(j, j); v > 5.2 || v < 2.8 {
			t.Errorf("at ε = 0.001 the variance is %v, the prior's is 4", v)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := Config{Features: 1, Records: 3, Radius: 1, PriorSD: 1, Epsilon: 1, Delta: 1e-3}
	for name, spoil := range map[string]func(*Config){
		"features": func(c *Config) { c.Features = 0 },
		"records":  func(c *Config) { c.Records = 0 },
		"radius":   func(c *Config) { c.Radius = math.NaN() },
		"prior":    func(c *Config) { c.PriorSD = 0 },
		"epsilon":  func(c *Config) { c.Epsilon = 0 },
		"delta":    func(c *Config) { c.Delta = 0 },
		"share":    func(c *Config) { c.HessianShare = 1 },
		"columns":  func(c *Config) { c.Columns = make([]surrogates.Column, 2) },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	rows := targets.Rows{X: []float64{1, 1}, P: 1, Y: []float64{1, 0}}
	if _, err := mechanism(t, good).Release(ops.NewInsecureSource([32]byte{}), rows); err == nil {
		t.Error("two records for three: accepted")
	}
}

func ExampleNew() {
	m, err := New(Config{Features: 2, Records: 10_000, Radius: 1, PriorSD: 3, Epsilon: 1, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, _ := m.Cost()
	s, _ := cost.At(1e-6)
	fmt.Printf("ε = %.3f at δ = %v, %v\n", s.Epsilon, s.Delta, s.Kind)
	// Output: ε = 1.000 at δ = 1e-06, unconditional
}

func BenchmarkRelease(b *testing.B) {
	_, rows := simulate(rand.New(rand.NewPCG(5, 5)), 10_000, 1)
	m := mechanism(b, Config{Features: 2, Records: 10_000, Radius: 1, PriorSD: 3, Epsilon: 1, Delta: 1e-6})
	src := ops.NewInsecureSource([32]byte{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Release(src, rows); err != nil {
			b.Fatal(err)
		}
	}
}
