package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
)

// Config is a declarative experiment. Fields without a stated default are
// required.
type Config struct {
	// Name identifies the experiment in results.
	Name string `toml:"name" json:"name"`
	// Title heads the report. Defaults to Name.
	Title string `toml:"title" json:"title"`
	// Seed decides simulated data, splits and, on public data, all noise. Defaults
	// to 1.
	Seed uint64 `toml:"seed" json:"seed"`
	// Epsilons are the privacy budgets of one run, Delta their δ in (0, 1).
	Epsilons []float64 `toml:"epsilons" json:"epsilons"`
	Delta    float64   `toml:"delta" json:"delta"`
	// Repeats is the number of runs of each method at each ε. Defaults to 10.
	Repeats int `toml:"repeats" json:"repeats"`
	// Metrics are names of package metrics. Defaults to all that apply.
	Metrics []string `toml:"metrics" json:"metrics"`
	// Data, Model, Reference and Membership describe themselves.
	Data       Data       `toml:"data" json:"data"`
	Model      Model      `toml:"model" json:"model"`
	Reference  Reference  `toml:"reference" json:"reference"`
	Membership Membership `toml:"membership" json:"membership"`
	// Methods are the methods to compare, at least one.
	Methods []Method `toml:"method" json:"method"`

	source source
}

// Data says what is analysed: either Simulate or File with Schema is required.
type Data struct {
	// Simulate names a model. Every repeat has data of its own: those of data.Builtin
	// for logistic, linear and mixture; labels of a given Probability for bernoulli; for
	// others standard normal features and parameters drawn from the prior.
	Simulate string `toml:"simulate" json:"simulate,omitempty"`
	// Records lists numbers of records, each of which makes an experiment.
	Records []int `toml:"records" json:"records,omitempty"`
	// Features is the number of features of a regression. Defaults to 3.
	Features int `toml:"features" json:"features,omitempty"`
	// Probability is that of the label 1 of bernoulli. Defaults to 0.3.
	Probability float64 `toml:"probability" json:"probability,omitempty"`
	// TestRecords is the number of further records to test on. Defaults to 1000, and
	// to none for models without a response or without features.
	TestRecords int `toml:"test-records" json:"test-records,omitempty"`
	// File is a CSV file, found in the data folder, and Schema its schema: a file
	// beside the configuration, or bundled:NAME.
	File   string `toml:"file" json:"file,omitempty"`
	Schema string `toml:"schema" json:"schema,omitempty"`
	// TestShare is the share of a file's records that a repeat holds out, at random.
	// Defaults to 0, none.
	TestShare float64 `toml:"test-share" json:"test-share,omitempty"`
}

// Model is the model, its loss and its prior. Methods may have a loss of their
// own; the non-private posterior is that of this one.
type Model struct {
	// Name is one of package models. Defaults to the simulated model, or to what the
	// target column of a file suggests.
	Name string `toml:"name" json:"name"`
	models.Options
}

// Reference says how the non-private posterior is sampled, by NUTS.
type Reference struct {
	// Chains, Warmup and Draws default to 2, 500 and 500 a chain.
	Chains int `toml:"chains" json:"chains"`
	Warmup int `toml:"warmup" json:"warmup"`
	Draws  int `toml:"draws" json:"draws"`
}

// Membership says how the membership-inference attack is made, if the metrics
// name it.
type Membership struct {
	// Rounds is the number of runs to judge on, and again to fit on. Defaults to 40.
	Rounds int `toml:"rounds" json:"rounds"`
}

// Method is one method to compare.
type Method struct {
	// Name is one of package methods.
	Name string `toml:"name" json:"name"`
	// Label tells methods apart in results. Defaults to Name.
	Label string `toml:"label" json:"label"`
	// Epsilons replace those of the experiment. Defaults to none.
	Epsilons []float64 `toml:"epsilons" json:"epsilons,omitempty"`
	// Settings are the method's own; its defaults otherwise.
	Settings map[string]any `toml:"settings" json:"settings,omitempty"`
}

// Parse reads an experiment from TOML text, called name in errors. An error about
// the text is a *[ConfigError].
func Parse(name string, text []byte) (*Config, error) {
	c := &Config{source: source{name: name, text: text}}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(c)
	if err != nil {
		return nil, c.source.decoding(err)
	}
	c.fill()
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

// fill sets defaults.
func (c *Config) fill() {
	c.Title = cmp.Or(c.Title, c.Name)
	c.Seed = cmp.Or(c.Seed, 1)
	c.Repeats = cmp.Or(c.Repeats, 10)
	c.Reference.Chains = cmp.Or(c.Reference.Chains, 2)
	c.Reference.Warmup = cmp.Or(c.Reference.Warmup, 500)
	c.Reference.Draws = cmp.Or(c.Reference.Draws, 500)
	c.Membership.Rounds = cmp.Or(c.Membership.Rounds, 40)
	c.Model.Options = c.Model.Filled()
	c.Model.Prior = cmp.Or(c.Model.Prior, "normal") // which every method has
	if d := &c.Data; d.Simulate != "" {
		c.Model.Name = cmp.Or(c.Model.Name, d.Simulate)
		d.Features = cmp.Or(d.Features, 3)
		d.Probability = cmp.Or(d.Probability, 0.3)
		if s, err := models.StandardShape(d.Simulate, 1, d.Features); err == nil && s.HasTarget() && s.Features() > 0 {
			d.TestRecords = cmp.Or(d.TestRecords, 1000)
		}
	}
	for i := range c.Methods {
		c.Methods[i].Label = cmp.Or(c.Methods[i].Label, c.Methods[i].Name)
	}
}

// check reports the first setting that is not allowed.
func (c *Config) check() error {
	switch {
	case c.Name == "":
		return c.source.at("name", "name is required: a short name of the experiment")
	case !(c.Delta > 0 && c.Delta < 1):
		return c.source.at("delta", "delta = %v: it is required and must be in (0, 1); privacy parameters have no default",
			c.Delta)
	case c.Repeats < 1:
		return c.source.at("repeats", "repeats = %d: it must be at least 1", c.Repeats)
	case len(c.Methods) == 0:
		return c.source.at("method", "there is no [[method]]: give at least one; dpmcmc compare --list names them")
	case c.Reference.Chains < 1 || c.Reference.Warmup < 20 || c.Reference.Draws < 20:
		return c.source.at("reference", "[reference] needs at least 1 chain of 20 warm-up iterations and 20 draws")
	case c.Membership.Rounds < 4:
		return c.source.at("membership.rounds", "rounds = %d: at least 4 are needed", c.Membership.Rounds)
	}
	for _, m := range c.Metrics {
		if _, err := metrics.ByName(m); err != nil {
			return c.source.at("metrics", "%v", err)
		}
	}
	return cmp.Or(c.checkEpsilons("epsilons", c.Epsilons), c.Data.check(c.source), c.checkModel(), c.checkMethods())
}

func (c *Config) checkEpsilons(key string, list []float64) error {
	seen := map[float64]bool{}
	for _, e := range list {
		if !(e > 0) || math.IsInf(e, 1) || seen[e] {
			return c.source.at(key, "%s = %v: every ε must be positive, finite and named once", key[strings.LastIndex(key,
				".")+1:], list)
		}
		seen[e] = true
	}
	return nil
}

func (d Data) check(s source) error {
	switch {
	case (d.Simulate == "") == (d.File == ""):
		return s.at("data", "[data] needs either simulate or file")
	case d.File != "" && d.Schema == "":
		return s.at("data", "[data] names a file without a schema: say what is public about it; dpmcmc schema drafts one")
	case d.File != "" && (d.Records != nil || d.Features != 0 || d.Probability != 0 || d.TestRecords != 0):
		return s.at("data", "[data] names a file; records, features, probability and test-records are for simulated data")
	case d.File != "" && !(d.TestShare >= 0 && d.TestShare < 1):
		return s.at("data.test-share", "test-share = %v: it must be in [0, 1)", d.TestShare)
	case d.File != "":
		return nil
	case d.Schema != "" || d.TestShare != 0:
		return s.at("data", "[data] is simulated; schema and test-share are for files")
	case len(d.Records) == 0:
		return s.at("data.records", "records is required for simulated data: a list of numbers of records, such as [2000]")
	case d.Features < 1 || d.TestRecords < 0 || !(d.Probability > 0 && d.Probability < 1):
		return s.at("data", "[data]: features must be at least 1, test-records at least 0 and probability in (0, 1)")
	}
	if !slices.Contains(models.Names(), d.Simulate) {
		return s.at("data.simulate", "simulate = %q: it must be one of %s", d.Simulate, strings.Join(models.Names(), ", "))
	}
	seen := map[int]bool{}
	for _, n := range d.Records {
		if n < 1 || seen[n] {
			return s.at("data.records", "records = %v: every number must be at least 1 and named once", d.Records)
		}
		seen[n] = true
	}
	return nil
}

// checkModel checks the model's options.
func (c *Config) checkModel() error {
	if err := c.Model.Check(c.Model.Name); err != nil {
		return c.modelError(err)
	}
	return nil
}

// checkMethods checks names, labels and settings.
func (c *Config) checkMethods() error {
	labels := map[string]bool{}
	for i, m := range c.Methods {
		key := fmt.Sprintf("method.%d", i)
		method, err := methods.ByName(m.Name)
		if err != nil {
			return c.source.at(key+".name", "%v", err)
		}
		if labels[m.Label] || strings.ContainsAny(m.Label, "\n\r") {
			return c.source.at(key, "label %q: labels must differ and be one line; give [[method]] a label of its own", m.Label)
		}
		labels[m.Label] = true
		if _, err := method.Check(m.Settings); err != nil {
			var setting *methods.SettingError
			errors.As(err, &setting)
			return c.source.at(key+".settings."+setting.Name, "%v", err)
		}
		if err := c.checkEpsilons(key+".epsilons", m.Epsilons); err != nil {
			return err
		}
		if method.Kind != methods.None && len(c.Epsilons) == 0 && len(m.Epsilons) == 0 {
			return c.source.at(key,
				"method %q has no epsilons, and neither has the experiment; privacy parameters have no default", m.Label)
		}
	}
	return nil
}
