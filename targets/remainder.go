package targets

// Proof: docs/proofs/anchored.md.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// RemainderConfig describes the remainder of a target's loss at an anchor. It is
// public.
type RemainderConfig struct {
	// Target is the model. Required: a GradTarget, or with Loss a *Regression of which
	// that is the loss.
	Target Target
	// Order is that of the Taylor polynomial: 1, or with Loss also 2. Required.
	Order int
	// Loss is the loss whose score, and for order 2 whose curvature, was released at
	// the anchor; the chain then samples the posterior of that loss. Defaults to none,
	// the target's own loss.
	Loss ConvexLoss
	// Weight is the bound at which the released curvature's weights were cut: that of
	// curator.SecondMoment. Defaults to the loss's largest curvature.
	Weight float64
}

// Remainder is the target of an anchored chain. Its loss is what the Taylor
// polynomial h of the model's loss ℓ at an anchor θ₀ leaves,
//
//	share·(ℓ(z; θ) − h(z; θ)),
//
// up to a constant of the record, and its log prior is what has been released of
// everything else: a density that the sum of polynomials, with its noise, and the
// model's prior make. The difference is computed without cancellation, and so small
// (third order in θ − θ₀ for order 2) that an enforced clip of the acceptance bits
// can be hundreds of times less than that of the loss; it has no certificate. Until
// Anchor is called the log prior is −Inf everywhere.
type Remainder struct {
	base    wrapped
	cfg     RemainderConfig
	most    float64
	anchor  []float64
	longest float64 // gradient of a record that counts in full
	share   float64
	density func(theta []float64) float64
}

var _ RatioTarget = (*Remainder)(nil)

func (cfg RemainderConfig) build() (*Remainder, error) {
	if cfg.Target == nil {
		return nil, errors.New("targets: remainder: Target is not set; give the model")
	}
	r := &Remainder{base: wrap(cfg.Target), cfg: cfg, most: cfg.Weight, anchor: make([]float64, cfg.Target.Dim()),
		longest: math.Inf(1)}
	_, regression := cfg.Target.(*Regression)
	switch {
	case cfg.Order != 1 && cfg.Order != 2:
		return nil, fmt.Errorf("targets: remainder: Order is %d; use 1 or 2", cfg.Order)
	case cfg.Loss.Valid() && !regression:
		return nil, errors.New("targets: remainder: a Loss is given for a target that is not a *Regression; leave it out")
	case cfg.Order == 2 && !cfg.Loss.Valid():
		return nil, errors.New("targets: remainder: order 2 needs a Loss, of which Regression.Convex makes one; use order " +
			"1 for other targets")
	case !cfg.Loss.Valid() && r.base.grad == nil:
		return nil, errors.New("targets: remainder: the target has no gradients; give a GradTarget")
	case !(cfg.Weight >= 0):
		return nil, fmt.Errorf("targets: remainder: Weight is %v; it must be positive, or 0 for the largest curvature",
			cfg.Weight)
	}
	if r.most == 0 {
		r.most = cfg.Loss.MaxCurvature()
	}
	return r, nil
}

// Anchor sets what the remainder is taken at, the share of it that the chain weighs,
// in [0, 1], and the log density that stands for everything else. All of it is public
// or released. It must be called before the first step of a chain, and not after.
// Errors: an anchor of the wrong length or that is not finite; a share outside
// [0, 1]; no density.
func (r *Remainder) Anchor(anchor []float64, share float64, density func(theta []float64) float64) error {
	if len(anchor) != len(r.anchor) {
		return fmt.Errorf("targets: remainder: an anchor of %d values was given for %d parameters", len(anchor),
			len(r.anchor))
	}
	for j, v := range anchor {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("targets: remainder: value %d of the anchor is %v; it must be finite", j, v)
		}
	}
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("targets: remainder: the share is %v; it must be in [0, 1]", share)
	}
	if density == nil {
		return errors.New("targets: remainder: no density was given for what the remainder leaves out")
	}
	r.anchor, r.share, r.density = slices.Clone(anchor), share, density
	return nil
}

// CutTangents says that the released gradient was one of records' gradients cut to a
// length, without temperature: a record whose gradient at the anchor is longer has no
// remainder, and so counts as its cut tangent alone. It goes with Anchor, and makes no
// difference with a Loss, whose slopes are bounded. Errors: a length that is not positive.
func (r *Remainder) CutTangents(length float64) error {
	if !(length > 0) {
		return fmt.Errorf("targets: remainder: tangents cut to %v; the length must be positive", length)
	}
	r.longest = length
	return nil
}

// Dim returns the number of parameters of the model.
func (r *Remainder) Dim() int { return len(r.anchor) }

// Shape returns that of the model.
func (r *Remainder) Shape() (features int, response bool) { return r.base.Shape() }

// LogPrior returns the density that Anchor was given, −Inf before.
func (r *Remainder) LogPrior(theta []float64) float64 {
	if r.density == nil {
		return math.Inf(-1)
	}
	return r.density(theta)
}

// Loss sets dst[i] to record i's remainder at theta.
func (r *Remainder) Loss(dst, theta []float64, rows Rows) { r.between(dst, theta, nil, rows) }

// LossRatio sets dst[i] to record i's remainder at theta less that at next.
func (r *Remainder) LossRatio(dst, theta, next []float64, rows Rows) {
	r.between(dst, theta, next, rows)
}

// between is LossRatio, or without next Loss.
func (r *Remainder) between(dst, theta, next []float64, rows Rows) {
	buf := getScratch()
	defer putScratch(buf)
	move := getRow(len(theta))
	defer putRow(move)
	for lo := 0; lo < len(dst); lo += block {
		part := rows.Slice(lo, min(lo+block, len(dst)))
		r.begin(buf, part)
		r.add(dst[lo:lo+part.Len()], theta, 1, *move, part, buf, true)
		if next != nil {
			r.add(dst[lo:lo+part.Len()], next, -1, *move, part, buf, false)
		}
	}
}

// begin evaluates a block of records at the anchor: linear predictors in buf.a, or
// losses there for targets without.
func (r *Remainder) begin(buf *scratch, part Rows) {
	at := buf.a[:part.Len()]
	switch {
	case r.cfg.Loss.Valid():
		dense.MulVec(at, part.X, r.anchor)
	default:
		r.base.Loss(at, r.anchor, part)
	}
}

// add adds sign times the remainders at theta, or sets them when first.
func (r *Remainder) add(dst, theta []float64, sign float64, move []float64, part Rows, buf *scratch, first bool) {
	for j, v := range theta {
		move[j] = v - r.anchor[j]
	}
	at, out := buf.a[:part.Len()], buf.b[:part.Len()]
	switch {
	case r.cfg.Loss.Valid():
		dense.MulVec(out, part.X, move)
		for i, t := range out {
			out[i] = r.remainder(at[i], t, part.Y[i])
		}
	default:
		r.base.Loss(out, theta, part)
		for i, l := range at {
			out[i] -= l
		}
		r.tangents(out, move, part, buf)
	}
	sign *= r.share
	for i, v := range out {
		if first {
			dst[i] = sign * v
		} else {
			dst[i] += sign * v
		}
	}
}

// tangents takes from differences of losses what the gradients at the anchor say, and
// sets them to 0 where the released gradient was cut.
func (r *Remainder) tangents(out, move []float64, part Rows, buf *scratch) {
	d := len(move)
	if r.base.linear != nil && d == part.P {
		slope := buf.c[:part.Len()]
		dense.MulVec(slope, part.X, r.anchor)
		r.base.slopeAt(slope, slope, part.Y)
		for i, s := range slope {
			x := part.Row(i)
			out[i] -= s * dense.Dot(move, x)
			if math.Abs(s)*length(x) > r.longest {
				out[i] = 0
			}
		}
		return
	}
	gradient := getRow(part.Len() * d)
	defer putRow(gradient)
	r.base.lossGrad(*gradient, r.anchor, part)
	for i := range out {
		g := (*gradient)[i*d : (i+1)*d]
		out[i] -= dense.Dot(move, g)
		if length(g) > r.longest {
			out[i] = 0
		}
	}
}

func length(v []float64) float64 { return math.Sqrt(dense.Dot(v, v)) }

// near is the largest move of a linear predictor whose remainder is an integral; from
// there on the plain difference loses few digits.
const near = 0.25

// jacobi are the nodes and weights of Gauss's rule for ∫(1−u)·f(u)du over [0, 1].
var jacobi = [4][2]float64{
	{0.05710419611451768219, 0.13550691343148811620}, {0.27684301363812382768, 0.20346456801027136079},
	{0.58359043236891682005, 0.12984754760823244082}, {0.86024013565621944784, 0.03118097095000808217},
}

// remainder is what the polynomial at linear predictor eta leaves of the loss at
// eta + t: for small t, ∫(1−u)(ℓ″(η + ut) − w)du·t², w being the released weight.
func (r *Remainder) remainder(eta, t, y float64) float64 {
	l := r.cfg.Loss
	if t == 0 || l.Absent(y) {
		return 0
	}
	if l.IsLogistic() && math.Abs(t) <= near {
		return r.ofLogistic(eta, t)
	}
	w := 0.0
	if r.cfg.Order == 2 {
		w = min(r.most, l.Curvature(eta, y))
	}
	if !(math.Abs(t) <= near) || l.Capped(eta, y) || l.Capped(eta+t, y) {
		return l.Value(eta+t, y) - l.Value(eta, y) - t*(l.Slope(eta, y)+w*t/2)
	}
	sum := 0.0
	for _, node := range &jacobi {
		sum += node[1] * (l.Curvature(eta+node[0]*t, y) - w)
	}
	return sum * t * t
}

// ofLogistic is remainder for the logistic loss, with p = 1/(1 + e^−η), q = 1 − p and
// E = e^v − 1: ℓ″(η + v) = pq(1 + E)/(1 + pE)², and ℓ″(η + v) − pq =
// pq·E·(q − p − p²E)/(1 + pE)², in which nothing cancels.
func (r *Remainder) ofLogistic(eta, t float64) float64 {
	u := vec.Exp(-math.Abs(eta))
	p, q := 1/(1+u), u/(1+u)
	if eta < 0 {
		p, q = q, p
	}
	first, second := 1.0, 0.0 // of 1 + E
	if r.cfg.Order == 2 {
		first, second = 0, 1
	}
	sum := 0.0
	for _, node := range &jacobi {
		e := vec.Expm1(node[0] * t)
		below := 1 + p*e
		sum += node[1] * (first*(1+e) + second*e*(q-p-p*p*e)) / (below * below)
	}
	sum *= p * q
	if cut := p*q - r.most; cut > 0 {
		sum += second * cut / 2
	}
	return sum * t * t
}
