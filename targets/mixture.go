package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// MixtureConfig describes the two-component Gaussian mixture.
type MixtureConfig struct {
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of (θ₁, θ₂). Required. The published experiment has
	// variances 10 and 1: priors.Gaussian{SDs: {√10, 1}}.
	Prior priors.Prior
	// Variance is the variance of both components. Defaults to 2, the published
	// one.
	Variance float64
}

// Mixture is the model of Heikkilä et al. (2019, §4), from Welling and Teh
// (2011): x ~ ½·N(θ₁, v) + ½·N(θ₁+θ₂, v), whose posterior has two modes. A record
// is one feature, x; there is no response.
//
// With M = 1/√(2πv), certificates of the β loss are R_ℓ = M^(β−1)/(β−1), a bound
// on gradients, found numerically, and the lesser of both on moves. Those of the
// log loss are finite only for |x| ≤ radius and given states.
type Mixture struct {
	priorPart
	loss     loss
	variance float64
	logPeak  float64 // log ½·M: the largest value of a weighted component
	gradient float64 // sup of ‖∇ℓ‖ over x and θ, +Inf for the log loss
}

var (
	_ RatioTarget      = (*Mixture)(nil)
	_ GradTarget       = (*Mixture)(nil)
	_ RangeCertificate = (*Mixture)(nil)
	_ RatioCertificate = (*Mixture)(nil)
	_ GradCertificate  = (*Mixture)(nil)
)

func (cfg MixtureConfig) build() (*Mixture, error) {
	v := cfg.Variance
	if v == 0 {
		v = 2
	}
	if err := positive("mixture: Variance", v); err != nil {
		return nil, err
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	if err := l.checkTable("mixture"); err != nil {
		return nil, err
	}
	prior, err := newPriorPart(cfg.Prior, 2)
	if err != nil {
		return nil, err
	}
	m := &Mixture{loss: l, priorPart: prior, variance: v, logPeak: -math.Log(2*math.Pi*v)/2 - math.Ln2}
	m.gradient = m.gradientSup()
	return m, nil
}

// Dim returns 2.
func (m *Mixture) Dim() int { return 2 }

// Shape returns one feature and no response.
func (m *Mixture) Shape() (features int, response bool) { return 1, false }

// Loss sets dst[i] = ℓ(xᵢ; θ). With e₁ and e₂ the exponents of the components,
// log f = logPeak + max(e₁, e₂) + log(1 + exp(−|e₁−e₂|)): the far component's
// exponent, however large, is not in the sum.
func (m *Mixture) Loss(dst, theta []float64, rows Rows) {
	mid, gap := theta[0]+theta[1]/2, theta[1]/m.variance
	for i, x := range rows.X {
		dst[i] = -math.Abs(gap * (x - mid))
	}
	vec.Softplus(dst, dst)
	inv := -0.5 / m.variance
	for i, x := range rows.X {
		d := x - theta[0]
		if gap*(x-mid) > 0 {
			d = x - (theta[0] + theta[1])
		}
		dst[i] += m.logPeak + inv*d*d
	}
	power, _ := m.power(theta[1])
	m.loss.scores(dst, (power-1)/m.loss.beta())
}

// LossRatio sets dst[i] = ℓ(xᵢ; theta) − ℓ(xᵢ; next).
func (m *Mixture) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst, n×2, to the gradient of record i's loss.
func (m *Mixture) LossGrad(dst, theta []float64, rows Rows) {
	_, slope := m.power(theta[1])
	for i, x := range rows.X {
		dst[2*i], dst[2*i+1] = m.gradAt(x-theta[0], theta[1], slope)
	}
}

// gradAt returns the gradient at distance x from θ₁, slope being the derivative
// of ∫f^β with respect to θ₂.
func (m *Mixture) gradAt(x, gap, slope float64) (g1, g2 float64) {
	z1, z2 := x/m.variance, (x-gap)/m.variance
	e1, e2 := -x*z1/2, -(x-gap)*z2/2
	r1 := 1 / (1 + vec.Exp(e2-e1)) // responsibility of the first component
	r2 := 1 / (1 + vec.Exp(e1-e2))
	weight := 1.0
	if b := m.loss.b; b > 0 {
		weight = vec.Exp(b * (m.logPeak + max(e1, e2) + vec.Log1pUnit(vec.Exp(-math.Abs(e1-e2)))))
		if weight == 0 {
			z1, z2 = 0, 0
		}
	}
	return -weight * (r1*z1 + r2*z2), -weight*r2*z2 + slope/m.loss.beta()
}

// apart is the distance of components that no longer overlap, in standard
// deviations.
const apart = 20

// power returns ∫f^β and its derivative with respect to θ₂, on which alone it
// depends; 1 and 0 for the log loss. The integrand is analytic and falls like a
// Gaussian, so the trapezoidal rule converges faster than any power of its step.
// Components that are apart meet at e⁻⁵⁰ of their peak.
func (m *Mixture) power(gap float64) (value, slope float64) {
	b := m.loss.b
	if b == 0 {
		return 1, 0
	}
	sd := math.Sqrt(m.variance)
	if math.Abs(gap) > apart*sd {
		alone := math.Exp(-b*math.Log(2*math.Pi*m.variance)/2 - math.Log1p(b)/2) // ∫N^β
		return math.Exp(-b*math.Ln2) * alone, 0
	}
	if math.IsNaN(gap) {
		return gap, gap
	}
	return m.trapezoid(gap, sd/math.Sqrt(1+b))
}

// trapezoid integrates f^β about the midpoint of the components, by symmetry
// over one half, in steps of a quarter of the given width.
func (m *Mixture) trapezoid(gap, width float64) (value, slope float64) {
	h, b := width/4, m.loss.b
	far := math.Abs(gap)/2 + 9*width
	c, inv := math.Abs(gap)/2, 1/m.variance
	for k := range int(far/h) + 1 {
		x := float64(k) * h
		near := -(x - c) * (x - c) * inv / 2
		u := vec.Exp(-2 * x * c * inv) // the other component over this one
		fb := vec.Exp((1 + b) * (m.logPeak + near + vec.Log1pUnit(u)))
		grad := fb * (1 + b) * ((x - c) - u*(x+c)) * inv / (1 + u) // by c
		if k == 0 {
			fb, grad = fb/2, grad/2
		}
		value += fb
		slope += grad
	}
	return 2 * h * value, h * math.Copysign(slope, slope*gap)
}

// peak returns M^b.
func (m *Mixture) peak() float64 { return math.Exp(m.loss.b * (m.logPeak + math.Ln2)) }

// LossRange returns R_ℓ = M^(β−1)/(β−1), rounded up; +Inf for the log loss. It is
// approached as θ₂ → 0.
func (m *Mixture) LossRange() float64 {
	if m.loss.isLog() {
		return math.Inf(1)
	}
	return up(m.peak() / m.loss.b)
}

// RatioBound is, for the log loss, the greatest log ratio of a component to
// itself over |x| ≤ radius, which bounds that of the mixtures. For the β loss it
// is the least of that with the weight M^(β−1), the bound on gradients times the
// length of the move, and the range; each with the change of the integral.
func (m *Mixture) RatioBound(theta, next []float64, radius float64) float64 {
	component := func(a, b float64) float64 {
		return times(math.Abs(b-a), 2*radius+math.Abs(a+b)) / (2 * m.variance)
	}
	direct := max(component(theta[0], next[0]), component(theta[0]+theta[1], next[0]+next[1]))
	if m.loss.isLog() {
		return up(direct)
	}
	p, _ := m.power(theta[1])
	q, _ := m.power(next[1])
	jump := math.Abs(p-q) / m.loss.beta()
	path := m.gradient * math.Hypot(next[0]-theta[0], next[1]-theta[1])
	return up(min(m.peak()*direct+jump, path, m.peak()/m.loss.b+jump))
}

// GradBound returns the bound on the gradient of the β loss, whatever the
// radius; +Inf for the log loss.
func (m *Mixture) GradBound(radius float64) float64 { return m.gradient }

// mixtureSlack is by how much, in proportion, the certified gradient bound may
// exceed the least upper bound.
const mixtureSlack = 3e-2

// gradientSup returns an upper bound of ‖∇ℓ‖ over x and θ₂ (nothing depends on
// θ₁): near the first component, near the second, and away from both. Components
// that are apart are each as at a gap of apart standard deviations.
func (m *Mixture) gradientSup() float64 {
	b := m.loss.b
	if b == 0 {
		return math.Inf(1)
	}
	sd, most := math.Sqrt(m.variance), m.peak()
	if b < 1e-3 { // f^b·r_k ≤ (f·r_k)^b, so f^b·r_k·|z_k| is at most that of one component alone
		return up(most * (math.Sqrt(5)*math.Exp(-0.5)/math.Sqrt(b) + 0.4) / sd)
	}
	if b > 10 {
		return up(most * farGradient(b) / sd)
	}
	bend := most * (b/2 + 0.49) / m.variance // bounds the derivative of (∫f^β)′/β
	over := func(second float64) func(x, gap [2]float64) float64 {
		return func(x, gap [2]float64) float64 {
			at := middle(gap)
			_, slope := m.power(at)
			from := middle(x) + second*at
			g1, g2 := m.gradAt(from, at, slope)
			dx, dgap := (x[1]-x[0])/2, (gap[1]-gap[0])/2
			d1, d2 := m.drift(from, at, dx+second*dgap, dgap)
			return math.Hypot(g1, g2) + math.Hypot(d1, d2+bend*dgap)
		}
	}
	long := 3 + 6/math.Sqrt(b)
	near, gaps := [2]float64{-long * sd, long * sd}, [2]float64{0, apart * sd}
	common := ceiling(mixtureSlack, 0, apart*sd, func(lo, hi float64) float64 {
		_, slope := m.power(lo + (hi-lo)/2)
		return math.Abs(slope)/(1+b) + bend*(hi-lo)/2
	})
	// Away from both, f^b·|z| falls with the distance z of the nearer.
	away := math.Sqrt(5)*long*math.Exp(-b*long*long/2)*most/sd + common
	return up(max(away, ceiling2(mixtureSlack, near, gaps, over(0)), ceiling2(mixtureSlack, near, gaps, over(1))))
}

// farGradient bounds the norm, in units of M^b and standard deviations, for b > 1:
// the share of the nearer component is at most e^−½/(2√b), that of the farther at
// most far, and the derivative of the integral at most the greater of the two
// (docs/proofs/targets-certificates.md §3).
func farGradient(b float64) float64 {
	near := math.Exp(-0.5) / (2 * math.Sqrt(b))
	far := ceiling(mixtureSlack, 0, 1, func(lo, hi float64) float64 {
		return hi / 2 * math.Exp(-lo*lo/2) * math.Pow((1+math.Exp(-lo*lo/2))/2, b-1)
	})
	far = max(far, math.Exp(-0.5)/2*math.Pow((1+math.Exp(-0.5))/2, b-1)) // beyond 1
	return math.Hypot(near+far, 2*max(near, far))
}

// drift bounds what the two parts of f^b·(r₁z₁ + r₂z₂, r₂z₂) change by when x
// moves by up to dx and the gap by up to dgap, from their derivatives
// (docs/proofs/targets-certificates.md §3) with every factor at its greatest.
func (m *Mixture) drift(x, gap, dx, dgap float64) (d1, d2 float64) {
	if dx == 0 && dgap == 0 {
		return 0, 0
	}
	sd := math.Sqrt(m.variance)
	x, gap, dx, dgap = x/sd, gap/sd, dx/sd, dgap/sd
	far := func(z, d float64) (least, most float64) { return max(0, math.Abs(z)-d), math.Abs(z) + d }
	low1, z1 := far(x, dx)
	low2, z2 := far(x-gap, dx+dgap)
	odds := (gap - 2*x) * gap / 2 // log r₁/r₂, and what it moves by
	turn := (gap+dgap)*dx + (math.Abs(x-gap)+dx+dgap)*dgap
	r1, r2 := 1/(1+math.Exp(-odds-turn)), 1/(1+math.Exp(odds-turn))
	both := min(0.25, r1*r2)
	weight := math.Pow(min(1, (math.Exp(-low1*low1/2)+math.Exp(-low2*low2/2))/2), m.loss.b) * m.peak() / sd
	b, g, pull := m.loss.b, gap+dgap, r1*z1+r2*z2
	d1 = (b*pull*pull+max(1, both*g*g))*dx + (b*r2*z2*pull+both*z2*g+r2)*dgap
	d2 = (b*pull*r2*z2+r2+both*g*z2)*dx + (b*r2*r2*z2*z2+both*z2*z2+r2)*dgap
	return weight * d1, weight * d2
}
