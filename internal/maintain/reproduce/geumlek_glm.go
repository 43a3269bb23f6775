package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["geumlek-glm"] = figure{"test error of private logistic regression on Abalone and Adult (Geumlek et al. " +
		"2017, Fig. 3)", geumlekGLM}
}

const (
	glmBeta = 1e-3 // of the prior N(0, 1/(nβ))
	glmHeld = 1.0 / 3
)

// geumlekGLM draws from each posterior and counts wrong predictions on a third of the
// records, held out.
func geumlekGLM(ctx context.Context, s settings) error {
	tab := newTable("data", "order", "log ε", "concentrated", "diffuse", "truncated prior (pure ε)", "posterior",
		"acceptance")
	var panels []plot.Panel
	for _, d := range []struct {
		name    string
		data    dataset
		splits  int
		repeats int
	}{{"Abalone", abalone, 10, 5}, {"Adult", adult, 2, 20}} {
		rows, err := d.data.load(s)
		if err != nil {
			return err
		}
		unitNorm(rows)
		for _, order := range []float64{1, 10, 100} {
			p, err := s.glmPanel(ctx, tab, d.name, rows, order, s.count(d.splits), d.repeats)
			if err != nil {
				return err
			}
			panels = append(panels, p)
		}
	}
	return s.save("geumlek-glm", tab, 3, panels...)
}

// unitNorm scales every row to length 1, as the paper does.
func unitNorm(rows targets.Rows) {
	for i := range rows.Len() {
		row := rows.Row(i)
		length := distance(row, make([]float64, len(row)))
		for j := range row {
			row[j] /= max(length, 1e-12)
		}
	}
}

func (s settings) glmPanel(ctx context.Context, t *table, name string, rows targets.Rows, order float64, splits,
	repeats int) (plot.Panel, error) {
	p := plot.Panel{Title: fmt.Sprintf("%s, λ = %v", name, order), XLabel: "log ε", YLabel: "test error"}
	curves := []*curve{{name: "concentrated"}, {name: "diffuse"}, {name: "truncated prior"}, {name: "posterior"}}
	for logEps := -5.0; logEps <= 3; logEps += 2 {
		results, least := make([][]float64, len(curves)), 1.0
		for run := range splits {
			if err := ctx.Err(); err != nil {
				return p, err
			}
			train, test := split(s.stream("glm", name, run), rows, glmHeld)
			for k, c := range curves {
				m, err := glmMechanism(c.name, train, order, math.Exp(logEps))
				if err != nil {
					return p, err
				}
				draws, rate, err := laplaceWalk(s.stream("glm", name, run, order, logEps, k), m, train, repeats)
				if err != nil {
					return p, err
				}
				least = min(least, rate)
				for _, theta := range draws {
					results[k] = append(results[k], wrong(theta, test))
				}
			}
		}
		row := []any{name, order, logEps}
		for k, r := range results {
			curves[k].add(logEps, r)
			row = append(row, spread(r))
		}
		t.add(append(row, least)...)
	}
	for _, c := range curves {
		p.Lines = append(p.Lines, c.line())
	}
	return p, nil
}

// glmLaw is a posterior to draw from, with what its curvature needs to be known.
type glmLaw struct {
	*posterior.Mechanism
	weight, precision float64 // of the likelihood, and of the prior
}

// glmMechanism is one of the paper's three, or the posterior itself. The order 1 of
// the paper is the Kullback-Leibler limit.
func glmMechanism(name string, train targets.Rows, order, eps float64) (glmLaw, error) {
	cfg := posterior.LipschitzConfig{
		Features: train.P, Radius: 1, PriorSD: 1 / math.Sqrt(glmBeta*float64(train.Len())), Epsilon: eps,
		Order: max(order, 1+1e-9), Rule: posterior.Diffuse,
	}
	law := glmLaw{precision: glmBeta * float64(train.Len())}
	var err error
	switch name {
	case "concentrated":
		cfg.Rule = posterior.Concentrated
		law.precision = max(law.precision, 2*cfg.Order/eps)
	case "posterior":
		cfg.Epsilon = 1e9
	case "truncated prior":
		// The prior's mass outside the ball, 1000 of its own standard deviations and
		// more, is no number: drawn is the untruncated law of the same weight.
		ball, err := posterior.NewBall(posterior.BallConfig{Features: train.P, Radius: 1, Ball: 1 / glmBeta,
			PriorSD: cfg.PriorSD, Epsilon: eps})
		if err != nil {
			return law, err
		}
		cfg.Epsilon = 2 * cfg.Order * math.Pow(ball.Weight(), 2) / law.precision
	}
	if law.Mechanism, err = posterior.NewLipschitz(cfg); err == nil {
		law.weight = law.Weight()
	}
	return law, err
}

// wrong is the share of records whose class is not the likelier one.
func wrong(theta []float64, test targets.Rows) float64 {
	n := 0
	for i, y := range test.Y {
		eta := 0.0
		for j, x := range test.Row(i) {
			eta += x * theta[j]
		}
		if (eta > 0) != (y > 0.5) {
			n++
		}
	}
	return float64(n) / float64(test.Len())
}

// laplaceWalk draws from the posterior of a mechanism by an independence Metropolis
// chain that proposes from the normal approximation at the maximum. The posterior is
// log-concave with a normal prior and the approximation close, so the share of
// accepted proposals, which it returns, is near 1 and draws are nearly independent.
func laplaceWalk(rng *rand.Rand, m glmLaw, train targets.Rows, draws int) ([][]float64, float64, error) {
	const burn, thin = 20, 3
	p, err := m.Density(train)
	if err != nil {
		return nil, 0, err
	}
	mode, root, err := laplace(m, train)
	if err != nil {
		return nil, 0, err
	}
	d := len(mode)
	grad, z, u := make([]float64, d), make([]float64, d), make([]float64, d)
	offer := func() ([]float64, float64) {
		squares := 0.0
		for j := range z {
			z[j] = rng.NormFloat64()
			squares += z[j] * z[j]
		}
		step := mat.NewVecDense(d, nil)
		if err := step.SolveVec(root.T(), mat.NewVecDense(d, z)); err != nil {
			return nil, math.Inf(-1)
		}
		for j := range u {
			u[j] = mode[j] + step.AtVec(j)
		}
		return u, p.LogDensityGrad(grad, u) + squares/2
	}
	at := slices.Clone(mode)
	weight, accepted, offered := p.LogDensityGrad(grad, mode), 0, 0
	var out [][]float64
	for len(out) < draws {
		next, w := offer()
		offered++
		if math.Log(rng.Float64()) < w-weight {
			accepted++
			weight = w
			copy(at, next)
		}
		if offered > burn && (offered-burn)%thin == 0 {
			out = append(out, slices.Clone(at))
		}
	}
	return out, float64(accepted) / float64(offered), nil
}

// laplace is the maximum, and the lower Cholesky factor of the curvature there.
func laplace(m glmLaw, train targets.Rows) ([]float64, *mat.TriDense, error) {
	f := erm.Objective{X: train.X, Y: train.Y, Shape: erm.Shape{Records: train.Len(), Features: train.P, Radius: 1,
		Weight: m.weight, Ridge: m.precision}}
	mode, err := f.Minimise(context.Background())
	if err != nil {
		return nil, nil, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(f.Hessian(mode)) {
		return nil, nil, fmt.Errorf("the curvature is not positive definite")
	}
	var root mat.TriDense
	chol.LTo(&root)
	return mode, &root, nil
}
