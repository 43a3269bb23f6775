package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// betaArm is a loss and a temperature.
type betaArm struct {
	name      string
	beta, tau float64
	clip      float64 // of a record's gradient; 0 for the loss's certificate
	linear    bool    // for linear regression only
}

// betaScore is what one private chain achieved.
type betaScore struct {
	meanError      float64 // ‖mean of the coefficients − truth‖
	freeError      float64 // the same of the mode of the arm's own posterior, without privacy
	sdRatio        float64 // geometric mean over coefficients of the chain's sd over that of the arm's posterior
	coverage       float64 // share of the coefficients' 90% intervals that hold the truth
	prediction     float64 // AUC, or root mean squared error of the predicted means, on clean records
	freePrediction float64
	clip, step     float64
}

// The truth, an intercept last. Features are uniform on [−1, 1], so that rows have
// norm at most 2.
var betaTruth = []float64{1, -1, 0.5, 0.3}

const (
	betaSigma    = 1.0
	betaMinScale = 0.5
	betaDirt     = 0.1 // share of records that are spoilt in the dirty condition
)

// betaSimulate simulates records: labels of a logistic regression, a tenth of them
// flipped when dirty; or responses with normal errors, to a tenth of which 10σ is
// added.
func betaSimulate(rng *rand.Rand, model string, n int, dirty bool) curator.Records {
	p := len(betaTruth)
	r := curator.Records{X: make([]float64, 0, n*p), Features: p, Y: make([]float64, n), Radius: 2}
	for i := range n {
		eta := 0.0
		for j, t := range betaTruth {
			x := 2*rng.Float64() - 1
			if j == p-1 {
				x = 1
			}
			r.X = append(r.X, x)
			eta += x * t
		}
		noise, spoilt := rng.NormFloat64(), rng.Float64() < betaDirt && dirty
		switch {
		case model == "linear":
			r.Y[i] = eta + betaSigma*noise
			if spoilt {
				r.Y[i] += 10 * betaSigma
			}
		case (rng.Float64() < 1/(1+math.Exp(-eta))) != spoilt:
			r.Y[i] = 1
		}
	}
	return r
}

// betaTarget is the arm's model.
func betaTarget(model string, a betaArm) (targets.GradTarget, error) {
	loss := targets.Loss{}
	if a.beta > 1 {
		loss.Beta = a.beta
	}
	prior := priors.Gaussian{SD: 3}
	if model == "logistic" {
		return targets.New(targets.RegressionConfig{Features: len(betaTruth), Loss: loss, Prior: prior})
	}
	return targets.New(targets.LinearConfig{
		Features: len(betaTruth), Loss: loss, Prior: prior, MinScale: betaMinScale, ScalePrior: priors.HalfCauchy{Scale: 1},
	})
}

// betaGoal names a posterior: a loss, a temperature, a data set.
type betaGoal struct {
	beta, tau float64
	repeat    int
}

// betaReference is a data set with what its posterior says without privacy.
type betaReference struct {
	records, clean curator.Records
	target         targets.GradTarget
	mode, spread   []float64
}

// betaReference simulates records; all arms and ε of a repeat have the same ones.
func (s settings) betaReference(c *betaCell, repeat int) (*betaReference, error) {
	g := &betaReference{
		records: betaSimulate(s.stream("beta data", c.model, c.dirty, repeat), c.model, betaN, c.dirty),
		clean:   betaSimulate(s.stream("beta test", c.model, repeat), c.model, betaTests, false),
	}
	var err error
	if g.target, err = betaTarget(c.model, c.arm); err != nil {
		return nil, err
	}
	g.mode, g.spread = betaMode(g.target, targets.Rows{X: g.records.X, P: len(betaTruth), Y: g.records.Y}, c.arm.tau)
	return g, nil
}

// betaRun spends ε on one chain from the prior mean, which is free, and scores the
// second half of its draws.
func (s settings) betaRun(ctx context.Context, c *betaCell, g *betaReference, repeat int) (betaScore, error) {
	seed := s.stream("beta noise", c.model, c.dirty, c.eps, c.arm.name, repeat).Uint64()
	opened, err := session(g.records, c.eps, betaDelta, chains.Settings{Kernel: "barker-dynamics", Start: "prior-mean",
		Iterations: betaSteps, Temperature: c.arm.tau, Clip: c.arm.clip}, chains.Problem{Target: g.target}, seed, seed)
	if err != nil {
		return betaScore{}, err
	}
	draws, _, err := walk(ctx, opened.Kernels()[0], make([]float64, g.target.Dim()), betaSteps, kernels.Stream(seed, 0))
	if err != nil {
		return betaScore{}, err
	}
	score := g.judge(c, draws[len(draws)/2:])
	score.clip, score.step = opened.Plan.Clip, opened.Plan.Settings.Step
	return score, nil
}

// judge scores draws.
func (g *betaReference) judge(c *betaCell, draws [][]float64) betaScore {
	p := len(betaTruth)
	out := betaScore{freeError: distance(g.mode[:p], betaTruth), freePrediction: betaPredict(c.model, g.mode, g.clean)}
	mean, logRatio := make([]float64, p), 0.0
	for j, truth := range betaTruth {
		column := coordinate(draws, j)
		m, sd := stat.MeanStdDev(column, nil)
		mean[j] = m
		logRatio += math.Log(sd/g.spread[j]) / float64(p)
		if quantile(column, 0.05) <= truth && truth <= quantile(column, 0.95) {
			out.coverage += 1 / float64(p)
		}
	}
	out.meanError, out.sdRatio, out.prediction = distance(mean, betaTruth), math.Exp(logRatio),
		betaPredict(c.model, mean, g.clean)
	return out
}

// betaPredict scores predictions from coefficients on clean records.
func betaPredict(model string, theta []float64, clean curator.Records) float64 {
	p := len(betaTruth)
	eta, off := make([]float64, len(clean.Y)), 0.0
	for i := range eta {
		for j, x := range clean.X[i*p : (i+1)*p] {
			eta[i] += x * theta[j]
		}
		off += (eta[i] - clean.Y[i]) * (eta[i] - clean.Y[i])
	}
	if model == "linear" {
		return math.Sqrt(off / float64(len(eta)))
	}
	return metrics.Area(eta, clean.Y)
}

// betaMode is the mode of the arm's posterior without privacy, by Newton's method
// from the truth, and the standard deviations of its normal approximation.
func betaMode(target targets.GradTarget, rows targets.Rows, tau float64) (mode, sds []float64) {
	d := target.Dim()
	mode = make([]float64, d)
	copy(mode, betaTruth)
	if d > len(betaTruth) {
		mode[d-1] = math.Log(betaSigma - betaMinScale)
	}
	per, shift := make([]float64, rows.Len()*d), make([]float64, d)
	gradient := func(theta []float64) []float64 { // of the negative log posterior
		g := make([]float64, d)
		target.GradLogPrior(shift, theta)
		target.LossGrad(per, theta, rows)
		for j := range g {
			g[j] = -shift[j]
			for i := j; i < len(per); i += d {
				g[j] += tau * per[i]
			}
		}
		return g
	}
	hessian := mat.NewSymDense(d, nil)
	var chol mat.Cholesky
	convex, length := false, 1.0
	for range 60 {
		if length < 1e-9 {
			break
		}
		const h = 1e-4
		for j := range d {
			up, down := slices.Clone(mode), slices.Clone(mode)
			up[j] += h
			down[j] -= h
			gu, gd := gradient(up), gradient(down)
			for k := range j + 1 {
				hessian.SetSym(j, k, (gu[k]-gd[k])/(2*h))
			}
		}
		step := mat.NewVecDense(d, gradient(mode)) // downhill where Newton's step would not be
		if convex = chol.Factorize(hessian); convex {
			if err := chol.SolveVecTo(step, step); err != nil {
				break
			}
		}
		length = mat.Norm(step, 2)
		for j := range mode {
			mode[j] -= step.AtVec(j) * min(1, 0.3/length)
		}
	}
	var inverse mat.SymDense
	sds = make([]float64, d)
	if !convex || chol.InverseTo(&inverse) != nil {
		return mode, sds
	}
	for j := range sds {
		sds[j] = math.Sqrt(inverse.At(j, j))
	}
	return mode, sds
}
