package targets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/priors"
)

// setting is a random model, with parameters of every size that its constructor
// accepts, and a radius.
type setting struct {
	name   string
	radius float64
	build  func() (Target, error)
}

// spread returns a positive number of any size, often a small multiple of ½.
func spread(rng *rand.Rand) float64 {
	if rng.IntN(3) == 0 {
		return float64(1+rng.IntN(8)) / 2
	}
	decades := []float64{1, 5, 20, 150}[rng.IntN(4)]
	return math.Pow(10, decades*(2*rng.Float64()-1))
}

func randomLoss(rng *rand.Rand) Loss {
	if rng.IntN(4) == 0 {
		return Loss{}
	}
	for {
		l := Loss{Beta: 1 + spread(rng)}
		if _, err := l.checked(); err == nil {
			return l
		}
	}
}

func randomSetting(rng *rand.Rand) setting {
	l, s, nu, radius := randomLoss(rng), spread(rng), spread(rng), spread(rng)
	if rng.IntN(3) == 0 {
		nu = 0
	}
	prior := priors.Prior(priors.Gaussian{SD: 1})
	reg := RegressionConfig{Features: 2, Loss: l, Prior: prior}
	of := func(family string) (Target, error) {
		reg.Family = family
		return New(reg)
	}
	models := []struct {
		name  string
		build func() (Target, error)
	}{
		{"linear", func() (Target, error) {
			return New(LinearConfig{Features: 2, Loss: l, Prior: prior, MinScale: s, DegreesOfFreedom: nu,
				ScalePrior: priors.HalfNormal{SD: 1}})
		}},
		{"heteroscedastic", func() (Target, error) {
			return New(HeteroscedasticConfig{Features: 1, Loss: l, Prior: prior, MinScale: s,
				DegreesOfFreedom: nu})
		}},
		{"network", func() (Target, error) {
			return New(NetworkConfig{Features: 1, Hidden: 2, Loss: l, Prior: priors.Uniform{Low: -40, High: 40}, MinScale: s,
				ScalePrior: priors.HalfNormal{SD: 1}})
		}},
		{"logistic", func() (Target, error) { return New(reg) }},
		{"probit", func() (Target, error) { return of("probit") }},
		{"cloglog", func() (Target, error) { return of("cloglog") }},
		{"loglog", func() (Target, error) { return of("loglog") }},
		{"softmax", func() (Target, error) {
			return New(SoftmaxConfig{Features: 1, Classes: 3, Loss: l, Prior: prior})
		}},
		{"mixture", func() (Target, error) { return New(MixtureConfig{Loss: l, Prior: prior, Variance: s}) }},
		{"Poisson", func() (Target, error) { return of("poisson") }},
		{"negative binomial", func() (Target, error) {
			reg.Dispersion = s
			return of("negative-binomial")
		}},
		{"mean", func() (Target, error) { return New(GaussianMeanConfig{Features: 2, Loss: l, Prior: prior}) }},
	}
	weights := []int{0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10} // where searches have two dimensions
	m := models[weights[rng.IntN(len(weights))]]
	name := fmt.Sprintf("%s, loss %s, scale or dispersion %v, ν = %v, radius %v", m.name, l.String(), s, nu, radius)
	return setting{name, radius, m.build}
}

// attacked says in what a certificate of the model fails: it is no bound of what
// gradients and moves do at random records and states.
func (s setting) attacked(rng *rand.Rand) string {
	m, err := s.build()
	if err != nil {
		return "" // refused
	}
	shaped := m.(interface{ Shape() (int, bool) })
	p, response := shaped.Shape()
	rows := Rows{X: make([]float64, p), P: p}
	if response {
		rows.Y = make([]float64, 1)
	}
	bound, span := m.(GradCertificate).GradBound(s.radius), m.(RangeCertificate).LossRange()
	if !(bound >= 0 && span >= 0) {
		return fmt.Sprintf("the bound is %v, the range %v", bound, span)
	}
	theta, next, grad, ratio := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, m.Dim()),
		make([]float64, 1)
	for range 400 { // far cheaper than the bound
		drawAttack(rng, theta, next, rows, s.radius)
		m.(GradTarget).LossGrad(grad, theta, rows)
		if g := hypot(grad); g > bound {
			return fmt.Sprintf("a gradient of %v exceeds %v", g, bound)
		}
		m.(RatioTarget).LossRatio(ratio, theta, next, rows)
		most := m.(RatioCertificate).RatioBound(theta, next, s.radius)
		var size float64 // of the two losses, whose rounding the ratio has
		for _, state := range [][]float64{theta, next} {
			m.Loss(grad[:1], state, rows)
			size = max(size, math.Abs(grad[0]))
		}
		if r := math.Abs(ratio[0]); !(most >= 0) || r > most+1e-11*size+1e-11 {
			return fmt.Sprintf("a move changes the loss by %v; the bound is %v", r, most)
		}
	}
	return ""
}

// hypot is the norm of v, without the squares that may overflow.
func hypot(v []float64) (norm float64) {
	for _, x := range v {
		norm = math.Hypot(norm, x)
	}
	return norm
}

func drawAttack(rng *rand.Rand, theta, next []float64, rows Rows, radius float64) {
	for i := range theta {
		theta[i] = rng.NormFloat64() * math.Pow(10, 3*rng.Float64()-1.5)
		next[i] = theta[i] + rng.NormFloat64()*math.Pow(10, 4*rng.Float64()-3)
	}
	var square float64
	for i := range rows.X {
		rows.X[i] = rng.NormFloat64()
		square += rows.X[i] * rows.X[i]
	}
	for i := range rows.X {
		rows.X[i] *= (1 - 1e-9) * min(radius, 1e3) / math.Sqrt(square)
	}
	for i := range rows.Y {
		rows.Y[i] = math.Round(rng.NormFloat64() * math.Pow(10, 2*rng.Float64()-1))
	}
}

// TestBoundsInBoundedTime: every setting that a constructor accepts, whatever
// its size, is built and certified in seconds, and no random record exceeds what
// is certified. Settings are drawn with a fixed seed: there are no false alarms.
func TestBoundsInBoundedTime(t *testing.T) {
	const limit = time.Minute // on a machine however busy; the slowest takes a second or two
	settings := 300
	if testing.Short() {
		settings = 150
	}
	rng := rand.New(rand.NewPCG(10, 1))
	given := []setting{
		{"linear, Student errors with ν = 1", 0.5, func() (Target, error) {
			return New(LinearConfig{Features: 1, Prior: priors.Gaussian{SD: 1}, MinScale: 1, DegreesOfFreedom: 1,
				ScalePrior: priors.HalfNormal{SD: 1}})
		}},
		{"heteroscedastic, Student errors with ν = 1", 1, func() (Target, error) {
			return New(HeteroscedasticConfig{Features: 1, Prior: priors.Gaussian{SD: 1}, MinScale: 2,
				DegreesOfFreedom: 1})
		}},
		{"Poisson, β = 95", 1, func() (Target, error) {
			return New(RegressionConfig{Family: "poisson", Features: 1, Prior: priors.Gaussian{SD: 1}, Loss: betaLoss(t, 95)})
		}},
	}
	for range settings {
		given = append(given, randomSetting(rng))
	}
	for k, s := range given {
		failed := make(chan string, 1)
		go func() { failed <- s.attacked(rand.New(rand.NewPCG(10, uint64(k)))) }()
		select {
		case why := <-failed:
			if why != "" {
				t.Errorf("%s: %s", s.name, why)
			}
		case <-time.After(limit):
			t.Fatalf("%s: no bound after %v", s.name, limit)
		}
	}
}

// TestRatioBoundAtTheLeastScale: where e^ω vanishes beside the least scale, the log
// loss of normal errors still has no bound on moves of ω, and says so with +Inf.
func TestRatioBoundAtTheLeastScale(t *testing.T) {
	m := must[*Linear](t)(New(LinearConfig{Features: 2, Prior: priors.Gaussian{SD: 1}, MinScale: 0.5,
		ScalePrior: priors.HalfCauchy{Scale: 1}}))
	if v := m.RatioBound([]float64{0, 0, -40}, []float64{0, 0, -50}, 1); !math.IsInf(v, 1) {
		t.Errorf("the bound is %v", v)
	}
}
