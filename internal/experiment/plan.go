package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
)

// Options say where an experiment finds its data.
type Options struct {
	// DataDir is the folder of the data file. Defaults to ConfigDir.
	DataDir string
	// ConfigDir is the folder of the configuration. Defaults to the current one.
	ConfigDir string
	// Public says that the records of a file are public knowledge. Simulated data
	// always are. Defaults to false: they are private.
	Public bool
}

// Plan is an experiment whose methods are set up and priced. No record has been
// read.
type Plan struct {
	Config *Config
	// Private says that the records are private, so that all cells count together.
	Private bool
	// Cells are the runs to make, in the order of results.
	Cells []Cell
	// Metrics are those that are computed.
	Metrics []metrics.Metric

	mechanisms []*Mechanism
	schema     *data.Schema // nil for simulated data
	file       string
	table      *data.Table // nil until it is loaded
	problems   map[int]methods.Problem
}

// Mechanism is a method that was set up for a number of records and an ε.
type Mechanism struct {
	// Method and Label are those of the configuration.
	Method, Label string
	// Records is the number of records it learns from.
	Records int
	// Epsilon is the budget of one run; 0 for methods without a guarantee.
	Epsilon float64
	*methods.Mechanism
}

// Cell is one run.
type Cell struct {
	// ID says which run it is; its randomness on public data depends on it and the
	// experiment's seed alone.
	ID        string
	Mechanism *Mechanism
	Repeat    int // from 1
}

// Open reads a configuration, from a file or a bundled one (configs.Prefix), and sets up its
// plan. Data are looked for in the file's folder unless the options name one.
func Open(name string, o Options) (*Plan, error) {
	var text []byte
	var err error
	if bundled, ok := strings.CutPrefix(name, configs.Prefix); ok {
		text, err = configs.Experiment(bundled)
	} else {
		o.ConfigDir = cmp.Or(o.ConfigDir, filepath.Dir(name))
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	c, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	return NewPlan(c, o)
}

// NewPlan sets up all methods. Errors: a schema that cannot be read, a model that
// does not fit the data, a method that does not fit the model or its budget, and on
// private data a method without a guarantee or a metric that reads records.
func NewPlan(c *Config, o Options) (*Plan, error) {
	p := &Plan{Config: c, Private: c.Data.File != "" && !o.Public, problems: map[int]methods.Problem{}}
	if c.Data.File != "" {
		if err := p.findData(o); err != nil {
			return nil, err
		}
	}
	for _, records := range p.sizes() {
		shape, err := p.shape(records)
		if err != nil {
			return nil, err
		}
		if p.problems[records], err = p.problem(shape); err != nil {
			return nil, c.modelError(err)
		}
	}
	if err := p.chooseMetrics(); err != nil {
		return nil, err
	}
	for _, records := range p.sizes() {
		if err := p.setUp(records); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// modelError says where an option of the model is wrong.
func (c *Config) modelError(err error) error {
	var bad *models.SettingError
	if !errors.As(err, &bad) {
		return c.source.at("model", "%v", err)
	}
	key := "model." + bad.Setting
	if bad.Setting == "model" {
		key = "model.name"
	}
	return c.source.at(key, "%s", bad.Spell(func(setting string) string { return setting }))
}

// findData reads the schema, and finds where the file should be.
func (p *Plan) findData(o Options) error {
	c := p.Config
	name, text := c.Data.Schema, []byte(nil)
	var err error
	if bundled, ok := strings.CutPrefix(name, configs.Prefix); ok {
		text, err = configs.Schema(bundled)
	} else {
		if !filepath.IsAbs(name) {
			name = filepath.Join(o.ConfigDir, name)
		}
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return c.source.at("data.schema", "%v", err)
	}
	if p.schema, err = schemafile.Parse(name, text); err != nil {
		return c.source.at("data.schema", "%v", err)
	}
	if !p.schema.Confirmed {
		return c.source.at("data.schema", "%s: %v", name, data.ErrUnconfirmed)
	}
	folder := o.DataDir
	folder = cmp.Or(folder, o.ConfigDir)
	if p.file = c.Data.File; !filepath.IsAbs(p.file) {
		p.file = filepath.Join(folder, p.file)
	}
	return nil
}

// sizes are the numbers of records that methods learn from.
func (p *Plan) sizes() []int {
	if p.schema == nil {
		return p.Config.Data.Records
	}
	n := p.schema.Records
	return []int{n - int(math.Floor(p.Config.Data.TestShare*float64(n)))}
}

// chooseMetrics picks the metrics that the configuration names, or that apply.
func (p *Plan) chooseMetrics() error {
	c := p.Config
	for _, name := range c.Metrics {
		m, err := metrics.ByName(name)
		if err != nil {
			return err
		}
		if p.Private && m.Reads != metrics.Nothing {
			return c.source.at("metrics",
				"the metric %s depends on %s, which no budget here pays for: on private data use %s, or --public if the records "+
					"are public knowledge",
				name, m.Reads, strings.Join(freeMetrics(), " and "))
		}
		p.Metrics = append(p.Metrics, m)
	}
	if c.Metrics != nil {
		return nil
	}
	for _, m := range metrics.List() {
		if !m.Optional && (!p.Private || m.Reads == metrics.Nothing) {
			p.Metrics = append(p.Metrics, m)
		}
	}
	return nil
}

// freeMetrics are those that are computed from releases alone.
func freeMetrics() (names []string) {
	for _, m := range metrics.List() {
		if m.Reads == metrics.Nothing {
			names = append(names, m.Name)
		}
	}
	return names
}

// setUp makes the mechanisms and cells of a number of records.
func (p *Plan) setUp(records int) error {
	c := p.Config
	var made []*Mechanism
	for i, mc := range c.Methods {
		method, err := methods.ByName(mc.Name)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("method.%d", i)
		if method.Kind == methods.None && p.Private {
			return c.source.at(key, "%s has no guarantee: remove it, or say --public if the records are public knowledge",
				mc.Name)
		}
		for _, epsilon := range c.epsilonsOf(method, mc) {
			m, err := method.New(p.problems[records], methods.Budget{Epsilon: epsilon, Delta: c.Delta}, mc.Settings)
			if err != nil {
				return c.source.at(key, "method %q at ε = %v with %d records: %v", mc.Label, epsilon, records, err)
			}
			if err := checkCost(m, epsilon, c.Delta); err != nil {
				return c.source.at(key, "method %q at ε = %v with %d records: %v", mc.Label, epsilon, records, err)
			}
			made = append(made, &Mechanism{Method: mc.Name, Label: mc.Label, Records: records, Epsilon: epsilon, Mechanism: m})
		}
	}
	p.mechanisms = append(p.mechanisms, made...)
	for repeat := range c.Repeats {
		for _, m := range made {
			id := fmt.Sprintf("records=%d repeat=%d epsilon=%g method=%s", records, repeat+1, m.Epsilon, m.Label)
			p.Cells = append(p.Cells, Cell{ID: id, Mechanism: m, Repeat: repeat + 1})
		}
	}
	return nil
}

// epsilonsOf are the budgets that a method runs at.
func (c *Config) epsilonsOf(method *methods.Method, mc Method) []float64 {
	switch {
	case method.Kind == methods.None:
		return []float64{0}
	case mc.Epsilons != nil:
		return mc.Epsilons
	}
	return c.Epsilons
}

// checkCost refuses settings that make a method dearer than its budget.
func checkCost(m *methods.Mechanism, epsilon, delta float64) error {
	if m.Kind == methods.None {
		return nil
	}
	g, err := m.Cost.LeastEpsilon(delta)
	if err != nil {
		return err
	}
	if g.Epsilon > epsilon {
		return fmt.Errorf("its settings cost ε = %.4g at δ = %g: leave one of them open, so that it can be chosen", g.Epsilon,
			delta)
	}
	return nil
}

// File is the data file, empty for simulated data.
func (p *Plan) File() string { return p.file }

// Total is everything that the experiment releases of the records: all cells, over
// all methods, ε and repeats. It is an error if a method has no guarantee.
func (p *Plan) Total() (accountant.Event, error) { return composed(p.Cells) }

// composed is the cost of the given cells together.
func composed(cells []Cell) (accountant.Event, error) {
	counts := map[*Mechanism]int64{}
	var order []*Mechanism
	for _, c := range cells {
		if c.Mechanism.Kind == methods.None {
			return accountant.Event{}, fmt.Errorf("experiment: the method %q has no guarantee", c.Mechanism.Label)
		}
		if counts[c.Mechanism] == 0 {
			order = append(order, c.Mechanism)
		}
		counts[c.Mechanism]++
	}
	if len(order) == 0 {
		return accountant.Event{}, errors.New("experiment: there are no cells")
	}
	events := make([]accountant.Event, len(order))
	for i, m := range order {
		var err error
		if events[i], err = m.Cost.Times(counts[m]); err != nil {
			return accountant.Event{}, err
		}
	}
	return accountant.Compose(events...)
}

// Guarantee says what the total cost of the given cells rests on: the weakest of
// their guarantees.
func (p *Plan) Guarantee() methods.Kind {
	kind := methods.Unconditional
	for _, m := range p.mechanisms {
		if m.Kind == methods.Conditional && kind == methods.Unconditional || m.Kind == methods.None {
			kind = m.Kind
		}
	}
	return kind
}
