package targets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// A modelCase is one model under one loss, with what the tests need to know of
// it that does not come from the model's own code.
type modelCase struct {
	name   string
	loss   Loss
	target Target
	// record sets x and returns y, of a plausible record.
	record func(rng *rand.Rand, x []float64) (y float64)
	// response turns any number of a search into a response.
	response func(u float64) float64
	// state sets theta to a plausible parameter.
	state func(rng *rand.Rand, theta []float64)
	// logDensity is the textbook log density of a record.
	logDensity func(theta, x []float64, y float64) float64
	// power is ∫f^β by summation or quadrature of the textbook density.
	power func(theta, x []float64, beta float64) float64
}

func betaLoss(t testing.TB, beta float64) Loss {
	t.Helper()
	if beta == 1 {
		return Loss{}
	}
	return Loss{Beta: beta}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// built keeps the cases of a loss: some models take a while to construct.
var built = map[Loss][]modelCase{}

// modelCases returns every model under the given loss.
func modelCases(t testing.TB, l Loss) []modelCase {
	if cases, ok := built[l]; ok {
		return cases
	}
	cases := []modelCase{
		binaryCase(t, l, "logistic", func(e float64) float64 { return 1 / (1 + math.Exp(-e)) }),
		binaryCase(t, l, "probit", func(e float64) float64 { return math.Erfc(-e/math.Sqrt2) / 2 }),
		binaryCase(t, l, "cloglog", func(e float64) float64 { return 1 - math.Exp(-math.Exp(e)) }),
		binaryCase(t, l, "loglog", func(e float64) float64 { return math.Exp(-math.Exp(-e)) }),
		linearCase(t, l, 0),
		linearCase(t, l, 4),
		medianCase(t, l),
		mixtureCase(t, l),
		meanCase(t, l, 0),
		meanCase(t, l, 0.7),
		heteroscedasticCase(t, l),
		softmaxCase(t, l),
		dirichletCase(t, l),
		poissonCase(t, l),
		negBinomialCase(t, l),
		networkCase(t, l, 0, false),
		scaledNetworkCase(t, l),
		networkCase(t, l, 3, true),
	}
	for i := range cases {
		cases[i].loss = l
		if cases[i].response == nil {
			cases[i].response = func(u float64) float64 { return u }
		}
		cases[i].name += "/" + l.String()
	}
	built[l] = cases
	return cases
}

func normalState(sd float64) func(rng *rand.Rand, theta []float64) {
	return func(rng *rand.Rand, theta []float64) {
		for i := range theta {
			theta[i] = sd * rng.NormFloat64()
		}
	}
}

func normals(rng *rand.Rand, x []float64) {
	for i := range x {
		x[i] = rng.NormFloat64()
	}
}

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func binaryCase(t testing.TB, l Loss, name string,
	prob func(eta float64) float64) modelCase {
	mass := func(eta, y float64) float64 {
		if y == 1 {
			return prob(eta)
		}
		return 1 - prob(eta)
	}
	return modelCase{
		name: name,
		target: must[*Regression](t)(New(RegressionConfig{Family: name, Features: 3, Loss: l,
			Prior: priors.Gaussian{SD: 2}})),
		record: func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return float64(rng.IntN(2)) },
		state:  normalState(0.7),
		logDensity: func(theta, x []float64, y float64) float64 {
			return math.Log(mass(dot(x, theta), y))
		},
		power: func(theta, x []float64, beta float64) float64 {
			eta := dot(x, theta)
			return math.Pow(mass(eta, 0), beta) + math.Pow(mass(eta, 1), beta)
		},
	}
}

// integrate is ∫f over the real line about centre, by Gauss–Legendre panels.
func integrate(f func(float64) float64, centre, width float64) (s float64) {
	const panels = 40
	for k := -panels; k < panels; k++ {
		s += quad.Fixed(f, centre+float64(k)*width, centre+float64(k+1)*width, 20, nil, 0)
	}
	return s
}

func linearCase(t testing.TB, l Loss, nu float64) modelCase {
	const minScale = 0.3
	logf := func(theta, x []float64, y float64) float64 {
		sigma := minScale + math.Exp(theta[2])
		z := (y - dot(x, theta[:2])) / sigma
		if nu == 0 {
			return -z*z/2 - math.Log(sigma*math.Sqrt(2*math.Pi))
		}
		c := math.Gamma((nu+1)/2) / (math.Sqrt(nu*math.Pi) * math.Gamma(nu/2))
		return math.Log(c*math.Pow(1+z*z/nu, -(nu+1)/2)) - math.Log(sigma)
	}
	name := "linear-normal"
	if nu > 0 {
		name = "linear-student"
	}
	return modelCase{
		name: name,
		target: must[*Linear](t)(New(LinearConfig{Features: 2, Loss: l, Prior: priors.Gaussian{SD: 2},
			MinScale: minScale, ScalePrior: priors.HalfCauchy{Scale: 1}, DegreesOfFreedom: nu})),
		record:     func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return 2 * rng.NormFloat64() },
		state:      normalState(0.7),
		logDensity: logf,
		power: func(theta, x []float64, beta float64) float64 {
			centre := dot(x, theta[:2])
			// y = centre + sinh(u) covers heavy tails with equal panels of u.
			return integrate(func(u float64) float64 {
				return math.Exp(beta*logf(theta, x, centre+math.Sinh(u))) * math.Cosh(u)
			}, 0, 0.5)
		},
	}
}

func medianCase(t testing.TB, l Loss) modelCase {
	const scale = 0.4
	logf := func(theta, x []float64, y float64) float64 {
		return -math.Abs(y-dot(x, theta))/scale - math.Log(2*scale)
	}
	return modelCase{
		name: "median",
		target: must[*Regression](t)(New(RegressionConfig{Family: "median", Features: 2, Loss: l, Scale: scale,
			Prior: priors.Gaussian{SD: 2}})),
		record:     func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return 2 * rng.NormFloat64() },
		state:      normalState(0.7),
		logDensity: logf,
		power: func(_, _ []float64, beta float64) float64 {
			return math.Pow(2*scale, 1-beta) / beta // ∫ e^(−β|u|/s) du = 2s/β
		},
	}
}

func mixtureCase(t testing.TB, l Loss) modelCase {
	density := func(theta []float64, x float64) float64 {
		n := func(mu float64) float64 { return math.Exp(-(x-mu)*(x-mu)/4) / math.Sqrt(4*math.Pi) }
		return 0.5*n(theta[0]) + 0.5*n(theta[0]+theta[1])
	}
	return modelCase{
		name:       "mixture",
		target:     must[*Mixture](t)(New(MixtureConfig{Loss: l, Prior: priors.Gaussian{SDs: []float64{math.Sqrt(10), 1}}})),
		record:     func(rng *rand.Rand, x []float64) float64 { x[0] = 2 * rng.NormFloat64(); return 0 },
		state:      normalState(1.5),
		logDensity: func(theta, x []float64, _ float64) float64 { return math.Log(density(theta, x[0])) },
		power: func(theta, _ []float64, beta float64) float64 {
			return integrate(func(x float64) float64 { return math.Pow(density(theta, x), beta) }, theta[0]+theta[1]/2, 1)
		},
	}
}

func meanCase(t testing.TB, l Loss, curvature float64) modelCase {
	cov := mat.NewSymDense(2, []float64{0.5, 0.3, 0.3, 0.4})
	const det = 0.5*0.4 - 0.3*0.3
	name := "mean"
	if curvature != 0 {
		name = "banana"
	}
	return modelCase{
		name: name,
		target: must[*GaussianMean](t)(New(GaussianMeanConfig{Features: 2, Covariance: cov,
			Curvature: curvature, Loss: l, Prior: priors.Gaussian{SD: 3}})),
		record: func(rng *rand.Rand, x []float64) float64 { normals(rng, x); return 0 },
		state:  normalState(0.7),
		logDensity: func(theta, x []float64, _ float64) float64 {
			u, v := x[0]-theta[0], x[1]-theta[1]-curvature*theta[0]*theta[0]
			return -(0.4*u*u-0.6*u*v+0.5*v*v)/(2*det) - math.Log(2*math.Pi*math.Sqrt(det))
		},
		power: func(_, _ []float64, beta float64) float64 {
			return math.Pow(2*math.Pi*math.Sqrt(det), 1-beta) / beta
		},
	}
}

// sample returns n records of the case.
func (c *modelCase) sample(rng *rand.Rand, n int) Rows {
	p, response := c.target.Shape()
	r := Rows{X: make([]float64, n*p), P: p}
	if response {
		r.Y = make([]float64, n)
	}
	for i := range n {
		y := c.record(rng, r.X[i*p:(i+1)*p])
		if response {
			r.Y[i] = y
		}
	}
	return r
}

func (c *modelCase) draw(rng *rand.Rand) []float64 {
	theta := make([]float64, c.target.Dim())
	c.state(rng, theta)
	return theta
}

func losses(t testing.TB) []Loss {
	var ls []Loss
	for _, beta := range []float64{1, 1.1, 1.5, 2, 3.5} {
		ls = append(ls, betaLoss(t, beta))
	}
	return ls
}

// forEachCase runs f on every model under every loss.
func forEachCase(t *testing.T, f func(t *testing.T, c *modelCase, rng *rand.Rand)) {
	for _, l := range losses(t) {
		for _, c := range modelCases(t, l) {
			t.Run(c.name, func(t *testing.T) { f(t, &c, rand.New(rand.NewPCG(1, 2))) })
		}
	}
}
