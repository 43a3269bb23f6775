package suffstat

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

func seeded(name string) *ops.Source {
	return ops.NewInsecureSource(sha256.Sum256([]byte(name)))
}

func counts(t testing.TB, categories int, p Privacy) *Counts {
	t.Helper()
	prior := make([]float64, categories)
	for i := range prior {
		prior[i] = 1.5
	}
	c, err := NewCounts(CountsConfig{Prior: prior, Records: 40, Privacy: p})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	laplace  = Privacy{Law: Laplace, Epsilon: 0.5}
	gaussian = Privacy{Law: Gaussian, Epsilon: 0.5, Delta: 1e-5}
)

// far reports whether sample is further from cdf than the
// Dvoretzky-Kiefer-Wolfowitz bound of false alarm 1e-7 (Massart 1990).
func far(sample []float64, cdf func(float64) float64) bool {
	slices.Sort(sample)
	gap := 0.0
	for i, v := range sample {
		gap = max(gap, math.Abs(cdf(v)-float64(i)/float64(len(sample))), math.Abs(cdf(v)-float64(i+1)/float64(len(sample))))
	}
	return gap > math.Sqrt(math.Log(2e7)/(2*float64(len(sample))))
}

func laplaceCDF(scale float64) func(float64) float64 {
	return func(z float64) float64 {
		if z < 0 {
			return math.Exp(z/scale) / 2
		}
		return 1 - math.Exp(-z/scale)/2
	}
}

func normalCDF(sd float64) func(float64) float64 {
	return func(z float64) float64 { return math.Erfc(-z/sd/math.Sqrt2) / 2 }
}

// TestNoiseHasTheLawItIsChargedFor: a tenth less noise would be noticed.
func TestNoiseHasTheLawItIsChargedFor(t *testing.T) {
	noise := seeded("law")
	for _, p := range []Privacy{laplace, gaussian} {
		c := counts(t, 2, p)
		cdf := laplaceCDF
		if p.Law == Gaussian {
			cdf = normalCDF
		}
		draws := make([]float64, 24000)
		for i := range draws {
			noisy, err := c.Release(noise, []int{15, 25})
			if err != nil {
				t.Fatal(err)
			}
			draws[i] = noisy[0] - 15
		}
		if far(draws, cdf(c.Scale())) {
			t.Errorf("law %d: not noise of scale %v", p.Law, c.Scale())
		}
		if !far(draws, cdf(c.Scale()/1.15)) {
			t.Errorf("law %d: the test takes a smaller scale too", p.Law)
		}
	}
}

func TestScales(t *testing.T) {
	if got := counts(t, 2, laplace).Scale(); got != 2 {
		t.Errorf("two categories: Laplace scale %v, want 1/ε = 2", got)
	}
	if got := counts(t, 3, laplace).Scale(); got != 4 {
		t.Errorf("three categories: Laplace scale %v, want 2/ε = 4", got)
	}
	for _, k := range []int{2, 3} {
		c := counts(t, k, gaussian)
		s, err := c.Cost().At(1e-5)
		if err != nil || s.Epsilon > 0.5 || s.Epsilon < 0.4999 || s.Kind != ops.Unconditional {
			t.Errorf("%d categories: %v, %v, want just below ε = 0.5", k, s, err)
		}
	}
	if two, three := counts(t, 2, gaussian).Scale(), counts(t, 3,
		gaussian).Scale(); math.Abs(three/two-math.Sqrt2) > 1e-12 {
		t.Errorf("Gaussian scales %v and %v, want a ratio of √2", two, three)
	}
}

// TestNoiseAwareAgainstQuadrature: the mixture's mean and distribution function
// are those of ∫ p(θ)·Σₖ Binomial(k; n, θ)·η(z − k).
func TestNoiseAwareAgainstQuadrature(t *testing.T) {
	for _, p := range []Privacy{laplace, gaussian} {
		c := counts(t, 2, p)
		noisy := []float64{-3.7, 43.7}
		m, err := c.NoiseAware(noisy)
		if err != nil {
			t.Fatal(err)
		}
		density := func(x float64) float64 {
			sum := 0.0
			for k := range 41 {
				j := float64(k)
				choose := lgamma(41) - lgamma(j+1) - lgamma(41-j)
				z := (noisy[0] - j) / c.Scale()
				eta := math.Exp(-math.Abs(z))
				if p.Law == Gaussian {
					eta = math.Exp(-z * z / 2)
				}
				sum += math.Exp(choose) * math.Pow(x, j+0.5) * math.Pow(1-x, 40-j+0.5) * eta
			}
			return sum
		}
		integral := func(lo, hi float64, f func(float64) float64) float64 {
			return quad.Fixed(f, lo, hi, 400, nil, 0)
		}
		total := integral(0, 1, density)
		mean := integral(0, 1, func(x float64) float64 { return x * density(x) }) / total
		second := integral(0, 1, func(x float64) float64 { return x * x * density(x) }) / total
		if math.Abs(m.Mean()-mean) > 1e-6 || math.Abs(m.SD()-math.Sqrt(second-mean*mean)) > 1e-6 {
			t.Errorf("law %d: mean %v, sd %v, quadrature %v, %v", p.Law, m.Mean(), m.SD(), mean, math.Sqrt(second-mean*mean))
		}
		if want := integral(0, 0.1, density) / total; math.Abs(m.cdf(0.1)-want) > 1e-5 {
			t.Errorf("law %d: CDF(0.1) = %v, quadrature %v", p.Law, m.cdf(0.1), want)
		}
		if x := m.quantile(0.3); math.Abs(m.cdf(x)-0.3) > 1e-9 {
			t.Errorf("law %d: CDF(Quantile(0.3)) = %v", p.Law, m.cdf(x))
		}
	}
}

// TestNoiseAwareCovers: with θ from the prior, the exact posterior's rank of θ is
// uniform (DKW, false alarm 1e-7). The plug-in posterior's is not.
func TestNoiseAwareCovers(t *testing.T) {
	rng, noise := rand.New(rand.NewPCG(9, 9)), seeded("cover")
	c, err := NewCounts(CountsConfig{Prior: []float64{1, 1}, Records: 40, Privacy: Privacy{Law: Laplace, Epsilon: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	var aware, plug []float64
	for range 3000 {
		theta, k := rng.Float64(), 0
		for range 40 {
			if rng.Float64() < theta {
				k++
			}
		}
		noisy, err := c.Release(noise, []int{k, 40 - k})
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.NoiseAware(noisy)
		if err != nil {
			t.Fatal(err)
		}
		a := c.PlugIn(noisy)
		single := BetaMixture{a: a[0], b: a[1], weight: []float64{1}}
		aware, plug = append(aware, m.cdf(theta)), append(plug, single.cdf(theta))
	}
	uniform := func(x float64) float64 { return x }
	if far(aware, uniform) {
		t.Error("the noise-aware posterior is not calibrated")
	}
	if !far(plug, uniform) {
		t.Error("the test takes the plug-in posterior for calibrated")
	}
}

// TestFigure2Baseline: the Gaussian mechanism of Geumlek et al. 2017, Fig. 2, has
// KL(posterior ‖ release) falling to 0 with ε, at λ = 2 and 15 alike. Its density
// integrates to one, and its Rényi cost is ε.
func TestFigure2Baseline(t *testing.T) {
	posterior := func(x float64) float64 {
		return 43*math.Log(x) + 79*math.Log1p(-x) - (lgamma(44) + lgamma(80) - lgamma(124))
	}
	for _, order := range []float64{2, 15} {
		last := math.Inf(1)
		for _, eps := range []float64{0.01, 0.1, 1, 10, 1000} {
			c, err := NewCounts(CountsConfig{Prior: []float64{6, 18}, Records: 100,
				Privacy: Privacy{Law: Gaussian, Order: order, Epsilon: eps}})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Cost().Event.RDP(order); got > eps || got < eps*(1-1e-9) {
				t.Errorf("λ = %v: cost %v, want just below %v", order, got, eps)
			}
			if total := quad.Fixed(func(x float64) float64 { return c.plugInDensity(38, x) }, 0, 1, 300, nil,
				0); math.Abs(total-1) > 1e-3 {
				t.Errorf("λ = %v, ε = %v: the density integrates to %v", order, eps, total)
			}
			kl := quad.Fixed(func(x float64) float64 {
				l := posterior(x)
				return math.Exp(l) * (l - math.Log(c.plugInDensity(38, x)))
			}, 0.05, 0.8, 200, nil, 0)
			if kl < 0 || kl > last {
				t.Errorf("λ = %v, ε = %v: KL %v after %v", order, eps, kl, last)
			}
			last = kl
		}
		if last > 1e-3 {
			t.Errorf("λ = %v: KL %v at ε = 1000, want 0", order, last)
		}
	}
}

func moments(t testing.TB, p Privacy) *Moments {
	t.Helper()
	m, err := NewMoments(MomentsConfig{Features: 2, Records: 2, Radius: 1, Bound: 1.5, Privacy: p})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMomentSensitivities over pairs of records at the bounds: within the stated
// L1 and L2 sensitivities, and close to the latter.
func TestMomentSensitivities(t *testing.T) {
	m := moments(t, gaussian)
	var sums [][]float64
	for k := range 12 {
		a := 2 * math.Pi * float64(k) / 12
		for _, y := range []float64{-2, -1.5, 0, 1.5, math.NaN(), math.Inf(1)} {
			rows := targets.Rows{X: []float64{3 * math.Cos(a), 3 * math.Sin(a), 0.1, 0.2}, P: 2, Y: []float64{y, 0.4}}
			sums = append(sums, m.sum(ops.Project(rows, 1)))
		}
	}
	largest1, largest2 := 0.0, 0.0
	for _, a := range sums {
		for _, b := range sums {
			d, l1 := make([]float64, len(a)), 0.0
			for i := range d {
				d[i] = a[i] - b[i]
				l1 += math.Abs(d[i])
			}
			largest1, largest2 = max(largest1, l1), max(largest2, mat.Norm(m.gram.Matrix(d), 2))
		}
	}
	if largest2 > m.l2 || largest2 < 0.9*m.l2 {
		t.Errorf("L2 change %v, sensitivity %v", largest2, m.l2)
	}
	if largest1 > m.l1 || largest1 < 0.6*m.l1 {
		t.Errorf("L1 change %v, sensitivity %v", largest1, m.l1)
	}
}

// TestMomentsRecoverTheLine: with much data and little noise the plug-in
// posterior is at the true coefficients, and the released matrix has the noise
// that is charged for.
func TestMomentsRecoverTheLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 20_000
	rows := targets.Rows{P: 2}
	for range n {
		x := 2*rng.Float64() - 1
		rows.X = append(rows.X, 0.7*x, 0.7)
		rows.Y = append(rows.Y, 0.5*0.7*x-0.3*0.7+0.1*rng.NormFloat64())
	}
	for _, p := range []Privacy{{Law: Laplace, Epsilon: 1}, {Law: Gaussian, Epsilon: 1, Delta: 1e-6}} {
		m, err := NewMoments(MomentsConfig{Features: 2, Records: n, Radius: 1, Bound: 1, Privacy: p})
		if err != nil {
			t.Fatal(err)
		}
		released, err := m.Release(seeded("line"), rows)
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.PlugIn(released, NormalPrior{Variance: 100, Shape: 1, Rate: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Hypot(post.Mean.AtVec(0)-0.5, post.Mean.AtVec(1)+0.3); d > 0.05 {
			t.Errorf("law %d: coefficients %v, want (0.5, −0.3)", p.Law, mat.Formatted(post.Mean.T()))
		}
		if sigma2 := post.Rate / post.Shape; sigma2 < 0.005 || sigma2 > 0.02 {
			t.Errorf("law %d: error variance %v, want 0.01", p.Law, sigma2)
		}
	}
}

// TestMomentNoise: on and off the diagonal the Gaussian noise is σ and σ/√2
// (DKW, false alarm 1e-7).
func TestMomentNoise(t *testing.T) {
	m := moments(t, gaussian)
	rows := targets.Rows{X: make([]float64, 4), P: 2, Y: make([]float64, 2)}
	noise := seeded("moment")
	var on, off []float64
	for range 6000 {
		s, err := m.Release(noise, rows)
		if err != nil {
			t.Fatal(err)
		}
		on, off = append(on, s.At(1, 1)), append(off, s.At(0, 2))
	}
	if far(on, normalCDF(m.scale())) || far(off, normalCDF(m.scale()/math.Sqrt2)) || !far(off, normalCDF(m.scale())) {
		t.Errorf("noise is not N(0, %v²) and half that variance off the diagonal", m.scale())
	}
}

func TestRefusals(t *testing.T) {
	for name, p := range map[string]Privacy{
		"no law": {Epsilon: 1}, "no epsilon": {Law: Laplace}, "NaN": {Law: Laplace, Epsilon: math.NaN()},
		"laplace with delta": {Law: Laplace, Epsilon: 1, Delta: 0.1}, "gaussian without": {Law: Gaussian, Epsilon: 1},
		"delta 1": {Law: Gaussian, Epsilon: 1, Delta: 1}, "order and delta": {Law: Gaussian, Epsilon: 1,
			Delta: 0.1, Order: 2},
		"order 1": {Law: Gaussian, Epsilon: 1, Order: 1}, "order of Laplace": {Law: Laplace, Epsilon: 1, Order: 2},
	} {
		if _, err := NewCounts(CountsConfig{Prior: []float64{1, 1}, Records: 2, Privacy: p}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, cfg := range []CountsConfig{{Prior: []float64{1}, Records: 2}, {Prior: []float64{1, 0}, Records: 2},
		{Prior: []float64{1, 1}}} {
		cfg.Privacy = laplace
		if _, err := NewCounts(cfg); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	for _, cfg := range []MomentsConfig{{Records: 2, Radius: 1, Bound: 1}, {Features: 1, Radius: 1, Bound: 1},
		{Features: 1, Records: 1, Bound: 1}, {Features: 1, Records: 1, Radius: 1, Bound: math.NaN()}} {
		cfg.Privacy = laplace
		if _, err := NewMoments(cfg); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	for _, k := range [][]int{{1}, {41, -1}, {1, 2}} {
		if _, err := counts(t, 2, laplace).Release(seeded("x"), k); err == nil {
			t.Errorf("counts %v accepted", k)
		}
	}
	if _, err := counts(t, 3, laplace).NoiseAware([]float64{1, 2, 3}); err == nil {
		t.Error("three categories accepted by NoiseAware")
	}
	m := moments(t, laplace)
	if _, err := m.Release(seeded("x"), targets.Rows{X: make([]float64, 6), P: 2, Y: make([]float64, 3)}); err == nil {
		t.Error("three records for two accepted")
	}
	if _, err := m.PlugIn(mat.NewSymDense(3, nil), NormalPrior{}); err == nil {
		t.Error("an empty prior is accepted")
	}
}

func ExampleCounts_NoiseAware() {
	c, err := NewCounts(CountsConfig{Prior: []float64{1, 1}, Records: 100, Privacy: Privacy{Law: Laplace, Epsilon: 0.1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	noisy := []float64{38, 62} // what Release returned
	aware, _ := c.NoiseAware(noisy)
	fmt.Printf("mean %.2f, sd %.2f; an sd of 0.05 would ignore the noise\n", aware.Mean(), aware.SD())
	// Output: mean 0.39, sd 0.14; an sd of 0.05 would ignore the noise
}

// plugInDensity is the density at x in (0, 1) of one draw of the first
// category's probability from the plug-in posterior, the noise integrated out: two
// point masses for noisy counts beyond the ends, and quadrature between. For two
// categories with Gaussian noise.
func (c *Counts) plugInDensity(count int, x float64) float64 {
	n, centre, sd := float64(c.n), float64(count), c.Scale()
	beta := func(k float64) float64 {
		a, b := c.prior[0]+k, c.prior[1]+n-k
		return math.Exp((a-1)*math.Log(x) + (b-1)*math.Log1p(-x) - mathext.Lbeta(a, b))
	}
	below := math.Erfc(centre/sd/math.Sqrt2) / 2
	above := math.Erfc((n-centre)/sd/math.Sqrt2) / 2
	lo, hi := max(0, centre-9*sd), min(n, centre+9*sd)
	inside := quad.Fixed(func(k float64) float64 {
		z := (k - centre) / sd
		return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi)) * beta(k)
	}, lo, hi, 150, nil, 0)
	return below*beta(0) + inside + above*beta(n)
}

// cdf is the probability of [0, x], x in [0, 1].
func (m BetaMixture) cdf(x float64) float64 {
	p := 0.0
	for k, w := range m.weight {
		if w > 1e-18 {
			a, b := m.component(k)
			p += w * mathext.RegIncBeta(a, b, x)
		}
	}
	return p
}

// quantile is the x with cdf(x) = p, p in (0, 1), by bisection to 2⁻⁵⁰.
func (m BetaMixture) quantile(p float64) float64 {
	lo, hi := 0.0, 1.0
	for range 50 {
		if mid := (lo + hi) / 2; m.cdf(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}
