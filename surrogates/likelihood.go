package surrogates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// Density returns the posterior's log density with its gradient. It holds buffers:
// one goroutine at a time may use it.
func (p *Score) Density() nuts.LogDensity { return p.evaluator() }

func (p *Score) evaluator() *evaluator {
	d := p.dim
	e := &evaluator{Score: p, residual: make([]float64, d), whole: make([]float64, d)}
	for range p.imputations {
		e.grads = append(e.grads, make([]float64, d))
	}
	e.logs = make([]float64, len(p.imputations))
	for _, im := range p.imputations {
		e.features = append(e.features, im.features.scores())
	}
	e.lower = make([]float64, d*d)
	for _, n := range p.config.Statistics.noise() {
		n.lower, n.solved = make([]float64, d*d), make([]float64, d)
		e.nodes = append(e.nodes, n)
	}
	e.row = make([]float64, d)
	return e
}

type evaluator struct {
	*Score
	residual, whole, row []float64
	lower                []float64
	features             []*scores // of the imputations
	nodes                []node
	grads                [][]float64
	logs                 []float64
}

// node is one of the normal laws that the noise of the score is a mixture of.
type node struct {
	variance float64
	log      float64   // of its share
	lower    []float64 // Cholesky factor of the score's covariance, row-major
	solved   []float64 // the covariance's inverse times the residual
	weight   float64   // posterior probability
}

// noise are the normal laws that the noise of the score is a mixture of. Density ∝
// exp(−‖b‖/s) is that of N(0, λs²I) with λ chi-squared of d + 1 degrees of freedom.
func (s Statistics) noise() []node {
	if !s.Spherical {
		return []node{{variance: s.ScoreSD * s.ScoreSD}}
	}
	chi := distuv.ChiSquared{K: float64(len(s.Anchor)) + 1}
	var nodes []node
	below, mean := 0.0, 0.0
	for _, share := range []float64{0.01, 0.03, 0.08, 0.18, 0.4, 0.18, 0.08, 0.03, 0.008, 0.002} {
		lambda := chi.Quantile(below + share/2)
		nodes = append(nodes, node{variance: lambda, log: math.Log(share)})
		below, mean = below+share, mean+share*lambda
	}
	for i := range nodes { // shares are not quite symmetric about their medians
		nodes[i].variance *= s.ScoreSD * s.ScoreSD / mean
	}
	return nodes
}

func (e *evaluator) Dim() int { return e.dim }

func (e *evaluator) LogDensityGrad(grad, theta []float64) float64 {
	for k := range e.imputations {
		im := &e.imputations[k]
		e.logs[k] = im.prior.LogDensity(theta) - im.chosen
		if math.IsInf(e.logs[k], -1) || math.IsNaN(e.logs[k]) {
			return math.Inf(-1)
		}
		e.logs[k] += e.likelihood(e.grads[k], theta, im, e.features[k])
		im.prior.Grad(e.row, theta)
		floats.Add(e.grads[k], e.row)
	}
	clear(grad)
	return average(grad, e.logs, e.grads)
}

// averageLikelihood is the likelihood's logarithm, averaged over imputations.
func (e *evaluator) averageLikelihood(theta []float64) float64 {
	for k := range e.imputations {
		e.logs[k] = e.likelihood(e.grads[k], theta, &e.imputations[k], e.features[k])
	}
	return average(e.whole, e.logs, e.grads)
}

// average is the logarithm of the mean of likelihoods, given theirs, and adds its gradient to grad.
func average(grad, logs []float64, grads [][]float64) float64 {
	top := slices.Max(logs)
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return math.Inf(-1)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	for k, l := range logs {
		w := math.Exp(l-top) / sum
		for j, g := range grads[k] {
			grad[j] += w * g
		}
	}
	return top + math.Log(sum/float64(len(logs)))
}

// likelihood is the log density of the score, N(τM(θ), τH(θ)) plus the noise, for one
// imputation, and its gradient.
func (e *evaluator) likelihood(grad, theta []float64, im *imputation, on *scores) float64 {
	d := e.dim
	e.moments(theta, im, on)
	log := math.Inf(-1)
	for k := range e.nodes {
		n := &e.nodes[k]
		n.weight = n.log + e.normal(n, im)
		log = max(log, n.weight)
	}
	if math.IsInf(log, -1) || math.IsNaN(log) {
		return math.Inf(-1)
	}
	sum := 0.0
	for k := range e.nodes {
		n := &e.nodes[k]
		n.weight = math.Exp(n.weight - log)
		sum += n.weight
	}
	for k := range e.nodes {
		e.nodes[k].weight /= sum
	}
	e.pull(im)
	clear(grad)
	if im.missing != nil {
		for j := range d {
			for i, u := range e.whole {
				grad[j] -= im.missing.At(j, i) * u
			}
		}
	}
	lower := e.lower
	if im.frozen != nil {
		lower = nil
	}
	on.back(grad, e.whole, lower, e.config.Statistics.size())
	return log + math.Log(sum) + im.log
}

// pull sets whole to the derivative of the log density in the score's mean, Σwu over the
// nodes with u = C⁻¹·residual, and, unless the variance is frozen, the lower triangle of
// lower to twice that in its covariance, Σw(uuᵀ − C⁻¹).
func (e *evaluator) pull(im *imputation) {
	d := e.dim
	clear(e.whole)
	clear(e.lower)
	for k := range e.nodes {
		n := &e.nodes[k]
		if n.weight < 1e-12 {
			continue
		}
		for j, u := range n.solved {
			e.whole[j] += n.weight * u
		}
		if im.frozen != nil {
			continue
		}
		for j := range d { // column j of L⁻¹ is that of C⁻¹ = L⁻ᵀL⁻¹
			clear(e.row)
			for i := j; i < d; i++ {
				v := -dot(n.lower[i*d+j:i*d+i], e.row[j:i])
				if i == j {
					v = 1
				}
				e.row[i] = v / n.lower[i*d+i]
			}
			backward(e.row, n.lower, e.row)
			for i := j; i < d; i++ {
				e.lower[i*d+j] += n.weight * (n.solved[i]*n.solved[j] - e.row[i])
			}
		}
	}
}

// normal is the log density of the residual under one normal law of the noise, and sets
// the node's factor and solution.
func (e *evaluator) normal(n *node, im *imputation) float64 {
	d := e.dim
	if im.frozen != nil {
		copy(n.lower, im.frozen)
	} else {
		copy(n.lower, e.lower)
		for j := range d {
			n.lower[j*d+j] += n.variance
		}
		if !cholesky(n.lower, d) {
			return math.Inf(-1)
		}
	}
	forward(e.whole, n.lower, e.residual)
	backward(n.solved, n.lower, e.whole)
	log := -dot(e.whole, e.whole) / 2
	for j := range d {
		log -= math.Log(n.lower[j*d+j])
	}
	return log
}

// moments sets residual to the score less its mean and, unless the variance is frozen,
// lower to the covariance of the score without its noise.
func (e *evaluator) moments(theta []float64, im *imputation, on *scores) {
	s := &e.config.Statistics
	lower := e.lower
	if im.frozen != nil {
		lower = nil
	}
	on.law(e.residual, lower, theta, s.size())
	floats.SubTo(e.residual, im.score, e.residual)
	if lower != nil && im.doubt != nil {
		floats.Add(lower, im.doubt)
	}
	if im.missing == nil {
		return
	}
	for j := range e.dim {
		for k, t := range theta {
			e.residual[j] += im.missing.At(j, k) * (t - s.Anchor[k])
		}
	}
}
