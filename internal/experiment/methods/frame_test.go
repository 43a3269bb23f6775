package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestClassesAreSampledInTheirFrame: −(θ − mode)·∇log p has the mean d under a posterior of d coefficients. Its mean
// over some 1000 independent draws has a standard error of about √(2d/1000) = .13, and is off by .8 less than once in
// 10⁶ runs. Draws that stay in the frame's coordinates are off by more. A transition takes a few gradients, though a
// common shift of classes is 20 times as wide as their differences.
func TestClassesAreSampledInTheirFrame(t *testing.T) {
	schema := &data.Schema{Confirmed: true, Records: 300, Columns: []data.Column{column("a", data.Feature),
		column("b", data.Feature), {Name: "y", Role: data.Target, Kind: data.Category, Levels: []string{"r", "s", "t"}}}}
	shape, err := schema.Shape()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("softmax", shape, models.Options{Prior: "normal", PriorSD: 10})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	table := shape.Simulate(rng, func(row []float64) {
		for j := range row {
			row[j] = shape.Terms[j].At(1)
			if j > 0 {
				row[j] = rng.NormFloat64() / shape.Spread
			}
		}
	}, func(row []float64) float64 { return float64(min(2, rng.IntN(3)*rng.IntN(2)+int(max(0, 2*row[1])))) })
	rows := targets.Rows{X: table.X, Y: table.Y, P: table.Features()}
	drawn, err := SamplePosterior(context.Background(), m, rows, false,
		nuts.Config{Chains: 2, Warmup: 100, Draws: 500, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	density := nuts.Posterior(m.Target.(targets.GradTarget), rows, 1)
	f, err := frameOf(density)
	if err != nil {
		t.Fatal(err)
	}
	d := m.Target.Dim()
	grad, move, mean, framed := make([]float64, d), make([]float64, d), 0.0, 0.0
	for _, chain := range drawn {
		if per := float64(chain.Gradients) / 600; per > 15 {
			t.Errorf("a transition takes %.0f gradients", per)
		}
		for _, theta := range chain.Draws {
			density.LogDensityGrad(grad, theta)
			floats.SubTo(move, theta, f.mode)
			mean -= floats.Dot(move, grad) / 1000
			var phi mat.VecDense
			if err := phi.SolveVec(f.axes, mat.NewVecDense(d, move)); err != nil {
				t.Fatal(err)
			}
			density.LogDensityGrad(grad, phi.RawVector().Data)
			floats.SubTo(move, phi.RawVector().Data, f.mode)
			framed -= floats.Dot(move, grad) / 1000
		}
	}
	if off := math.Abs(mean - float64(d)); off > 0.8 {
		t.Errorf("the mean is %v, and should be %d", mean, d)
	}
	if math.Abs(framed-float64(d)) < 0.8 {
		t.Error("draws in the frame's coordinates pass")
	}
}
