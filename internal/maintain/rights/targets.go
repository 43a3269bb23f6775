package rights

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// builtin returns a function that makes the named model under a loss.
func builtin[T targets.Target](make func(targets.Loss) (T, error)) func(targets.Loss) (targets.Target, error) {
	return func(l targets.Loss) (targets.Target, error) { return make(l) }
}

// regressionOf makes a regression of a family under a loss.
func regressionOf(family string) func(targets.Loss) (targets.Target, error) {
	return builtin(func(l targets.Loss) (*targets.Regression, error) {
		return targets.New(targets.RegressionConfig{Family: family, Features: 2, Loss: l, Prior: priors.Gaussian{SD: 2}})
	})
}

// Target is a model of the library under any loss, and how it is checked.
type Target struct {
	Name    string
	Make    func(targets.Loss) (targets.Target, error)
	Options proptest.TargetOptions
}

// Targets lists every model, with two features.
func Targets() (all []Target) {
	prior, box := priors.Gaussian{SD: 2}, priors.Uniform{Low: -1.5, High: 1.5}
	linear := func(nu float64) func(targets.Loss) (targets.Target, error) {
		return builtin(func(l targets.Loss) (*targets.Linear, error) {
			return targets.New(targets.LinearConfig{Features: 2, Loss: l, Prior: prior, MinScale: 0.5,
				ScalePrior: priors.HalfCauchy{Scale: 1}, DegreesOfFreedom: nu})
		})
	}
	gaussian := func(curvature float64) func(targets.Loss) (targets.Target, error) {
		return builtin(func(l targets.Loss) (*targets.GaussianMean, error) {
			return targets.New(targets.GaussianMeanConfig{Features: 2, Curvature: curvature, Loss: l, Prior: prior})
		})
	}
	classes := func(k float64) func(u float64) float64 {
		return func(u float64) float64 { return math.Mod(math.Floor(math.Abs(u)), k) }
	}
	counts := func(u float64) float64 { return math.Floor(math.Exp(min(u, 30))) }
	add := func(name string, make func(targets.Loss) (targets.Target, error), response func(u float64) float64) {
		all = append(all, Target{name, make, proptest.TargetOptions{Response: response, Effort: proptest.Quick}})
	}
	inBox := func(name string, make func(targets.Loss) (targets.Target, error), response func(u float64) float64) {
		add(name, make, response)
		all[len(all)-1].Options.State = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = box.Low + (box.High-box.Low)*rng.Float64()
			}
		}
	}
	add("logistic", regressionOf("logistic"), nil)
	add("probit", regressionOf("probit"), nil)
	add("cloglog", regressionOf("cloglog"), nil)
	add("Poisson", regressionOf("poisson"), counts)
	add("linear", linear(0), nil)
	add("linear, Student", linear(4), nil)
	add("mean", gaussian(0), nil)
	add("banana", gaussian(0.7), nil)
	add("Bernoulli", builtin(func(l targets.Loss) (*targets.DirichletCategorical, error) {
		return targets.New(targets.DirichletCategoricalConfig{Loss: l, Prior: priors.Dirichlet{Alpha: []float64{3, 2}}})
	}), classes(2))
	add("categorical", builtin(func(l targets.Loss) (*targets.DirichletCategorical, error) {
		return targets.New(targets.DirichletCategoricalConfig{Loss: l, Prior: priors.Dirichlet{Alpha: []float64{0.5, 2, 1}}})
	}), classes(3))
	add("negative binomial", builtin(func(l targets.Loss) (*targets.Regression, error) {
		return targets.New(targets.RegressionConfig{
			Family: "negative-binomial", Features: 2, Loss: l, Prior: prior, Dispersion: 1.7})
	}), counts)
	add("heteroscedastic", builtin(func(l targets.Loss) (*targets.Heteroscedastic, error) {
		return targets.New(targets.HeteroscedasticConfig{Features: 2, Loss: l, Prior: prior, MinScale: 0.3})
	}), nil)
	add("softmax", builtin(func(l targets.Loss) (*targets.Softmax, error) {
		return targets.New(targets.SoftmaxConfig{Features: 2, Classes: 3, Loss: l, Prior: prior})
	}), classes(3))
	add("mixture", builtin(func(l targets.Loss) (*targets.Mixture, error) {
		return targets.New(targets.MixtureConfig{Variance: 2, Loss: l, Prior: prior})
	}), nil)
	add("network, regression", builtin(func(l targets.Loss) (*targets.Network, error) {
		return targets.New(targets.NetworkConfig{Features: 2, Hidden: 2, Scale: 0.8,
			Loss: l, Prior: prior})
	}), nil)
	add("network, regression, σ", builtin(func(l targets.Loss) (*targets.Network, error) {
		return targets.New(targets.NetworkConfig{Features: 2, Hidden: 2, ReLU: true, MinScale: 0.5,
			ScalePrior: priors.HalfCauchy{Scale: 1}, Loss: l, Prior: prior})
	}), nil)
	inBox("network, regression, box", builtin(func(l targets.Loss) (*targets.Network, error) {
		return targets.New(targets.NetworkConfig{Features: 2, Hidden: 2, MinScale: 0.5,
			ScalePrior: priors.HalfCauchy{Scale: 1}, Loss: l, Prior: box})
	}), nil)
	inBox("network, classes, box", builtin(func(l targets.Loss) (*targets.Network, error) {
		return targets.New(targets.NetworkConfig{Features: 2, Hidden: 2, Classes: 3, ReLU: true,
			Loss: l, Prior: box})
	}), classes(3))
	add("network, classes", builtin(func(l targets.Loss) (*targets.Network, error) {
		return targets.New(targets.NetworkConfig{Features: 2, Hidden: 2, Classes: 3, ReLU: true,
			Loss: l, Prior: prior})
	}), classes(3))
	return all
}
