package targets

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func errorOf[T any](_ T, err error) error { return err }

// TestConstructorsRefuseBadConfigs: every refusal is an error of this package
// that names what was given.
func TestConstructorsRefuseBadConfigs(t *testing.T) {
	nan, inf, ok := math.NaN(), math.Inf(1), Gaussian{SD: 1}
	singular := mat.NewSymDense(2, []float64{1, 1, 1, 1})
	for name, err := range map[string]error{
		"beta 1":           errorOf(BetaLoss(1)),
		"beta 0.5":         errorOf(BetaLoss(0.5)),
		"beta NaN":         errorOf(BetaLoss(nan)),
		"beta Inf":         errorOf(BetaLoss(inf)),
		"no features":      errorOf(NewLogistic(RegressionConfig{Prior: ok})),
		"no prior":         errorOf(NewProbit(RegressionConfig{Features: 1})),
		"prior of 3 for 2": errorOf(NewPoisson(RegressionConfig{Features: 2, Prior: Gaussian{SDs: []float64{1, 1, 1}}})),
		"cloglog no prior": errorOf(NewCLogLog(RegressionConfig{Features: 2})),
		"no minimum":       errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: HalfNormal{SD: 1}})),
		"NaN minimum": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: HalfNormal{SD: 1},
			MinScale: nan})),
		"no scale prior": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, MinScale: 1})),
		"negative freedom": errorOf(NewLinear(LinearConfig{Features: 1, Prior: ok, ScalePrior: HalfNormal{SD: 1},
			MinScale: 1, DegreesOfFreedom: -2})),
		"no features linear": errorOf(NewLinear(LinearConfig{Prior: ok, ScalePrior: HalfNormal{SD: 1}, MinScale: 1})),
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
		"one concentration":  errorOf(NewDirichletCategorical(LogLoss(), Dirichlet{[]float64{1}})),
		"zero concentration": errorOf(NewBetaBernoulli(LogLoss(), 0, 1)),
		"no hidden":          errorOf(NewNetwork(NetworkConfig{Features: 1, Scale: 1, Prior: ok})),
		"no scale":           errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Prior: ok})),
		"scale and classes":  errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, Scale: 1, Prior: ok})),
		"both scales": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1, MinScale: 1,
			ScalePrior: HalfNormal{SD: 1}, Prior: ok})),
		"half a scale": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, MinScale: 1, Prior: ok})),
		"no least scale": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, ScalePrior: HalfNormal{SD: 1},
			Prior: ok})),
		"least and classes": errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Classes: 2, MinScale: 1, Prior: ok})),
		"activation":        errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1, Activation: 7, Prior: ok})),
		"network prior":     errorOf(NewNetwork(NetworkConfig{Features: 1, Hidden: 1, Scale: 1})),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		} else if !strings.HasPrefix(err.Error(), "targets: ") {
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
