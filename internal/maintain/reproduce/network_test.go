package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/shared"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestOutputIsTheTargets: the network that predicts is the one that was fitted, whose
// loss of a response y is (y − f)²/2s² up to a constant.
func TestOutputIsTheTargets(t *testing.T) {
	target, err := network(3, 0.5, targets.Loss{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		theta, x := make([]float64, target.Dim()), []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		priors.Gaussian{SD: 1}.Sample(theta, rng)
		f := output(theta, x)
		var at [2]float64
		target.Loss(at[:], theta, targets.Rows{X: append(x, x...), P: 3, Y: []float64{f, f + 1}})
		if math.Abs(at[1]-at[0]-2) > 1e-9 {
			t.Fatalf("a residual of 1 costs %v more than none, want 2", at[1]-at[0])
		}
	}
}

// TestFastLaw: the fast log posterior and its gradient are those of the mechanism, up
// to a constant, under the log loss and the β loss.
func TestFastLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	rows := targets.Rows{P: 3}
	for range 40 {
		rows.X, rows.Y = append(rows.X, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()),
			append(rows.Y, rng.NormFloat64())
	}
	beta, err := posterior.SolveBeta(1, posterior.Normal(netScale))
	if err != nil {
		t.Fatal(err)
	}
	loss := targets.Loss{Beta: beta}
	target, err := network(3, netScale, loss)
	if err != nil {
		t.Fatal(err)
	}
	m, err := posterior.NewBounded(posterior.Config{Target: target, Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	slow, err := m.Density(rows)
	if err != nil {
		t.Fatal(err)
	}
	fast := netLaw{rows, netScale, beta - 1}
	if fast.Dim() != slow.Dim() {
		t.Fatalf("%d parameters, want %d", fast.Dim(), slow.Dim())
	}
	constant := math.NaN()
	for range 5 {
		theta, got, want := make([]float64, fast.Dim()), make([]float64, fast.Dim()), make([]float64, fast.Dim())
		priors.Gaussian{SD: 1}.Sample(theta, rng)
		gap := fast.LogDensityGrad(got, theta) - slow.LogDensityGrad(want, theta)
		if math.IsNaN(constant) {
			constant = gap
		}
		if math.Abs(gap-constant) > 1e-9 || distance(got, want) > 1e-9 {
			t.Errorf("the laws differ by %v, once by %v; gradients by %v", gap, constant, distance(got, want))
		}
	}
}

// TestColumns: bounds, levels and responses, and the widths of the data sets.
func TestColumns(t *testing.T) {
	x, err := number("a", 10, 20).encode(nil, "25")
	if err != nil || x[0] != 0.5 {
		t.Errorf("25 within (10, 20) is %v (%v), want ½", x, err)
	}
	if x, err = category("c", "r", "s", "t").encode(nil, "t"); err != nil || len(x) != 2 || x[0] != -0.5 || x[1] != 0.5 {
		t.Errorf("third level: %v (%v)", x, err)
	}
	if x, err = category("c", "r", "s").encode(nil, "?"); err != nil || x[0] != -0.5 {
		t.Errorf("a missing level: %v (%v), want the reference", x, err)
	}
	if _, err = number("a", 0, 1).encode(nil, "?"); err == nil {
		t.Error("a missing number was accepted")
	}
	if y, err := powerPlant.respond("460"); err != nil || y != 0 {
		t.Errorf("the middle of the response is %v (%v)", y, err)
	}
	if abalone.width() != 9 || adult.width() != 97 {
		t.Errorf("Abalone has %d features, Adult %d", abalone.width(), adult.width())
	}
}

// TestSharedDataLoad: every file has the columns and the number of records stated.
func TestSharedDataLoad(t *testing.T) {
	shared.Path(t, "data/adult.csv")
	s := settings{shared: "../../../../shared"}
	for _, d := range []dataset{abalone, adult, concrete, energy, powerPlant, wineRed} {
		rows, err := d.load(s)
		if err != nil || rows.Len() != d.n {
			t.Errorf("%s: %d records (%v)", d.file, rows.Len(), err)
			continue
		}
		for _, v := range rows.X {
			if v < -0.5 || v > 0.5 {
				t.Errorf("%s: a feature of %v", d.file, v)
				break
			}
		}
	}
}

// TestSplitKeepsEveryRecord in one of the two parts.
func TestSplitKeepsEveryRecord(t *testing.T) {
	rows := targets.Rows{P: 1}
	for i := range 100 {
		rows.X, rows.Y = append(rows.X, float64(i)), append(rows.Y, float64(i))
	}
	train, test := split(rand.New(rand.NewPCG(1, 1)), rows, 0.1)
	sum := 0.0
	for _, part := range []targets.Rows{train, test} {
		for i, y := range part.Y {
			sum += y
			if part.Row(i)[0] != y {
				t.Fatal("a record lost its response")
			}
		}
	}
	if train.Len() != 90 || test.Len() != 10 || sum != 4950 {
		t.Errorf("%d and %d records that sum to %v", train.Len(), test.Len(), sum)
	}
}
