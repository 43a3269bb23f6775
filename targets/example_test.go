package targets_test

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// lifetimes is a target written by a user: exponential lifetimes with rate
// e^θ and a normal prior of θ. These four methods are all a chain needs.
type lifetimes struct{}

func (lifetimes) Dim() int           { return 1 }
func (lifetimes) Shape() (int, bool) { return 1, false }

func (lifetimes) LogPrior(theta []float64) float64 { return -theta[0] * theta[0] / 2 }

func (lifetimes) Loss(dst, theta []float64, rows targets.Rows) {
	rate := math.Exp(theta[0])
	for i, x := range rows.X {
		dst[i] = rate*x - theta[0]
	}
}

// A user's own model is a type with the four methods of Target. Certificates and
// gradients are further methods, added when a sampler can use them.
func Example() {
	var target targets.Target = lifetimes{}
	rows := targets.Rows{X: []float64{0.5, 2, 1}, P: 1}
	dst := make([]float64, rows.Len())
	target.Loss(dst, []float64{0}, rows)
	fmt.Println(dst)
	// Output: [0.5 2 1]
}

func ExampleNew() {
	m, err := targets.New(targets.RegressionConfig{Features: 2, Loss: targets.Loss{Beta: 1.5},
		Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("R = %.4f, L = %.4f\n", m.LossRange(), m.PredictorLipschitz())
	fmt.Printf("a record of norm 1 moves the ratio by at most %.4f\n",
		m.RatioBound([]float64{0, 0}, []float64{0.3, 0.4}, 1))
	// Output:
	// R = 2.0000, L = 0.4454
	// a record of norm 1 moves the ratio by at most 0.2227
}

func ExampleNew_error() {
	_, err := targets.New(targets.LinearConfig{Features: 1, Prior: priors.Gaussian{SD: 3},
		ScalePrior: priors.HalfCauchy{Scale: 1}})
	fmt.Println(err)
	// Output: targets: linear regression: MinScale = 0, but it must be positive and finite
}

// A beta posterior is exact, and so is the divergence between the posteriors of
// neighbouring data sets, with 4 ones among 10 records and with 5.
func ExampleDirichletCategorical_Posterior() {
	m, err := targets.New(targets.DirichletCategoricalConfig{Prior: priors.Dirichlet{Alpha: []float64{6, 6}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, q := m.Posterior([]float64{6, 4}, 1), m.Posterior([]float64{5, 5}, 1)
	fmt.Printf("D_2 = %.4f\n", p.Renyi(2, q))
	// Output: D_2 = 0.1924
}
