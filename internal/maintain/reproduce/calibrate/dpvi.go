package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// An own version of noise-aware private variational inference (Alrawajfeh, Jälkö, Honkela
// 2025) for logistic regression: a normal approximation with a diagonal covariance is
// fitted along noisy gradients, and a linear model of the trace of gradients, with a
// diagonal curvature, says where the optimum may be. Length, rate, burn-in and learning
// rate are those of its code. In its favour no gradient is clipped here, and the gradients
// of scales follow from those of means at no price (Jälkö et al. 2023).
const (
	dpviSteps  = 10_000
	dpviRate   = 0.1
	dpviBurnIn = 0.2
	dpviDraws  = 2000
)

// dpviNoise is the standard deviation of the noise in a coordinate of a batch's gradient
// sum, by the adjacency of our own releases: substitution.
func dpviNoise() (float64, error) {
	target, err := targets.New(targets.RegressionConfig{Features: *features,
		Prior: priors.Gaussian{SD: *priorSD}})
	if err != nil {
		return 0, err
	}
	f := curator.Facts{Records: int64(*records), Features: *features, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	g := curator.NoisyGradient{Target: target, Clip: 1, Batch: curator.Batch{Rate: dpviRate}}
	g.NoiseMultiplier, _, err = accountant.SolveParameter(func(noise float64) (accountant.Event, error) {
		g.NoiseMultiplier = noise
		event, err := g.Event(f)
		if err != nil {
			return event, err
		}
		return event.Times(dpviSteps)
	}, 0.5, curator.MostNoise, *epsilon, delta, false)
	if err != nil {
		return 0, err
	}
	return 2 * g.NoiseMultiplier, nil
}

// trace is where gradients were taken after the burn-in, and what they were, by coordinate;
// sd is the fitted approximation's.
type trace struct {
	at, gradient [][]float64
	sd           []float64
}

// fitDPVI follows noisy gradients of batches.
func fitDPVI(rows targets.Rows, noise float64, rng *rand.Rand) trace {
	d := rows.P
	rate := math.Sqrt2 / (math.Sqrt(dpviSteps*2*float64(d)) * noise)
	mean, logSD := make([]float64, d), slices.Repeat([]float64{-2}, d)
	theta, g, at := make([]float64, d), make([]float64, d), make([]float64, d)
	out := trace{at: make([][]float64, d), gradient: make([][]float64, d), sd: make([]float64, d)}
	for t := range dpviSteps {
		for j := range d {
			at[j] = rng.NormFloat64()
			theta[j] = mean[j] + math.Exp(logSD[j])*at[j]
			g[j] = noise*rng.NormFloat64() + dpviRate*theta[j]/(*priorSD**priorSD)
		}
		for i := range rows.Len() {
			if rng.Float64() < dpviRate {
				x := rows.Row(i)
				floats.AddScaled(g, 1/(1+math.Exp(-floats.Dot(x, theta)))-rows.Y[i], x)
			}
		}
		for j := range d {
			if sd := math.Exp(logSD[j]); t >= dpviBurnIn*dpviSteps {
				out.at[j], out.gradient[j] = append(out.at[j], theta[j]), append(out.gradient[j], g[j])
				out.sd[j] += sd / ((1 - dpviBurnIn) * dpviSteps)
			}
			mean[j] -= rate * g[j]
			logSD[j] -= rate * (g[j]*at[j]*math.Exp(logSD[j]) - dpviRate)
		}
	}
	return out
}

// draw returns draws of the approximation about an optimum that is as uncertain as the
// trace leaves it: in each coordinate the gradients are a line in the parameter, of which
// intercept and rising slope have a normal posterior, and the optimum is where it is 0,
// with the code's prior N(·, 1) about the trace's mean.
func (t trace) draw(rng *rand.Rand) [][]float64 {
	out := make([][]float64, dpviDraws)
	for i := range out {
		out[i] = make([]float64, len(t.at))
	}
	for j, at := range t.at {
		n, centre := float64(len(at)), stat.Mean(at, nil)
		_, slope := stat.LinearRegression(at, t.gradient[j], nil, false)
		level, rest := stat.Mean(t.gradient[j], nil), 0.0
		for i, x := range at {
			rest += math.Pow(t.gradient[j][i]-level-slope*(x-centre), 2) / n
		}
		levelSD, slopeSD := math.Sqrt(rest/n), math.Sqrt(rest/(n*stat.Variance(at, nil)))
		for i := range out {
			away, kept := 0.0, false
			for tries := 0; !kept && tries < 10_000; tries++ { // by rejection
				l, s := level+levelSD*rng.NormFloat64(), slope+slopeSD*rng.NormFloat64()
				away = -l / s
				kept = s > 0 && rng.Float64() < math.Exp(-away*away/2)
			}
			out[i][j] = centre + away + t.sd[j]*rng.NormFloat64()
		}
	}
	return out
}

// posteriors are ranks for TARP, and what intervals held.
type posteriors struct {
	ranks, rmse []float64
	held, total float64
}

func (p *posteriors) add(draws [][]float64, truth, at []float64) {
	p.ranks = append(p.ranks, nearer(draws, truth, at))
	mean := make([]float64, len(truth))
	for j, t := range truth {
		column := make([]float64, len(draws))
		for i, theta := range draws {
			column[i] = theta[j]
		}
		s := diag.Summarize([][]float64{column})
		if mean[j] = s.Mean; t >= s.Q5 && t <= s.Q95 {
			p.held++
		}
		p.total++
	}
	p.rmse = append(p.rmse, distance(mean, truth))
}

// dpviTable compares the score likelihood of a release with that on the same data sets at
// the same (ε, δ) under substitution.
func dpviTable() error {
	v, err := price()
	if err != nil {
		return err
	}
	noise, err := dpviNoise()
	if err != nil {
		return err
	}
	var ours, theirs posteriors
	for i := range uint64(*sets) {
		rng := rand.New(rand.NewPCG(*seed, i))
		rows, truth := simulate(rng)
		s, err := release(rows, v, rng)
		if err != nil {
			return err
		}
		post, err := surrogates.New(surrogates.Config{Statistics: s, Link: model,
			Prior: priors.Gaussian{SD: *priorSD}, Seed: i})
		if err != nil {
			return err
		}
		drawn, err := sample(post, i)
		if err != nil {
			return err
		}
		at := make([]float64, len(truth))
		for j := range at {
			at[j] = 2 * *priorSD * (2*rng.Float64() - 1)
		}
		ours.add(slices.Concat(drawn.Chains...), truth, at)
		theirs.add(fitDPVI(rows, noise, rng).draw(rng), truth, at)
	}
	for name, p := range map[string]*posteriors{"score likelihood": &ours, "NA-DPVI": &theirs} {
		fmt.Printf("%-16s n %d d %d ε %v sets %d: TARP error %.4f (%.4f expected of a calibrated posterior), cover %.3f, "+
			"median RMSE %.3f\n", name, *records, *features, *epsilon, *sets, coverageError(p.ranks),
			calibratedError(len(p.ranks)), p.held/p.total, median(p.rmse))
	}
	return nil
}
