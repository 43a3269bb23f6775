package models

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
)

// built is the model of a name for its standard shape with two features.
func built(t *testing.T, name string, edit func(*data.Shape, *Options)) *Model {
	t.Helper()
	shape, err := StandardShape(name, 20, 2)
	if err != nil {
		t.Fatal(err)
	}
	var o Options
	if name == "negative-binomial" {
		o.Dispersion = 2
	}
	if edit != nil {
		edit(shape, &o)
	}
	m, err := New(name, shape, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEveryModel: what commands rely on holds for every entry.
func TestEveryModel(t *testing.T) {
	for _, name := range Names() {
		m := built(t, name, nil)
		dim := m.Target.Dim()
		features, response := m.Target.Shape()
		if features != m.Shape.Features() || response != m.Shape.HasTarget() || len(m.Parameters) != dim {
			t.Errorf("%s: the target takes %d features (response: %t) and has %d parameters, the model %d and %d", name,
				features, response, dim, m.Shape.Features(), len(m.Parameters))
		}
		if _, ok := m.Target.(targets.GradTarget); !ok || About(name) == "" || !m.Simulates() ||
			(m.Outcomes() > 0) != response {
			t.Errorf("%s: gradients %t, about %q, simulates %t, %d outcomes", name, ok, About(name), m.Simulates(), m.Outcomes())
		}
		names := m.ParameterNames()
		slices.Sort(names)
		if len(slices.Compact(names)) != dim {
			t.Errorf("%s: parameters %v", name, m.ParameterNames())
		}
		if other, err := m.WithLoss(targets.Loss{}); err != nil || other.Name != name {
			t.Errorf("%s with the log loss: %v, %v", name, other, err)
		}
		beta := targets.Loss{Beta: 1.5}
		if _, err := m.WithLoss(beta); err != nil {
			t.Errorf("%s with a β loss: %v", name, err)
		}
		table := m.Simulate(values(m, rand.New(rand.NewPCG(1, 2))), rand.New(rand.NewPCG(3, 4)))
		if len(table.X) != table.Records*table.Features() || (table.Y != nil) != response ||
			response && len(table.Y) != table.Records {
			t.Errorf("%s: a simulated table has %d entries and %d responses", name, len(table.X), len(table.Y))
		}
	}
}

// values are of a state around zero.
func values(m *Model, rng *rand.Rand) []float64 {
	v := make([]float64, m.Target.Dim())
	m.Output(v, state(m, rng))
	return v
}

func state(m *Model, rng *rand.Rand) []float64 {
	theta := make([]float64, m.Target.Dim())
	for j := range theta {
		theta[j] = rng.NormFloat64() / 2
	}
	return theta
}

// outcomes are responses (or rows) with the model's masses at a state, by its target's
// loss: labels, counts, or a grid of numbers.
func outcomes(m *Model, theta, row []float64) (at, mass []float64) {
	width := 1.0
	var top int
	switch {
	case m.Shape.Classes() > 0:
		top = m.Shape.Classes() - 1
	case strings.Contains(m.Shape.Target.Name, "y") && m.Shape.Target.Lower == 0:
		top = 3000
	default:
		width, top = 1./256, 40*256
	}
	for i := range top + 1 {
		v := float64(i)
		if width != 1 {
			v = (float64(i) - float64(top)/2) * width
		}
		rows := targets.Rows{X: row, P: len(row), Y: []float64{v}}
		if !m.Shape.HasTarget() {
			rows = targets.Rows{X: []float64{v}, P: 1}
		}
		loss := []float64{0}
		m.Target.Loss(loss, theta, rows)
		at, mass = append(at, v), append(mass, width*math.Exp(-loss[0]))
	}
	return at, mass
}

// TestLawsAreTheTargets: what a model predicts and draws is what its target's loss
// says, −log of the probability of a record. Means are compared with sums over all
// outcomes, and 20,000 draws with the distribution function by the bound of Dvoretzky,
// Kiefer and Wolfowitz at 10⁻⁹ a comparison. Draws at other values of the parameters
// are rejected.
func TestLawsAreTheTargets(t *testing.T) {
	const n = 20_000
	far := math.Sqrt(math.Log(2/1e-9) / (2 * n))
	for _, name := range Names() {
		m := built(t, name, func(s *data.Shape, _ *Options) {
			if name == "mean" {
				s.Terms = s.Terms[1:2]
			}
		})
		rng := rand.New(rand.NewPCG(5, uint64(len(name))))
		theta := state(m, rng)
		v := make([]float64, len(theta))
		m.Output(v, theta)
		row := []float64{0.6, 0.5, -0.4}[:m.Shape.Features()]
		at, mass := outcomes(m, theta, row)
		total, mean := 0.0, 0.0
		for i, p := range mass {
			total, mean = total+p, mean+p*at[i]
		}
		near := 1e-9
		if name == "median" {
			near = 1e-4 // a kink between two points of the grid
		}
		if math.Abs(total-1) > near {
			t.Fatalf("%s: masses sum to %v", name, total)
		}
		if k := m.Outcomes(); k > 0 {
			got := make([]float64, k)
			m.Mean(got, v, row)
			if k == 1 && math.Abs(got[0]-mean) > near*max(1, mean) {
				t.Errorf("%s: mean %v, the target says %v", name, got[0], mean)
			}
			for c, p := range got {
				if k > 1 && math.Abs(p-mass[c]) > 1e-12 {
					t.Errorf("%s: probability %v of label %d, the target says %v", name, p, c, mass[c])
				}
			}
		}
		if d := distance(m, v, row, at, mass, rng, n); d > far {
			t.Errorf("%s: draws are %.4f from the target's distribution, more than %.4f", name, d, far)
		}
		for j := range v {
			v[j] += 1
		}
		if name == "softmax" || name == "categorical" || name == "network" {
			continue // a common shift of the logits changes nothing
		}
		if d := distance(m, v, row, at, mass, rng, n); d <= far {
			t.Errorf("%s: draws at other values pass, at distance %.4f", name, d)
		}
	}
}

// distance is the largest difference of distribution functions, between draws and
// masses.
func distance(m *Model, v, row, at, mass []float64, rng *rand.Rand, n int) float64 {
	draws := make([]float64, n)
	own := slices.Clone(row)
	for i := range draws {
		if m.draw != nil {
			draws[i] = m.Draw(v, row, rng)
			continue
		}
		m.record(own, v, rng)
		draws[i] = own[0]
	}
	slices.Sort(draws)
	width := at[1] - at[0]
	if m.Shape.Classes() > 0 || m.Shape.Target.Name != "" && m.Shape.Target.Lower == 0 {
		width = 0 // of outcomes that are points
	}
	most, below, i := 0.0, 0.0, 0
	for k, p := range mass {
		below += p
		for i < n && draws[i] <= at[k]+width/2 {
			i++
		}
		most = max(most, math.Abs(below-float64(i)/float64(n)))
	}
	return most
}

// TestInUnits: predictions from coefficients in the units of the file and the numbers
// of the file are those from values and the row.
func TestInUnits(t *testing.T) {
	terms := []data.Term{
		{Name: data.Intercept, Unit: 2, Lower: 1, Upper: 1},
		{Name: "age", Column: "age", Center: 40, Unit: 20, Lower: 0, Upper: 120},
		{Name: "sick=yes", Column: "sick", Level: "yes", Center: 0.5, Unit: 1, Upper: 1},
	}
	x := []float64{1, 31, 1} // of the file
	row := make([]float64, 3)
	for j := range terms {
		row[j] = terms[j].At(x[j])
	}
	for _, name := range []string{"logistic", "probit", "cloglog", "loglog", "poisson", "negative-binomial", "linear",
		"heteroscedastic", "softmax"} {
		m := built(t, name, func(s *data.Shape, _ *Options) {
			s.Terms = terms
			if name == "linear" || name == "heteroscedastic" {
				s.Target.Center, s.Target.Unit = 100, 7
			}
		})
		v := values(m, rand.New(rand.NewPCG(8, 9)))
		units := make([]float64, len(v))
		m.InUnits(units, v)
		target := m.Shape.Target
		for first := 0; first+3 <= len(v); first += 3 {
			want, got := dot(v[first:], row), dot(units[first:], x)
			if first == 0 && target.Unit != 1 {
				want = want*target.Unit + target.Center
			}
			if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("%s: predictor %v in units, want %v", name, got, want)
			}
		}
		if name == "linear" && (units[3] != 7*v[3] || m.Parameters[3].Unit != "y" || !m.Parameters[3].Scale) {
			t.Errorf("σ = %v is %v in units: %+v", v[3], units[3], m.Parameters[3])
		}
	}
	mean := built(t, "mean", func(s *data.Shape, _ *Options) { s.Terms = terms[1:2] })
	got := []float64{0}
	if mean.InUnits(got, []float64{0.5}); got[0] != 50 {
		t.Errorf("a mean of 0.5 is %v in units, want 50", got[0])
	}
	bernoulli := built(t, "bernoulli", nil)
	if bernoulli.InUnits(got, []float64{math.Log(3)}); math.Abs(got[0]-0.75) > 1e-15 {
		t.Errorf("a logit of log 3 is %v in units, want 0.75", got[0])
	}
}

// TestSuggest: what a shape suggests fits it.
func TestSuggest(t *testing.T) {
	for want, name := range map[string]string{
		"logistic": "probit", "softmax": "softmax", "linear": "linear", "bernoulli": "bernoulli",
		"categorical": "categorical",
		"mixture":     "mixture", "mean": "mean",
	} {
		shape, err := StandardShape(name, 20, 2)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := New("", shape, Options{}); err != nil || m.Name != want {
			t.Errorf("%s: %v, %v", want, m, err)
		}
	}
}

// TestRefusals: errors name the option and say what to do.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		setting, want string
		o             Options
		of            string
	}{
		"no such": {"model", "one of logistic, probit", Options{}, "linear"},
		"logistic": {"model", "needs a binary target column; the schema's target is \"y\", a number",
			Options{}, "linear"},
		"linear": {"model", "needs a numeric target column; the schema's target is \"y\", binary", Options{},
			"logistic"},
		"poisson":           {"model", "needs a target column of counts", Options{}, "linear"},
		"mixture":           {"model", "needs no target column", Options{}, "linear"},
		"mean":              {"model", "needs no target column", Options{}, "logistic"},
		"bernoulli":         {"model", "no design columns; the schema makes 3", Options{}, "logistic"},
		"probit":            {"beta", "beta is 2 but loss is log", Options{Beta: 2}, "logistic"},
		"cloglog":           {"beta", "loss beta needs beta", Options{Loss: "beta"}, "logistic"},
		"softmax":           {"prior-sd", "prior-sd is -1; it must be positive", Options{PriorSD: -1}, "softmax"},
		"negative-binomial": {"dispersion", "needs dispersion r", Options{}, "poisson"},
		"heteroscedastic": {"dispersion", "dispersion is for model negative-binomial, not heteroscedastic",
			Options{Dispersion: 1}, "linear"},
		"median": {"prior", "prior is \"flat\"; it must be normal, standardized, horseshoe or zellner-siow",
			Options{Prior: "flat"}, "linear"},
		"network": {"prior", "prior is for model logistic or", Options{Prior: "horseshoe"}, "linear"},
		"categorical": {"concentrations", "2 concentrations for 3 labels", Options{Concentrations: []float64{1, 2}},
			"categorical"},
	} {
		shape, err := StandardShape(c.of, 20, 2)
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(name, shape, c.o)
		var bad *SettingError
		if !errors.As(err, &bad) || bad.Setting != c.setting || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; it must be about %s and contain %q", name, err, c.setting, c.want)
		}
	}
}

// TestCustom: anybody's target is a model without predictions.
func TestCustom(t *testing.T) {
	target := built(t, "logistic", nil).Target
	m, err := Custom("mine", target)
	if err != nil || m.ParameterNames()[2] != "theta[3]" || m.Outcomes() != 0 || m.Simulates() {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err = Custom("mine", target, "a", "b", "c"); err != nil || m.ParameterNames()[0] != "a" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, f := range []func() (*Model, error){
		func() (*Model, error) { return Custom("mine", nil) },
		func() (*Model, error) { return Custom("mine", target, "a") },
		func() (*Model, error) { return m.WithLoss(targets.Loss{}) },
	} {
		if _, err := f(); err == nil {
			t.Error("no error")
		}
	}
}

// TestPriorsOfColumns: a column's own standard deviation replaces the model's, and a
// group's scale is unknown: its tails are those of a half-Cauchy.
func TestPriorsOfColumns(t *testing.T) {
	m := built(t, "softmax", func(s *data.Shape, o *Options) { o.PriorSD, s.Terms[1].PriorSD = 3, 0.5 })
	theta := make([]float64, m.Target.Dim())
	for j := range theta {
		clear(theta)
		theta[j] = 3
		sd := 3.0
		if j%3 == 1 {
			sd = 0.5
		}
		if got, want := m.Target.LogPrior(theta), -9/(2*sd*sd); math.Abs(got-want) > 1e-12 {
			t.Errorf("parameter %d: log prior %v, want %v", j, got, want)
		}
	}
	m = built(t, "linear", func(s *data.Shape, o *Options) {
		o.PriorSD, s.Terms[1].PriorGroup, s.Terms[2].PriorGroup = 3, "g", "g"
	})
	fall := func(j int) float64 { // of the log prior from 10 to 20
		a, b := make([]float64, 4), make([]float64, 4)
		a[j], b[j] = 10, 20
		return m.Target.LogPrior(a) - m.Target.LogPrior(b)
	}
	if fixed, shared := fall(0), fall(1); math.Abs(fixed-300./18) > 1e-9 || !(shared > 0.5 && shared < 3) ||
		math.Abs(shared-fall(2)) > 1e-9 {
		t.Errorf("the log prior falls by %v without a group and %v within one", fixed, shared)
	}
	horseshoe := built(t, "logistic", func(_ *data.Shape, o *Options) { o.Prior = "horseshoe" })
	at := func(v float64) float64 { return horseshoe.Target.LogPrior([]float64{0, v, 0.1}) }
	if peak, tail := at(0.01)-at(0.3), at(30)-at(60); !(peak > 1 && tail > 0 && tail < 4) {
		t.Errorf("a horseshoe falls by %v near 0 and by %v far out", peak, tail)
	}
	shape := *m.Shape
	shape.Terms = slices.Clone(shape.Terms)
	shape.Terms[0].PriorSD = 1
	if _, err := New("linear", &shape, Options{}); err == nil ||
		!strings.Contains(err.Error(), "both prior_sd and prior_group") {
		t.Errorf("both: %v", err)
	}
}

// TestZellnerSiowIsTheDefault of linear regressions with normal errors, unless a prior is
// stated; WithLoss keeps its normal factor alone.
func TestZellnerSiowIsTheDefault(t *testing.T) {
	shape, err := StandardShape("linear", 100, 3)
	if err != nil {
		t.Fatal(err)
	}
	stated := *shape
	stated.Terms = slices.Clone(shape.Terms)
	stated.Terms[1].PriorSD = 2
	for name, c := range map[string]struct {
		shape *data.Shape
		Options
		want float64
		sd   float64
	}{
		"default":       {shape, Options{}, 0.5, 5},
		"asked for":     {shape, Options{Prior: "zellner-siow", PriorSD: 4}, 0.5, 4},
		"normal":        {shape, Options{Prior: "normal"}, 0, 3},
		"an sd":         {shape, Options{PriorSD: 4}, 0, 4},
		"of the schema": {&stated, Options{}, 0, 3},
		"Student-t":     {shape, Options{DegreesOfFreedom: 4}, 0, 3},
		"β loss":        {shape, Options{Loss: "beta", Beta: 1.5}, 0, 3},
	} {
		m, err := New("linear", c.shape, c.Options)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := m.Target.(*targets.Linear).ZellnerSiow(); got != c.want || m.Options.PriorSD != c.sd {
			t.Errorf("%s: %v and prior sd %v, want %v and %v", name, got, m.Options.PriorSD, c.want, c.sd)
		}
		loss := targets.Loss{Beta: 1.4}
		if m, err = m.WithLoss(loss); err != nil || m.Options.Prior != "normal" || m.Options.PriorSD != c.sd {
			t.Errorf("%s with another loss: %v", name, err)
		}
	}
	for _, o := range []Options{{Prior: "zellner-siow", DegreesOfFreedom: 4}, {Prior: "ridge"}} {
		if _, err := New("linear", shape, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := New("median", shape, Options{Prior: "zellner-siow"}); err == nil {
		t.Error("median regression takes the prior of normal errors")
	}
}

// Regressions of labels have a prior on standardized numbers, unless anything is stated, and
// those of counts where it is asked for. What it says of P(y = 1) hardly depends on the link: .83
// standard deviations of a latent error, which are 1.81, 1 and 1.28.
func TestDefaultPriorIsStandardized(t *testing.T) {
	for name, effect := range map[string]float64{"logistic": 1.5, "probit": 0.827, "cloglog": 1.0607, "loglog": 1.0607,
		"softmax": 1.0607, "poisson": 1.5, "negative-binomial": 1.5} {
		shape, err := StandardShape(name, 100, 2)
		if err != nil {
			t.Fatal(err)
		}
		for want, options := range map[float64][]Options{
			effect: {{Prior: "standardized"}, {Prior: "standardized", PriorSD: 4}},
			0:      {{Prior: "normal"}, {PriorSD: 4}, {Loss: "beta", Beta: 1.5}},
		} {
			if (want > 0) == (shape.Classes() > 0) {
				options = append(options, Options{})
			}
			for _, o := range options {
				if name == "negative-binomial" {
					o.Dispersion = 1
				}
				m, err := New(name, shape, o)
				if err != nil {
					t.Fatalf("%s %+v: %v", name, o, err)
				}
				if got := m.Target.(interface{ Standardized() float64 }).Standardized(); math.Abs(got-want) > 1e-4 {
					t.Errorf("%s %+v: standardized %v, want %v", name, o, got, want)
				}
			}
		}
	}
	many, err := StandardShape("softmax", 100, 10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New("softmax", many, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Target.(*targets.Softmax).Standardized(); got == 0 {
		t.Errorf("%d coefficients of classes are not standardized by default", m.Target.Dim())
	}
	shape, err := StandardShape("linear", 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New("linear", shape, Options{Prior: "standardized"}); err == nil {
		t.Error("linear regression takes the prior")
	}
}

// Coefficients of softmax regressions are written less their mean over classes: no probability
// and no difference of classes changes.
func TestClassesAreWrittenLessTheirMean(t *testing.T) {
	m := built(t, "softmax", func(*data.Shape, *Options) {})
	rng := rand.New(rand.NewPCG(1, 1))
	p, classes := m.Shape.Features(), m.Shape.Classes()
	theta, values, row := make([]float64, p*classes), make([]float64, p*classes), make([]float64, p)
	for j := range theta {
		theta[j] = rng.NormFloat64()
	}
	for j := range row {
		row[j] = rng.NormFloat64()
	}
	m.Output(values, theta)
	was, is := make([]float64, classes), make([]float64, classes)
	m.Mean(was, theta, row)
	m.Mean(is, values, row)
	for k := range classes {
		if math.Abs(was[k]-is[k]) > 1e-12 {
			t.Errorf("class %d has probability %v, and as written %v", k, was[k], is[k])
		}
	}
	for j := range p {
		sum := 0.0
		for k := range classes {
			sum += values[k*p+j]
			if moved := values[k*p+j] - theta[k*p+j] - (values[j] - theta[j]); math.Abs(moved) > 1e-12 {
				t.Errorf("feature %d: classes %d and 0 differ by %v more than they did", j, k, moved)
			}
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("coefficients of feature %d add up to %v", j, sum)
		}
	}
}

// TestDefaultPriorSD: by default a column at its bound moves the linear predictor by as
// much however many columns there are, and a stated prior stays.
func TestDefaultPriorSD(t *testing.T) {
	for _, name := range Names() {
		if name == "bernoulli" || name == "categorical" || name == "mixture" {
			continue
		}
		for _, features := range []int{1, 3, 15} {
			shape, err := StandardShape(name, 100, features)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{}
			if name == "negative-binomial" {
				o.Dispersion = 1
			}
			m, err := New(name, shape, o)
			if err != nil {
				t.Fatal(err)
			}
			theta := make([]float64, m.Target.Dim())
			none := m.Target.LogPrior(theta)
			theta[0] = 2
			want := 3 * math.Sqrt(float64(features+1))
			switch name {
			case "mean", "network":
				want = 3
			case "linear":
				want *= 2.5 / 3
			case "median", "heteroscedastic":
				want /= 2
			}
			if sd := 2 / math.Sqrt(2*(none-m.Target.LogPrior(theta))); math.Abs(sd-want) > 1e-9 ||
				math.Abs(m.Options.PriorSD-want) > 1e-9 {
				t.Errorf("%s with %d features: prior sd %v, and %v in the options; want %v", name, features, sd,
					m.Options.PriorSD, want)
			}
			o.PriorSD = 0.7
			if m, err = New(name, shape, o); err != nil || m.Options.PriorSD != 0.7 {
				t.Errorf("%s: prior sd %v, want the stated 0.7, %v", name, m.Options.PriorSD, err)
			}
		}
	}
}
