package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func logisticOf(t testing.TB, prior priors.Prior) *targets.Regression {
	t.Helper()
	m, err := targets.New(targets.RegressionConfig{Features: 2, Prior: prior})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// coins are records of a logistic regression with an intercept, of length at most 1.
func coins(n int, slope float64, rng *rand.Rand) Records {
	r := Records{X: make([]float64, 2*n), Features: 2, Y: make([]float64, n), Radius: 1}
	for i := range n {
		r.X[2*i], r.X[2*i+1] = 0.7, 1.4*rng.Float64()-0.7
		if rng.Float64() < 1/(1+math.Exp(-slope*r.X[2*i+1])) {
			r.Y[i] = 1
		}
	}
	return r
}

// iterates seals records for any price and grants releases.
func iterates(t testing.TB, m LastIterate, r Records, seed uint64, count int64) *Iterates {
	t.Helper()
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1e12, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := Seal(r, b, InsecureSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	o, err := Charge(sealed, m, count)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestLastIterateLaw: 2000 releases have the posterior's means and standard deviations, by
// sums over a grid, within a bias of 8% of a standard deviation and 5.5 Monte Carlo errors:
// four figures, a false-alarm rate below 2·10⁻⁷, and the seed is fixed. Other records'
// posterior, and chains that are stopped long before they converge, are rejected.
func TestLastIterateLaw(t *testing.T) {
	model := logisticOf(t, priors.Gaussian{SD: 2})
	r := coins(40, 3, rand.New(rand.NewPCG(5, 1)))
	exact := func(r Records) (mean, sd [2]float64) {
		loss, all := make([]float64, len(r.Y)), 0.0
		rows := targets.Rows{X: r.X, Y: r.Y, P: 2}
		for a := -9.0; a <= 9; a += 0.1 {
			for b := -9.0; b <= 9; b += 0.1 {
				theta := []float64{a, b}
				model.Loss(loss, theta, rows)
				log := model.LogPrior(theta)
				for _, l := range loss {
					log -= l
				}
				w := math.Exp(log)
				all += w
				for j, v := range theta {
					mean[j] += w * v
					sd[j] += w * v * v
				}
			}
		}
		for j := range mean {
			mean[j] /= all
			sd[j] = math.Sqrt(sd[j]/all - mean[j]*mean[j])
		}
		return mean, sd
	}
	const draws = 2000
	var sum, square [2]float64
	far := func(steps int64, mean, sd [2]float64) float64 {
		o := iterates(t, LastIterate{Target: model, Step: 0.04, Iterations: steps}, r, 3, draws)
		theta := make([]float64, 2)
		sum, square = [2]float64{}, [2]float64{}
		for range draws {
			if err := o.Release(theta, []float64{0, 0}); err != nil {
				t.Fatal(err)
			}
			for j, v := range theta {
				sum[j] += v / draws
				square[j] += v * v / draws
			}
		}
		worst := 0.0
		for j := range sum {
			got := math.Sqrt(square[j] - sum[j]*sum[j])
			worst = max(worst, (math.Abs(sum[j]-mean[j])/sd[j]-0.08)*math.Sqrt(draws),
				(math.Abs(got-sd[j])/sd[j]-0.08)*math.Sqrt(2*draws))
		}
		t.Logf("%d steps: %.1f errors beyond the bias", steps, worst)
		return worst
	}
	mean, sd := exact(r)
	if z := far(150, mean, sd); z > 5.5 {
		t.Errorf("releases are %.1f Monte Carlo errors from the posterior", z)
	}
	if z := far(4, mean, sd); z < 5.5 {
		t.Errorf("chains of 4 steps pass, at %.1f", z)
	}
	if m, s := exact(coins(40, -3, rand.New(rand.NewPCG(6, 1)))); far(150, m, s) < 5.5 {
		t.Error("another posterior passes")
	}
}

// TestLastIteratesOfNeighboursStayClose: with the same noise, chains on records of which one
// is replaced end within Δ(1 − cᵀ)/(1 − c) of each other, what the price rests on, from near
// starts and far ones. All of it is seeded. A bound of 0.4 times the size fails.
func TestLastIteratesOfNeighboursStayClose(t *testing.T) {
	const n, step, steps = 12, 0.1, 20
	model := logisticOf(t, priors.Gaussian{SD: 1})
	c := 1 - step // the prior's precision is 1, and hM < 1
	most, reached := 2*step*(1-math.Pow(c, steps))/(1-c), 0.0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := coins(n, 1, rng)
		r.X[0], r.X[1], r.Y[0] = 0, 1, 1
		other := r
		other.Y = append([]float64{0}, r.Y[1:]...)
		m := LastIterate{Target: model, Step: step, Iterations: steps}
		a, b := make([]float64, 2), make([]float64, 2)
		start := []float64{40 * (rng.Float64() - 0.5), 40 * (rng.Float64() - 0.5)}
		if err := errors.Join(iterates(t, m, r, 9, 1).Release(a, start),
			iterates(t, m, other, 9, 1).Release(b, start)); err != nil {
			t.Fatal(err)
		}
		distance := math.Hypot(a[0]-b[0], a[1]-b[1])
		if distance > most*(1+1e-6) {
			t.Errorf("from %v the chains end %v apart, at most %v is charged for", start, distance, most)
		}
		reached = max(reached, distance/most)
	}
	if reached < 0.4 {
		t.Errorf("chains end within %.2f of the bound; half of it is what one label can do", reached)
	}
}

// TestLastIteratePrice: the limit of many steps is that of the theorem, the steps beyond it
// are free, and add/remove costs half.
func TestLastIteratePrice(t *testing.T) {
	f := Facts{Records: 1000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	m := LastIterate{Target: logisticOf(t, priors.Gaussian{SD: 2}), Temperature: 0.05, Step: 0.01, Iterations: 100_000}
	mu := func(m LastIterate, f Facts) float64 {
		e, err := m.Event(f)
		if err != nil {
			t.Fatal(err)
		}
		return 1 / e.Mechanisms()[0].Params["noise_multiplier"]
	}
	c := 1 - 0.01/4
	want := 2 * 0.01 * 0.05 / math.Sqrt(2*0.01) * math.Sqrt((1+c)/(1-c))
	got := mu(m, f)
	if !(got >= want) || got > 1.001*want {
		t.Errorf("µ = %v, by the theorem %v", got, want)
	}
	longer := m
	longer.Iterations *= 100
	if again := mu(longer, f); again > got*(1+1e-9) {
		t.Errorf("µ = %v with more steps, %v before", again, got)
	}
	f.Adjacency = accountant.AddRemove
	if half := mu(m, f); math.Abs(half/got-0.5) > 1e-3 {
		t.Errorf("µ = %v under add/remove, %v under substitution", half, got)
	}
	f.RowsPerPerson = 3
	if three := mu(m, f); math.Abs(three/got-1.5) > 3e-3 {
		t.Errorf("µ = %v for three rows a person, %v under substitution for one", three, got)
	}
}

// TestLastIterateRefuses: each assumption of the theorem, before anything is charged.
func TestLastIterateRefuses(t *testing.T) {
	f := Facts{Records: 100, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	normal := logisticOf(t, priors.Gaussian{SD: 2})
	beta := targets.Loss{Beta: 1.5}
	bounded, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 2}, Loss: beta})
	if err != nil {
		t.Fatal(err)
	}
	probit, err := targets.New(targets.RegressionConfig{Family: "probit", Features: 2, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	good := LastIterate{Target: normal, Step: 0.01, Iterations: 5}
	if _, err := good.Event(f); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]func(*LastIterate, *Facts){
		"Target is not set":          func(m *LastIterate, _ *Facts) { m.Target = nil },
		"strongly convex":            func(m *LastIterate, _ *Facts) { m.Target = logisticOf(t, priors.Laplace{Scale: 1}) },
		"is bounded":                 func(m *LastIterate, _ *Facts) { m.Target = bounded },
		"logistic regression with a": func(m *LastIterate, _ *Facts) { m.Target = probit },
		"below 2/25.25":              func(m *LastIterate, _ *Facts) { m.Step = 0.08 },
		"Step is 0":                  func(m *LastIterate, _ *Facts) { m.Step = 0 },
		"Iterations is 0":            func(m *LastIterate, _ *Facts) { m.Iterations = 0 },
		"temperature":                func(m *LastIterate, _ *Facts) { m.Temperature = 2 },
		"Radius":                     func(_ *LastIterate, f *Facts) { f.Radius = 0 },
	} {
		m, g := good, f
		bad(&m, &g)
		if _, err := m.Event(g); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := iterates(t, good, coins(100, 1, rand.New(rand.NewPCG(1, 1))), 1, 1)
	theta := make([]float64, 2)
	if err := o.Release(theta, []float64{0, math.Inf(1)}); err == nil || o.Left() != 1 {
		t.Errorf("a start that is not finite: %v, %d left", err, o.Left())
	}
	if err := errors.Join(o.Release(theta, []float64{0, 0}), o.Release(theta, []float64{0, 0})); !errors.Is(err,
		ErrSpent) {
		t.Errorf("two releases of one: %v", err)
	}
}
