package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
)

// model is a target with the names of what it draws.
type model struct {
	name   string
	target targets.Target
	params []string                   // names of the values written
	labels []string                   // what each parameter belongs to, for people
	output func(dst, theta []float64) // state to values written; nil for the state itself
}

// modelSettings are the public choices that make a target.
type modelSettings struct {
	model, loss      string
	beta             float64
	priorSD          float64
	minScale         float64
	degreesOfFreedom float64
	dispersion       float64
}

// modelNames lists what --model takes.
var modelNames = []string{"logistic", "probit", "cloglog", "poisson", "negative-binomial", "linear", "mixture", "mean"}

// buildModel makes the target that the settings describe for a table.
func buildModel(s modelSettings, t *data.Shape) (*model, error) {
	loss, err := s.buildLoss()
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	m := &model{name: s.model}
	for i, term := range t.Terms {
		m.params = append(m.params, fmt.Sprintf("beta[%d]", i+1))
		m.labels = append(m.labels, term.Name)
	}
	return m, m.build(s, t, loss, targets.Gaussian{SD: s.priorSD})
}

// check reports settings that are out of range or belong to another model.
func (s modelSettings) check() error {
	switch {
	case !slices.Contains(modelNames, s.model):
		return fmt.Errorf("--model is %q; it must be one of %s", s.model, strings.Join(modelNames, ", "))
	case !(s.priorSD > 0) || math.IsInf(s.priorSD, 0):
		return fmt.Errorf("--prior-sd is %v; it must be positive and finite", s.priorSD)
	case s.degreesOfFreedom != 0 && s.model != "linear":
		return fmt.Errorf("--degrees-of-freedom is for --model linear, not %s", s.model)
	case s.dispersion != 0 && s.model != "negative-binomial":
		return fmt.Errorf("--dispersion is for --model negative-binomial, not %s", s.model)
	case s.dispersion == 0 && s.model == "negative-binomial":
		return fmt.Errorf("--model negative-binomial needs --dispersion r, public: a count with mean μ has variance μ + μ²/r")
	}
	return nil
}

// build makes the target of the named model.
func (m *model) build(s modelSettings, t *data.Shape, loss targets.Loss, prior targets.Prior) (err error) {
	regression := targets.RegressionConfig{Features: t.Features(), Loss: loss, Prior: prior}
	switch s.model {
	case "logistic", "probit", "cloglog":
		if !t.HasTarget() || !(t.Classes() == 2) {
			return fmt.Errorf("--model %s needs a binary target column; the schema's target is %s", s.model, targetText(t))
		}
		constructor := map[string]func(targets.RegressionConfig) (*targets.Regression, error){
			"logistic": targets.NewLogistic, "probit": targets.NewProbit, "cloglog": targets.NewCLogLog,
		}[s.model]
		m.target, err = constructor(regression)
	case "poisson", "negative-binomial":
		if c := t.Target; !t.HasTarget() || c.Level != "" || c.Center != 0 || c.Unit != 1 || c.Lower < 0 {
			return fmt.Errorf("--model %s needs a target column of counts, a number with center = 0, scale = 1 and a lower bound of at least 0 in the schema; its target is %s", s.model, targetText(t))
		}
		if s.model == "poisson" {
			m.target, err = targets.NewPoisson(regression)
		} else {
			m.target, err = targets.NewNegativeBinomial(targets.NegativeBinomialConfig{RegressionConfig: regression, Dispersion: s.dispersion})
		}
	case "linear":
		if !t.HasTarget() || (t.Classes() == 2) {
			return fmt.Errorf("--model linear needs a numeric target column; the schema's target is %s", targetText(t))
		}
		err = m.linear(s, t, loss, prior)
	case "mixture":
		if t.Features() != 1 || t.HasTarget() {
			return fmt.Errorf("--model mixture needs one feature column, no intercept and no target; the table has %d design columns and its target is %s", t.Features(), targetText(t))
		}
		m.params, m.labels = []string{"theta[1]", "theta[2]"}, []string{"mean of the first component", "distance to the second"}
		m.target, err = targets.NewMixture(targets.MixtureConfig{Loss: loss, Prior: targets.Gaussian{SDs: []float64{math.Sqrt(10), 1}}})
	case "mean":
		if t.HasTarget() {
			return fmt.Errorf("--model mean has no target column; the schema's is %s", targetText(t))
		}
		for i := range m.params {
			m.params[i] = fmt.Sprintf("mu[%d]", i+1)
		}
		m.target, err = targets.NewGaussianMean(targets.GaussianMeanConfig{Features: t.Features(), Loss: loss, Prior: prior})
	}
	return err
}

// linear makes the linear regression's target; σ = s + e^ω is written as sigma.
func (m *model) linear(s modelSettings, t *data.Shape, loss targets.Loss, prior targets.Prior) error {
	linear, err := targets.NewLinear(targets.LinearConfig{
		Features: t.Features(), Loss: loss, Prior: prior, MinScale: s.minScale, ScalePrior: targets.HalfCauchy{Scale: 1},
		DegreesOfFreedom: s.degreesOfFreedom,
	})
	if err != nil {
		return err
	}
	m.target = linear
	m.params, m.labels = append(m.params, "sigma"), append(m.labels, "scale of the errors")
	m.output = func(dst, theta []float64) {
		copy(dst, theta)
		dst[t.Features()] = linear.Scale(theta)
	}
	return nil
}

// buildLoss makes the loss that --loss and --beta describe.
func (s modelSettings) buildLoss() (targets.Loss, error) {
	switch s.loss {
	case "log":
		if s.beta != 0 {
			return targets.Loss{}, fmt.Errorf("--beta is %v but --loss is log; add --loss beta, or leave --beta out", s.beta)
		}
		return targets.LogLoss(), nil
	case "beta":
		if s.beta == 0 {
			return targets.Loss{}, fmt.Errorf("--loss beta needs --beta, a number above 1, such as --beta 1.5")
		}
		return targets.BetaLoss(s.beta)
	}
	return targets.Loss{}, fmt.Errorf("--loss is %q; it must be one of %v", s.loss, []string{"log", "beta"})
}

func targetText(t *data.Shape) string {
	if !t.HasTarget() {
		return "none"
	}
	if t.Classes() == 2 {
		return fmt.Sprintf("%q, binary", t.Target.Name)
	}
	return fmt.Sprintf("%q, a number", t.Target.Name)
}

// defaultModel is the model that fits a table's columns.
func defaultModel(t *data.Shape) string {
	switch {
	case !t.HasTarget() && t.Features() == 1:
		return "mixture"
	case !t.HasTarget():
		return "mean"
	case (t.Classes() == 2):
		return "logistic"
	}
	return "linear"
}
