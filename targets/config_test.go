package targets

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

func errorOf[T any](_ T, err error) error { return err }

// TestConstructorsRefuseBadConfigs: every refusal is an error of this package
// that names what was given.
func TestConstructorsRefuseBadConfigs(t *testing.T) {
	nan, inf, ok := math.NaN(), math.Inf(1), priors.Gaussian{SD: 1}
	singular := mat.NewSymDense(2, []float64{1, 1, 1, 1})
	for name, err := range map[string]error{
		"beta 1":         errorOf(New(RegressionConfig{Features: 1, Prior: ok, Loss: Loss{Beta: 1}})),
		"beta 0.5":       errorOf(New(RegressionConfig{Features: 1, Prior: ok, Loss: Loss{Beta: 0.5}})),
		"beta NaN":       errorOf(New(RegressionConfig{Features: 1, Prior: ok, Loss: Loss{Beta: nan}})),
		"beta Inf":       errorOf(New(RegressionConfig{Features: 1, Prior: ok, Loss: Loss{Beta: inf}})),
		"family":         errorOf(New(RegressionConfig{Family: "logit", Features: 1, Prior: ok})),
		"dispersion":     errorOf(New(RegressionConfig{Features: 1, Prior: ok, Dispersion: 1})),
		"no dispersion":  errorOf(New(RegressionConfig{Family: "negative-binomial", Features: 1, Prior: ok})),
		"error scale":    errorOf(New(RegressionConfig{Features: 1, Prior: ok, Scale: 1})),
		"no error scale": errorOf(New(RegressionConfig{Family: "median", Features: 1, Prior: ok})),
		"no features":    errorOf(New(RegressionConfig{Prior: ok})),
		"no prior":       errorOf(New(RegressionConfig{Family: "probit", Features: 1})),
		"prior of 3 for 2": errorOf(New(RegressionConfig{Family: "poisson", Features: 2,
			Prior: priors.Gaussian{SDs: []float64{1, 1, 1}}})),
		"cloglog no prior": errorOf(New(RegressionConfig{Family: "cloglog", Features: 2})),
		"no minimum":       errorOf(New(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1}})),
		"NaN minimum": errorOf(New(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1},
			MinScale: nan})),
		"no scale prior": errorOf(New(LinearConfig{Features: 1, Prior: ok, MinScale: 1})),
		"negative freedom": errorOf(New(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1},
			MinScale: 1, DegreesOfFreedom: -2})),
		"no features linear": errorOf(New(LinearConfig{Prior: ok, ScalePrior: priors.HalfNormal{SD: 1}, MinScale: 1})),
		"hetero":             errorOf(New(HeteroscedasticConfig{Features: 1, Prior: ok})),
		"hetero features":    errorOf(New(HeteroscedasticConfig{Prior: ok, MinScale: 1})),
		"hetero prior":       errorOf(New(HeteroscedasticConfig{Features: 1, MinScale: 1})),
		"variance":           errorOf(New(MixtureConfig{Prior: ok, Variance: -1})),
		"mixture prior":      errorOf(New(MixtureConfig{})),
		"singular":           errorOf(New(GaussianMeanConfig{Features: 2, Covariance: singular, Prior: ok})),
		"wrong size":         errorOf(New(GaussianMeanConfig{Features: 3, Covariance: singular, Prior: ok})),
		"no mean":            errorOf(New(GaussianMeanConfig{Prior: ok})),
		"bent line":          errorOf(New(GaussianMeanConfig{Features: 1, Curvature: 1, Prior: ok})),
		"NaN bend":           errorOf(New(GaussianMeanConfig{Features: 2, Curvature: nan, Prior: ok})),
		"one class":          errorOf(New(SoftmaxConfig{Features: 1, Classes: 1, Prior: ok})),
		"softmax prior":      errorOf(New(SoftmaxConfig{Features: 1, Classes: 2})),
		"one concentration":  errorOf(New(DirichletCategoricalConfig{Prior: priors.Dirichlet{Alpha: []float64{1}}})),
		"zero concentration": errorOf(New(DirichletCategoricalConfig{Prior: priors.Dirichlet{Alpha: []float64{1, 0}}})),
		"no hidden":          errorOf(New(NetworkConfig{Features: 1, Scale: 1, Prior: ok})),
		"no scale":           errorOf(New(NetworkConfig{Features: 1, Hidden: 1, Prior: ok})),
		"scale and classes":  errorOf(New(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, Scale: 1, Prior: ok})),
		"both scales": errorOf(New(NetworkConfig{Features: 1, Hidden: 1, Scale: 1, MinScale: 1,
			ScalePrior: priors.HalfNormal{SD: 1}, Prior: ok})),
		"half a scale": errorOf(New(NetworkConfig{Features: 1, Hidden: 1, MinScale: 1, Prior: ok})),
		"no least scale": errorOf(New(NetworkConfig{Features: 1, Hidden: 1, ScalePrior: priors.HalfNormal{SD: 1},
			Prior: ok})),
		"least and classes": errorOf(New(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, MinScale: 1, Prior: ok})),
		"network prior":     errorOf(New(NetworkConfig{Features: 1, Hidden: 1, Scale: 1})),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		} else if !strings.HasPrefix(err.Error(), "targets: ") && !strings.HasPrefix(err.Error(), "priors: ") {
			t.Errorf("%s: error %q does not say where it comes from", name, err)
		}
	}
}

// TestHotPathsDoNotAllocate covers loss, ratio and gradient of every model.
func TestHotPathsDoNotAllocate(t *testing.T) {
	for _, l := range []Loss{{}, betaLoss(t, 1.5)} {
		for _, c := range modelCases(t, l) {
			rng := newRNG()
			theta, next, rows := c.draw(rng), c.draw(rng), c.sample(rng, 300)
			dst, grad := make([]float64, 300), make([]float64, 300*len(theta))
			if n := testing.AllocsPerRun(50, func() {
				c.target.Loss(dst, theta, rows)
				c.target.(RatioTarget).LossRatio(dst, theta, next, rows)
				c.target.(GradTarget).LossGrad(grad, theta, rows)
				c.target.LogPrior(theta)
				c.target.(GradTarget).GradLogPrior(grad[:len(theta)], theta)
			}); n > 0 {
				t.Errorf("%s: %v allocations", c.name, n)
			}
		}
	}
}

// TestIndependentIsAProduct: parameters have their own priors, and a target keeps a
// copy of them.
func TestIndependentIsAProduct(t *testing.T) {
	p := priors.Independent{priors.Laplace{Scale: 0.5}, priors.Gaussian{SDs: []float64{2}},
		priors.Uniform{Low: -1, High: 1}}
	m := must[*Regression](t)(New(RegressionConfig{Features: 3, Prior: p}))
	p[0], p[1].(priors.Gaussian).SDs[0] = priors.Laplace{Scale: 9}, 9
	theta, grad := []float64{1, -2, 0.5}, make([]float64, 3)
	if got := m.LogPrior(theta); got != -2.5 {
		t.Errorf("the log prior is %v, want -2.5", got)
	}
	m.GradLogPrior(grad, theta)
	if grad[0] != -2 || grad[1] != 0.5 || grad[2] != 0 {
		t.Errorf("its gradient is %v", grad)
	}
	if theta[2] = 2; !math.IsInf(m.LogPrior(theta), -1) {
		t.Errorf("outside the box of one parameter the log prior is %v", m.LogPrior(theta))
	}
}
