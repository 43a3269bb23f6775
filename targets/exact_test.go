package targets

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/priors"
)

func newRNG() *rand.Rand { return rand.New(rand.NewPCG(31, 32)) }

// logisticBig is the loss of η_y = s in 400-bit arithmetic, for integer b ≥ 1:
// −(p^b − 1)/b + (p^β + q^β − 1)/β.
func logisticBig(s float64, b int) float64 {
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	// e^−|s| by squaring the Taylor series of e^(−|s|/2^40).
	r := new(big.Float).SetMantExp(exact(-math.Abs(s)), -40)
	u, term := exact(1), exact(1)
	for k := 1; k < 25; k++ {
		term.Mul(term, r).Quo(term, exact(float64(k)))
		u.Add(u, term)
	}
	for range 40 {
		u.Mul(u, u)
	}
	p := new(big.Float).Quo(exact(1), new(big.Float).Add(exact(1), u))
	q := new(big.Float).Mul(u, p)
	if s < 0 {
		p, q = q, p
	}
	power := func(x *big.Float, n int) *big.Float {
		v := exact(1)
		for range n {
			v.Mul(v, x)
		}
		return v
	}
	score := new(big.Float).Quo(new(big.Float).Sub(exact(1), power(p, b)), exact(float64(b)))
	sum := new(big.Float).Add(power(p, b+1), power(q, b+1))
	integral := new(big.Float).Quo(sum.Sub(sum, exact(1)), exact(float64(b+1)))
	v, _ := score.Add(score, integral).Float64()
	return v
}

// TestLogisticIsAccurate: the error is a few roundings of the loss, or below
// 10⁻¹⁷ where the label is certain and the loss nearly nothing. The probability
// of the label goes down to 10⁻³⁰⁰.
func TestLogisticIsAccurate(t *testing.T) {
	for _, b := range []int{1, 2} {
		m := must[*Regression](t)(New(RegressionConfig{Features: 1, Loss: betaLoss(t, float64(1+b)),
			Prior: priors.Gaussian{SD: 1}}))
		for _, s := range []float64{-690, -300, -40, -5, -1, -0.01, 0, 0.3, 2, 10, 36, 40} {
			got := []float64{s}
			m.LossAt(got, got, []float64{1})
			want := logisticBig(s, b)
			if math.Abs(got[0]-want) > 1e-14*math.Abs(want)+1e-17 {
				t.Errorf("β = %d, log-odds %v: loss %v, exact %v", 1+b, s, got[0], want)
			}
		}
	}
}

// TestFarPredictors: at |η| up to 10⁸, and β down to 1 + 10⁻⁸, losses and slopes
// are numbers within their bounds, and an outcome that is certain costs nothing.
func TestFarPredictors(t *testing.T) {
	for _, l := range []Loss{betaLoss(t, 1+1e-8), betaLoss(t, 1.5), betaLoss(t, 2)} {
		for _, c := range modelCases(t, l) {
			m, ok := c.target.(*Regression)
			if !ok {
				continue
			}
			for _, eta := range []float64{-1e8, -1e3, -40, 40, 1e3, 1e8} {
				for _, y := range []float64{0, 1, 7, 1e6} {
					loss, slope := []float64{eta}, []float64{eta}
					m.LossAt(loss, loss, []float64{y})
					m.SlopeAt(slope, slope, []float64{y})
					// The table of a count's Σf^β is good to 10⁻⁹.
					if !(loss[0] >= -1e-9 && loss[0] <= m.LossRange()) || !(math.Abs(slope[0]) <= m.PredictorLipschitz()) {
						t.Errorf("%s, η = %v, y = %v: loss %v, slope %v", c.name, eta, y, loss[0], slope[0])
					}
				}
			}
			if c.name == "median/"+l.String() {
				continue // of a density, where no outcome is certain
			}
			certain := []float64{-1e3}
			m.LossAt(certain, certain, []float64{0})
			if math.Abs(certain[0]) > 1e-300 {
				t.Errorf("%s: a certain outcome costs %v", c.name, certain[0])
			}
		}
	}
}

// TestProbitTail compares the normal tail with the continued fraction of its
// Mills ratio (priors.Laplace), 400 terms deep.
func TestProbitTail(t *testing.T) {
	for _, x := range []float64{2, 5, 10, 19.9, 20.1, 37, 100, 1e4} {
		mills := x
		for k := 400; k >= 1; k-- {
			mills = x + float64(k)/mills
		}
		log, hazard := convex.NormalTail(x)
		want := -x*x/2 - math.Log(2*math.Pi)/2 - math.Log(mills)
		if math.Abs(log-want) > 1e-12*math.Abs(want) || math.Abs(hazard/mills-1) > 1e-12 {
			t.Errorf("t = %v: log tail %v and hazard %v, continued fraction %v and %v", x, log, hazard, want, mills)
		}
	}
}

// TestDirichletPosterior: with two classes the posterior density in the logit,
// prior times likelihood, is proportional to the stated beta distribution.
func TestDirichletPosterior(t *testing.T) {
	const tau = 0.7
	m := must[*DirichletCategorical](t)(New(DirichletCategoricalConfig{Prior: priors.Dirichlet{Alpha: []float64{3, 2}}}))
	rows := Rows{Y: []float64{1, 0, 0, 1, 1, 0, 0}}
	post := m.Posterior([]float64{4, 3}, tau)
	if want := []float64{3 + tau*4, 2 + tau*3}; post.Alpha[0] != want[0] || post.Alpha[1] != want[1] {
		t.Fatalf("posterior concentrations %v, want %v", post.Alpha, want)
	}
	var offset float64
	for k, logit := range []float64{-3, -1, 0, 0.5, 2} {
		theta := []float64{logit}
		log := m.LogPrior(theta)
		for _, l := range lossOf(m, theta, rows) {
			log -= tau * l
		}
		p := 1 / (1 + math.Exp(-logit))
		exact := post.Alpha[1]*math.Log(p) + post.Alpha[0]*math.Log(1-p) // Jacobian p(1−p) included
		if k == 0 {
			offset = log - exact
		} else if math.Abs(log-exact-offset) > 1e-12 {
			t.Errorf("logit %v: log posterior %v, beta density %v", logit, log-offset, exact)
		}
	}
}

// TestGaussianMeanPosterior: prior N(0, 3²) and n records of covariance I give
// the posterior N(S/(n+1/9), 1/(n+1/9)) in every component, S being their sum.
func TestGaussianMeanPosterior(t *testing.T) {
	m := must[*GaussianMean](t)(New(GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 3}}))
	rows := Rows{X: []float64{1, 2, -0.5, 1, 0.25, 3}, P: 2}
	precision := 3 + 1.0/9
	mean := []float64{0.75 / precision, 6 / precision}
	grad, sum := make([]float64, 6), make([]float64, 2)
	m.LossGrad(grad, mean, rows)
	m.GradLogPrior(sum, mean)
	for i, g := range grad {
		sum[i%2] -= g
	}
	if math.Abs(sum[0]) > 1e-14 || math.Abs(sum[1]) > 1e-14 {
		t.Errorf("gradient %v at the exact posterior mean", sum)
	}
	logPosteriorOf := func(m *GaussianMean, theta ...float64) float64 {
		s := m.LogPrior(theta)
		for _, l := range lossOf(m, theta, rows) {
			s -= l
		}
		return s
	}
	logPosterior := func(theta ...float64) float64 { return logPosteriorOf(m, theta...) }
	drop := logPosterior(mean...) - logPosterior(mean[0]+0.3, mean[1])
	if want := precision * 0.3 * 0.3 / 2; math.Abs(drop-want) > 1e-13 {
		t.Errorf("log posterior falls by %v, want %v", drop, want)
	}
	// The banana is the same posterior in bent coordinates.
	bent := must[*GaussianMean](t)(New(GaussianMeanConfig{Features: 2, Curvature: 20, Prior: priors.Gaussian{SD: 3}}))
	if got, want := logPosteriorOf(bent, 0.5, -2), logPosterior(0.5, -2+20*0.25); math.Abs(got-want) > 1e-12 {
		t.Errorf("log posterior of the banana %v, straightened %v", got, want)
	}
}

// TestPriorSamplesHaveZeroMeanScore: for a smooth proper prior the gradient of
// its log density has mean zero under its own draws. The mean of 10000 lies
// within 6 standard errors but for a probability of 2e-9 a parameter, below 1e-6
// a run; draws moved by 0.4 must fail in some parameter.
func TestPriorSamplesHaveZeroMeanScore(t *testing.T) {
	for _, c := range modelCases(t, Loss{}) {
		target := c.target.(GradTarget)
		worst := func(shift float64) (z float64) {
			const n = 10000
			rng, d := newRNG(), target.Dim()
			theta, grad := make([]float64, d), make([]float64, d)
			sum, square := make([]float64, d), make([]float64, d)
			for range n {
				c.target.(PriorSampler).SamplePrior(theta, rng)
				for j := range theta {
					theta[j] += shift
				}
				target.GradLogPrior(grad, theta)
				for j, g := range grad {
					sum[j] += g
					square[j] += g * g
				}
			}
			for j, s := range sum {
				z = max(z, math.Abs(s)/math.Sqrt(square[j]))
			}
			return z
		}
		if z := worst(0); z > 6 {
			t.Errorf("%s: the mean score of prior draws is %.1f standard errors from zero", c.name, z)
		}
		if z := worst(0.4); z <= 6 {
			t.Errorf("%s: moved draws pass at %.1f standard errors", c.name, z)
		}
	}
}
