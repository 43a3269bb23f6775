package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
)

// modelSettings are the public choices that make a target.
type modelSettings struct {
	model, loss      string
	beta             float64
	priorSD          float64
	minScale         float64
	degreesOfFreedom float64
	dispersion       float64
}

func (s *modelSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.model, "model", "", strings.Join(modelNames, ", ")+"; by default what the target column suggests")
	f.StringVar(&s.loss, "loss", "log", "log, or beta for the β-divergence loss")
	f.Float64Var(&s.beta, "beta", 0, "β above 1, with --loss beta")
	f.Float64Var(&s.priorSD, "prior-sd", 3, "standard deviation of the Gaussian prior of every coefficient, in the units of the scaled columns")
	f.Float64Var(&s.minScale, "min-scale", 0.05, "linear model: the least standard deviation of the errors, in units of the scaled target")
	f.Float64Var(&s.degreesOfFreedom, "degrees-of-freedom", 0, "linear model: Student-t errors with this many; normal errors by default")
	f.Float64Var(&s.dispersion, "dispersion", 0, "negative-binomial model: r, public, where a count with mean μ has variance μ + μ²/r")
}

// modelNames lists what --model takes.
var modelNames = []string{"logistic", "probit", "cloglog", "poisson", "negative-binomial", "linear", "mixture", "mean"}

type modelInMaking struct{ chains.Model }

// buildModel makes the target that the settings describe for a table.
func buildModel(s modelSettings, t *data.Shape) (chains.Model, error) {
	if s.model == "" {
		s.model = defaultModel(t)
	}
	loss, err := s.buildLoss()
	if err != nil {
		return chains.Model{}, err
	}
	if err := s.check(); err != nil {
		return chains.Model{}, err
	}
	m := modelInMaking{Model: chains.Model{
		Name: s.model, Logistic: s.model == "logistic", Loss: s.loss, Beta: s.beta, DegreesOfFreedom: s.degreesOfFreedom, Dispersion: s.dispersion,
	}}
	for i, term := range t.Terms {
		m.Parameters = append(m.Parameters, fmt.Sprintf("beta[%d]", i+1))
		m.Labels = append(m.Labels, term.Name)
	}
	err = m.build(s, t, loss, targets.Gaussian{SD: s.priorSD})
	return m.Model, err
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
func (m *modelInMaking) build(s modelSettings, t *data.Shape, loss targets.Loss, prior targets.Prior) (err error) {
	regression := targets.RegressionConfig{Features: t.Features(), Loss: loss, Prior: prior}
	switch s.model {
	case "logistic", "probit", "cloglog":
		if !t.HasTarget() || !(t.Classes() == 2) {
			return fmt.Errorf("--model %s needs a binary target column; the schema's target is %s", s.model, targetText(t))
		}
		constructor := map[string]func(targets.RegressionConfig) (*targets.Regression, error){
			"logistic": targets.NewLogistic, "probit": targets.NewProbit, "cloglog": targets.NewCLogLog,
		}[s.model]
		m.Target, err = constructor(regression)
	case "poisson", "negative-binomial":
		if c := t.Target; !t.HasTarget() || c.Level != "" || c.Center != 0 || c.Unit != 1 || c.Lower < 0 {
			return fmt.Errorf("--model %s needs a target column of counts, a number with center = 0, scale = 1 and a lower bound of at least 0 in the schema; its target is %s", s.model, targetText(t))
		}
		if s.model == "poisson" {
			m.Target, err = targets.NewPoisson(regression)
		} else {
			m.Target, err = targets.NewNegativeBinomial(targets.NegativeBinomialConfig{RegressionConfig: regression, Dispersion: s.dispersion})
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
		m.Parameters, m.Labels = []string{"theta[1]", "theta[2]"}, []string{"mean of the first component", "distance to the second"}
		m.Target, err = targets.NewMixture(targets.MixtureConfig{Loss: loss, Prior: targets.Gaussian{SDs: []float64{math.Sqrt(10), 1}}})
	case "mean":
		if t.HasTarget() {
			return fmt.Errorf("--model mean has no target column; the schema's is %s", targetText(t))
		}
		for i := range m.Parameters {
			m.Parameters[i] = fmt.Sprintf("mu[%d]", i+1)
		}
		m.Target, err = targets.NewGaussianMean(targets.GaussianMeanConfig{Features: t.Features(), Loss: loss, Prior: prior})
	}
	return err
}

// linear makes the linear regression's target; σ = s + e^ω is written as sigma.
func (m *modelInMaking) linear(s modelSettings, t *data.Shape, loss targets.Loss, prior targets.Prior) error {
	linear, err := targets.NewLinear(targets.LinearConfig{
		Features: t.Features(), Loss: loss, Prior: prior, MinScale: s.minScale, ScalePrior: targets.HalfCauchy{Scale: 1},
		DegreesOfFreedom: s.degreesOfFreedom,
	})
	if err != nil {
		return err
	}
	m.Target = linear
	m.Parameters, m.Labels = append(m.Parameters, "sigma"), append(m.Labels, "scale of the errors")
	m.Output = func(dst, theta []float64) {
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
