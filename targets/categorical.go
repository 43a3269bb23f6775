package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// categorical is the loss of one of several classes given their logits, shared
// by softmax regression, the Dirichlet-categorical model and classifying
// networks.
type categorical struct{ loss loss }

// class returns the class that y names, or −1 when y is not a whole number from
// 0 to k−1.
func class(y float64, k int) int {
	if y >= 0 && y < float64(k) && y == math.Trunc(y) {
		return int(y)
	}
	return -1
}

// logProbs turns logits into log probabilities, to full relative accuracy for
// the likeliest class too.
func logProbs(logits []float64) {
	top := 0
	for k, a := range logits {
		if a > logits[top] {
			top = k
		}
	}
	peak := logits[top]
	var rest float64
	for k, a := range logits {
		if k != top {
			rest += vec.Exp(a - peak)
		}
	}
	rest = math.Log1p(rest)
	for k, a := range logits {
		logits[k] = (a - peak) - rest
	}
}

// at returns the loss of class y, NaN when there is none, at the given log
// probabilities.
func (c categorical) at(logp []float64, y float64) float64 {
	k := class(y, len(logp))
	if k < 0 {
		return math.NaN()
	}
	if c.loss.isLog() {
		return -logp[k]
	}
	var integral float64
	for _, l := range logp {
		integral += vec.Exp(l) * vec.Expm1(c.loss.b*l)
	}
	return integral/c.loss.beta() - vec.Expm1(c.loss.b*logp[k])/c.loss.b
}

// slopes replaces the log probabilities by the derivatives of the loss of class
// y with respect to the logits: with c_k = p_k^β − [k=y]·p_y^b they are
// c_k − p_k·Σc, and p_k − [k=y] for the log loss.
func (c categorical) slopes(logp []float64, y float64) {
	k := class(y, len(logp))
	if k < 0 {
		for j := range logp {
			logp[j] = math.NaN()
		}
		return
	}
	b, observed := c.loss.b, 1.0
	if b > 0 {
		observed = vec.Exp(b * logp[k])
	}
	total := -observed
	for _, l := range logp {
		total += vec.Exp((1 + b) * l)
	}
	for j, l := range logp {
		p := vec.Exp(l)
		slope := vec.Exp((1+b)*l) - p*total
		if j == k {
			slope -= observed
		}
		logp[j] = slope
	}
}

// slopeSums bounds the sum of the slopes of any set of classes, and so half the
// sum of their absolute values: 1 for the log loss. For the β loss and two
// classes that is L(β) of logistic regression. For more it is the maximum over
// the set's probability a of a^β(1−a) + a·max{p^b(1−p) : p ≤ 1−a}, within 1% of
// L(β): docs/proofs/targets-certificates.md §2.
func (c categorical) slopeSums(classes int) float64 {
	b := c.loss.b
	switch {
	case c.loss.isLog():
		return 1
	case classes == 2:
		return logisticCeiling(b)
	}
	own := func(p float64) float64 {
		p = min(p, b/(1+b))
		return math.Pow(p, b) * (1 - p)
	}
	return ceiling(slopeSlack, 0, 1, func(lo, hi float64) float64 {
		return math.Pow(hi, 1+b)*(1-lo) + hi*own(1-lo)
	})
}

// lipschitz bounds the Euclidean norm of slopes, √2 for the log loss: √2 times
// the greatest sum over a set, because a direction of length 1 differs by at
// most √2 between two classes.
func (c categorical) lipschitz(classes int) float64 {
	return up(math.Sqrt2 * c.slopeSums(classes))
}
