package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
)

// Model is a model and its options.
type Model struct {
	ModelName string
	models.Options
	given func(name string) bool
}

// Bind declares a flag for the model and every option of package models.
func (m *Model) Bind(f *pflag.FlagSet, except ...string) {
	f.StringVar(&m.ModelName, "model", "", strings.Join(models.Names(), ", ")+
		"; by default what the target column suggests")
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

// Names are the flags of a model.
func (m *Model) Names() []string {
	names := []string{"model"}
	for _, v := range models.Settings() {
		names = append(names, v.Name)
	}
	return names
}

// Check reports options given as zero, which would stand for a default.
func (m *Model) Check() error {
	for _, v := range models.Settings() {
		if v.Value(&m.Options) == nil && m.given(v.Name) {
			return fmt.Errorf("--%s is zero or empty; leave it out for the default", v.Name)
		}
	}
	return nil
}

// Build makes the model for a shape.
func (m *Model) Build(shape *data.Shape) (*models.Model, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	built, err := models.New(m.ModelName, shape, m.Options)
	return built, setting.Flagged(err)
}
