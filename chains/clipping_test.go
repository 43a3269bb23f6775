package chains_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// linear is a simulated linear regression.
func linear(t testing.TB, spec string, o models.Options) (*data.Table, *models.Model) {
	t.Helper()
	table := builtin(t, spec)
	m, err := models.New("linear", &table.Shape, o)
	if err != nil {
		t.Fatal(err)
	}
	return table, m
}

// TestClippingIsPredicted: nothing is cut by a wide clip. A narrow one of gradients cuts
// the squares of residuals from above, so it moves the scale most; one of ratios of
// likelihoods moves the chain too.
func TestClippingIsPredicted(t *testing.T) {
	table, model := linear(t, "builtin:linear?n=5000&d=3", models.Options{})
	theta := []float64{1, 1.5, -1.5, 1, math.Log(0.45)}
	for _, kernel := range []string{"dpsgld", "barker"} {
		for _, c := range []struct {
			clip float64
			cut  bool
		}{{1e4, false}, {1, true}} {
			s := chains.Settings{Kernel: kernel, Clip: c.clip, Iterations: 100}
			if kernel == "barker" {
				s.Step = 1
			}
			_, plan := chosen(t, table, model, s, 1e12)
			got, ok := plan.Clipping(model, theta, rand.New(rand.NewPCG(1, 2)))
			if !ok || got.Share > 0.05 != c.cut || got.Shift > 0.5 != c.cut {
				t.Errorf("%s, clip %v: %+v (%v)", kernel, c.clip, got, ok)
			}
			if !c.cut && (got.Share != 0 || got.Shift != 0) {
				t.Errorf("%s, clip %v: %+v of a clip that never binds", kernel, c.clip, got)
			}
			if c.cut && kernel == "dpsgld" && got.Parameter != 4 {
				t.Errorf("the clip moves parameter %d, want the scale", got.Parameter)
			}
		}
	}
}

// TestAWrongParameterIsDoubted: a chain of clipped gradients that has settled is
// confident of a scale that is wrong, and the verdict says so. The same chain with a clip
// that does not bind is usable if the model is believed: outliers would still be cut.
func TestAWrongParameterIsDoubted(t *testing.T) {
	table, model := linear(t, "builtin:linear?n=5000&d=2", models.Options{})
	for _, c := range []struct {
		clip, step float64
		doubted    bool
	}{{1, 2e-3, true}, {200, 2e-4, false}} {
		result := ran(t, table, model,
			chains.Settings{Kernel: "dpsgld", Clip: c.clip, Iterations: 20_000, Step: c.step, Noise: 0.01}, 1e12)
		doubted, believed := false, false
		for _, d := range result.Certificate.Doubts {
			doubted = doubted || strings.Contains(d.Headline, "the clip moves the posterior")
			believed = believed || strings.HasPrefix(d.Headline, "Usable if the model is believed")
		}
		sigma := 0.0
		for _, draw := range result.Draws[0] {
			sigma += draw[3] / float64(len(result.Draws[0]))
		}
		if doubted == believed || doubted != c.doubted || doubted != (math.Abs(sigma-0.5) > 0.03) {
			t.Errorf("clip %v: σ = %v of 0.5, doubts %+v", c.clip, sigma, result.Certificate.Doubts)
		}
		if v := result.Verdict; v.Usable == c.doubted || len(v.Reasons) != 1 {
			t.Errorf("clip %v: %+v; nothing but the clip is wrong", c.clip, v)
		}
	}
}

// TestPriorsOfLinearRegressionsAreDoubted: with a prior that is far too narrow the verdict
// is not usable; with little budget it is usable if the prior is believed; with a prior
// that fits and budget enough there is no doubt.
func TestPriorsOfLinearRegressionsAreDoubted(t *testing.T) {
	for _, c := range []struct {
		sd, epsilon float64
		headline    string
	}{
		{0.1, 5, "Not usable as it stands: the prior holds back"}, {3, 0.02, "Usable if the prior is believed"},
		{3, 5, "Usable: "},
	} {
		table, model := linear(t, "builtin:linear?n=5000&d=2", models.Options{PriorSD: c.sd})
		result := ran(t, table, model, chains.Settings{Chains: 4, Iterations: 400}, c.epsilon)
		if v := result.Verdict; !strings.HasPrefix(v.Headline, c.headline) ||
			v.Usable != strings.HasPrefix(c.headline, "Usable") {
			t.Errorf("prior sd %v, ε = %v: %+v", c.sd, c.epsilon, v)
		}
	}
}

// TestCutResponsesAreDoubted: where the bounds of responses cut many the verdict is
// usable on the condition that none are beyond, and says which coefficient they move. It
// is plainly usable where the schema refuses such responses, and where bounds are wide.
func TestCutResponsesAreDoubted(t *testing.T) {
	for _, c := range []struct {
		bound            float64
		refused, doubted bool
	}{{1, false, true}, {1, true, false}, {8, false, false}} {
		table, model := linear(t, "builtin:linear?n=5000&d=2", models.Options{})
		table.Target.Lower, table.Target.Upper, table.Target.Refused = -c.bound, c.bound, c.refused
		for i, y := range table.Y {
			table.Y[i] = max(-c.bound, min(c.bound, y))
		}
		v := ran(t, table, model, chains.Settings{Chains: 4, Iterations: 400}, 5).Verdict
		doubted := strings.HasPrefix(v.Headline, "Usable if responses stay within")
		if !v.Usable || doubted != c.doubted || doubted != (len(v.Reasons) == 1 && strings.Contains(v.Reasons[0], "of x")) {
			t.Errorf("bounds ±%v, refused %v: %+v", c.bound, c.refused, v)
		}
	}
}

// TestShortenedRowsAreDoubted: rows of a normal number are simulated, and then shortened. In
// the unit ball the slope is far from the truth, and the verdict names it. It is within five
// standard deviations (false alarm 10⁻⁶), and there is no doubt, within the radius that a schema
// gives itself, and where a linear regression weighs them.
func TestShortenedRowsAreDoubted(t *testing.T) {
	for _, name := range []string{"linear", "logistic"} {
		for _, radius := range []float64{1, 0} {
			table, model, truth := shortenedTable(t, name, radius)
			result := ran(t, table, model, chains.Settings{Chains: 4, Iterations: 400}, 5)
			var off []float64
			for j, want := range truth {
				r := result.Summary()[j]
				off = append(off, math.Abs(r.Mean-want)/r.SD)
			}
			v := result.Verdict
			doubted := strings.HasPrefix(v.Headline, "Not usable as it stands: the radius shortens rows") &&
				strings.Contains(v.Reasons[0], "moves x by")
			if v.Usable == doubted || doubted != (radius == 1 && name == "logistic") || doubted != (slices.Max(off) > 5) {
				t.Errorf("%s, radius %v: %v standard deviations off, %+v", name, radius, off, v)
			}
		}
	}
}

// shortenedTable is a table whose responses are those of its rows before they were shortened.
func shortenedTable(t *testing.T, name string, radius float64) (*data.Table, *models.Model, []float64) {
	t.Helper()
	schema := &data.Schema{Records: 20_000, Radius: radius, Columns: []data.Column{
		{Name: "x", Role: data.Feature, Kind: data.Number, Lower: -50, Upper: 50, Center: 0, Scale: 1},
		{Name: "y", Role: data.Target, Kind: data.Number, Lower: -20, Upper: 20, Center: 0, Scale: 1}}}
	truth, rng := []float64{0.5, 2.5, 0.5}, rand.New(rand.NewPCG(21, 0))
	if name == "logistic" {
		truth = truth[:2]
		schema.Columns[1] = data.Column{Name: "y", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}}
	}
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	wide := *shape
	wide.Radius = 1e6
	table := wide.Simulate(rng, nil, func(row []float64) float64 {
		eta := floats.Dot(row, truth[:2])
		switch {
		case name == "linear":
			return eta + 0.5*rng.NormFloat64()
		case rng.Float64() < 1/(1+math.Exp(-eta)):
			return 1
		}
		return 0
	})
	table.Shape = *shape
	for i := range table.Records {
		shape.Shorten(table.Row(i))
	}
	model, err := models.New(name, &table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table, model, truth
}

// TestOutliersAreDoubtedWhereNothingBoundsThem: a clip that cuts none of the records that
// the model expects still cuts others, and the verdict says so for normal errors. Under
// the β loss, or a logistic one, the clip is above every gradient.
func TestOutliersAreDoubtedWhereNothingBoundsThem(t *testing.T) {
	beta := models.Options{Loss: "beta", Beta: 1.5}
	for _, c := range []struct {
		options models.Options
		clip    float64
		doubted bool
	}{{models.Options{}, 1e5, true}, {beta, 1e5, false}} {
		table, model := linear(t, "builtin:linear?n=500&d=2", c.options)
		doubts := ran(t, table, model, chains.Settings{Kernel: "dpsgld", Clip: c.clip, Iterations: 50, Step: 1e-6,
			Noise: 0.01}, 1e12).Certificate.Doubts
		if doubted := len(doubts) == 1 && strings.HasPrefix(doubts[0].Headline, "Usable if the model"); doubted != c.doubted {
			t.Errorf("loss %q: %+v", c.options.Loss, doubts)
		}
	}
}
