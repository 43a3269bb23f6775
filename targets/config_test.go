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
		"beta 1":           errorOf(BetaLoss(1)),
		"beta 0.5":         errorOf(BetaLoss(0.5)),
		"beta NaN":         errorOf(BetaLoss(nan)),
		"beta Inf":         errorOf(BetaLoss(inf)),
		"no features":      errorOf(NewLogistic(RegressionConfig{Prior: ok})),
		"no prior":         errorOf(NewProbit(RegressionConfig{Features: 1})),
		"prior of 3 for 2": errorOf(NewPoisson(RegressionConfig{Features: 2, Prior: priors.Gaussian{SDs: []float64{1, 1, 1}}})),
		"cloglog no prior": errorOf(NewCLogLog(RegressionConfig{Features: 2})),
		"no minimum":       errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1}})),
		"NaN minimum": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1},
			MinScale: nan})),
		"no scale prior": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, MinScale: 1})),
		"negative freedom": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: priors.HalfNormal{SD: 1},
			MinScale: 1, DegreesOfFreedom: -2})),
		"no features linear": errorOf(NewLinear(LinearConfig{Prior: ok, ScalePrior: priors.HalfNormal{SD: 1}, MinScale: 1})),
		"hetero":             errorOf(NewHeteroscedastic(HeteroscedasticConfig{Features: 1, Prior: ok})),
		"hetero features":    errorOf(NewHeteroscedastic(HeteroscedasticConfig{Prior: ok, MinScale: 1})),
		"hetero prior":       errorOf(NewHeteroscedastic(HeteroscedasticConfig{Features: 1, MinScale: 1})),
		"variance":           errorOf(NewMixture(MixtureConfig{Prior: ok, Variance: -1})),
		"mixture prior":      errorOf(NewMixture(MixtureConfig{})),
		"singular":           errorOf(NewGaussianMean(GaussianMeanConfig{Features: 2, Covariance: singular, Prior: ok})),
		"wrong size":         errorOf(NewGaussianMean(GaussianMeanConfig{Features: 3, Covariance: singular, Prior: ok})),
		"no mean":            errorOf(NewGaussianMean(GaussianMeanConfig{Prior: ok})),
		"bent line":          errorOf(NewGaussianMean(GaussianMeanConfig{Features: 1, Curvature: 1, Prior: ok})),
		"NaN bend":           errorOf(NewGaussianMean(GaussianMeanConfig{Features: 2, Curvature: nan, Prior: ok})),
		"one class":          errorOf(NewSoftmax(SoftmaxConfig{Features: 1, Classes: 1, Prior: ok})),
		"softmax prior":      errorOf(NewSoftmax(SoftmaxConfig{Features: 1, Classes: 2})),
		"one concentration":  errorOf(NewDirichletCategorical(LogLoss(), priors.Dirichlet{Alpha: []float64{1}})),
		"zero concentration": errorOf(NewBetaBernoulli(LogLoss(), 0, 1)),
		"no hidden":          errorOf(NewNetwork(NetworkConfig{Features: 1, Scale: 1, Prior: ok})),
		"no scale":           errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Prior: ok})),
		"scale and classes":  errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, Scale: 1, Prior: ok})),
		"both scales": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1, MinScale: 1,
			ScalePrior: priors.HalfNormal{SD: 1}, Prior: ok})),
		"half a scale": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, MinScale: 1, Prior: ok})),
		"no least scale": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, ScalePrior: priors.HalfNormal{SD: 1},
			Prior: ok})),
		"least and classes": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, MinScale: 1, Prior: ok})),
		"activation":        errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1, Activation: 7, Prior: ok})),
		"network prior":     errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1})),
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
	for _, l := range []Loss{LogLoss(), betaLoss(t, 1.5)} {
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
	p := priors.Independent{priors.Laplace{Scale: 0.5}, priors.Gaussian{SDs: []float64{2}}, priors.Uniform{Low: -1, High: 1}}
	m := must[*Regression](t)(NewLogistic(RegressionConfig{Features: 3, Prior: p}))
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
