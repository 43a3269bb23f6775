package models

import (
	"fmt"
	"slices"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Model is a target with what its users need to know of it. It is made by New or
// Custom, immutable, and safe for concurrent use.
type Model struct {
	// Name is one of Names, or what a custom model is called.
	Name string
	// Target is what is sampled.
	Target targets.Target
	// Parameters describe the values that are written.
	Parameters []Parameter
	// Logistic reports that chains can start at the private optimum of the logistic log loss,
	// whatever the model's own loss.
	Logistic bool
	// Shape and Options are what New was given, with defaults filled in, and for linear
	// regression with the radius that records are read with: see Weigh. Of a custom
	// model they are nil and zero.
	Shape   *data.Shape
	Options Options

	law
	output func(values []float64)      // turns a state into values, in place; nil for the same
	units  func(dst, values []float64) // see InUnits
}

// Parameter describes one of the values that are written.
type Parameter struct {
	Name  string // name in draws, such as beta[1]
	Label string // what it belongs to, for people: a term, or a few words; may be empty
	Unit  string // what one unit of the value of InUnits means; empty where it has none
	// Scale reports that it is the scale of the errors.
	Scale bool
}

// New makes the model of the given name for tables of a shape. An empty name stands
// for what the shape suggests (see Suggest). It holds the shape, which must not change.
//
// Errors are a *SettingError: a name that does not exist, a shape that the model does
// not fit, options out of range or of another model; and what the target says.
func New(name string, shape *data.Shape, options Options) (*Model, error) {
	if name == "" {
		name = Suggest(shape)
	}
	e := find(name)
	if e == nil {
		return nil, bad("model", "%s is %q; it must be one of %s", setting.Name("model"), name, join(Names()))
	}
	options = options.Filled()
	loss, err := options.check(name)
	if err != nil {
		return nil, err
	}
	options.choosePrior(name, shape)
	if misfit := e.misfit(shape); misfit != "" {
		return nil, bad("model", "%s %s %s", setting.Name("model"), name, misfit)
	}
	m := &Model{Name: name, Shape: shape, Options: options, Logistic: e.logistic}
	if err := e.build(&builder{Model: m, loss: loss}); err != nil {
		return nil, err
	}
	if t, ok := m.Target.(*targets.Linear); ok && t.Normal() {
		m.Shape = shape.Tighten()
	}
	return m, nil
}

// Custom makes a model of anybody's target. parameters names its parameters; without
// any they are theta[1], theta[2] and so on.
//
// It returns an error for a nil target, or names that are not as many as parameters.
func Custom(name string, target targets.Target, parameters ...string) (*Model, error) {
	if target == nil {
		return nil, fmt.Errorf("models: the target of %q is nil; give one", name)
	}
	m := &Model{Name: name, Target: target}
	if len(parameters) == 0 {
		m.number("theta", make([]string, target.Dim()))
		return m, nil
	}
	if len(parameters) != target.Dim() {
		return nil, fmt.Errorf("models: %d names for the %d parameters of %q; name each, or none", len(parameters),
			target.Dim(), name)
	}
	for _, p := range parameters {
		m.Parameters = append(m.Parameters, Parameter{Name: p})
	}
	return m, nil
}

// number appends parameters base[1], base[2] and so on with the given labels.
func (m *Model) number(base string, labels []string) {
	for i, label := range labels {
		m.Parameters = append(m.Parameters, Parameter{Name: fmt.Sprintf("%s[%d]", base, i+1), Label: label})
	}
}

// ParameterNames are the names of the values that are written.
func (m *Model) ParameterNames() []string {
	names := make([]string, len(m.Parameters))
	for i, p := range m.Parameters {
		names[i] = p.Name
	}
	return names
}

// Output sets dst to the values of a state theta of the target; both have as many
// entries as there are Parameters.
func (m *Model) Output(dst, theta []float64) {
	copy(dst, theta)
	if m.output != nil {
		m.output(dst)
	}
}

// InUnits sets dst to values in the units of the file (see the package comment). For a custom model
// it copies the values.
func (m *Model) InUnits(dst, values []float64) {
	if m.units == nil {
		copy(dst, values)
		return
	}
	m.units(dst, values)
}

// WithLoss is the model with another loss.
func (m *Model) WithLoss(l targets.Loss) (*Model, error) {
	if m.Shape == nil {
		return nil, fmt.Errorf("models: %q is a custom model, whose loss is its own", m.Name)
	}
	options := m.Options
	options.Loss, options.Beta = "log", 0
	if l.Beta != 0 {
		options.Loss, options.Beta = "beta", l.Beta
		if options.Prior == zellnerSiow || options.Prior == standardized {
			options.Prior = normalPrior // its other factor
		}
	}
	return New(m.Name, m.Shape, options)
}

// Names lists the models.
func Names() []string {
	names := make([]string, len(registry))
	for i, e := range registry {
		names[i] = e.name
	}
	return names
}

// Suggest is the name of the model that a shape suggests: by its response the first of
// logistic (two labels), softmax (more) and linear (a number); without features
// bernoulli and categorical; without a response mixture (one column) and mean.
func Suggest(shape *data.Shape) string {
	for _, e := range registry {
		if e.suggests != nil && e.suggests(shape) {
			return e.name
		}
	}
	return "linear"
}

// About says in a few words what the model of the given name is, or nothing.
func About(name string) string {
	if e := find(name); e != nil {
		return e.about
	}
	return ""
}

// StandardShape is that of records with an intercept and standard normal features (see
// [data.StandardShape]) with a response that the model of the given name takes: labels
// 0 and 1, or 1 to 3; counts without a bound; a number within ±10. Models without
// features or without an intercept leave them out. It returns a *SettingError for a
// name that does not exist.
func StandardShape(name string, records, features int) (*data.Shape, error) {
	e := find(name)
	if e == nil {
		return nil, bad("model", "%s is %q; it must be one of %s", setting.Name("model"), name, join(Names()))
	}
	s := data.StandardShape(records, features)
	switch name {
	case "mixture":
		s.Terms = []data.Term{{Name: "x1", Column: "x1", Unit: 1, Lower: -10, Upper: 10}}
		s.Radius = 10
	case "bernoulli", "categorical":
		s.Terms = nil
	}
	if e.response.standard != nil {
		e.response.standard(s)
	}
	return s, nil
}

func find(name string) *entry {
	i := slices.IndexFunc(registry, func(e *entry) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return registry[i]
}
