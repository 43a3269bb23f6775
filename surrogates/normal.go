package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// normal is a normal law of the features, for a response with the logistic link. Sums over
// synthetic features are expectations under it, which are integrals over the linear
// predictor alone. With the predictor η of mean m and variance r², x of mean μ and of
// covariance w with η, and f(η) the probability of a response,
//
//	E[x·f] = μ·E[f] + w·E[f′]
//	E[xxᵀ·f′] = (S + μμᵀ)·E[f′] + (μwᵀ + wμᵀ)·E[f″] + wwᵀ·E[f‴]
//
// by Stein's identity. So there is no error of a finite sample in them, and they are smooth
// where the predictor is large.
type normal struct {
	mean, spread []float64 // μ, and S row-major
	// The predictor at the anchor: its mean, its variance and its covariance with x.
	at, width float64
	along     []float64
	slope     []float64 // E[x·f] at the anchor
	anchor    []float64
}

// newNormal are features with the mean and the covariance that a matrix of mean squares has
// with the constant column, −1 for none.
func newNormal(second *mat.SymDense, constant int, anchor []float64) *normal {
	d := len(anchor)
	n := &normal{mean: make([]float64, d), spread: make([]float64, d*d), along: make([]float64, d), anchor: anchor}
	if constant >= 0 {
		level := math.Sqrt(second.At(constant, constant))
		for j := range d {
			n.mean[j] = second.At(j, constant) / level
		}
	}
	for j := range d {
		for k := range d {
			n.spread[j*d+k] = second.At(j, k) - n.mean[j]*n.mean[k]
		}
	}
	if constant >= 0 { // but for rounding
		for j := range d {
			n.spread[j*d+constant], n.spread[constant*d+j] = 0, 0
		}
	}
	n.at = dot(n.mean, anchor)
	for j := range d {
		n.along[j] = dot(n.spread[j*d:(j+1)*d], anchor)
	}
	n.width = dot(n.along, anchor)
	n.settle()
	return n
}

// settle sets slope.
func (n *normal) settle() {
	m := momentsOf(n.at, n.width)
	n.slope = make([]float64, len(n.mean))
	for j := range n.slope {
		n.slope[j] = n.mean[j]*m[0] + n.along[j]*m[1]
	}
}

// turned are features Tx, with the linear predictors at the anchor those of x.
func (n *normal) turned(t *mat.Dense) *normal {
	d := len(n.mean)
	out := &normal{at: n.at, width: n.width, anchor: n.anchor, mean: make([]float64, d), along: make([]float64, d)}
	mat.NewVecDense(d, out.mean).MulVec(t, mat.NewVecDense(d, n.mean))
	mat.NewVecDense(d, out.along).MulVec(t, mat.NewVecDense(d, n.along))
	var spread mat.Dense
	spread.Product(t, mat.NewDense(d, d, n.spread), t.T())
	out.spread = spread.RawMatrix().Data
	out.settle()
	return out
}

// curvature is E[xxᵀ·f′] where the predictor is that at the anchor.
func (n *normal) curvature() *mat.SymDense { return n.bent(momentsOf(n.at, n.width), n.along) }

// bent is E[xxᵀ·f′] for a predictor with the moments and the covariance w with x.
func (n *normal) bent(m moment, w []float64) *mat.SymDense {
	d := len(n.mean)
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			out.SetSym(j, k, n.entry(&m, w, j, k))
		}
	}
	return out
}

func (n *normal) entry(m *moment, w []float64, j, k int) float64 {
	a, b := n.mean[j], n.mean[k]
	return (n.spread[j*len(n.mean)+k]+a*b)*m[1] + (a*w[k]+w[j]*b)*m[2] + w[j]*w[k]*m[3]
}

// moment are the expectations of f and of its first derivatives over a normal predictor.
type moment [6]float64

// momentsOf integrates the logistic function and its derivatives over N(mean, variance).
func momentsOf(mean, variance float64) moment {
	sd := math.Sqrt(max(0, variance))
	if sd > farOut {
		return overBend(mean, sd)
	}
	return overPredictors(mean, sd)
}

// Integrals are by the trapezoid rule. Its error is about exp(−2π²/spacing) of a function with
// poles at ±πi, and a power of 2π/spacing more of its derivatives.
const (
	spacing = 0.75 // of the nodes, in predictors
	farOut  = 2    // standard deviations beyond which the logistic function's bend is integrated over
	farSD   = 6    // where normal laws are cut off, in standard deviations
	bend    = 36   // where f′ is, e⁻³⁶
)

// overPredictors has its nodes where the predictors are.
func overPredictors(mean, sd float64) (m moment) {
	const nodes = 48
	const step = 2.0 * farSD / nodes // at most 0.5 in predictors
	total := 0.0
	for i := range nodes + 1 {
		u := float64(i)*step - farSD
		weight := math.Exp(-u * u / 2)
		total += weight
		p, q := shares(mean + sd*u)
		v := p * q
		d1, d2 := v*(q-p), v*(1-6*v)
		m[0] += weight * p
		m[1] += weight * v
		m[2] += weight * d1
		m[3] += weight * d2
		m[4] += weight * d1 * (1 - 12*v)
		m[5] += weight * (d2*(1-12*v) - 12*d1*d1)
	}
	for k := range m {
		m[k] /= total
	}
	return m
}

// bends are f′ at the nodes of overBend.
var bends = func() (out [2*bend/spacing + 1]float64) {
	for i := range out {
		p, q := shares(float64(i)*spacing - bend)
		out[i] = p * q
	}
	return out
}()

// overBend has its nodes where f bends: with predictors m + sd·u the probability is
// ∫f′(t)·P(m + sd·u > t), and derivatives have means E[f′·Heₖ(u)]/sdᵏ, Heₖ the Hermite
// polynomials. So the covariance that they make stays positive however large sd is.
func overBend(mean, sd float64) (m moment) {
	for i, v := range bends {
		u := (float64(i)*spacing - bend - mean) / sd
		m[0] += spacing * v * math.Erfc(u/math.Sqrt2) / 2
		v *= spacing * math.Exp(-u*u/2) / (sd * math.Sqrt(2*math.Pi))
		s := u * u
		m[1] += v
		m[2] += v * u
		m[3] += v * (s - 1)
		m[4] += v * u * (s - 3)
		m[5] += v * (s*s - 6*s + 3)
	}
	scale := 1.0
	for k := 2; k < len(m); k++ {
		scale /= sd
		m[k] *= scale
	}
	return m
}

// onNormal is a normal law of the features with buffers.
type onNormal struct {
	*normal
	w      []float64 // covariance of x with the predictor
	m      moment
	au, aw []float64 // A·μ and A·w
	pull   []float64 // seen through S
}

func (n *normal) buffered() evaluated {
	d := len(n.mean)
	return &onNormal{normal: n, w: make([]float64, d), au: make([]float64, d), aw: make([]float64, d),
		pull: make([]float64, d)}
}

func (n *normal) size() float64 { return 1 }

func (n *normal) square(theta []float64) float64 {
	d, mean, variance := len(theta), dot(n.mean, theta), 0.0
	for j, t := range theta {
		variance += t * dot(n.spread[j*d:(j+1)*d], theta)
	}
	return mean*mean + variance
}

func (n *normal) moments(j int) (mean, variance float64) {
	return n.mean[j], n.spread[j*(len(n.mean)+1)]
}

func (n *normal) information(theta []float64) *mat.SymDense {
	o := n.buffered().(*onNormal)
	o.set(theta)
	return n.bent(o.m, o.w)
}

// set takes a parameter.
func (o *onNormal) set(theta []float64) {
	d := len(theta)
	copy(o.w, o.along)
	at, width := o.at, o.width
	for j := range d {
		step := theta[j] - o.anchor[j]
		o.pull[j] = step
		at += o.mean[j] * step
		width += 2 * o.along[j] * step
	}
	for j := range d {
		s := dot(o.spread[j*d:(j+1)*d], o.pull)
		o.w[j] += s
		width += s * o.pull[j]
	}
	o.m = momentsOf(at, width)
}

func (o *onNormal) law(mean, lower, theta []float64, weight float64) {
	o.set(theta)
	d := len(theta)
	for j := range d {
		mean[j] = weight * (o.slope[j] - o.mean[j]*o.m[0] - o.w[j]*o.m[1])
		if lower == nil {
			continue
		}
		for k := range j + 1 {
			lower[j*d+k] = weight * o.entry(&o.m, o.w, j, k)
		}
	}
}

// back: with c₀ and c the predictor's loadings on a constant and on
// normal coordinates of x, E[g] changes by E[g′] in c₀ and by c·E[g″] in c.
func (o *onNormal) back(grad, u, lower []float64, weight float64) {
	d, m := len(u), &o.m
	direct := dot(o.mean, u) // derivative in the response's mean
	through := dot(o.w, u)   // and in the slope's
	inAt := -(direct*m[1] + through*m[2])
	inW := -(direct*m[2] + through*m[3]) // times w
	for j := range d {
		o.pull[j] = -m[1] * u[j]
	}
	if lower != nil {
		symmetric(o.au, lower, o.mean)
		symmetric(o.aw, lower, o.w)
		trace := 0.0
		for j := range d {
			row := o.spread[j*d : (j+1)*d]
			trace += 2*dot(lower[j*d:j*d+j], row[:j]) + lower[j*d+j]*row[j]
		}
		straight, cross, bent := dot(o.mean, o.au)+trace, dot(o.mean, o.aw), dot(o.w, o.aw)
		inAt += straight/2*m[2] + cross*m[3] + bent/2*m[4]
		inW += straight/2*m[3] + cross*m[4] + bent/2*m[5]
		for j := range d {
			o.pull[j] += m[2]*o.au[j] + m[3]*o.aw[j]
		}
	}
	for j := range d {
		grad[j] += weight * (o.mean[j]*inAt + o.w[j]*inW + dot(o.spread[j*d:(j+1)*d], o.pull))
	}
}

// symmetric sets dst to Av, of the lower triangle of A.
func symmetric(dst, lower, v []float64) {
	d := len(v)
	clear(dst)
	for j := range d {
		row := lower[j*d : j*d+j]
		dst[j] += dot(row, v[:j]) + lower[j*d+j]*v[j]
		for k, a := range row {
			dst[k] += a * v[j]
		}
	}
}
