package conjugate

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/ops"
)

// logBetaDensity is the log density of Beta(a, b) at x.
func logBetaDensity(p []float64, x float64) float64 {
	return (p[0]-1)*math.Log(x) + (p[1]-1)*math.Log1p(-x) - mathext.Lbeta(p[0], p[1])
}

// integrate is over (0, 1), with x = s²(3−2s) to soften the ends.
func integrate(f func(x float64) float64) float64 {
	return quad.Fixed(func(s float64) float64 { return f(s*s*(3-2*s)) * 6 * s * (1 - s) }, 0, 1, 2000, nil, 0)
}

// TestClosedFormsAgainstQuadrature checks eq. 5 and the KL divergence on Beta
// laws with concentrations that leave the integrands smooth.
func TestClosedFormsAgainstQuadrature(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		pick := func() float64 { return 4 + 20*rng.Float64() }
		p, q := []float64{pick(), pick()}, []float64{pick(), pick()}
		order := 1 + 0.3*rng.Float64()
		want := math.Log(integrate(func(x float64) float64 {
			return math.Exp(order*logBetaDensity(p, x) + (1-order)*logBetaDensity(q, x))
		})) / (order - 1)
		if mixed := order*p[0] + (1-order)*q[0]; mixed > 1 && order*p[1]+(1-order)*q[1] > 1 {
			if got := renyi(order, p, q); math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("Renyi(%v, %v, %v) = %v, quadrature gives %v", order, p, q, got, want)
			}
		}
		want = integrate(func(x float64) float64 {
			l := logBetaDensity(p, x)
			return math.Exp(l) * (l - logBetaDensity(q, x))
		})
		if got := KL(p, q); math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("KL(%v, %v) = %v, quadrature gives %v", p, q, got, want)
		}
	}
}

// enumerate is the largest divergence over all adjacent counts.
func enumerate(mech *Mechanism, order float64) float64 {
	prior, n := mech.cfg.Prior, mech.cfg.Records
	r, m := mech.Factors()
	post := func(c []int) []float64 {
		a := make([]float64, len(c))
		for i := range c {
			a[i] = prior[i]/m + r*float64(c[i])
		}
		return a
	}
	top := 0.0
	compositions(n, len(prior), nil, func(c []int) {
		for i := range c {
			for j := range c {
				if i == j || c[i] == 0 {
					continue
				}
				p := post(c)
				c[i]--
				c[j]++
				top = max(top, renyi(order, p, post(c)))
				c[i]++
				c[j]--
			}
		}
	})
	return top
}

func compositions(n, k int, head []int, visit func([]int)) {
	if k == 1 {
		visit(append(head, n))
		return
	}
	for c := range n + 1 {
		compositions(n-c, k-1, append(head[:len(head):len(head)], c), visit)
	}
}

// TestWorstPairIsAtAVertex compares the boundary pairs with every adjacent pair,
// for two and three categories and all three algorithms. The closed form of eq. 5
// cancels to about 1e-8 for the strong priors of Concentrated and near its pole.
func TestWorstPairIsAtAVertex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 3).Draw(t, "categories")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		prior := rapid.SliceOfN(rapid.Float64Range(0.3, 8), k, k).Draw(t, "prior")
		method := rapid.SampledFrom([]Method{Direct, Diffused, Concentrated}).Draw(t, "method")
		order := rapid.Float64Range(1.05, 20).Draw(t, "order")
		cfg := Config{Method: method, Prior: prior, Records: n}
		if method != Direct {
			cfg.Order, cfg.Epsilon = order, rapid.Float64Range(1e-3, 0.5).Draw(t, "epsilon")
		}
		mech, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got, want := mech.RDP(order), enumerate(mech, order)
		if math.IsInf(want, 1) != math.IsInf(got, 1) || !math.IsInf(want, 1) && math.Abs(got-want) > 1e-6*(1+want) {
			t.Fatalf("RDP(%v) = %v, all pairs give %v", order, got, want)
		}
		if method != Direct && got > cfg.Epsilon {
			t.Fatalf("RDP(%v) = %v is above the target %v", order, got, cfg.Epsilon)
		}
	})
}

// TestWithoutTheRestVertex: leaving out (1, 0), which needs a third category,
// understates the divergence of a weak prior, so the enumeration would notice.
func TestWithoutTheRestVertex(t *testing.T) {
	mech, err := New(Config{Method: Direct, Prior: []float64{2, 2, 50}, Records: 10})
	if err != nil {
		t.Fatal(err)
	}
	const order = 2.5
	short := max(moved(order-1, 1, 2+10, 2), moved(order-1, 1, 2+1, 2+9))
	if want := enumerate(mech, order); short >= want || mech.RDP(order) < want {
		t.Errorf("without the vertex %v, with it %v, all pairs %v", short, mech.RDP(order), want)
	}
}

// TestDirectEndsAtCorollary1: finite exactly below 1 + min(α₀, β₀).
func TestDirectEndsAtCorollary1(t *testing.T) {
	mech, err := New(Config{Method: Direct, Prior: []float64{6, 18}, Records: 100})
	if err != nil {
		t.Fatal(err)
	}
	if v := mech.RDP(6.999); math.IsInf(v, 1) || !(v > 0) {
		t.Errorf("RDP(6.999) = %v, want a finite number", v)
	}
	if v := mech.RDP(7); !math.IsInf(v, 1) {
		t.Errorf("RDP(7) = %v, want +Inf", v)
	}
}

// TestTargetIsUsedUp: the factor is the largest one, to the last bits, and 1
// where the posterior itself is within the target.
func TestTargetIsUsedUp(t *testing.T) {
	for _, method := range []Method{Diffused, Concentrated} {
		for _, order := range []float64{2, 15} {
			mech, err := New(Config{Method: method, Prior: []float64{6, 18}, Records: 100, Order: order, Epsilon: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			if got := mech.RDP(order); got > 0.1 || got < 0.1*(1-1e-6) {
				t.Errorf("method %d, order %v: RDP %v, want just below 0.1", method, order, got)
			}
		}
		mech, err := New(Config{Method: method, Prior: []float64{6, 18}, Records: 100, Order: 2, Epsilon: 5})
		if err != nil {
			t.Fatal(err)
		}
		if r, m := mech.Factors(); r != 1 || m != 1 {
			t.Errorf("method %d, ε = 5: factors (%v, %v), want the posterior itself", method, r, m)
		}
	}
}

// TestCostHoldsExactly checks (ε, δ) of one draw on every adjacent pair of a
// small problem against δ(ε) by quadrature.
func TestCostHoldsExactly(t *testing.T) {
	prior, n := []float64{3, 4}, 8
	mech, err := New(Config{Method: Direct, Prior: prior, Records: n})
	if err != nil {
		t.Fatal(err)
	}
	const delta = 1e-2
	g, err := mech.Cost(1, delta)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.At(delta)
	if err != nil {
		t.Fatal(err)
	}
	leaks := func(eps float64) float64 {
		top := 0.0
		for c := range n {
			p, _ := mech.Posterior([]int{c, n - c})
			q, _ := mech.Posterior([]int{c + 1, n - c - 1})
			for _, pair := range [][2][]float64{{p, q}, {q, p}} {
				top = max(top, integrate(func(x float64) float64 {
					return max(0, math.Exp(logBetaDensity(pair[0], x))-math.Exp(eps+logBetaDensity(pair[1], x)))
				}))
			}
		}
		return top
	}
	t.Logf("δ(%v) = %v, δ(ε/2) = %v", s.Epsilon, leaks(s.Epsilon), leaks(s.Epsilon/2))
	if got := leaks(s.Epsilon); got > delta {
		t.Errorf("δ(%v) = %v on the worst pair, claimed %v", s.Epsilon, got, delta)
	}
	if got := leaks(s.Epsilon / 2); got < delta {
		t.Errorf("δ(ε/2) = %v: the test could not tell an understated ε", got)
	}
}

// TestReleaseHasThePosteriorsMean: 10⁵ draws, within 6 standard errors, a false
// alarm of 2e-9.
func TestReleaseHasThePosteriorsMean(t *testing.T) {
	mech, err := New(Config{Method: Concentrated, Prior: []float64{6, 18}, Records: 100, Order: 15, Epsilon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	counts := []int{38, 62}
	a, err := mech.Posterior(counts)
	if err != nil {
		t.Fatal(err)
	}
	mean := a[0] / (a[0] + a[1])
	sd := math.Sqrt(mean * (1 - mean) / (a[0] + a[1] + 1))
	src := ops.NewInsecureSource(sha256.Sum256([]byte("conjugate")))
	const draws = 100_000
	sum := 0.0
	for range draws {
		p, err := mech.Release(src, counts)
		if err != nil {
			t.Fatal(err)
		}
		sum += p[0]
	}
	tolerance := 6 * sd / math.Sqrt(draws)
	if math.Abs(sum/draws-mean) > tolerance {
		t.Errorf("mean %v, want %v ± %v", sum/draws, mean, tolerance)
	}
	if math.Abs(0.38-mean) < tolerance {
		t.Error("the test could not tell the raw proportion from the posterior mean")
	}
}

// TestFigure1: with prior (6, 18) and n = 100 the curve of factor f rises to an
// asymptote at order 1 + 6/f, and falls with f at every order (Geumlek et al.
// 2017, Fig. 1).
func TestFigure1(t *testing.T) {
	for _, method := range []Method{Diffused, Concentrated} {
		above := func(float64) float64 { return math.Inf(1) }
		for _, f := range []float64{1, 0.9, 0.7, 0.5, 0.3, 0.1} {
			mech, err := New(Config{Method: method, Prior: []float64{6, 18}, Records: 100, Factor: f})
			if err != nil {
				t.Fatal(err)
			}
			end := 1 + 6/f
			if v := mech.RDP(end * 0.9999); math.IsInf(v, 1) {
				t.Errorf("method %d, factor %v: infinite before the asymptote at %v", method, f, end)
			}
			if v := mech.RDP(end * 1.0001); !math.IsInf(v, 1) {
				t.Errorf("method %d, factor %v: %v after the asymptote at %v", method, f, v, end)
			}
			for order := 1.5; order < 20; order += 0.5 {
				if v := mech.RDP(order); v > above(order) || order < end-1 && v >= mech.RDP(order+0.5) {
					t.Errorf("method %d, factor %v: RDP(%v) = %v is out of order", method, f, order, v)
				}
			}
			above = mech.RDP
		}
	}
}

// TestFigure2 has its statements about KL(posterior ‖ release) with 38 of 100
// successes: at λ = 2 both mechanisms reach the posterior itself, at λ = 15 neither
// does, and as ε falls Concentrated diverges while Diffused goes to the prior.
func TestFigure2(t *testing.T) {
	prior, counts := []float64{6, 18}, []int{38, 62}
	posterior := []float64{44, 80}
	kl := func(method Method, order, eps float64) float64 {
		mech, err := New(Config{Method: method, Prior: prior, Records: 100, Order: order, Epsilon: eps})
		if err != nil {
			t.Fatal(err)
		}
		a, err := mech.Posterior(counts)
		if err != nil {
			t.Fatal(err)
		}
		return KL(posterior, a)
	}
	toPrior := KL(posterior, prior)
	for _, method := range []Method{Diffused, Concentrated} {
		if v := kl(method, 2, 1); v != 0 {
			t.Errorf("method %d, λ = 2, ε = 1: KL %v, want 0", method, v)
		}
		if v := kl(method, 15, 20); v < 0.01 {
			t.Errorf("method %d, λ = 15, ε = 20: KL %v, want one bounded away from 0", method, v)
		}
	}
	if v := kl(Diffused, 2, 1e-6); math.Abs(v-toPrior) > 0.05*toPrior {
		t.Errorf("diffused, ε → 0: KL %v, the prior has %v", v, toPrior)
	}
	if a, b := kl(Concentrated, 2, 1e-3), kl(Concentrated, 2, 1e-5); a < toPrior || b < 2*a {
		t.Errorf("concentrated, ε → 0: KL %v, then %v, should diverge", a, b)
	}
}

func TestRefusals(t *testing.T) {
	good := Config{Method: Diffused, Prior: []float64{1, 1}, Records: 5, Order: 2, Epsilon: 1}
	for name, spoil := range map[string]func(*Config){
		"method":          func(c *Config) { c.Method = 0 },
		"one category":    func(c *Config) { c.Prior = []float64{1} },
		"NaN prior":       func(c *Config) { c.Prior = []float64{1, math.NaN()} },
		"no records":      func(c *Config) { c.Records = 0 },
		"order 1":         func(c *Config) { c.Order = 1 },
		"NaN order":       func(c *Config) { c.Order = math.NaN() },
		"no epsilon":      func(c *Config) { c.Epsilon = 0 },
		"NaN epsilon":     func(c *Config) { c.Epsilon = math.NaN() },
		"direct + target": func(c *Config) { c.Method = Direct },
		"factor + target": func(c *Config) { c.Factor = 0.5 },
		"factor 2":        func(c *Config) { c.Order, c.Epsilon, c.Factor = 0, 0, 2 },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	mech, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, counts := range [][]int{{5}, {6, -1}, {2, 2}} {
		if _, err := mech.Posterior(counts); err == nil {
			t.Errorf("counts %v accepted", counts)
		}
	}
	for _, delta := range []float64{0, 1, math.NaN()} {
		if _, err := mech.Cost(1, delta); err == nil {
			t.Errorf("delta %v accepted", delta)
		}
	}
}

func ExampleNew() {
	mech, err := New(Config{Method: Diffused, Prior: []float64{6, 18}, Records: 100, Order: 15, Epsilon: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, _ := mech.Factors()
	fmt.Printf("r = %.3f, D_15 = %.3f\n", r, mech.RDP(15))
	// Output: r = 0.413, D_15 = 0.500
}

// TestHockeyStickIsTheWorstOverAllPairs: for small n, every adjacent pair by the
// incomplete beta function, an independent computation, is at most what is
// returned and one of them comes within a thousandth or so.
func TestHockeyStickIsTheWorstOverAllPairs(t *testing.T) {
	exact := func(a, b, r, eps float64) float64 {
		best := 0.0
		c := logBeta([]float64{a - r, b + r}) - logBeta([]float64{a, b})
		x := 1 / (1 + math.Exp(-(eps-c)/r))
		best = (1 - mathext.RegIncBeta(a, b, x)) - math.Exp(eps)*(1-mathext.RegIncBeta(a-r, b+r, x))
		return best
	}
	for _, cfg := range []Config{
		{Method: Direct, Prior: []float64{1, 1}, Records: 9},
		{Method: Direct, Prior: []float64{6, 0.7}, Records: 30},
		{Method: Diffused, Prior: []float64{2, 3}, Records: 12, Factor: 0.3},
		{Method: Concentrated, Prior: []float64{1, 2, 1}, Records: 8, Factor: 0.1},
	} {
		mech, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, m := mech.Factors()
		for _, eps := range []float64{0.2, 1, 3} {
			top := 0.0
			compositions(cfg.Records, len(cfg.Prior), nil, func(c []int) {
				for i := range c {
					for j := range c {
						if i != j && c[i] > 0 {
							top = max(top, exact(cfg.Prior[i]/m+r*float64(c[i]), cfg.Prior[j]/m+r*float64(c[j]), r, eps))
						}
					}
				}
			})
			got := mech.hockeyStick(eps)
			if got < top*(1-1e-9) || got > top*(1+2.1e-3)+1e-15 {
				t.Errorf("%+v at ε = %v: δ = %v, over all pairs %v", cfg, eps, got, top)
			}
		}
	}
}

// TestCostOfOneReleaseIsExact: well below the Rényi curve's ε, at the stated δ,
// and in bounded time for any number of records.
func TestCostOfOneReleaseIsExact(t *testing.T) {
	for _, n := range []int{1, 50, 1000, 1 << 31} {
		for _, prior := range [][]float64{{1, 1}, {5, 5}, {20, 1}, {2, 2, 2}} {
			mech, err := New(Config{Method: Direct, Prior: prior, Records: n})
			if err != nil {
				t.Fatal(err)
			}
			for _, delta := range []float64{1e-3, 1e-6} {
				g, err := mech.Cost(1, delta)
				if err != nil {
					t.Fatal(err)
				}
				s, err := g.At(delta)
				renyi := mech.epsilon(1, delta)
				if err != nil || !(s.Epsilon <= renyi) || mech.hockeyStick(s.Epsilon) > delta {
					t.Errorf("prior %v, n = %d, δ = %v: ε = %v, the Rényi curve's %v, %v", prior, n, delta, s.Epsilon, renyi, err)
				}
				t.Logf("prior %v, n = %d, δ = %v: ε = %.4g, the Rényi curve's %.4g", prior, n, delta, s.Epsilon, renyi)
			}
		}
	}
}

// renyi returns the Rényi divergence of order > 1 of Dirichlet(p) from
// Dirichlet(q), +Inf when it does not exist (Geumlek et al. 2017, eq. 5). It is
// not rounded outward; [Mechanism.RDP] is.
func renyi(order float64, p, q []float64) float64 {
	mixed := make([]float64, len(p))
	for i := range p {
		mixed[i] = order*p[i] + (1-order)*q[i]
		if !(mixed[i] > 0) {
			return math.Inf(1)
		}
	}
	return (logBeta(mixed)-order*logBeta(p))/(order-1) + logBeta(q)
}
