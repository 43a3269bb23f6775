package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/planning"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["hmc-gauss"] = figure{"ten-dimensional Gaussian mean: published penalty and DP-HMC chains and ours (Räisä " +
		"et al. 2021)", hmcGauss}
}

// The published setting, but for the covariance: theirs has eigenvalues drawn from
// Gamma(½, 1), ours has that law's quantiles at 5%, 15%, …, 95%. All chains here move
// in no direction more than in another, and clip Euclidean norms, so the
// eigenvectors may be the axes.
const (
	gaussDim     = 10
	gaussN       = 100_000
	gaussChains  = 4
	gaussDelta   = 1e-6
	gaussPriorSD = 100.0
	gaussMost    = 200 // steps of a chain of ours, however many the budget has
)

var gaussEpsilons = []float64{2, 6}

// gaussScales are the standard deviations of a record's components.
func gaussScales() [gaussDim]float64 {
	var out [gaussDim]float64
	for j := range out {
		out[j] = math.Sqrt(distuv.Gamma{Alpha: 0.5, Beta: 1}.Quantile((float64(j) + 0.5) / gaussDim))
	}
	return out
}

// gaussMean is x ~ N(θ, diag(sd²)), with a normal prior of its own scale in each
// coordinate.
type gaussMean struct{ sd, prior [gaussDim]float64 }

var _ targets.RatioTarget = gaussMean{}
var _ targets.GradTarget = gaussMean{}

func (g gaussMean) Dim() int           { return gaussDim }
func (g gaussMean) Shape() (int, bool) { return gaussDim, false }

func (g gaussMean) LogPrior(theta []float64) float64 {
	v := 0.0
	for j, t := range theta {
		v -= t * t / (2 * g.prior[j] * g.prior[j])
	}
	return v
}

func (g gaussMean) GradLogPrior(dst, theta []float64) {
	for j, t := range theta {
		dst[j] = -t / (g.prior[j] * g.prior[j])
	}
}

func (g gaussMean) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = 0
		for j, x := range rows.Row(i) {
			z := (x - theta[j]) / g.sd[j]
			dst[i] += z * z / 2
		}
	}
}

func (g gaussMean) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	var slope, mid [gaussDim]float64
	for j := range slope {
		slope[j], mid[j] = (next[j]-theta[j])/(g.sd[j]*g.sd[j]), (next[j]+theta[j])/2
	}
	for i := range dst {
		v := 0.0
		for j, x := range rows.Row(i) {
			v += slope[j] * (x - mid[j])
		}
		dst[i] = v
	}
}

func (g gaussMean) LossGrad(dst, theta []float64, rows targets.Rows) {
	var weight [gaussDim]float64
	for j, s := range g.sd {
		weight[j] = 1 / (s * s)
	}
	for i := range rows.Len() {
		row := rows.Row(i)
		for j, x := range row {
			dst[i*gaussDim+j] = (theta[j] - x) * weight[j]
		}
	}
}

// gaussMethod is a chain in coordinates in which θ = scale·φ.
type gaussMethod struct {
	name  string
	scale [gaussDim]float64
	most  int64
	chain chainOf
}

// gaussMethods are the published chains with the published settings, and ours in the
// coordinates in which the model's known covariance is the identity: nothing about
// the records is needed for that.
func gaussMethods() []gaussMethod {
	root := math.Sqrt(gaussN)
	var ones, flat, wide [gaussDim]float64
	sd := gaussScales()
	mass := make([]float64, gaussDim)
	for j := range ones {
		ones[j], flat[j], wide[j], mass[j] = 1, gaussPriorSD, gaussPriorSD/sd[j], gaussN
	}
	own, white := gaussMean{sd, flat}, gaussMean{ones, wide}
	size := 1 / root // of the posterior in white coordinates
	const clip = 6   // a record's gradient there has norm χ₁₀; one in 10⁴ is longer
	return []gaussMethod{
		{"penalty, as published", ones, 0, penaltyChain(penalty.Config{
			Target: own, Proposal: curator.Proposal{Scale: 0.0007}, Noise: penalty.Scaled(0.05 * root), Clip: 10,
			Accounting: "published",
		})},
		{"DP-HMC, as published", ones, 0, hmcChain(dphmc.Config{
			Target: own, Steps: 12, StepSize: 0.00015, GradientNoise: 0.25 * root, GradientClip: 10, FreshStart: true,
			Acceptance: dphmc.PublishedPenalty, RatioClip: 6, RatioNoise: 0.1 * root,
		})},
		{"DP-HMC, bit, white", sd, gaussMost, hmcChain(dphmc.Config{
			Target: white, Steps: 3, StepSize: 0.15, Mass: mass, JitterWidth: 0.3, GradientNoise: 40, GradientClip: clip,
			RatioClip: 4.5, MaxMove: 2.2 * size,
		})},
		{"Barker dynamics, white", sd, gaussMost, dynamicsChain(barkerdynamics.Config{Target: white, Scale: size / 2,
			Clip: clip})},
		{"DP-SGLD, white", sd, gaussMost, sgldChain(dpsgld.Config{Driven: kernels.Driven{Target: white,
			Step: kernels.Constant(size * size / 4), NoiseMultiplier: 4 * root / (2 * clip) * 0.95, Clip: clip}})},
	}
}

func hmcGauss(ctx context.Context, s settings) error {
	tab := newTable("chain", "ε allowed", "ε spent", "iterations of each chain", "accepted", "MMD",
		"variance ratio", "repeats")
	p := plot.Panel{Title: "Gaussian mean, d = 10, n = 10⁵", XLabel: "ε at δ = 10⁻⁶", YLabel: "MMD from the posterior"}
	v := plot.Panel{Title: "Spread of the draws", XLabel: "ε at δ = 10⁻⁶", YLabel: "variance of draws / posterior's"}
	var floor []float64
	repeats := s.count(3)
	x := gaussRecords(s.stream("gauss data"))
	exact := newGaussPosterior(x)
	for run := range repeats {
		rng := s.stream("gauss floor", run)
		floor = append(floor, diag.MMD(exact.draws(rng, 1000), exact.draws(rng, 1000), rng))
	}
	for _, m := range gaussMethods() {
		mmd, spreads := curve{name: m.name}, curve{name: m.name}
		for _, eps := range gaussEpsilons {
			var distances, ratios []float64
			var last runOf
			for run := range repeats {
				r, err := m.run(ctx, s.stream("gauss", m.name, eps, run), x, exact, eps)
				if err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
				rng := s.stream("gauss mmd", run)
				pool := r.secondHalves()
				distances = append(distances, diag.MMD(pool, exact.draws(rng, 1000), rng))
				ratios = append(ratios, exact.varianceRatio(pool))
				last = r
			}
			mmd.add(eps, distances)
			spreads.add(eps, ratios)
			tab.add(m.name, eps, last.spent.Epsilon, last.iterations, last.accepted, spread(distances), spread(ratios), repeats)
		}
		fmt.Fprintf(s.log, "%s is done\n", m.name)
		p.Lines, v.Lines = append(p.Lines, mmd.line()), append(v.Lines, spreads.line())
	}
	ends := []float64{gaussEpsilons[0], gaussEpsilons[len(gaussEpsilons)-1]}
	p.Lines = append(p.Lines, plot.Line{Name: "1000 exact draws", X: ends, Y: []float64{median(floor), median(floor)},
		Dashed: true})
	v.Lines = append(v.Lines, plot.Line{X: ends, Y: []float64{1, 1}, Dashed: true})
	return s.save("hmc-gauss", tab, 2, p, v)
}

// run runs four chains that share a budget, from the published starts: the truth plus
// a posterior standard deviation of noise, which no private analysis has.
func (m gaussMethod) run(ctx context.Context, rng *rand.Rand, x []float64, exact gaussPosterior,
	eps float64) (runOf, error) {
	var out runOf
	scaled := make([]float64, len(x))
	for i, v := range x {
		scaled[i] = v / m.scale[i%gaussDim]
	}
	sealed, err := seal(curator.Records{X: scaled, Features: gaussDim}, eps, gaussDelta,
		curator.InsecureSeed(rng.Uint64()))
	if err != nil {
		return out, err
	}
	if out.iterations, err = m.chain.affordable(gaussChains, sealed.Facts(),
		planning.Budget{Epsilon: eps, Delta: gaussDelta}); err != nil {
		return out, err
	}
	if m.most > 0 {
		out.iterations = min(out.iterations, m.most)
	}
	for range gaussChains {
		start := make([]float64, gaussDim)
		for j := range start {
			start[j] = (exact.truth[j] + exact.sd[j]*rng.NormFloat64()) / m.scale[j]
		}
		k, err := m.chain.build(out.iterations, sealed)
		if err != nil {
			return out, err
		}
		draws, accepted, err := walk(ctx, k, start, out.iterations, kernels.Stream(rng.Uint64(), 0))
		if err != nil {
			return out, err
		}
		for _, phi := range draws {
			for j := range phi {
				phi[j] *= m.scale[j]
			}
		}
		out.draws = append(out.draws, draws)
		out.accepted += accepted / gaussChains
	}
	out.spent, err = sealed.Budget().Spent()
	return out, err
}

var gaussTruth = [gaussDim]float64{0, 3}

func gaussRecords(rng *rand.Rand) []float64 {
	x, sd := make([]float64, gaussN*gaussDim), gaussScales()
	for i := range x {
		x[i] = gaussTruth[i%gaussDim] + sd[i%gaussDim]*rng.NormFloat64()
	}
	return x
}

// gaussPosterior is the exact one: independent normals.
type gaussPosterior struct{ truth, mean, sd [gaussDim]float64 }

func newGaussPosterior(x []float64) gaussPosterior {
	p := gaussPosterior{truth: gaussTruth}
	scales := gaussScales()
	var sum [gaussDim]float64
	for i, v := range x {
		sum[i%gaussDim] += v
	}
	for j, s := range scales {
		precision := gaussN/(s*s) + 1/(gaussPriorSD*gaussPriorSD)
		p.mean[j], p.sd[j] = sum[j]/(s*s)/precision, 1/math.Sqrt(precision)
	}
	return p
}

func (p gaussPosterior) draws(rng *rand.Rand, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, gaussDim)
		for j := range out[i] {
			out[i][j] = p.mean[j] + p.sd[j]*rng.NormFloat64()
		}
	}
	return out
}

// varianceRatio is the mean over coordinates of the variance of a sample around the
// posterior's mean, in units of the posterior's: 1 for the posterior itself.
func (p gaussPosterior) varianceRatio(sample [][]float64) float64 {
	sum := 0.0
	for _, theta := range sample {
		for j, t := range theta {
			z := (t - p.mean[j]) / p.sd[j]
			sum += z * z
		}
	}
	return sum / float64(len(sample)*gaussDim)
}
