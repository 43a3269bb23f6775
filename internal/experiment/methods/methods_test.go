package methods

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// problem is a small problem of a model with its records.
func problem(t testing.TB, model string, n int) (Problem, targets.Rows) {
	t.Helper()
	shape, err := models.StandardShape(model, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	shape.Target.Lower, shape.Target.Upper = min(shape.Target.Lower, 0)/10*3, shape.Target.Upper/10*3
	o := models.Options{PriorSD: 2}
	switch model {
	case "negative-binomial":
		o.Dispersion = 2
	case "network":
		o.MinScale, o.Hidden = 0.3, 1
	case "linear", "heteroscedastic":
		o.MinScale = 0.3
	}
	m, err := models.New(model, shape, o)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Model: m, Facts: chains.Facts(shape, accountant.Substitute)}
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	values := make([]float64, m.Target.Dim())
	for j := range values {
		values[j] = []float64{1.4, 4}[j%2]
		if m.Parameters[j].Scale {
			values[j] = 0.5
		}
	}
	if model == "bernoulli" {
		values[0] = math.Log(0.3 / 0.7)
	}
	table := m.Simulate(values, rng)
	return p, targets.Rows{X: table.X, P: table.Features(), Y: table.Y}
}

// quick are settings that make a method's run short.
func quick(m *Method) map[string]any {
	given := map[string]any{}
	for _, s := range m.Settings {
		switch s.Name {
		case "iterations":
			given[s.Name] = int64(50)
		case "draws":
			given[s.Name] = int64(30)
			if m.Kind != None && s.Default == int64(1) {
				delete(given, s.Name)
			}
		case "warmup":
			if _, whole := s.Default.(int64); whole {
				given[s.Name] = int64(30)
			}
		case "learning-rate":
			given[s.Name] = 0.5
		case "clip":
			if m.Name == "penalty-ratio" || m.Name == "dpsgld" || m.Name == "sgnht" || m.Name == "dphmc" ||
				strings.HasPrefix(m.Name, "barker-dynamics") {
				given[s.Name] = 3.0
			}
		case "thin":
			given[s.Name] = int64(2)
		case "proposal":
			if m.Name == "penalty" { // its price of normal moves takes a second
				given[s.Name] = "truncated:3"
			}
		}
	}
	return given
}

// records is a number at which a method can run: perfect sampling is for few.
func records(m *Method) int {
	if m.Name == "perfect-rejection" {
		return 12
	}
	return 200
}

// TestEveryMethodOnEveryModel: a method keeps to its budget, releases draws of the
// right shape, gives the same with the same seed, other draws with another and, with
// the operating system's noise, never twice the same; and says that it does not fit
// the models that it does not list.
func TestEveryMethodOnEveryModel(t *testing.T) {
	for _, m := range All() {
		for _, model := range models.Names() {
			p, rows := problem(t, model, records(m))
			mech, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, quick(m))
			if m.Models != nil && !slices.Contains(m.Models, model) {
				if err == nil || !strings.Contains(err.Error(), "it fits the models") {
					t.Errorf("%s of %s: %v; it does not fit", m.Name, model, err)
				}
				continue
			}
			if m.Name == "beta-ops" && model == "linear" {
				continue // its least ε depends on the least scale; TestBetaOPSOfALine
			}
			if err != nil {
				t.Errorf("%s of %s: %v", m.Name, model, err)
				continue
			}
			checkCosts(t, m, mech)
			if slices.Contains(thoroughly, model) {
				checkRuns(t, m.Name+" of "+model, mech, p, rows)
			} else if r, err := mech.Run(t.Context(), rows, Seeded([32]byte{1})); err != nil || len(r.Chains) == 0 {
				t.Errorf("%s of %s: %v, released %d chains", m.Name, model, err, len(r.Chains))
			}
		}
	}
}

// thoroughly are models on which runs are compared; on the others there is one.
var thoroughly = []string{"logistic", "linear", "mean", "mixture", "bernoulli"}

// checkCosts: what a mechanism states is within the budget, and not far below what
// was asked for without a setting that fixes it.
func checkCosts(t *testing.T, m *Method, mech *Mechanism) {
	t.Helper()
	if mech.Kind != m.Kind {
		t.Errorf("%s: kind %q, its mechanism's is %q", m.Name, m.Kind, mech.Kind)
	}
	if m.Kind == None {
		return
	}
	g, err := mech.Cost.LeastEpsilon(1e-5)
	if err != nil || !(g.Epsilon <= 1 && g.Epsilon > 0.2) || g.Adjacency != accountant.Substitute {
		t.Errorf("%s: costs %v, error %v; the budget is 1", m.Name, g, err)
	}
	if mech.Theorem == "" {
		t.Errorf("%s names no theorem", m.Name)
	}
}

func checkRuns(t *testing.T, name string, mech *Mechanism, p Problem, rows targets.Rows) {
	t.Helper()
	run := func(n Noise) Release {
		r, err := mech.Run(t.Context(), rows, n)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return Release{}
		}
		for _, chain := range r.Chains {
			for _, theta := range chain {
				for _, v := range theta {
					if math.IsNaN(v) || math.IsInf(v, 0) || len(theta) != p.Target.Dim() {
						t.Fatalf("%s: released %v", name, theta)
					}
				}
			}
		}
		return r
	}
	one := run(Seeded([32]byte{1}))
	if len(one.Chains) == 0 || len(one.Chains[0]) == 0 {
		t.Errorf("%s: released nothing", name)
	}
	if !reflect.DeepEqual(one, run(Seeded([32]byte{1}))) {
		t.Errorf("%s: the same seed gives another release", name)
	}
	if reflect.DeepEqual(one, run(Seeded([32]byte{2}))) {
		t.Errorf("%s: another seed gives the same release", name)
	}
	if reflect.DeepEqual(run(Noise{}), run(Noise{})) {
		t.Errorf("%s: the operating system's noise repeats itself", name)
	}
}

// TestKinds: what every method's guarantee rests on.
func TestKinds(t *testing.T) {
	conditional := []string{"ball-ops", "beta-ops", "conjugate-concentrated", "conjugate-diffused", "gibbs-ops",
		"lipschitz-ops", "minami-ops"}
	unconditional := append(chains.Names(), "dp-sgd", "laplace-approximation",
		"noisy-counts", "noisy-moments", "objective-perturbation", "output-perturbation", "perfect-rejection")
	seen := 0
	for _, m := range All() {
		want := Kind("missing from this table")
		switch {
		case m.Name == "nuts":
			want = None
		case slices.Contains(conditional, m.Name):
			want = Conditional
		case slices.Contains(unconditional, m.Name):
			want = Unconditional
		}
		if m.Kind != want {
			t.Errorf("%s: %q, want %q", m.Name, m.Kind, want)
		}
		seen++
	}
	if want := 1 + len(conditional) + len(unconditional); seen != want {
		t.Errorf("%d methods, want %d", seen, want)
	}
}

// TestEveryKernelSettingIsOffered: a setting that package chains knows for a kernel can be
// set here, and reaches it.
func TestEveryKernelSettingIsOffered(t *testing.T) {
	for _, name := range chains.Names() {
		d, err := chains.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range slices.Concat([]string{"iterations", "chains", "temperature"}, d.Own) {
			if !slices.ContainsFunc(m.Settings, func(have Setting) bool { return have.Name == s }) {
				t.Errorf("%s: package chains has a setting %q that kernelField lacks", name, s)
			}
		}
	}
	got := kernelSettings("barker", settings{"iterations": int64(5), "rate": 0.25, "fixed-batch": true,
		"proposal": "one-component", "chains": int64(2)})
	want := chains.Settings{Kernel: "barker", Iterations: 5, Rate: 0.25, FixedBatch: true,
		Proposal: "one-component", Chains: 2}
	if got != want {
		t.Errorf("settings %+v, want %+v", got, want)
	}
}

// TestDrawsShareTheBudget: twenty draws cost at most the budget together, and
// nearly all of it; twenty at the price of one would exceed it several times.
func TestDrawsShareTheBudget(t *testing.T) {
	p, _ := problem(t, "logistic", 400)
	for _, name := range []string{"beta-ops", "gibbs-ops", "ball-ops", "minami-ops", "lipschitz-ops"} {
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		mech, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, map[string]any{"draws": int64(20)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, err := mech.Cost.Epsilon(1e-5)
		if err != nil || !(g.Epsilon <= 1 && g.Epsilon > 0.7) {
			t.Errorf("%s: 20 draws cost ε = %v of 1, error %v", name, g.Epsilon, err)
		}
	}
	b, _ := problem(t, "bernoulli", 400)
	m, err := ByName("conjugate-diffused")
	if err != nil {
		t.Fatal(err)
	}
	mech, err := m.New(b, Budget{Epsilon: 1, Delta: 1e-5}, map[string]any{"draws": int64(5)})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := mech.Cost.Epsilon(1e-5); err != nil || !(g.Epsilon <= 1 && g.Epsilon > 0.9) {
		t.Errorf("conjugate-diffused: 5 draws cost ε = %v of 1, error %v", g.Epsilon, err)
	}
}

// TestBetaOPSOfALine is refused below its least ε, and solved above.
func TestBetaOPSOfALine(t *testing.T) {
	p, rows := problem(t, "linear", 200)
	m, err := ByName("beta-ops")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.New(p, Budget{Epsilon: 0.1, Delta: 1e-5}, nil); err == nil {
		t.Error("ε = 0.1 is below what any β reaches for a density above 1, but it was accepted")
	}
	mech, err := m.New(p, Budget{Epsilon: 6, Delta: 1e-5}, quick(m))
	if err != nil {
		t.Fatal(err)
	}
	checkRuns(t, m.Name, mech, p, rows)
}

// TestEstimatesApproachThePosterior: with a budget of 200 every method that aims at
// the non-private posterior is within a few of its standard deviations of its mean,
// while the start and the prior's mean are 10 and more away. Seeds are fixed.
func TestEstimatesApproachThePosterior(t *testing.T) {
	for model, names := range map[string][]string{
		"logistic": {"nuts", "output-perturbation", "objective-perturbation", "laplace-approximation", "dp-sgd", "beta-ops",
			"ball-ops", "barker", "dpsgld"},
		"linear":    {"nuts", "noisy-moments", "gibbs-ops"},
		"bernoulli": {"nuts", "conjugate-diffused", "conjugate-concentrated", "noisy-counts"},
	} {
		p, rows := problem(t, model, 3000)
		exact := posteriorMoments(t, p, rows)
		for _, name := range names {
			m, err := ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			given := map[string]any{}
			switch name {
			case "barker":
				given["iterations"] = int64(20000)
			case "dpsgld":
				given["iterations"] = int64(3000)
			case "output-perturbation":
				given["lambda"] = 1e-3
			}
			mech, err := m.New(p, Budget{Epsilon: 200, Delta: 1e-5}, given)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			r, err := mech.Run(t.Context(), rows, Seeded([32]byte{3}))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := moments(r)
			for j, e := range exact {
				if off := math.Abs(got[j].mean-e.mean) / e.sd; off > 4.5 || math.Abs(e.mean)/e.sd < 10 {
					t.Errorf("%s of %s: parameter %d is %.3f, %.1f standard deviations off %.3f", name, model, j, got[j].mean,
						off, e.mean)
				}
			}
		}
	}
}

type moment struct{ mean, sd float64 }

func posteriorMoments(t *testing.T, p Problem, rows targets.Rows) []moment {
	t.Helper()
	m, err := ByName("nuts")
	if err != nil {
		t.Fatal(err)
	}
	mech, err := m.New(p, Budget{}, map[string]any{"chains": int64(1), "draws": int64(1000)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mech.Run(t.Context(), rows, Seeded([32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	return moments(r)
}

func moments(r Release) []moment {
	draws := slices.Concat(r.Chains...)
	out := make([]moment, len(draws[0]))
	for j := range out {
		sum, squares := 0.0, 0.0
		for _, d := range draws {
			sum += d[j]
			squares += d[j] * d[j]
		}
		n := float64(len(draws))
		out[j] = moment{sum / n, math.Sqrt(max(0, squares/n-sum/n*sum/n))}
	}
	return out
}

// TestNoisyCountDraws: the draws after a noisy count have the law of its posterior,
// wider when it knows of the noise. The standard deviation of 1000 draws is within
// 15% of the law's but for a chance below 10⁻¹⁰.
func TestNoisyCountDraws(t *testing.T) {
	p, rows := problem(t, "bernoulli", 2000)
	m, err := ByName("noisy-counts")
	if err != nil {
		t.Fatal(err)
	}
	sd := map[bool]float64{}
	for _, aware := range []bool{true, false} {
		mech, err := m.New(p, Budget{Epsilon: 0.1, Delta: 1e-5}, map[string]any{"noise-aware": aware})
		if err != nil {
			t.Fatal(err)
		}
		r, err := mech.Run(t.Context(), rows, Seeded([32]byte{4}))
		if err != nil {
			t.Fatal(err)
		}
		sd[aware] = moments(r)[0].sd
	}
	// Var(logit) is about 1/(n·p·(1−p)) from the binomial; the noise on the count,
	// of standard deviation 37, adds (37/(n·p·(1−p)))².
	binomial := 1 / math.Sqrt(2000*0.3*0.7)
	if noise := 37 / (2000 * 0.3 * 0.7); math.Abs(sd[false]/binomial-1) > 0.15 ||
		math.Abs(sd[true]/math.Hypot(binomial, noise)-1) > 0.2 {
		t.Errorf("standard deviations %v; want about %v without and %v with the noise", sd, binomial,
			math.Hypot(binomial, noise))
	}
}

// TestSettings: settings that do not exist, or have another type, are named.
func TestSettings(t *testing.T) {
	p, _ := problem(t, "logistic", 100)
	m, err := ByName("dp-sgd")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"stesp": int64(1), "steps": 1.5, "clip": "one", "rate": true} {
		_, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, map[string]any{name: value})
		var setting *SettingError
		if !errors.As(err, &setting) || setting.Name != name {
			t.Errorf("%s = %v: %v", name, value, err)
		}
	}
	if _, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, map[string]any{"clip": int64(2)}); err != nil {
		t.Errorf("a whole number where a number is wanted: %v", err)
	}
	for _, b := range []Budget{{}, {Epsilon: 1}, {Delta: 1e-5}, {Epsilon: -1, Delta: 1e-5}, {Epsilon: 1, Delta: 1},
		{Epsilon: math.NaN(), Delta: 0.1}} {
		if _, err := m.New(p, b, nil); err == nil {
			t.Errorf("budget %+v was accepted", b)
		}
	}
}

// TestSeveralRowsAPerson: mechanisms for one record refuse, chains scale their cost.
func TestSeveralRowsAPerson(t *testing.T) {
	for _, m := range All() {
		if m.Kind == None {
			continue
		}
		model := "logistic"
		if m.Models != nil {
			model = m.Models[0]
		}
		p, _ := problem(t, model, records(m))
		p.Facts.RowsPerPerson = 3
		_, err := m.New(p, Budget{Epsilon: 1, Delta: 1e-5}, quick(m))
		if chain := slices.Contains(chains.Names(), m.Name); chain != (err == nil) {
			t.Errorf("%s with 3 rows a person: %v", m.Name, err)
		}
	}
}
