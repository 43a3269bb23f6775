package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// TestWhatIsSaidIsOfWrittenCoefficients: turned features have turned coefficients, and what is said of
// a posterior of the latter that are written as they were is what is said of the posterior of these.
// The control does not know how they are written, and says something else of each.
func TestWhatIsSaidIsOfWrittenCoefficients(t *testing.T) {
	const d, n = 3, 2000
	turn := mat.NewDense(d, d, []float64{2, -1, 2, 2, 2, -1, -1, 2, 2})
	turn.Scale(1.0/3, turn)
	turned := func(x []float64) []float64 {
		var out mat.VecDense
		out.MulVec(turn, mat.NewVecDense(d, x))
		return out.RawVector().Data
	}
	theta := []float64{2, -0.02, -0.9}
	law := newNormal(mat.NewSymDense(d, []float64{1, 0.3, 0, 0.3, 0.5, 0, 0, 0, 0.02}), -1, make([]float64, d))
	moment := slices.Clone(law.spread)
	floats.Scale(n, moment)
	score := make([]float64, d)
	newFeatures(law, Logistic).scores().law(score, nil, theta, n)
	c := Config{Statistics: Statistics{Anchor: make([]float64, d), Score: score, ScoreSD: 15, Moment: moment, Records: n,
		Radius: 10}, Link: Logistic, Prior: priors.Gaussian{SD: 2.5}, Imputations: 1}
	other := c
	other.Statistics.Score = turned(score)
	var moments mat.Dense
	moments.Product(turn, mat.NewDense(d, d, moment), turn.T())
	other.Statistics.Moment = moments.RawMatrix().Data
	as := other
	as.Written = mat.DenseCopyOf(turn.T())
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	draws := around(p.mean, p.factor, 2000, rand.New(rand.NewPCG(1, 2)))
	var there [][]float64
	for _, one := range draws {
		there = append(there, turned(one))
	}
	type said struct {
		check    PriorCheck
		widening []float64
		tails    float64
	}
	say := func(c Config, draws [][]float64) (s said) {
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if s.check, err = p.CheckPrior(Draws{Chains: [][][]float64{draws}}); err != nil {
			t.Fatal(err)
		}
		if s.widening, err = p.Widening(Draws{Chains: [][][]float64{draws}}); err != nil {
			t.Fatal(err)
		}
		if s.tails, err = p.Tails(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	differ := func(a, b said) (in []string) {
		for name, same := range map[string]bool{
			"hidden": slices.Equal(a.check.Hidden, b.check.Hidden), "narrow": slices.Equal(a.check.Narrow, b.check.Narrow),
			"signs":    slices.Equal(a.check.Signs, b.check.Signs),
			"moved":    math.Abs(a.check.Moved-b.check.Moved) < 1e-3 && a.check.Coefficient == b.check.Coefficient,
			"widening": floats.EqualApprox(a.widening, b.widening, 1e-3), "tails": math.Abs(a.tails-b.tails) < 1e-3,
		} {
			if !same {
				in = append(in, name)
			}
		}
		return in
	}
	want := say(c, draws)
	if got := say(as, there); len(differ(want, got)) > 0 || math.Abs(want.check.Order-got.check.Order) > 0.02 {
		t.Errorf("%v differ: %+v, %+v", differ(want, got), want, got)
	}
	if got := say(other, there); len(differ(want, got)) < 6 {
		t.Errorf("only %v differ of turned coefficients: %+v, %+v", differ(want, got), want, got)
	}
	as.Written = mat.NewDense(d, d, nil)
	if _, err := New(as); err == nil {
		t.Error("coefficients were written as nothing")
	}
}
