package tune_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tune"
)

// config is that of a logistic model on n records with an intercept and d features.
func config(t *testing.T, n, d int) tune.Config {
	t.Helper()
	shape, err := models.StandardShape("logistic", n, d)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("logistic", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tune.Config{
		Adjacency: accountant.Substitute,
		Models:    []*models.Model{model}, Epsilon: 1, Delta: 1e-6,
		CoefficientSD: 1, Work: 2e7, Seed: 1,
	}
}

// TestResultsDependOnTheConfigAlone: the same with any number of workers, and not
// with another seed.
func TestResultsDependOnTheConfigAlone(t *testing.T) {
	c := config(t, 400, 2)
	c.Kernels = []string{"barker", "dpsgld", "barker-dynamics"}
	c.Temperatures = []float64{1, 0.2}
	var results []*tune.Result
	for _, workers := range []int{1, 4} {
		c.Workers = workers
		r, err := tune.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if fmt.Sprintf("%+v", results[0]) != fmt.Sprintf("%+v", results[1]) {
		t.Errorf("one worker and four find different results:\n%+v\n%+v", results[0], results[1])
	}
	c.Seed = 2
	other, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(other.Candidates, results[0].Candidates) {
		t.Error("two seeds give the same result: nothing is simulated")
	}
	seen := map[string]bool{}
	for _, k := range results[0].Candidates {
		seen[fmt.Sprint(k.Settings.Kernel, k.Settings.Temperature)] = true
		if k.Cost.Epsilon > c.Epsilon || len(k.Parameters) != 3 {
			t.Errorf("candidate %+v", k)
		}
	}
	if len(seen) != 6 {
		t.Errorf("the candidates cover %v", seen)
	}
	if !slices.IsSortedFunc(results[0].Candidates, func(a, b tune.Candidate) int {
		if a.Score > b.Score {
			return -1
		}
		return 1
	}) {
		t.Error("the candidates are not ranked")
	}
}

// TestFixedSettingsStay: what the caller fixes is not tuned, and leaves less to try.
func TestFixedSettingsStay(t *testing.T) {
	c := config(t, 400, 2)
	c.Kernels, c.Temperatures = []string{"dphmc"}, []float64{0.2}
	c.Fixed.Iterations, c.Fixed.Leapfrog = 200, 1
	fixed, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Fixed.Leapfrog = 0
	free, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if free.Tried <= fixed.Tried {
		t.Errorf("with one setting fixed %d candidates were tried, with none %d", fixed.Tried, free.Tried)
	}
	for _, k := range fixed.Candidates {
		if k.Settings.Leapfrog != 1 || k.Settings.Iterations != 200 {
			t.Errorf("a fixed setting was changed: %+v", k.Settings)
		}
	}
}

// TestChainsAreCountedTogether: two chains that share the budget mix half as fast each,
// and have about the sample size of one together. Forgetting either would be a factor
// of 2 off.
func TestChainsAreCountedTogether(t *testing.T) {
	var ess []float64
	for _, n := range []int64{1, 2} {
		c := config(t, 2000, 2)
		c.Kernels, c.Temperatures, c.SearchOnly = []string{"dpsgld"}, []float64{0.2}, true
		c.Fixed.Iterations, c.Fixed.Chains = 2000/n, n
		c.Factors, c.Work = []float64{1.5}, 1e9
		r, err := tune.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		ess = append(ess, r.Candidates[0].ESS())
	}
	if ratio := ess[1] / ess[0]; ratio < 0.7 || ratio > 1.4 {
		t.Errorf("one chain has an ESS of %v, two with the same budget %v", ess[0], ess[1])
	}
}

// TestStartSharesAreTried: a start that is charged is part of every whole chain, and
// what it may cost is tried too, unless it is fixed.
func TestStartSharesAreTried(t *testing.T) {
	c := config(t, 2000, 1)
	c.Kernels, c.Temperatures, c.Work = []string{"barker-dynamics"}, []float64{0.2}, 1e8
	c.Fixed.Iterations = 500
	shares := func(start string) map[float64]bool {
		c.Fixed.Start = start
		r, err := tune.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[float64]bool{}
		for _, k := range r.Candidates {
			if seen[k.Settings.StartShare] = true; !k.Whole ||
				(k.Settings.Start != "optimum") != (start == "auto" && k.Settings.StartShare == 0) || k.Cost.Epsilon > c.Epsilon {
				t.Errorf("candidate %+v", k)
			}
		}
		return seen
	}
	if seen := shares("optimum"); len(seen) < 2 || seen[0] {
		t.Errorf("shares tried: %v", seen)
	}
	if seen := shares("auto"); len(seen) < 3 || !seen[0] {
		t.Errorf("shares tried with any start: %v", seen)
	}
	c.Fixed.StartShare = 0.4
	if seen := shares("optimum"); len(seen) != 1 || !seen[0.4] {
		t.Errorf("shares tried with 0.4 fixed: %v", seen)
	}
}

// TestWinnersAreReady: the winner's settings are complete, within the budget, and open
// on a curator of such records.
func TestWinnersAreReady(t *testing.T) {
	c := config(t, 400, 2)
	c.Kernels = []string{"barker", "tunamh"}
	r, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := curator.Seal(curator.Records{X: make([]float64, 1200), Features: 3, Y: make([]float64, 400),
		Radius: 1}, budget)
	if err != nil {
		t.Fatal(err)
	}
	won := r.Candidates[0].Settings
	plan, err := chains.Choose(won, chains.Problem{Target: c.Models[0].Target, Logistic: true, Facts: sealed.Facts(),
		Epsilon: 1, Delta: 1e-6})
	if err != nil || plan.Settings != won {
		t.Fatalf("settings %+v became %+v, error %v", won, plan, err)
	}
	if _, err := plan.Open(sealed, 1); err != nil {
		t.Error(err)
	}
}

func TestAccuracyAndLinearModels(t *testing.T) {
	c := config(t, 300, 1)
	c.Models[0].Shape.Target = data.Term{Name: "y", Unit: 1, Lower: -4, Upper: 4}
	c.Models[0].Shape.Labels = nil
	model, err := models.New("linear", c.Models[0].Shape, models.Options{PriorSD: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Models = []*models.Model{model}
	c.Objective, c.Repeats = tune.Accuracy, 2
	c.Kernels, c.Fixed.Iterations = []string{"barker", "dpsgld"}, 300
	r, err := tune.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	k := r.Candidates[0]
	if k.Settings.Kernel != "barker" || !k.Whole || !(k.Score < 0) || math.IsNaN(k.MeanError()) || !(k.SDRatio() > 0) {
		t.Errorf("the best is %+v", k)
	}
	// Nothing bounds a record's gradient here, and nobody stated a clip.
	var about *chains.SettingError
	if len(r.Skipped) != 1 || r.Skipped[0].Kernel != "dpsgld" || !errors.As(r.Skipped[0].Reason, &about) ||
		about.Setting != "clip" {
		t.Errorf("skipped: %+v", r.Skipped)
	}
}

func TestRefusals(t *testing.T) {
	for want, edit := range map[string]func(*tune.Config){
		"shape has 0 records":  func(c *tune.Config) { c.Models[0].Shape.Records = 0 },
		"radius 0":             func(c *tune.Config) { c.Models[0].Shape.Radius = 0 },
		"too many to simulate": func(c *tune.Config) { c.Models[0].Shape.Records = 1 << 30 },
		"Objective is":         func(c *tune.Config) { c.Objective = "speed" },
		"SearchOnly measures":  func(c *tune.Config) { c.SearchOnly, c.Objective = true, tune.Accuracy },
		"Models is empty":      func(c *tune.Config) { c.Models = nil },
		"loss log twice":       func(c *tune.Config) { c.Models = append(c.Models, c.Models[0]) },
		"cannot be simulated": func(c *tune.Config) {
			custom, err := models.Custom("mine", c.Models[0].Target)
			if err != nil {
				t.Fatal(err)
			}
			c.Models[0] = custom
		},
		"give them as Kernels": func(c *tune.Config) { c.Fixed.Kernel = "barker" },
		"Warmup is 1":          func(c *tune.Config) { c.Warmup = 1 },
		"a temperature is 2":   func(c *tune.Config) { c.Temperatures = []float64{2} },
		"a factor is -1":       func(c *tune.Config) { c.Factors = []float64{-1} },
		"gibbs":                func(c *tune.Config) { c.Kernels = []string{"gibbs"} },
		"Epsilon":              func(c *tune.Config) { c.Epsilon = 0 },
		"Delta":                func(c *tune.Config) { c.Delta = 2 },
		"CoefficientSD is -1":  func(c *tune.Config) { c.CoefficientSD = -1 },
		"Work -5":              func(c *tune.Config) { c.Work = -5 },
		"has no meaning for":   func(c *tune.Config) { c.Fixed.Noise, c.Kernels = 3, []string{"barker"} },
	} {
		c := config(t, 100, 2)
		edit(&c)
		if _, err := tune.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; it must contain %q", err, want)
		}
	}
}

// TestConfigsHoldNoRecords looks for anything in Config that could hold records: a
// curator, a table or its rows. Targets are interfaces, which get records from those.
func TestConfigsHoldNoRecords(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type, string)
	walk = func(typ reflect.Type, path string) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		for _, bad := range []reflect.Type{reflect.TypeFor[curator.Curator](), reflect.TypeFor[curator.Records](),
			reflect.TypeFor[data.Table](), reflect.TypeFor[targets.Rows]()} {
			if typ == bad {
				t.Errorf("%s is a %v", path, typ)
			}
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(typ.Elem(), path)
		case reflect.Struct:
			for i := range typ.NumField() {
				walk(typ.Field(i).Type, path+"."+typ.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[tune.Config](), "Config")
	if len(seen) < 10 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}
