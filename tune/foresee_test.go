package tune_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tune"
)

// standard is a model of standard normal features.
func standard(t *testing.T, name string, records, features int) *models.Model {
	t.Helper()
	shape, err := models.StandardShape(name, records, features)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(name, shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func foresee(t *testing.T, m *models.Model, s chains.Settings, epsilons ...float64) []tune.Forecast {
	t.Helper()
	f, err := tune.Foresee(t.Context(), tune.Config{Models: []*models.Model{m}, Adjacency: accountant.Substitute,
		Delta: 1e-6, Work: 4e6, Seed: 7}, s, epsilons...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// realised is what a run gave: median widening, root mean square error of the mean in
// standard deviations of the non-private posterior, median of the least ESS.
type realised struct{ widening, err, ess float64 }

// realise runs chains on tables that are simulated apart from the forecast's, with
// parameters from the prior, or of standard deviation sd.
func realise(t *testing.T, m *models.Model, s chains.Settings, epsilon, sd float64, tables int) realised {
	t.Helper()
	var widened, least []float64
	square := 0.0
	for k := range tables {
		rng := rand.New(rand.NewPCG(uint64(k), 0xbeef))
		theta := make([]float64, m.Target.Dim())
		m.Target.(targets.PriorSampler).SamplePrior(theta, rng)
		for j := range theta {
			theta[j] *= min(1, 3/m.Options.PriorSD) // as forecasts draw them under a default prior
			if sd != 0 {
				theta[j] = sd * rng.NormFloat64()
			}
		}
		values := make([]float64, len(theta))
		m.Output(values, theta)
		for j, p := range m.Parameters {
			if p.Scale {
				values[j] = 0.5
			}
		}
		table := m.Simulate(values, rng)
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6,
			Adjacency: accountant.Substitute})
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := chains.Seal(m, table, budget, curator.InsecureSeed(uint64(k)))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := chains.Choose(s, chains.ProblemOn(m, sealed))
		if err != nil {
			t.Fatal(err)
		}
		session, err := plan.Open(sealed, uint64(k))
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.Run(t.Context(), m, chains.Options{Thin: 1})
		if err != nil {
			t.Fatal(err)
		}
		widened = append(widened, max(result.Certificate.Widening, 1/math.Sqrt(result.Certificate.Temperature)))
		ess := math.Inf(1)
		for _, row := range result.Summary() {
			ess = min(ess, row.ESSBulk)
		}
		least = append(least, ess)
		exact, err := nuts.Sample(t.Context(), func() nuts.LogDensity {
			return nuts.Posterior(m.Target.(targets.GradTarget), targets.Rows{X: table.X, P: table.Features(), Y: table.Y}, 1)
		}, nuts.Config{Chains: 1, Workers: 1, Warmup: 80, Draws: 150, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range exact[0].Draws {
			m.Output(d, d)
		}
		got, want := diag.SummarizeAll(result.Names, result.Draws),
			diag.SummarizeAll(result.Names, [][][]float64{exact[0].Draws})
		coefficients, mean := 0.0, 0.0
		for j, row := range got {
			if !m.Parameters[j].Scale {
				z := (row.Mean - want[j].Mean) / want[j].SD
				coefficients, mean = coefficients+1, mean+z*z
			}
		}
		square += mean / coefficients / float64(tables)
	}
	slices.Sort(widened)
	slices.Sort(least)
	return realised{widened[tables/2], math.Sqrt(square), least[tables/2]}
}

// TestForeseenIsRealised compares forecasts with runs on other simulated tables, whose
// widening, error and ESS span more than what is tolerated: widening within a factor of
// 1.35, errors of 2 and ESS of 3. All of it is seeded.
func TestForeseenIsRealised(t *testing.T) {
	short := chains.Settings{Iterations: 200}
	cells := []struct {
		model             string
		records, features int
		settings          chains.Settings
		epsilon, sd       float64
		aim               string
	}{
		{"logistic", 1000, 2, short, 1, 0, "score"},
		{"logistic", 20_000, 2, chains.Settings{Iterations: 200, Aim: "remainder"}, 2, 0, "remainder"},
		{"linear", 3000, 2, short, 2, 0, "sums"},
		{"logistic", 2000, 1, chains.Settings{Kernel: "barker", Iterations: 20_000, Temperature: 0.05}, 4, 1, ""},
	}
	if testing.Short() {
		cells = cells[2:3]
	}
	for _, c := range cells {
		m := standard(t, c.model, c.records, c.features)
		f := foresee(t, m, c.settings, c.epsilon)[0]
		tables := 8
		if c.aim == "sums" || c.aim == "score" { // whose widenings vary: a median of 8 is off by half
			tables = 32
		}
		r := realise(t, m, c.settings, c.epsilon, c.sd, tables)
		t.Logf("%+v: foreseen widening %.3g, error %.3g, ESS %.3g; realised %.3g", c, f.Widening, f.Error, f.ESS, r)
		if f.Settings.Aim != c.aim {
			t.Errorf("%+v: the aim is %q", c, f.Settings.Aim)
		}
		for name, both := range map[string][3]float64{"widening": {f.Widening, r.widening, 1.35},
			"error": {f.Error, r.err, 2},
			"ESS":   {f.ESS, r.ess, 3}} {
			if ratio := both[0] / both[1]; !(ratio < both[2] && ratio > 1/both[2]) {
				t.Errorf("%+v: %s foreseen as %v, realised as %v", c, name, both[0], both[1])
			}
		}
	}
}

// TestForeseeRisesWithTheBudget: more budget is worth more, forecasts repeat exactly, and
// a budget that meets no setting is said not to.
func TestForeseeRisesWithTheBudget(t *testing.T) {
	anchored := standard(t, "logistic", 1000, 2)
	f := foresee(t, anchored, chains.Settings{}, 1, 0.25, 4)
	if !(f[1].Widening > f[0].Widening && f[0].Widening > f[2].Widening && f[2].Widening > 1 && f[1].Error > f[0].Error) {
		t.Errorf("widening %v at ε = 1, %v at a quarter and %v at four times of it", f[0].Widening, f[1].Widening,
			f[2].Widening)
	}
	if again := foresee(t, anchored, chains.Settings{}, 1)[0]; again.Widening != f[0].Widening || again.ESS != f[0].ESS {
		t.Errorf("%+v and then %+v", f[0], again)
	}
	walk := chains.Settings{Kernel: "barker", Iterations: 5000, Temperature: 0.2, Start: "prior-mean"}
	f = foresee(t, standard(t, "logistic", 1000, 1), walk, 1, 4, 1e-9)
	if !(f[1].ESS > 2*f[0].ESS && f[0].ESS > 0) || f[2].Met || f[2].Posterior() ||
		math.Abs(f[0].Widening-math.Sqrt(5)) > 1e-9 {
		t.Errorf("a walk: %+v", f)
	}
}

func TestForeseeRefuses(t *testing.T) {
	m := standard(t, "logistic", 1000, 2)
	custom, err := models.Custom("mine", m.Target)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m        *models.Model
		epsilons []float64
	}{{m, nil}, {nil, []float64{1}}, {custom, []float64{1}}} {
		if _, err := tune.Foresee(t.Context(), tune.Config{Models: []*models.Model{c.m}, Delta: 1e-6}, chains.Settings{},
			c.epsilons...); err == nil {
			t.Errorf("%+v is no error", c)
		}
	}
}

// TestClipsAreForeseen: a narrow clip of gradients is said before anything is spent to
// move the scale of a linear regression's errors, far more than a posterior standard
// deviation; one that cuts next to nothing is not.
func TestClipsAreForeseen(t *testing.T) {
	m := standard(t, "linear", 2000, 1)
	for _, c := range []struct {
		clip float64
		cut  bool
	}{{1, true}, {1000, false}} {
		f := foresee(t, m, chains.Settings{Kernel: "dpsgld", Clip: c.clip, Iterations: 100}, 50)[0]
		if got := f.Clipping; got.Shift > 2 != c.cut || got.Share > 0.1 != c.cut || c.cut && got.Parameter != 2 {
			t.Errorf("clip %v: %+v", c.clip, got)
		}
	}
}
