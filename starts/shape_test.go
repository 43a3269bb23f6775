package starts_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// spectral is the norm of a factor.
func spectral(t *testing.T, factor []float64, d int) float64 {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(d, d, append([]float64(nil), factor...)), mat.SVDNone) {
		t.Fatal("no norm")
	}
	return svd.Values(nil)[0]
}

// TestShapeIsTheInverse: LLᵀ times weight·M + precision·I is a multiple of the
// identity, and the norm of L is a hair below 1.
func TestShapeIsTheInverse(t *testing.T) {
	moment := []float64{400, 120, -50, 120, 90, 10, -50, 10, 30}
	factor, err := starts.Shape(moment, 1e-6, 0.125, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if norm := spectral(t, factor, 3); norm > 1 || norm < 1-1e-8 {
		t.Errorf("the factor has norm %v", norm)
	}
	l := mat.NewDense(3, 3, factor)
	precision := mat.NewDense(3, 3, nil)
	precision.Scale(0.125, mat.NewDense(3, 3, moment))
	for j := range 3 {
		precision.Set(j, j, precision.At(j, j)+0.5)
	}
	var covariance, product mat.Dense
	covariance.Mul(l, l.T())
	product.Mul(&covariance, precision)
	scale := product.At(0, 0)
	for j := range 3 {
		for k := range 3 {
			want := 0.0
			if j == k {
				want = scale
			}
			if math.Abs(product.At(j, k)-want) > 1e-9*scale || factor[1] != 0 || factor[2] != 0 || factor[5] != 0 {
				t.Fatalf("LLᵀ times the precision is %v", mat.Formatted(&product))
			}
		}
	}
}

// TestShapeOfNoise: a moment of noise alone, indefinite, gives nearly isotropic
// moves; nonsense is refused.
func TestShapeOfNoise(t *testing.T) {
	factor, err := starts.Shape([]float64{-30, 40, 40, 10}, 100, 0.125, 1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(factor[0]-1) > 1e-6 || math.Abs(factor[2]) > 1e-6 || math.Abs(factor[3]-1) > 1e-6 {
		t.Errorf("noise shapes moves by %v", factor)
	}
	for _, bad := range []struct {
		moment                   []float64
		noise, weight, precision float64
	}{
		{[]float64{1, 2, 3}, 1, 1, 1}, {nil, 1, 1, 1}, {[]float64{math.NaN()}, 1, 1, 1}, {[]float64{math.Inf(1)}, 1, 1, 1},
		{[]float64{1}, 0, 1, 1}, {[]float64{1}, 1, math.NaN(), 1}, {[]float64{1}, 1, 1, math.Inf(1)},
	} {
		if _, err := starts.Shape(bad.moment, bad.noise, bad.weight, bad.precision); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// A start and a shape, released first, for a chain on what is left of a budget.
func ExampleShape() {
	const tau = 0.1
	model, _ := targets.NewLogistic(targets.RegressionConfig{Features: 3, Prior: targets.Gaussian{SD: 3}})
	budget, _ := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	records, _ := curator.Seal(table(3000, 1), budget)
	config, _ := starts.Afford(starts.Config{Kind: starts.Optimum, Target: model, Temperature: tau},
		records.Facts(), 0.4, 1e-6)
	start, err := starts.Find(context.Background(), config, records)
	if err != nil {
		fmt.Println(err)
		return
	}
	second := curator.SecondMoment{NoiseMultiplier: 20}
	moments, err := records.GrantMoments(second, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	moment := make([]float64, 9)
	if err := moments.Release(moment, nil); err != nil {
		fmt.Println(err)
		return
	}
	sd, _ := second.NoiseSD(records.Facts())
	factor, _ := starts.Shape(moment, sd, tau/8, 1.0/9)
	chain, err := barker.New(barker.Config{Target: model, Proposal: curator.Shaped(0.05, factor), Iterations: 500,
		Temperature: tau}, records)
	if err != nil {
		fmt.Println(err)
		return
	}
	state, _ := chain.Init(start.Theta)
	rng := kernels.Stream(1, 0)
	for range 500 {
		if _, err := chain.Step(rng, state); err != nil {
			fmt.Println(err)
			return
		}
	}
	spent, _ := budget.Spent()
	fmt.Println("steps", state.Iteration, "within the budget", spent.Epsilon < 1)
	// Output: steps 500 within the budget true
}
