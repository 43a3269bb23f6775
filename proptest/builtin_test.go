package proptest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// builtin returns a function that makes the named model under a loss.
func builtin[T targets.Target](make func(targets.Loss) (T, error)) func(targets.Loss) (targets.Target, error) {
	return func(l targets.Loss) (targets.Target, error) { return make(l) }
}

// regressionOf is builtin for the constructors that take a RegressionConfig.
func regressionOf(make func(targets.RegressionConfig) (*targets.Regression,
	error)) func(targets.Loss) (targets.Target, error) {
	return builtin(func(l targets.Loss) (*targets.Regression, error) {
		return make(targets.RegressionConfig{Features: 2, Loss: l, Prior: targets.Gaussian{SD: 2}})
	})
}

// TestEveryBuiltInTarget puts every model, under the log loss and three β
// losses, through CheckTarget, and demands that the search attains 0.95 of every
// finite certificate.
func TestEveryBuiltInTarget(t *testing.T) {
	prior, box := targets.Gaussian{SD: 2}, targets.Uniform{Low: -1.5, High: 1.5}
	linear := func(nu float64) func(targets.Loss) (targets.Target, error) {
		return builtin(func(l targets.Loss) (*targets.Linear, error) {
			return targets.NewLinear(targets.LinearConfig{Features: 2, Loss: l, Prior: prior, MinScale: 0.5,
				ScalePrior: targets.HalfCauchy{Scale: 1}, DegreesOfFreedom: nu})
		})
	}
	gaussian := func(curvature float64) func(targets.Loss) (targets.Target, error) {
		return builtin(func(l targets.Loss) (*targets.GaussianMean, error) {
			return targets.NewGaussianMean(targets.GaussianMeanConfig{Features: 2, Curvature: curvature, Loss: l, Prior: prior})
		})
	}
	classes := func(k float64) func(u float64) float64 {
		return func(u float64) float64 { return math.Mod(math.Floor(math.Abs(u)), k) }
	}
	counts := func(u float64) float64 { return math.Floor(math.Exp(min(u, 30))) }
	for name, m := range map[string]struct {
		make     func(targets.Loss) (targets.Target, error)
		response func(u float64) float64
	}{
		"logistic":        {regressionOf(targets.NewLogistic), nil},
		"probit":          {regressionOf(targets.NewProbit), nil},
		"cloglog":         {regressionOf(targets.NewCLogLog), nil},
		"Poisson":         {regressionOf(targets.NewPoisson), counts},
		"linear":          {linear(0), nil},
		"linear, Student": {linear(4), nil},
		"mean":            {gaussian(0), nil},
		"banana":          {gaussian(0.7), nil},
		"Bernoulli": {builtin(func(l targets.Loss) (*targets.DirichletCategorical, error) {
			return targets.NewBetaBernoulli(l, 2, 3)
		}), classes(2)},
		"categorical": {builtin(func(l targets.Loss) (*targets.DirichletCategorical, error) {
			return targets.NewDirichletCategorical(l, targets.Dirichlet{Alpha: []float64{0.5, 2, 1}})
		}), classes(3)},
		"negative binomial": {builtin(func(l targets.Loss) (*targets.Regression, error) {
			return targets.NewNegativeBinomial(targets.NegativeBinomialConfig{
				RegressionConfig: targets.RegressionConfig{Features: 2, Loss: l, Prior: prior}, Dispersion: 1.7})
		}), counts},
		"heteroscedastic": {builtin(func(l targets.Loss) (*targets.Heteroscedastic, error) {
			return targets.NewHeteroscedastic(targets.HeteroscedasticConfig{Features: 2, Loss: l, Prior: prior, MinScale: 0.3})
		}), nil},
		"softmax": {builtin(func(l targets.Loss) (*targets.Softmax, error) {
			return targets.NewSoftmax(targets.SoftmaxConfig{Features: 2, Classes: 3, Loss: l, Prior: prior})
		}), classes(3)},
		"mixture": {builtin(func(l targets.Loss) (*targets.Mixture, error) {
			return targets.NewMixture(targets.MixtureConfig{Variance: 2, Loss: l, Prior: prior})
		}), nil},
		"network, regression": {builtin(func(l targets.Loss) (*targets.Network, error) {
			return targets.NewNetwork(targets.NetworkConfig{Features: 2, Hidden: 2, Activation: targets.Tanh, Scale: 0.8,
				Loss: l, Prior: prior})
		}), nil},
		"network, regression, σ": {builtin(func(l targets.Loss) (*targets.Network, error) {
			return targets.NewNetwork(targets.NetworkConfig{Features: 2, Hidden: 2, Activation: targets.ReLU, MinScale: 0.5,
				ScalePrior: targets.HalfCauchy{Scale: 1}, Loss: l, Prior: prior})
		}), nil},
		"network, regression, box": {builtin(func(l targets.Loss) (*targets.Network, error) {
			return targets.NewNetwork(targets.NetworkConfig{Features: 2, Hidden: 2, MinScale: 0.5,
				ScalePrior: targets.HalfCauchy{Scale: 1}, Loss: l, Prior: box})
		}), nil},
		"network, classes, box": {builtin(func(l targets.Loss) (*targets.Network, error) {
			return targets.NewNetwork(targets.NetworkConfig{Features: 2, Hidden: 2, Classes: 3, Activation: targets.ReLU,
				Loss: l, Prior: box})
		}), classes(3)},
		"network, classes": {builtin(func(l targets.Loss) (*targets.Network, error) {
			return targets.NewNetwork(targets.NetworkConfig{Features: 2, Hidden: 2, Classes: 3, Activation: targets.ReLU,
				Loss: l, Prior: prior})
		}), classes(3)},
	} {
		betas := []float64{1, 1.1, 1.5, 2}
		if testing.Short() {
			betas = []float64{1.5} // all, with tightness, without -short
		}
		for _, beta := range betas {
			t.Run(fmt.Sprintf("%s, β = %v", name, beta), func(t *testing.T) {
				loss := targets.LogLoss()
				if beta > 1 {
					var err error
					if loss, err = targets.BetaLoss(beta); err != nil {
						t.Fatal(err)
					}
				}
				target, err := m.make(loss)
				if err != nil {
					t.Fatal(err)
				}
				o := proptest.TargetOptions{Response: m.response, Tightness: 0.95, Effort: proptest.Quick}
				if strings.HasSuffix(name, "box") {
					if o.Effort = proptest.Standard; testing.Short() {
						o.Effort, o.Tightness = proptest.Quick, 0
					}
					if strings.Contains(name, "classes") && beta > 1 {
						// Attained where fifteen parameters take values of their own, which a test
						// of package targets gives; a climb comes near.
						o.Loose = map[string]float64{"gradient": min(o.Tightness, 0.8)}
					}
					o.State = func(rng *rand.Rand, theta []float64) {
						for j := range theta {
							theta[j] = box.Low + (box.High-box.Low)*rng.Float64()
						}
					}
				}
				if name == "Poisson" && beta < 2 {
					// There is no Lipschitz constant, only the range, which one count cannot
					// cover: its mass rises to one only at y = 0, where the loss cannot reach
					// the top of the range.
					o.Loose = map[string]float64{"ratio": 0.6}
				}
				proptest.CheckTarget(t, target, o)
			})
		}
	}
}
