package experiment

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/experiment/methods"
	"github.com/dpmcmc/dpmcmc/targets"
)

// model is a target with what results need to know of it.
type model struct {
	problem methods.Problem
	params  []string                   // names of the values that results report
	output  func(dst, theta []float64) // parameters to those values; nil if they are the same
	// predict sets dst to the expected responses given reported values; nil without a
	// response.
	predict func(dst, theta []float64, rows targets.Rows)
	binary  bool
	unit    float64 // of the response, in the file's units
}

// shape is what is public about the records that methods learn from.
func (p *Plan) shape(records int) (*data.Shape, error) {
	var s *data.Shape
	var err error
	switch {
	case p.schema != nil:
		s, err = p.schema.Shape()
	case p.Config.Data.Simulate == methods.Bernoulli:
		s = &data.Shape{RowsPerPerson: 1, Target: data.Term{Name: "y", Level: "1", Unit: 1, Upper: 1}}
	default:
		s, err = data.BuiltinShape(builtinName(p.Config.Data, 1, records))
	}
	if err == nil {
		s.Records = records
	}
	return s, err
}

// newModel makes the model of records of a shape.
func (p *Plan) newModel(t *data.Shape) (*model, error) {
	c := p.Config.Model
	if c.Name == "" {
		c.Name = suggest(t)
	}
	loss := targets.LogLoss()
	if c.Loss == "beta" {
		var err error
		if loss, err = targets.BetaLoss(c.Beta); err != nil {
			return nil, err
		}
	}
	m := &model{unit: t.Target.Unit, binary: (t.Classes() == 2)}
	m.problem = methods.Problem{
		Model: c.Name, PriorSD: c.PriorSD, MinScale: c.MinScale, Prior: c.Prior,
		Facts:    chains.Facts(t, accountant.Substitute),
		Response: max(math.Abs(t.Target.Lower-t.Target.Center), math.Abs(t.Target.Upper-t.Target.Center)) / t.Target.Unit,
	}
	for i := range t.Features() {
		m.params = append(m.params, fmt.Sprintf("beta.%d", i+1))
	}
	if err := m.build(c, t); err != nil {
		return nil, err
	}
	var err error
	if m.problem.Target, err = m.problem.WithLoss(loss); err != nil {
		return nil, err
	}
	m.problem.Start = make([]float64, m.problem.Target.Dim())
	return m, nil
}

// suggest is the model that a table's columns suggest.
func suggest(t *data.Shape) string {
	switch {
	case !t.HasTarget() && t.Features() == 1:
		return methods.Mixture
	case !t.HasTarget():
		return methods.Mean
	case (t.Classes() == 2):
		return methods.Logistic
	}
	return methods.Linear
}

// build fills in what depends on the kind of model.
func (m *model) build(c Model, t *data.Shape) error {
	prior := targets.Gaussian{SD: c.PriorSD}
	response := t.HasTarget()
	fits := response && t.Features() > 0
	switch c.Name {
	case methods.Logistic:
		fits = fits && m.binary
		m.predict = predictLogistic
		m.problem.WithLoss = func(l targets.Loss) (targets.GradTarget, error) {
			return targets.NewLogistic(targets.RegressionConfig{Features: t.Features(), Loss: l, Prior: prior})
		}
	case methods.Linear:
		fits = fits && !m.binary
		m.linear(c, t.Features(), prior)
	case methods.Mean:
		fits = !response
		for i := range m.params {
			m.params[i] = fmt.Sprintf("mu.%d", i+1)
		}
		m.problem.WithLoss = func(l targets.Loss) (targets.GradTarget, error) {
			return targets.NewGaussianMean(targets.GaussianMeanConfig{Features: t.Features(), Loss: l, Prior: prior})
		}
	case methods.Mixture:
		fits = !response && t.Features() == 1
		m.params = []string{"theta.1", "theta.2"}
		m.problem.WithLoss = func(l targets.Loss) (targets.GradTarget, error) {
			return targets.NewMixture(targets.MixtureConfig{Loss: l, Prior: targets.Gaussian{SDs: []float64{math.Sqrt(10), 1}}})
		}
	case methods.Bernoulli:
		fits = response && t.Features() == 0
		m.params = []string{"logit"}
		m.problem.WithLoss = func(l targets.Loss) (targets.GradTarget, error) {
			return targets.NewBetaBernoulli(l, c.Prior[1], c.Prior[0])
		}
	default:
		return fmt.Errorf("there is no model %q; it must be logistic, linear, mean, mixture or bernoulli", c.Name)
	}
	if !fits {
		return fmt.Errorf("the model %s does not fit the data, whose target is %s and which have %d design columns; %s would",
			c.Name, map[bool]string{true: fmt.Sprintf("%q", t.Target.Name), false: "none"}[response], t.Features(), suggest(t))
	}
	return nil
}

// linear is a linear regression, whose log(σ − s) is reported as sigma.
func (m *model) linear(c Model, features int, prior targets.Prior) {
	m.params = append(m.params, "sigma")
	m.problem.WithLoss = func(l targets.Loss) (targets.GradTarget, error) {
		return targets.NewLinear(targets.LinearConfig{
			Features: features, Loss: l, Prior: prior, MinScale: c.MinScale, ScalePrior: targets.HalfCauchy{Scale: 1},
		})
	}
	m.output = func(dst, theta []float64) {
		copy(dst, theta)
		dst[features] = c.MinScale + math.Exp(theta[features])
	}
	m.predict = predictLinear
}

func predictLinear(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = 0
		for j, x := range rows.Row(i) {
			dst[i] += x * theta[j]
		}
	}
}

func predictLogistic(dst, theta []float64, rows targets.Rows) {
	predictLinear(dst, theta, rows)
	for i, eta := range dst {
		dst[i] = 1 / (1 + math.Exp(-eta))
	}
}

// report turns draws of the target's parameters into the values that results
// report.
func (m *model) report(chains [][][]float64) [][][]float64 {
	if m.output == nil {
		return chains
	}
	out := make([][][]float64, len(chains))
	for c, draws := range chains {
		for _, theta := range draws {
			v := make([]float64, len(m.params))
			m.output(v, theta)
			out[c] = append(out[c], v)
		}
	}
	return out
}
