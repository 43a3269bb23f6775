package ops_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/chaudhuri"
	"github.com/dpmcmc/dpmcmc/ops/dpsgd"
	"github.com/dpmcmc/dpmcmc/ops/laplaceapprox"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

const (
	features  = 3
	intercept = 0.5
	priorSD   = 3.0
	delta     = 1e-5
)

// simulate draws d coefficients from the prior, and records whose features have this
// spread and whose last column is an intercept of ½, ‖x‖₂ ≤ 1.
func simulate(rng *rand.Rand, n, d int, spread float64) (theta []float64, rows targets.Rows) {
	theta = make([]float64, d)
	priors.Gaussian{SD: priorSD}.Sample(theta, rng)
	rows.P = d
	for range n {
		x := make([]float64, d)
		for j := range d - 1 {
			x[j] = spread * rng.NormFloat64()
		}
		x[d-1] = intercept
		x = ops.Project(targets.Rows{X: x, P: d}, 1).X
		eta := 0.0
		for j, v := range x {
			eta += v * theta[j]
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			y = 1
		}
		rows.X, rows.Y = append(rows.X, x...), append(rows.Y, y)
	}
	return
}

// estimators are one estimate each of the coefficients at (epsilon, delta), or
// (epsilon, 0) where the mechanism has no δ.
func estimators(n int, epsilon float64) map[string]func(*ops.Source, targets.Rows) ([]float64, error) {
	draw := func(m *posterior.Mechanism, err error) func(*ops.Source, targets.Rows) ([]float64, error) {
		return func(src *ops.Source, rows targets.Rows) ([]float64, error) {
			if err != nil {
				return nil, err
			}
			out, err := m.Release(src, rows, 1, posterior.NUTS(300, 20))
			if err != nil {
				return nil, err
			}
			return out[0], nil
		}
	}
	perturb := func(method chaudhuri.Method, lambda float64) func(*ops.Source, targets.Rows) ([]float64, error) {
		return func(src *ops.Source, rows targets.Rows) ([]float64, error) {
			m, err := chaudhuri.New(chaudhuri.Config{Method: method, Features: features, Records: n, Radius: 1, Lambda: lambda,
				Epsilon: epsilon})
			if err != nil {
				return nil, err
			}
			return m.Release(src, rows)
		}
	}
	prior := 1 / (priorSD * priorSD * float64(n))
	return map[string]func(*ops.Source, targets.Rows) ([]float64, error){
		"beta-ops": draw(betaPosterior(epsilon)),
		"minami": draw(posterior.NewLipschitz(posterior.LipschitzConfig{Features: features, Radius: 1,
			PriorSD: priorSD, Rule: posterior.Minami, Epsilon: epsilon, Delta: delta})),
		"lipschitz-gdp": draw(posterior.NewLipschitz(posterior.LipschitzConfig{Features: features, Radius: 1,
			PriorSD: priorSD, Rule: posterior.Gaussian, Epsilon: epsilon, Delta: delta})),
		"output-fixed-prior":  perturb(chaudhuri.Output, prior),
		"output-sqrt-n":       perturb(chaudhuri.Output, 1/(9*math.Sqrt(float64(n)))),
		"objective":           perturb(chaudhuri.Objective, prior),
		"laplaceapprox":       laplaceEstimate(n, epsilon),
		"dpsgd-one-lr-by-all": sgdEstimate(n, epsilon),
	}
}

func betaPosterior(epsilon float64) (*posterior.Mechanism, error) {
	beta, err := posterior.SolveBeta(epsilon, posterior.Mass())
	if err != nil {
		return nil, err
	}
	loss := targets.Loss{Beta: beta}
	target, err := targets.New(targets.RegressionConfig{Features: features, Loss: loss,
		Prior: priors.Gaussian{SD: priorSD}})
	if err != nil {
		return nil, err
	}
	return posterior.NewBounded(posterior.Config{Target: target, Epsilon: epsilon})
}

func laplaceEstimate(n int, epsilon float64) func(*ops.Source, targets.Rows) ([]float64, error) {
	return func(src *ops.Source, rows targets.Rows) ([]float64, error) {
		m, err := laplace(n, features, epsilon)
		if err != nil {
			return nil, err
		}
		r, err := m.Release(src, rows)
		if err != nil {
			return nil, err
		}
		return r.Mean, nil
	}
}

// laplace is the noise-aware approximation for records as they are simulated.
func laplace(n, d int, epsilon float64) (*laplaceapprox.Mechanism, error) {
	columns := make([]surrogates.Column, d)
	columns[d-1] = surrogates.Column{Kind: surrogates.Constant, Upper: intercept}
	return laplaceapprox.New(laplaceapprox.Config{Features: d, Records: n, Radius: 1, PriorSD: priorSD, Epsilon: epsilon,
		Delta: delta, Columns: columns})
}

func sgdEstimate(n int, epsilon float64) func(*ops.Source, targets.Rows) ([]float64, error) {
	return func(src *ops.Source, rows targets.Rows) ([]float64, error) {
		target, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: priorSD}})
		if err != nil {
			return nil, err
		}
		m, err := dpsgd.New(dpsgd.Config{Target: target, Records: n, Rate: 0.05, Steps: 400, Clip: 1, LearningRate: 2,
			Epsilon: epsilon, Delta: delta, Average: 0.5})
		if err != nil {
			return nil, err
		}
		return m.Release(src, rows)
	}
}

// BenchmarkRMSE reports the root-mean-square error of one estimate over data sets
// whose coefficients come from the prior: the table of docs/ops.md.
func BenchmarkRMSE(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, epsilon := range []float64{0.2, 1, 5} {
			for name, estimate := range estimators(n, epsilon) {
				b.Run(fmt.Sprintf("n=%d/ε=%v/%s", n, epsilon, name), func(b *testing.B) {
					squares, runs := 0.0, uint64(0)
					for b.Loop() {
						rng := rand.New(rand.NewPCG(runs, 77))
						seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(name), runs))
						theta, rows := simulate(rng, n, features, 0.5)
						got, err := estimate(ops.NewInsecureSource(seed), rows)
						if err != nil {
							b.Fatal(err)
						}
						for j, v := range got {
							squares += (v - theta[j]) * (v - theta[j]) / features
						}
						runs++
					}
					b.ReportMetric(math.Sqrt(squares/float64(runs)), "rmse")
				})
			}
		}
	}
}

// TestEveryEstimatorLearns: at ε = 5 and n = 2000 each is closer to the truth than
// the prior's mean over two data sets, whose seeds are fixed, except output
// perturbation of a fixed prior, whose noise does not fall with n.
func TestEveryEstimatorLearns(t *testing.T) {
	const n = 2000
	for name, estimate := range estimators(n, 5) {
		squares, null := 0.0, 0.0
		for run := range uint64(2) {
			theta, rows := simulate(rand.New(rand.NewPCG(run, 77)), n, features, 0.5)
			got, err := estimate(ops.NewInsecureSource([32]byte{byte(run)}), rows)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for j, v := range got {
				squares += (v - theta[j]) * (v - theta[j])
				null += theta[j] * theta[j]
			}
		}
		if learns := squares < null/2; learns != (name != "output-fixed-prior") {
			t.Errorf("%s: squared error %v, that of guessing 0 is %v", name, squares, null)
		}
	}
}
