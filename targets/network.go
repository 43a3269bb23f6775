package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// NetworkConfig describes a neural network with one hidden layer.
type NetworkConfig struct {
	// Features is the number of inputs. Required, at least 1.
	Features int
	// Hidden is the number of hidden units. Required, at least 1.
	Hidden int
	// Classes is the number of classes for classification, at least 2. Defaults to
	// 0: regression.
	Classes int
	// MinScale and ScalePrior make the standard deviation σ of the errors in
	// regression a parameter, as in [LinearConfig]: s, the least σ, and the prior of
	// σ − s. Both or neither; zero in classification.
	MinScale   float64
	ScalePrior priors.Scale
	// Scale is the standard deviation of the errors in regression when it is known.
	// Required there unless MinScale and ScalePrior are given, else zero.
	Scale float64
	// ReLU makes the activation max(0, ·), with derivative 0 at 0. Defaults to false: tanh.
	ReLU bool
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of all weights and biases. Required. Under a Uniform prior
	// gradients have a bound, see Network.
	Prior priors.Prior
}

// Network is a neural network with one hidden layer, for regression with normal
// errors or for classification. The parameters are, in this order, the H×P hidden
// weights row by row, the H hidden biases, the K×H output weights row by row and
// the K output biases, with K = 1 for regression; and, when σ is sampled,
// ω = log(σ − s), whose Jacobian the log prior includes.
//
// Certificates: R_ℓ = M^(β−1)/(β−1) with M = 1/(s√(2π)), s being the least scale,
// or 1 in classification. Gradients grow with the weights, and so does what a
// move changes beyond R_ℓ: they have a bound only where the prior keeps all weights
// in a box (priors.Uniform), and in regression only under the β loss. Without one the curator
// must clip. Gradients are computed record by record, so a caller that clips them needs
// no more than a block of them at a time.
type Network struct {
	priorPart
	categorical
	inputs, hidden, outputs int
	relu                    bool
	errors                  *locationScale // nil in classification
	scalePrior              priors.Scale   // nil unless σ is sampled
	sums                    float64        // bounds the slopes of any set of classes
}

var (
	_ RatioTarget      = (*Network)(nil)
	_ GradTarget       = (*Network)(nil)
	_ RangeCertificate = (*Network)(nil)
	_ RatioCertificate = (*Network)(nil)
	_ GradCertificate  = (*Network)(nil)
	_ PriorSampler     = (*Network)(nil)
)

func (cfg NetworkConfig) build() (*Network, error) {
	if cfg.Features < 1 || cfg.Hidden < 1 {
		return nil, fmt.Errorf("targets: network: Features = %d, Hidden = %d, but it needs at least 1 of each", cfg.Features,
			cfg.Hidden)
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	n := &Network{categorical: categorical{l}, inputs: cfg.Features, hidden: cfg.Hidden,
		outputs: max(1, cfg.Classes), relu: cfg.ReLU}
	if err := n.setOutput(cfg); err != nil {
		return nil, err
	}
	n.priorPart, err = newPriorPart(cfg.Prior, n.weights())
	return n, err
}

// setOutput makes the network a regression or a classification.
func (n *Network) setOutput(cfg NetworkConfig) error {
	given := cfg.MinScale != 0 || cfg.ScalePrior != nil
	switch {
	case cfg.Classes != 0:
		if cfg.Classes < 2 || cfg.Scale != 0 || given {
			return fmt.Errorf("targets: network: Classes = %d, Scale = %v, MinScale = %v; classification needs at least 2 "+
				"classes and no scale, regression 0 classes and a scale", cfg.Classes, cfg.Scale, cfg.MinScale)
		}
		n.sums = n.slopeSums(cfg.Classes)
		return nil
	case given && cfg.Scale != 0:
		return fmt.Errorf("targets: network: both Scale = %v and MinScale = %v or ScalePrior are given; give Scale if it "+
			"is known, else the others", cfg.Scale, cfg.MinScale)
	case given:
		if err := positive("network: MinScale", cfg.MinScale); err != nil {
			return err
		}
		if err := checkScalePrior("the scale of the errors", cfg.ScalePrior); err != nil {
			return err
		}
		n.scalePrior = cfg.ScalePrior
	default:
		if err := positive("network: Scale", cfg.Scale); err != nil {
			return err
		}
	}
	law := newLocationScale(n.loss, max(cfg.MinScale, cfg.Scale), 0)
	n.errors = &law
	return nil
}

// Dim returns H(P+1) + K(H+1), and one more when σ is sampled.
func (n *Network) Dim() int {
	if n.scalePrior != nil {
		return n.weights() + 1
	}
	return n.weights()
}

// weights returns the number of weights and biases.
func (n *Network) weights() int { return n.hidden*(n.inputs+1) + n.outputs*(n.hidden+1) }

// Scale returns σ of regression, 0 in classification.
func (n *Network) Scale(theta []float64) float64 {
	switch {
	case n.errors == nil:
		return 0
	case n.scalePrior == nil:
		return n.errors.minScale
	}
	return n.errors.minScale + excess(theta[n.weights()])
}

// LogPrior returns the log prior density of the weights, and of ω when σ is
// sampled, up to a constant.
func (n *Network) LogPrior(theta []float64) float64 {
	w := n.weights()
	v := n.priorPart.LogPrior(theta[:w])
	if n.scalePrior != nil {
		v += n.scalePrior.LogDensity(math.Exp(theta[w])) + theta[w]
	}
	return v
}

// GradLogPrior sets dst to the gradient of the log prior density.
func (n *Network) GradLogPrior(dst, theta []float64) {
	w := n.weights()
	n.priorPart.GradLogPrior(dst[:w], theta[:w])
	if n.scalePrior != nil {
		dst[w] = n.scalePrior.Elasticity(math.Exp(theta[w])) + 1
	}
}

// SamplePrior sets theta to a draw from the prior.
func (n *Network) SamplePrior(theta []float64, rng *rand.Rand) {
	w := n.weights()
	n.priorPart.SamplePrior(theta[:w], rng)
	if n.scalePrior != nil {
		theta[w] = math.Log(n.scalePrior.Sample(rng))
	}
}

// Shape returns the number of inputs, and true: there is a response.
func (n *Network) Shape() (features int, response bool) { return n.inputs, true }

// layers cuts theta, or a gradient, into weights and biases.
func (n *Network) layers(theta []float64) (w1, b1, w2, b2 []float64) {
	w1, theta = theta[:n.hidden*n.inputs], theta[n.hidden*n.inputs:]
	b1, theta = theta[:n.hidden], theta[n.hidden:]
	w2, b2 = theta[:n.outputs*n.hidden], theta[n.outputs*n.hidden:n.outputs*(n.hidden+1)]
	return
}

// Outputs sets dst to the outputs for input x: the expected response, or a logit for
// every class.
func (n *Network) Outputs(dst, theta, x []float64) {
	h := getRow(n.hidden)
	defer putRow(h)
	n.forward(*h, dst, theta, x)
}

// forward sets h to the hidden units and out to the outputs for input x.
func (n *Network) forward(h, out, theta, x []float64) {
	w1, b1, w2, b2 := n.layers(theta)
	dense.MulVec(h, w1, x)
	for j, b := range b1 {
		if h[j] += b; !n.relu {
			h[j] = math.Tanh(h[j])
		} else {
			h[j] = max(0, h[j])
		}
	}
	dense.MulVec(out, w2, h)
	for k, b := range b2 {
		out[k] += b
	}
}

// Loss sets dst[i] = ℓ(zᵢ; θ).
func (n *Network) Loss(dst, theta []float64, rows Rows) {
	units := getRow(n.hidden + n.outputs)
	defer putRow(units)
	h, out := (*units)[:n.hidden], (*units)[n.hidden:]
	sigma := n.Scale(theta)
	for i, y := range rows.Y {
		n.forward(h, out, theta, rows.Row(i))
		if n.errors == nil {
			logProbs(out)
			dst[i] = n.at(out, y)
		} else {
			dst[i] = (y - out[0]) / sigma
		}
	}
	if n.errors == nil {
		return
	}
	logSigma := math.Log(sigma)
	for i, z := range dst {
		dst[i] = n.errors.errors.logDensity(z) - logSigma
	}
	n.loss.scores(dst, n.errors.integral(logSigma))
}

// outputSlopes replaces the outputs by the derivatives of the loss with respect
// to them, and returns that with respect to log σ.
func (n *Network) outputSlopes(out []float64, y, sigma float64) (pull float64) {
	if n.errors == nil {
		logProbs(out)
		n.slopes(out, y)
		return 0
	}
	out[0], pull = n.errors.slopes((y-out[0])/sigma, math.Log(sigma))
	return pull
}

// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next).
func (n *Network) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(n, dst, theta, next, rows)
}

// LossGrad sets row i of dst to the gradient of record i's loss, by
// backpropagation.
func (n *Network) LossGrad(dst, theta []float64, rows Rows) {
	units := getRow(n.hidden + n.outputs)
	defer putRow(units)
	h, out := (*units)[:n.hidden], (*units)[n.hidden:]
	d, sigma := n.Dim(), n.Scale(theta)
	_, _, w2, _ := n.layers(theta)
	for i, y := range rows.Y {
		x, grad := rows.Row(i), dst[i*d:(i+1)*d]
		n.forward(h, out, theta, x)
		pull := n.outputSlopes(out, y, sigma)
		if n.scalePrior != nil {
			grad[d-1] = pull * growth(theta[d-1]) / sigma
		}
		g1, gb1, g2, gb2 := n.layers(grad)
		copy(gb2, out)
		clear(gb1)
		for k, s := range out {
			vec.Scale(g2[k*n.hidden:(k+1)*n.hidden], s, h)
			vec.AddScaled(gb1, s, w2[k*n.hidden:(k+1)*n.hidden])
		}
		for j, v := range h {
			gb1[j] *= n.derivative(v)
			vec.Scale(g1[j*n.inputs:(j+1)*n.inputs], gb1[j], x)
		}
	}
}

// derivative is that of the activation, from its value.
func (n *Network) derivative(v float64) float64 {
	if !n.relu {
		return 1 - v*v
	}
	if v > 0 {
		return 1
	}
	return 0
}

// LossRange returns R_ℓ, rounded up; +Inf for the log loss.
func (n *Network) LossRange() float64 {
	if n.errors != nil {
		return n.errors.lossRange()
	}
	return n.loss.massRange()
}

// RatioBound returns the lesser of a bound on gradients times the length of the
// move, where there is one, and the range, which holds over records and
// parameters together (for location-scale densities with any σ ≥ s).
func (n *Network) RatioBound(theta, next []float64, radius float64) float64 {
	gradient := n.reach(radius)
	switch {
	case math.IsInf(gradient, 1):
	case n.errors == nil:
		gradient *= math.Sqrt2 * n.sums
	default:
		s, b := n.errors.minScale, n.loss.b
		gradient = times(gradient, n.errors.errors.maxSlope*math.Pow(s, -1-b))
		if n.scalePrior != nil {
			gradient = math.Hypot(gradient, n.errors.errors.maxPull*math.Pow(s, -b))
		}
	}
	return pathBound(gradient, n.LossRange(), theta, next)
}

// GradBound returns a bound on the gradient over the support of the prior, +Inf
// unless that is a box, and +Inf in regression under the log loss.
func (n *Network) GradBound(radius float64) float64 {
	reach := n.reach(radius)
	switch {
	case math.IsInf(reach, 1):
		return reach
	case n.errors == nil:
		return up(math.Sqrt2 * n.sums * reach)
	case n.scalePrior == nil:
		return up(times(n.errors.errors.maxSlope*math.Pow(n.errors.minScale, -1-n.loss.b), reach))
	}
	return n.errors.gradSup(reach, 1)
}

// reach bounds the norm of the gradient by what it is when the derivatives in the
// outputs have norm 1 (and, for classes, absolute values that sum to at most √2): the
// square root of 1 for the biases of the outputs and, for every hidden unit, h² for its
// weights onwards and h′²·q for those into it. For tanh that is h² + (1−h²)²q, a
// convex function of h².
func (n *Network) reach(radius float64) float64 {
	box, ok := n.prior.(priors.Uniform)
	if !ok {
		return math.Inf(1)
	}
	widest := max(math.Abs(box.Low), math.Abs(box.High))
	q := widest * widest
	if n.errors == nil {
		half := (box.High - box.Low) / 2 // slopes of classes sum to 0
		q = 2 * half * half
	}
	q *= 1 + radius*radius
	unit := max(1, q)
	if n.relu {
		top := widest * (1 + math.Sqrt(float64(n.inputs))*radius)
		unit = top*top + q
	}
	return up(math.Sqrt(1 + float64(n.hidden)*unit))
}
