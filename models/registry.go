package models

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// entry is a model of the registry.
type entry struct {
	name, about  string
	response     response
	features     func(int) bool // numbers of design columns that it takes; nil for at least one
	columns      string         // the same for people, after "needs"
	suggests     func(*data.Shape) bool
	logistic     bool // chains can start at the private optimum of the logistic log loss
	standardizes bool // the prior can be standardized, and is by default where there are labels
	weighs       bool // long rows weigh less, see Model.Weigh
	// build sets the target, the parameters, the law and the units.
	build func(*builder) error
}

// misfit says why the model does not fit a shape, or is empty.
func (e *entry) misfit(s *data.Shape) string {
	fits, columns := e.features, e.columns
	if fits == nil {
		fits, columns = func(n int) bool { return n > 0 }, "at least one design column"
	}
	switch {
	case !e.response.fits(s):
		return fmt.Sprintf("needs %s; the schema's target is %s", e.response.needs, targetText(s))
	case !fits(s.Features()):
		return fmt.Sprintf("needs %s; the schema makes %d design columns", columns, s.Features())
	}
	return ""
}

// registry lists the models. Where several are suggested by a shape, the first is.
var registry = []*entry{
	{name: "logistic", standardizes: true, about: "P(y = 1) = 1/(1 + e^−η), η = x·β", response: binaryResponse,
		logistic: true, suggests: func(s *data.Shape) bool { return s.Classes() == 2 && s.Features() > 0 },
		build: regression("log-odds", linked(logistic))},
	{name: "probit", standardizes: true, about: "P(y = 1) = Φ(η)", response: binaryResponse,
		build: regression("standard deviations of a latent normal", linked(probit))},
	{name: "cloglog", standardizes: true, about: "P(y = 1) = 1 − exp(−e^η)", response: binaryResponse,
		build: regression("log of the hazard", linked(cloglog))},
	{name: "loglog", standardizes: true, about: "P(y = 1) = exp(−e^−η)", response: binaryResponse,
		build: regression("minus the log of the other label's hazard",
			linked(func(eta float64) float64 { return math.Exp(-math.Exp(-eta)) }))},
	{name: "softmax", standardizes: true, about: "P(y = k) ∝ e^η_k, coefficients of labels less their mean",
		response: labelResponse, suggests: func(s *data.Shape) bool { return s.Classes() > 2 && s.Features() > 0 },
		build: (*builder).softmax},
	{name: "poisson", standardizes: true, about: "counts with mean e^η", response: countResponse,
		build: regression("log of the mean", countLaw(0))},
	{name: "negative-binomial", standardizes: true, about: "counts with mean μ = e^η and variance μ + μ²/r",
		response: countResponse, build: (*builder).negativeBinomial},
	{name: "linear", weighs: true, about: "y = η + σ·ε, normal or Student-t errors", response: numberResponse,
		suggests: func(s *data.Shape) bool { return s.HasTarget() && s.Classes() == 0 && s.Features() > 0 },
		build:    (*builder).linear},
	{name: "median", weighs: true, about: "y = η + s·ε, Laplace errors of known scale; η is the median",
		response: numberResponse, build: (*builder).median},
	{name: "heteroscedastic", about: "y = x·β + σ(x)·ε, σ(x) = s + e^(x·γ)", response: numberResponse,
		build: (*builder).heteroscedastic},
	{name: "network", about: "one hidden layer; y a number with normal errors, or a label", response: anyResponse,
		build: (*builder).network},
	{name: "bernoulli", about: "one of two labels without features, a beta prior", response: binaryResponse,
		features: none, columns: "no design columns",
		suggests: func(s *data.Shape) bool { return s.Classes() == 2 }, build: (*builder).labels},
	{name: "categorical", about: "one of several labels without features, a Dirichlet prior", response: labelResponse,
		features: none, columns: "no design columns",
		suggests: func(s *data.Shape) bool { return s.Classes() > 2 }, build: (*builder).labels},
	{name: "mixture", about: "½N(θ₁, 2) + ½N(θ₁+θ₂, 2)", response: noResponse,
		features: func(n int) bool { return n == 1 }, columns: "one feature column and no intercept",
		suggests: func(s *data.Shape) bool { return !s.HasTarget() && s.Features() == 1 }, build: (*builder).mixture},
	{name: "mean", about: "x ~ N(μ, I)", response: noResponse,
		suggests: func(s *data.Shape) bool { return !s.HasTarget() }, build: (*builder).mean},
}

func none(n int) bool { return n == 0 }

// builder is a model in the making.
type builder struct {
	*Model
	loss targets.Loss
}

// prior is that of coefficients of every column, as often as there are blocks of them:
// normal with the schema's standard deviations, with unknown scales where it names
// groups, or a horseshoe.
func (b *builder) prior(blocks int) (priors.Prior, error) {
	sds, groups := []float64{}, []int{}
	own, number := false, map[string]int{}
	for block := range blocks {
		for _, t := range b.Shape.Terms {
			group := -1
			if b.Options.Prior == horseshoe && t.Name != data.Intercept {
				group = 0
			} else if t.PriorGroup != "" {
				key := fmt.Sprint(block, " ", t.PriorGroup)
				if _, known := number[key]; !known {
					number[key] = len(number)
				}
				group = number[key]
			}
			own = own || t.PriorSD != 0
			sds, groups = append(sds, cmp.Or(t.PriorSD, b.Options.PriorSD)), append(groups, group)
		}
	}
	switch {
	case b.Options.Prior == horseshoe && (own || len(number) > 0):
		return nil, bad("prior", "%s horseshoe, and the schema states priors of its own; keep one of them",
			setting.Name("prior"))
	case b.Options.Prior == horseshoe:
		return priors.NewHorseshoe(priors.HorseshoeConfig{Groups: groups, Scale: priors.HalfCauchy{Scale: 1},
			FixedSD: b.Options.PriorSD})
	case len(number) > 0 && own:
		return nil, bad("model", "the schema has both prior_sd and prior_group; keep one of them")
	case len(number) > 0:
		return priors.NewNormalScale(priors.NormalScaleConfig{Groups: groups, Scale: priors.HalfCauchy{Scale: 1},
			FixedSD: b.Options.PriorSD})
	case own:
		return priors.Gaussian{SDs: sds}, nil
	}
	return priors.Gaussian{SD: b.Options.PriorSD}, nil
}

// terms are the names of the columns.
func (b *builder) terms() []string {
	names := make([]string, b.Shape.Features())
	for i, t := range b.Shape.Terms {
		names[i] = t.Name
	}
	return names
}

// coefficients appends a parameter for every column.
func (b *builder) coefficients(base, unit string) {
	first := len(b.Parameters)
	b.number(base, b.terms())
	for i := range b.Shape.Terms {
		b.Parameters[first+i].Unit = perUnit(unit, &b.Shape.Terms[i])
	}
}

// done sets the target, unless it could not be made.
func (b *builder) done(t targets.Target, err error) error {
	if err == nil {
		b.Target = t
	}
	return err
}

// regression builds a regression of the model's own name.
func regression(unit string, l law) func(*builder) error {
	return func(b *builder) error {
		b.law, b.units = l, b.block(0, 1)
		return b.regression(unit, targets.RegressionConfig{})
	}
}

// regression sets the target, with one coefficient a column; c has what its family alone needs.
func (b *builder) regression(unit string, c targets.RegressionConfig) error {
	b.coefficients("beta", unit)
	prior, err := b.prior(1)
	if err != nil {
		return err
	}
	c.Family, c.Features, c.Loss, c.Prior = b.Name, b.Shape.Features(), b.loss, prior
	if b.Options.Prior == standardized {
		c.Standardized = usualEffect(b.Name)
	}
	return b.done(targets.New(c))
}

// usualEffect is the largest prior standard deviation of what a standard deviation of a number adds to a
// linear predictor, under the prior standardized: .83 standard deviations of the latent error,
// which is logistic, normal or Gumbel's. A log mean has that of log odds.
func usualEffect(model string) float64 {
	const logOdds = 1.5
	switch model {
	case "probit":
		return logOdds * math.Sqrt(3) / math.Pi
	case "cloglog", "loglog", "softmax":
		return logOdds / math.Sqrt2
	}
	return logOdds
}

func (b *builder) negativeBinomial() error {
	r := b.Options.Dispersion
	b.law, b.units = countLaw(r), b.block(0, 1)
	return b.regression("log of the mean", targets.RegressionConfig{Dispersion: r})
}

func (b *builder) softmax() error {
	p, classes := b.Shape.Features(), b.Shape.Classes()
	var all []func(dst, values []float64)
	for k, label := range b.Shape.Labels {
		first := len(b.Parameters)
		b.coefficients(fmt.Sprintf("beta_%d", k+1), "log-odds")
		for i := range b.Parameters[first:] {
			b.Parameters[first+i].Label += ", " + label
		}
		all = append(all, b.block(k*p, 1))
	}
	b.units = each(all...)
	b.output = func(values []float64) { lessMeans(values, p) }
	b.law = labelLaw(classes, func(dst, values, row []float64) {
		for k := range classes {
			dst[k] = dot(values[k*p:], row)
		}
	})
	prior, err := b.prior(classes)
	if err != nil {
		return err
	}
	config := targets.SoftmaxConfig{Features: p, Classes: classes, Loss: b.loss, Prior: prior}
	if b.Options.Prior == standardized {
		config.Standardized = usualEffect(b.Name)
	}
	return b.done(targets.New(config))
}

// lessMeans takes its mean over classes from each of the p coefficients of a class. A shift of all
// classes changes no probability, so that records say nothing of it.
func lessMeans(values []float64, p int) {
	for j := range p {
		mean, classes := 0.0, float64(len(values)/p)
		for k := j; k < len(values); k += p {
			mean += values[k] / classes
		}
		for k := j; k < len(values); k += p {
			values[k] -= mean
		}
	}
}

// sigma appends the scale of the errors.
func (b *builder) sigma(unit string) {
	b.Parameters = append(b.Parameters, Parameter{Name: "sigma", Label: "scale of the errors", Unit: unit, Scale: true})
}

// exponentiate turns the last entry of a state, ω, into σ = s + e^ω.
func (b *builder) exponentiate(values []float64) {
	last := len(values) - 1
	values[last] = b.Options.MinScale + math.Exp(values[last])
}

// usuallyExplained is that of the prior zellner-siow, under which up to 24 columns explain as much
// of a response's variance as errors do, at the median. Its tails are heavy: more than 9 times as
// much has a probability of about 0.18.
const usuallyExplained = 0.5

func (b *builder) linear() error {
	p, o := b.Shape.Features(), b.Options
	b.coefficients("beta", b.Shape.Target.Name)
	b.sigma(b.Shape.Target.Name)
	b.output = b.exponentiate
	b.units = each(b.response(0), b.scaled(p))
	b.law = numberLaw(o.DegreesOfFreedom, dot, func(values, _ []float64) float64 { return values[p] })
	prior, err := b.prior(1)
	if err != nil {
		return err
	}
	config := targets.LinearConfig{
		Features: p, Loss: b.loss, Prior: prior, MinScale: o.MinScale, ScalePrior: priors.HalfCauchy{Scale: 1},
		DegreesOfFreedom: o.DegreesOfFreedom,
	}
	if o.Prior == zellnerSiow {
		config.ZellnerSiow = usuallyExplained
	}
	return b.done(targets.New(config))
}

func (b *builder) median() error {
	scale := b.Options.ErrorScale
	b.units = b.response(0)
	b.law = law{
		width: 1,
		mean:  func(dst, values, row []float64) { dst[0] = dot(values, row) },
		draw: func(values, row []float64, rng *rand.Rand) float64 {
			e := scale * rng.ExpFloat64()
			if rng.Float64() < 0.5 {
				e = -e
			}
			return dot(values, row) + e
		},
	}
	return b.regression(b.Shape.Target.Name, targets.RegressionConfig{Scale: scale})
}

func (b *builder) heteroscedastic() error {
	p, o := b.Shape.Features(), b.Options
	b.coefficients("beta", b.Shape.Target.Name)
	b.coefficients("gamma", "log of the errors' scale")
	b.units = each(b.response(0), b.block(p, 1))
	b.law = numberLaw(o.DegreesOfFreedom, dot, func(values, row []float64) float64 {
		return o.MinScale + math.Exp(dot(values[p:], row))
	})
	prior, err := b.prior(2)
	if err != nil {
		return err
	}
	return b.done(targets.New(targets.HeteroscedasticConfig{
		Features: p, Loss: b.loss, Prior: prior, MinScale: o.MinScale, DegreesOfFreedom: o.DegreesOfFreedom,
	}))
}

func (b *builder) network() error {
	p, o, classes := b.Shape.Features(), b.Options, b.Shape.Classes()
	config := targets.NetworkConfig{Features: p, Hidden: o.Hidden, Classes: classes, Loss: b.loss,
		Prior: priors.Gaussian{SD: o.PriorSD}}
	if classes == 0 {
		config.MinScale, config.ScalePrior = o.MinScale, priors.HalfCauchy{Scale: 1}
	}
	n, err := targets.New(config)
	if err != nil {
		return err
	}
	b.Target = n
	if classes == 0 {
		b.number("weight", make([]string, n.Dim()-1))
		b.sigma(b.Shape.Target.Name)
		b.output, b.units = b.exponentiate, each(copied, b.scaled(n.Dim()-1))
		at := func(values, row []float64) float64 {
			var out [1]float64
			n.Outputs(out[:], values, row)
			return out[0]
		}
		b.law = numberLaw(0, at, func(values, _ []float64) float64 { return values[len(values)-1] })
		return nil
	}
	b.number("weight", make([]string, n.Dim()))
	b.law = labelLaw(classes, n.Outputs)
	return nil
}

// labels builds the models of a response without features.
func (b *builder) labels() error {
	labels := b.Shape.Labels
	prior := b.Options.Concentrations
	if len(prior) == 0 {
		for range labels {
			prior = append(prior, 1)
		}
	}
	if len(prior) != len(labels) {
		return bad("concentrations", "%d concentrations for %d labels; give one for each", len(prior), len(labels))
	}
	b.Options.Concentrations = prior
	for _, label := range labels[1:] {
		b.Parameters = append(b.Parameters, Parameter{Name: fmt.Sprintf("logit[%d]", len(b.Parameters)+1), Label: label,
			Unit: "probability"})
	}
	l := labelLaw(len(labels), func(dst, values, _ []float64) {
		dst[0] = 0
		copy(dst[1:], values)
	})
	b.law = l
	b.units = func(dst, values []float64) {
		if len(labels) == 2 {
			l.mean(dst, values, nil)
			return
		}
		p := make([]float64, len(labels))
		l.mean(p, values, nil)
		copy(dst, p[1:])
	}
	return b.done(targets.New(targets.DirichletCategoricalConfig{Loss: b.loss, Prior: priors.Dirichlet{Alpha: prior}}))
}

func (b *builder) mixture() error {
	t := &b.Shape.Terms[0]
	b.number("theta", []string{"mean of the first component", "distance to the second"})
	b.Parameters[0].Unit, b.Parameters[1].Unit = t.Column, t.Column
	b.units = func(dst, values []float64) {
		dst[0], dst[1] = values[0]*t.Unit+t.Center, values[1]*t.Unit
	}
	b.record = func(row, values []float64, rng *rand.Rand) {
		row[0] = values[0] + math.Sqrt2*rng.NormFloat64()
		if rng.Float64() < 0.5 {
			row[0] += values[1]
		}
	}
	return b.done(targets.New(targets.MixtureConfig{Loss: b.loss,
		Prior: priors.Gaussian{SDs: []float64{math.Sqrt(10), 1}}}))
}

func (b *builder) mean() error {
	b.number("mu", b.terms())
	for i := range b.Parameters {
		b.Parameters[i].Unit = b.Shape.Terms[i].Column
	}
	b.units = func(dst, values []float64) {
		for i, t := range b.Shape.Terms {
			dst[i] = values[i]*t.Unit + t.Center
		}
	}
	b.record = func(row, values []float64, rng *rand.Rand) {
		for j := range row {
			row[j] = values[j] + rng.NormFloat64()
		}
	}
	prior, err := b.prior(1)
	if err != nil {
		return err
	}
	return b.done(targets.New(targets.GaussianMeanConfig{Features: b.Shape.Features(), Loss: b.loss,
		Prior: prior}))
}
