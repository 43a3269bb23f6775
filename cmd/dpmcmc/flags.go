package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
)

// whole is a flag of a whole number, which may be written as 100000 or 1e5.
type whole int64

// Set reads the number.
func (w *whole) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		v, notNumber := strconv.ParseFloat(text, 64)
		if notNumber != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return fmt.Errorf("%q is not a whole number of at most 16 digits, such as 100000 or 1e5", text)
		}
		n = int64(v)
	}
	*w = whole(n)
	return nil
}

func (w *whole) String() string { return strconv.FormatInt(int64(*w), 10) }

// Type is what --help calls it.
func (w *whole) Type() string { return "int" }

func bindWhole(f *pflag.FlagSet, p *int64, name string, value int64, help string) {
	*p = value
	f.Var((*whole)(p), name, help)
}

// bindSettings declares a flag for every setting of the table. What is not given stays
// zero, for package chains to choose.
func bindSettings(f *pflag.FlagSet, s *chains.Settings, except ...string) {
	for _, v := range chains.Table() {
		if slices.Contains(except, v.Name) {
			continue
		}
		switch p := v.At(s).(type) {
		case *float64:
			if v.Name == "temperature" {
				f.Var((*temperature)(p), v.Name, about(v))
				continue
			}
			f.Float64Var(p, v.Name, 0, about(v))
		case *int64:
			bindWhole(f, p, v.Name, 0, about(v))
		case *bool:
			f.BoolVar(p, v.Name, false, about(v))
		case *string:
			f.StringVar(p, v.Name, "", about(v))
		}
	}
}

// temperature is a flag of a temperature, or auto.
type temperature float64

// Set reads the temperature.
func (t *temperature) Set(text string) error {
	if text == "auto" {
		*t = forecasts.AutoTemperature
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a temperature in (0, 1], nor auto", text)
	}
	*t = temperature(v)
	return nil
}

func (t *temperature) String() string {
	if t == nil || *t == forecasts.AutoTemperature {
		return "auto"
	}
	return strconv.FormatFloat(float64(*t), 'g', -1, 64)
}

// Type is what --help calls it.
func (t *temperature) Type() string { return "float" }

// modelFlags are a model and its options.
type modelFlags struct {
	model string
	models.Options
	given func(name string) bool
}

// bind declares a flag for the model and every option of package models.
func (m *modelFlags) bind(f *pflag.FlagSet, except ...string) {
	f.StringVar(&m.model, "model", "", strings.Join(models.Names(), ", ")+"; by default what the target column suggests")
	m.Options, m.given = m.Filled(), f.Changed
	for _, v := range models.Settings() {
		help := v.Help
		if v.Models != nil {
			help = strings.Join(v.Models, ", ") + ": " + help
		}
		if slices.Contains(except, v.Name) {
			continue
		}
		switch p := v.Of(&m.Options).(type) {
		case *string:
			f.StringVar(p, v.Name, *p, help)
		case *float64:
			f.Float64Var(p, v.Name, *p, help)
		case *int:
			f.IntVar(p, v.Name, *p, help)
		case *[]float64:
			f.Float64SliceVar(p, v.Name, *p, help)
		}
	}
}

// names are the flags of a model.
func (m *modelFlags) names() []string {
	names := []string{"model"}
	for _, v := range models.Settings() {
		names = append(names, v.Name)
	}
	return names
}

// check reports options given as zero, which would stand for a default.
func (m *modelFlags) check() error {
	for _, v := range models.Settings() {
		if v.Value(&m.Options) == nil && m.given(v.Name) {
			return fmt.Errorf("--%s is zero or empty; leave it out for the default", v.Name)
		}
	}
	return nil
}

// build makes the model for a shape.
func (m *modelFlags) build(shape *data.Shape) (*models.Model, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	built, err := models.New(m.model, shape, m.Options)
	return built, setting.Flagged(err)
}

// about is a setting's help and its default.
func about(v chains.Setting) string {
	switch {
	case v.Name == "kernel":
		return "sampler: " + strings.Join(chains.Names(), ", ") + fmt.Sprintf("; by default %v", v.Default)
	case v.Rule != "":
		return v.Help + "; " + v.Rule
	case v.Default != nil:
		return fmt.Sprintf("%s; by default %v", v.Help, v.Default)
	}
	return v.Help
}

// checkZeros reports settings given as zero, which would stand for a default.
func checkZeros(f *pflag.FlagSet, s chains.Settings, except ...string) error {
	for _, v := range chains.Table() {
		flag := f.Lookup(v.Name)
		if flag == nil || !flag.Changed || slices.Contains(except, v.Name) {
			continue
		}
		if value := v.Value(s); value == int64(0) || value == 0.0 {
			return fmt.Errorf("--%s is 0; it must be positive, or left out for the default", v.Name)
		}
	}
	return nil
}

// budgetFlags are a privacy budget.
type budgetFlags struct {
	epsilon, delta float64
	adjacency      string
}

func (b *budgetFlags) bind(f *pflag.FlagSet, when string) {
	f.Float64Var(&b.epsilon, "epsilon", 0, "privacy budget ε; "+when)
	f.Float64Var(&b.delta, "delta", 0, "privacy budget δ; "+when)
	f.StringVar(&b.adjacency, "adjacency", "substitute",
		"neighbouring data sets: substitute (one record replaced) or add_remove (one left blank); their number is public")
}

// parsed is the adjacency.
func (b *budgetFlags) parsed() (accountant.Adjacency, error) {
	adjacency, err := accountant.ParseAdjacency(b.adjacency)
	if err != nil {
		return adjacency, fmt.Errorf("--adjacency: %w", err)
	}
	return adjacency, nil
}

// explained says what --delta 0 asks for where that is why a run is refused, and marks
// budgets that no open setting meets as refused.
func (b *budgetFlags) explained(err error) error {
	var unreachable *accountant.UnreachableError
	var exceeded *accountant.ExceededError
	short, over := errors.As(err, &unreachable), errors.As(err, &exceeded)
	if b.delta == 0 && (short && math.IsInf(unreachable.Guarantee.Epsilon, 1) ||
		over && math.IsInf(exceeded.AskedEpsilon, 1)) {
		return &shortBudgetError{errors.New("--delta is 0, which asks that nothing ever leaks beyond ε, with no exception " +
			"however unlikely: Gaussian noise and drawn moves cannot promise that at any ε. Give a δ well below 1/records, " +
			"such as 1e-6")}
	}
	if over {
		err = fmt.Errorf("%w\nSettings that you leave out, such as --step and --iterations, are chosen to fit; dpmcmc plan "+
			"says what a budget buys", err)
	}
	if short {
		return &shortBudgetError{err}
	}
	return err
}

// applyConfig sets the flags named in the --config file, except those given on
// the command line.
func applyConfig(c *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var where *toml.DecodeError
		if errors.As(err, &where) {
			line, column := where.Position()
			return fmt.Errorf("--config: %s:%d:%d: %v", path, line, column, err)
		}
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	var errs []error
	for _, k := range sortedKeys(values) {
		f := c.Flags().Lookup(k)
		switch {
		case f == nil || k == "config" || k == "help":
			errs = append(errs, fmt.Errorf("--config: %s: there is no setting %q; the settings are the flags of %s", path, k,
				c.CommandPath()))
		case !f.Changed:
			if err := c.Flags().Set(k, flagText(values[k])); err != nil {
				errs = append(errs, fmt.Errorf("--config: %s: %s: %w", path, k, err))
			}
		}
	}
	return errors.Join(errs...)
}

// flagText is a value of a configuration as a flag has it: lists with commas.
func flagText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprint(e)
	}
	return strings.Join(parts, ",")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// missing names the flags that were not given, or is empty.
func missing(f *pflag.FlagSet, required ...string) string {
	var names []string
	for _, name := range required {
		if !f.Changed(name) {
			names = append(names, "--"+name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is required"
	}
	return strings.Join(names, ", ") + " are required"
}

// complete lets shells complete the values of flags that have a list of them.
func complete(c *cobra.Command) {
	for flag, values := range map[string][]string{
		"kernel": chains.Names(), "start": chains.StartNames(), "model": models.Names(), "loss": {"log", "beta"},
		"adjacency": {"substitute", "add_remove"}, "accounting": {"bit", "published", "tightened"},
		"acceptance": {"barker", "penalty"},
	} {
		if c.Flags().Lookup(flag) == nil {
			continue
		}
		if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
			cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic("dpmcmc: " + err.Error())
		}
	}
}
