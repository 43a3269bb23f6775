package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// RegressionConfig describes a [Regression].
type RegressionConfig struct {
	// Features is the number of features, and of parameters. Required.
	Features int
	// Family is the law of the response and its link. Defaults to "logistic".
	//
	//   - "logistic" is P(y = 1) = 1/(1 + e^−η), "probit" Φ(η), "cloglog" 1 − exp(−e^η) and
	//     "loglog" exp(−e^−η). Any finite response of at least ½ counts as 1, any other as 0,
	//     so that certificates hold whatever a record says. One that is not finite makes the
	//     loss NaN.
	//   - "poisson" is y ~ Poisson(e^η), and "negative-binomial" a count with mean e^η and
	//     variance e^η + e^2η/Dispersion. A response that is not a whole number of at least 0
	//     makes the loss NaN.
	//   - "median" is y = η + Scale·ε with Laplace errors ε. So η is the median of y, and an
	//     outlier pulls no harder than any other record.
	Family string
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of the coefficients. Required.
	Prior priors.Prior
	// Standardized, where positive, is that samplers which release second moments of the features have
	// another prior: of what a standard deviation of a number adds to η, with this standard deviation or
	// less, as the release says (surrogates.Config.Effect). Prior, which must be a priors.Gaussian, is
	// that of other coefficients, and of other samplers. Defaults to 0: Prior alone.
	Standardized float64
	// Dispersion is r, known: a negative binomial count of mean μ has variance μ + μ²/r.
	// Required for that family, positive, at most 10⁶, and 0 for others.
	Dispersion float64
	// Scale is the mean absolute error of median regression, known. Required for that
	// family, positive, and 0 for others.
	Scale float64
}

// Regression is a model whose response depends on the features through the linear predictor
// η = x·θ alone, θ having one coefficient per feature. An intercept is a feature that is 1
// in every record. It has every ability of this package.
type Regression struct {
	priorPart
	name     string
	features int
	loss     loss
	family   family
	// standardized is that of the configuration.
	standardized float64
}

var (
	_ RatioTarget      = (*Regression)(nil)
	_ GradTarget       = (*Regression)(nil)
	_ LinearTarget     = (*Regression)(nil)
	_ RangeCertificate = (*Regression)(nil)
	_ RatioCertificate = (*Regression)(nil)
	_ GradCertificate  = (*Regression)(nil)
)

// family is a distribution of the response given the linear predictor, with its
// loss.
type family interface {
	// lossAt and slopeAt are LinearTarget's LossAt and SlopeAt.
	lossAt(dst, eta, y []float64)
	slopeAt(dst, eta, y []float64)
	// lossRange bounds the range of the loss over records and η together.
	lossRange() float64
	// convex returns the log loss as the table of convex losses has it.
	convex(limits Cap) (convex.Loss, error)
	// lipschitz returns a bound on |∂ℓ/∂η| over |η| ≤ within and every response.
	lipschitz(within float64) float64
}

// families makes the families of a loss by name.
var families = map[string]func(RegressionConfig, loss) (family, error){
	"logistic":          newLogistic,
	"probit":            newProbit,
	"cloglog":           newCLogLog,
	"loglog":            newLogLog,
	"poisson":           newPoisson,
	"negative-binomial": newNegativeBinomial,
	"median":            newMedian,
}

func (cfg RegressionConfig) build() (*Regression, error) {
	name := cmp.Or(cfg.Family, "logistic")
	make, known := families[name]
	switch {
	case !known:
		return nil, fmt.Errorf("targets: regression: Family = %q; it must be one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(families)), ", "))
	case cfg.Features < 1:
		return nil, fmt.Errorf("targets: %s regression: Features = %d, but it needs at least 1", name, cfg.Features)
	case cfg.Dispersion != 0 && name != "negative-binomial":
		return nil, fmt.Errorf("targets: %s regression: Dispersion = %v; leave it out, it is of negative-binomial", name,
			cfg.Dispersion)
	case cfg.Scale != 0 && name != "median":
		return nil, fmt.Errorf("targets: %s regression: Scale = %v; leave it out, it is of median", name, cfg.Scale)
	}
	prior, err := newPriorPart(cfg.Prior, cfg.Features)
	if err != nil {
		return nil, err
	}
	if err := checkStandardized(name, cfg.Standardized, cfg.Prior); err != nil {
		return nil, err
	}
	r := &Regression{name: name, features: cfg.Features, priorPart: prior, standardized: cfg.Standardized}
	if r.loss, err = cfg.Loss.checked(); err != nil {
		return nil, err
	}
	r.family, err = make(cfg, r.loss)
	return r, err
}

// checkStandardized checks Standardized of a configuration.
func checkStandardized(name string, effect float64, prior priors.Prior) error {
	if _, normal := prior.(priors.Gaussian); effect >= 0 && !math.IsInf(effect, 1) && (effect == 0 || normal) {
		return nil
	}
	return fmt.Errorf("targets: %s regression: Standardized = %v beside a prior %T; it must be at least 0 and "+
		"finite, and positive only beside a priors.Gaussian", name, effect, prior)
}

// Family is the name of the response's law and link.
func (r *Regression) Family() string { return r.name }

// Dispersion is r of negative binomial counts, whose variance at mean m is m + m²/r. It is
// +Inf for other responses.
func (r *Regression) Dispersion() float64 {
	if f, ok := r.family.(*counts); ok {
		if law, ok := f.law.(negBinomial); ok {
			return law.r
		}
	}
	return math.Inf(1)
}

// Prior is the prior of the coefficients.
func (r *Regression) Prior() priors.Prior { return r.prior }

// Standardized is that of the configuration.
func (r *Regression) Standardized() float64 { return r.standardized }

// Dim returns the number of coefficients, one per feature.
func (r *Regression) Dim() int { return r.features }

// Shape returns the number of features, and true: there is a response.
func (r *Regression) Shape() (features int, response bool) { return r.features, true }

// Loss sets dst[i] = ℓ(zᵢ; θ).
func (r *Regression) Loss(dst, theta []float64, rows Rows) {
	dense.MulVec(dst, rows.X, theta)
	r.family.lossAt(dst, dst, rows.Y)
}

// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next).
func (r *Regression) LossRatio(dst, theta, next []float64, rows Rows) {
	far, ok := r.family.(differing)
	if !ok || !r.loss.isLog() {
		lossRatio(r, dst, theta, next, rows)
		return
	}
	buf := getScratch()
	defer putScratch(buf)
	for lo := 0; lo < len(dst); lo += block {
		part := rows.Slice(lo, min(lo+block, len(dst)))
		now, then := dst[lo:lo+part.Len()], buf.a[:part.Len()]
		dense.MulVec(now, part.X, theta)
		dense.MulVec(then, part.X, next)
		far.ratioAt(now, now, then, part.Y)
	}
}

// differing is a family whose losses grow without bound in the response, and whose
// differences do not.
type differing interface {
	// ratioAt sets dst[i] to the loss at eta[i] less that at next[i].
	ratioAt(dst, eta, next, y []float64)
}

// LossGrad sets row i of dst to SlopeAt·xᵢ. A slope of zero gives a zero row,
// however long xᵢ is.
func (r *Regression) LossGrad(dst, theta []float64, rows Rows) {
	buf := getScratch()
	defer putScratch(buf)
	p := r.features
	for lo := 0; lo < rows.Len(); lo += block {
		part := rows.Slice(lo, min(lo+block, rows.Len()))
		slope := buf.a[:part.Len()]
		dense.MulVec(slope, part.X, theta)
		r.family.slopeAt(slope, slope, part.Y)
		for i, s := range slope {
			vec.Scale(dst[(lo+i)*p:(lo+i+1)*p], s, part.Row(i))
		}
	}
}

// LossAt sets dst[i] to the loss at linear predictor eta[i] and response y[i].
func (r *Regression) LossAt(dst, eta, y []float64) { r.family.lossAt(dst, eta, y) }

// SlopeAt sets dst[i] = ∂ℓ/∂η at eta[i] and y[i].
func (r *Regression) SlopeAt(dst, eta, y []float64) { r.family.slopeAt(dst, eta, y) }

// PredictorLipschitz returns the least upper bound of |∂ℓ/∂η|, rounded up.
func (r *Regression) PredictorLipschitz() float64 { return r.family.lipschitz(math.Inf(1)) }

// LossRange returns R_ℓ, rounded up.
func (r *Regression) LossRange() float64 { return r.family.lossRange() }

// RatioBound returns the lesser of L·radius·‖next − theta‖₂, L being the
// Lipschitz constant over the linear predictors that the two states can reach,
// and LossRange, which bounds the loss over records and parameters together.
func (r *Regression) RatioBound(theta, next []float64, radius float64) float64 {
	var a2, b2 float64
	for i, t := range theta {
		a2 += t * t
		b2 += next[i] * next[i]
	}
	within := times(radius, math.Sqrt(max(a2, b2)))
	return pathBound(times(r.family.lipschitz(within), radius), r.family.lossRange(), theta, next)
}

// GradBound returns L·radius.
func (r *Regression) GradBound(radius float64) float64 {
	return up(times(r.PredictorLipschitz(), radius))
}
