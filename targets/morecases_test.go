package targets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/priors"
)

func heteroscedasticCase(t testing.TB, l Loss) modelCase {
	const minScale = 0.3
	logf := func(theta, x []float64, y float64) float64 {
		sigma := minScale + math.Exp(dot(x, theta[2:]))
		z := (y - dot(x, theta[:2])) / sigma
		return -z*z/2 - math.Log(sigma*math.Sqrt(2*math.Pi))
	}
	return modelCase{
		name: "heteroscedastic",
		target: must[*Heteroscedastic](t)(New(HeteroscedasticConfig{Features: 2, Loss: l,
			Prior: priors.Gaussian{SD: 2}, MinScale: minScale})),
		record:     func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return 2 * rng.NormFloat64() },
		state:      normalState(0.7),
		logDensity: logf,
		power: func(theta, x []float64, beta float64) float64 {
			return integrate(func(y float64) float64 { return math.Exp(beta * logf(theta, x, y)) }, dot(x, theta[:2]), 5)
		},
	}
}

// softmaxOf returns the class probabilities at the given logits, the plain way.
func softmaxOf(logits ...float64) []float64 {
	var sum float64
	for _, a := range logits {
		sum += math.Exp(a)
	}
	p := make([]float64, len(logits))
	for k, a := range logits {
		p[k] = math.Exp(a) / sum
	}
	return p
}

// classCase completes a case whose class probabilities are given.
func classCase(name string, target Target, classes int, probs func(theta, x []float64) []float64) modelCase {
	return modelCase{
		name:       name,
		target:     target,
		record:     func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return float64(rng.IntN(classes)) },
		response:   func(u float64) float64 { return math.Mod(math.Floor(math.Abs(u)), float64(classes)) },
		state:      normalState(0.7),
		logDensity: func(theta, x []float64, y float64) float64 { return math.Log(probs(theta, x)[int(y)]) },
		power: func(theta, x []float64, beta float64) (s float64) {
			for _, p := range probs(theta, x) {
				s += math.Pow(p, beta)
			}
			return s
		},
	}
}

func softmaxCase(t testing.TB, l Loss) modelCase {
	m := must[*Softmax](t)(New(SoftmaxConfig{Features: 2, Classes: 3, Loss: l, Prior: priors.Gaussian{SD: 2}}))
	return classCase("softmax", m, 3, func(theta, x []float64) []float64 {
		return softmaxOf(dot(x, theta[:2]), dot(x, theta[2:4]), dot(x, theta[4:]))
	})
}

func dirichletCase(t testing.TB, l Loss) modelCase {
	m := must[*DirichletCategorical](t)(New(DirichletCategoricalConfig{Loss: l,
		Prior: priors.Dirichlet{Alpha: []float64{0.5, 2, 1}}}))
	return classCase("dirichlet", m, 3, func(theta, _ []float64) []float64 {
		return softmaxOf(0, theta[0], theta[1])
	})
}

// countCase completes a case of counts whose log mass at mean e^η is given.
func countCase(t testing.TB, name string, m *Regression, logMass func(mean, y float64) float64) modelCase {
	return modelCase{
		name:     name,
		target:   m,
		record:   func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return float64(rng.IntN(6)) },
		response: func(u float64) float64 { return math.Floor(math.Exp(min(u, 30))) },
		state:    normalState(0.9),
		logDensity: func(theta, x []float64, y float64) float64 {
			return logMass(math.Exp(dot(x, theta)), y)
		},
		power: func(theta, x []float64, beta float64) (s float64) {
			for y := range 5000 {
				s += math.Exp(beta * logMass(math.Exp(dot(x, theta)), float64(y)))
			}
			return s
		},
	}
}

func poissonCase(t testing.TB, l Loss) modelCase {
	m := must[*Regression](t)(New(RegressionConfig{Family: "poisson", Features: 2, Loss: l,
		Prior: priors.Gaussian{SD: 2}}))
	return countCase(t, "poisson", m, func(mean, y float64) float64 { return distuv.Poisson{Lambda: mean}.LogProb(y) })
}

func negBinomialCase(t testing.TB, l Loss) modelCase {
	const r = 1.7
	m := must[*Regression](t)(New(RegressionConfig{
		Family: "negative-binomial", Features: 2, Loss: l, Prior: priors.Gaussian{SD: 2}, Dispersion: r}))
	return countCase(t, "negative-binomial", m, func(mean, y float64) float64 {
		return math.Log(math.Gamma(r+1)/r)*-1 + lgamma(y+r) - lgamma(y+1) + r*math.Log(r/(r+mean)) + y*math.Log(mean/(r+mean))
	})
}

// networkCase has two inputs and two hidden units.
func networkCase(t testing.TB, l Loss, classes int, relu bool) modelCase {
	const scale = 0.8
	outputs := plainNetwork(classes, relu)
	cfg := NetworkConfig{Features: 2, Hidden: 2, Classes: classes, ReLU: relu, Loss: l, Prior: priors.Gaussian{SD: 2}}
	if classes == 0 {
		cfg.Scale = scale
	}
	m := must[*Network](t)(New(cfg))
	if classes > 0 {
		return classCase("network-classes", m, classes, func(theta,
			x []float64) []float64 {
			return softmaxOf(outputs(theta, x)...)
		})
	}
	return modelCase{
		name:   "network-regression",
		target: m,
		record: func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return rng.NormFloat64() },
		state:  normalState(0.7),
		logDensity: func(theta, x []float64, y float64) float64 {
			z := (y - outputs(theta, x)[0]) / scale
			return -z*z/2 - math.Log(scale*math.Sqrt(2*math.Pi))
		},
		power: func(_, _ []float64, beta float64) float64 {
			return math.Pow(2*math.Pi*scale*scale, (1-beta)/2) / math.Sqrt(beta)
		},
	}
}

// plainNetwork is a forward pass of two inputs and two hidden units.
func plainNetwork(classes int, relu bool) func(theta, x []float64) []float64 {
	return func(theta, x []float64) []float64 {
		hidden := make([]float64, 2)
		for j := range hidden {
			hidden[j] = theta[2*j]*x[0] + theta[2*j+1]*x[1] + theta[4+j]
			if !relu {
				hidden[j] = math.Tanh(hidden[j])
			} else {
				hidden[j] = math.Max(0, hidden[j])
			}
		}
		k := max(1, classes)
		out := make([]float64, k)
		for j := range out {
			out[j] = dot(hidden, theta[6+2*j:8+2*j]) + theta[6+2*k+j]
		}
		return out
	}
}

// scaledNetworkCase is regression with a sampled σ ≥ 0.3.
func scaledNetworkCase(t testing.TB, l Loss) modelCase {
	const minScale = 0.3
	outputs := plainNetwork(0, false)
	sigma := func(theta []float64) float64 { return minScale + math.Exp(theta[9]) }
	m := must[*Network](t)(New(NetworkConfig{Features: 2, Hidden: 2, Loss: l, Prior: priors.Gaussian{SD: 2},
		MinScale: minScale, ScalePrior: priors.HalfCauchy{Scale: 1}}))
	return modelCase{
		name:   "network-scale",
		target: m,
		record: func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return rng.NormFloat64() },
		state:  normalState(0.7),
		logDensity: func(theta, x []float64, y float64) float64 {
			z := (y - outputs(theta, x)[0]) / sigma(theta)
			return -z*z/2 - math.Log(sigma(theta)*math.Sqrt(2*math.Pi))
		},
		power: func(theta, _ []float64, beta float64) float64 {
			return math.Pow(2*math.Pi*sigma(theta)*sigma(theta), (1-beta)/2) / math.Sqrt(beta)
		},
	}
}
