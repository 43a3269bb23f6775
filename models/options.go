package models

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/targets"
)

// SettingError says what is wrong with an option, what is allowed, and what to do.
type SettingError = setting.Error

func bad(name setting.Name, format string, args ...any) error {
	return setting.Bad("models", name, format, args...)
}

func join(list []string) string { return strings.Join(list, ", ") }

// Options are the public choices that make a target of a model's name. Zero stands for
// the default. Settings says what each is and which models have it.
type Options struct {
	Loss             string    `toml:"loss" json:"loss"`
	Beta             float64   `toml:"beta" json:"beta,omitempty"`
	Prior            string    `toml:"prior" json:"prior"`
	PriorSD          float64   `toml:"prior-sd" json:"prior-sd"`
	MinScale         float64   `toml:"min-scale" json:"min-scale"`
	DegreesOfFreedom float64   `toml:"degrees-of-freedom" json:"degrees-of-freedom,omitempty"`
	Dispersion       float64   `toml:"dispersion" json:"dispersion,omitempty"`
	ErrorScale       float64   `toml:"error-scale" json:"error-scale,omitempty"`
	Hidden           int       `toml:"hidden" json:"hidden,omitempty"`
	Concentrations   []float64 `toml:"concentrations" json:"concentrations,omitempty"`
}

// Setting is an option: what commands and configurations know of it.
type Setting struct {
	// Name is the option's name, such as prior-sd, and Help what it is, with its default.
	Name, Help string
	// Models are the models that have it; nil for all.
	Models []string
	// Of returns a pointer to the option: *string, *float64, *int or *[]float64.
	Of func(*Options) any
}

// Has reports whether the model of the given name has the option.
func (s Setting) Has(model string) bool { return s.Models == nil || slices.Contains(s.Models, model) }

// Value is the option's value: a string, a float64, an int or a []float64; nil where it
// is zero.
func (s Setting) Value(o *Options) any {
	v := reflect.ValueOf(s.Of(o)).Elem()
	if v.IsZero() {
		return nil
	}
	return v.Interface()
}

// Settings lists the options.
func Settings() []Setting { return slices.Clone(settings) }

// init gives the prior to the models that have coefficients of columns: all but a few.
func init() {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == "prior" })
	for _, name := range Names() {
		if !slices.Contains([]string{"network", "bernoulli", "categorical", "mixture"}, name) {
			settings[i].Models = append(settings[i].Models, name)
		}
	}
}

var settings = []Setting{
	{Name: "loss", Of: func(o *Options) any { return &o.Loss },
		Help: "log, or beta for the β-divergence loss"},
	{Name: "beta", Of: func(o *Options) any { return &o.Beta },
		Help: "β above 1, with loss beta"},
	{Name: "prior", Of: func(o *Options) any { return &o.Prior },
		Help: "normal; standardized, one of what a standard deviation of a number adds to the linear predictor, whose " +
			"scale is learnt, for labels and counts with draws given a released score; horseshoe, which shrinks coefficients " +
			"towards 0 unless the data say otherwise, the intercept staying normal; or zellner-siow, which for released " +
			"sums of linear regressions is one of what the columns explain together, beside a wide normal one; by default, " +
			"where no prior is stated, zellner-siow for linear regressions with normal errors, standardized for " +
			"regressions of labels, and else normal"},
	{Name: "prior-sd", Of: func(o *Options) any { return &o.PriorSD },
		Help: "standard deviation of the normal prior of every coefficient, in the units of the scaled columns, " +
			"which lie within ±1/√K for K columns of the file, the intercept counted; by default 3·√K, for numbers " +
			"1.5·√K, beside zellner-siow 2.5·√K, and 3 for mean and network"},
	{Name: "min-scale", Of: func(o *Options) any { return &o.MinScale },
		Models: []string{"linear", "heteroscedastic", "network"},
		Help:   "the least standard deviation of the errors, in units of the scaled target"},
	{Name: "degrees-of-freedom", Of: func(o *Options) any { return &o.DegreesOfFreedom },
		Models: []string{"linear", "heteroscedastic"},
		Help:   "Student-t errors with this many; normal errors by default"},
	{Name: "dispersion", Of: func(o *Options) any { return &o.Dispersion }, Models: []string{"negative-binomial"},
		Help: "r, public, where a count with mean μ has variance μ + μ²/r; required"},
	{Name: "error-scale", Of: func(o *Options) any { return &o.ErrorScale }, Models: []string{"median"},
		Help: "mean absolute error, public, in units of the scaled target"},
	{Name: "hidden", Of: func(o *Options) any { return &o.Hidden }, Models: []string{"network"},
		Help: "number of hidden units"},
	{Name: "concentrations", Of: func(o *Options) any { return &o.Concentrations },
		Models: []string{"bernoulli", "categorical"},
		Help:   "prior counts of the labels, in their order; 1 each by default"},
}

// The priors of coefficients.
const (
	normalPrior  = "normal"
	horseshoe    = "horseshoe"
	zellnerSiow  = "zellner-siow"
	standardized = "standardized"
)

// Filled are the options with the defaults of what is not given: the log loss, a least
// scale of 0.05, a mean absolute error of 0.25 and 4 hidden units. The prior and its
// standard deviation follow from the model and the shape of the table: see DefaultPriorSD.
func (o Options) Filled() Options {
	o.Loss = cmp.Or(o.Loss, "log")
	o.MinScale = cmp.Or(o.MinScale, 0.05)
	o.ErrorScale = cmp.Or(o.ErrorScale, 0.25)
	o.Hidden = cmp.Or(o.Hidden, 4)
	return o
}

// wide is the prior standard deviation of what a column at its bound adds to a number,
// where what columns explain together has a prior of its own.
const wide = 2.5

// choosePrior fills in what is not stated of the prior. Unless anything is, linear
// regressions with normal errors have that of Zellner and Siow: a normal prior that leaves
// room for coefficients along directions that columns hardly take is too wide for others.
// Regressions of labels have one on standardized numbers, since bounds of a column do not
// say how far it spreads within them. That of counts was not measured.
func (o *Options) choosePrior(model string, shape *data.Shape) {
	stated := o.PriorSD != 0 || slices.ContainsFunc(shape.Terms, func(t data.Term) bool {
		return t.PriorSD != 0 || t.PriorGroup != ""
	})
	if o.Prior == "" {
		e := find(model)
		switch o.Prior = normalPrior; {
		case stated || o.Loss != "log":
		case model == "linear" && o.DegreesOfFreedom == 0:
			o.Prior = zellnerSiow
		case e != nil && e.standardizes && shape.Classes() >= 2:
			o.Prior = standardized
		}
	}
	o.PriorSD = cmp.Or(o.PriorSD, DefaultPriorSD(model, o.Prior, shape))
}

// DefaultPriorSD is the standard deviation of the prior of a coefficient of the named
// model where none is stated: 3·√K, and where the response is a number 1.5·√K, or 2.5·√K
// with the prior zellner-siow. Entries of design columns carry the factor 1/√K
// (data.Shape.Spread), so that a column at its bound moves log-odds or the log of a mean by
// N(0, 3²), and a response that the schema scales to ±1 by N(0, 1.5²), however many columns
// there are. Parameters that are no coefficients of columns, those of mean and network,
// have 3.
func DefaultPriorSD(model, prior string, shape *data.Shape) float64 {
	e := find(model)
	switch {
	case prior == zellnerSiow:
		return wide * max(1, shape.Spread)
	case e != nil && e.response.effect > 0:
		return e.response.effect * max(1, shape.Spread)
	}
	return 3
}

// value is what of points to, as a number to compare or print; 0 where it is not given.
func value(of any) float64 {
	switch v := of.(type) {
	case *float64:
		return *v
	case *int:
		return float64(*v)
	case *[]float64:
		return float64(len(*v))
	}
	return 0
}

// LossName is the loss in a few letters: log, or β and its value.
func (o Options) LossName() string {
	if o.Beta == 0 {
		return o.Loss
	}
	return fmt.Sprintf("β = %v", o.Beta)
}

// Check returns a *SettingError for options that are out of range or belong to another
// model than the named one; an empty name stands for any.
func (o Options) Check(model string) error {
	_, err := o.Filled().check(model)
	return err
}

// check is Check, and returns the loss.
func (o Options) check(model string) (targets.Loss, error) {
	defaults := Options{Prior: normalPrior}.Filled()
	o.Prior = cmp.Or(o.Prior, normalPrior)
	for _, s := range settings {
		v := value(s.Of(&o))
		if model != "" && !s.Has(model) && !reflect.DeepEqual(s.Value(&o), s.Value(&defaults)) {
			return targets.Loss{}, bad(setting.Name(s.Name), "%s is for %s %s, not %s", setting.Name(s.Name),
				setting.Name("model"), strings.Join(s.Models, " or "), model)
		}
		if !(v >= 0) || math.IsInf(v, 1) {
			return targets.Loss{}, bad(setting.Name(s.Name), "%s is %v; it must be positive and finite", setting.Name(s.Name), v)
		}
	}
	prior := setting.Name("prior")
	switch {
	case o.Prior != normalPrior && o.Prior != horseshoe && o.Prior != zellnerSiow && o.Prior != standardized:
		return targets.Loss{}, bad("prior", "%s is %q; it must be normal, standardized, horseshoe or zellner-siow", prior,
			o.Prior)
	case o.Prior == standardized && model != "" && (!find(model).standardizes || o.Loss != "log"):
		return targets.Loss{}, bad("prior", "%s standardized is for regressions of labels or counts with the log loss; use "+
			"normal", prior)
	case o.Prior == zellnerSiow && (model != "linear" && model != "" || o.Loss != "log" || o.DegreesOfFreedom != 0):
		return targets.Loss{},
			bad("prior", "%s zellner-siow is for %s linear with normal errors and the log loss; use normal",
				prior, setting.Name("model"))
	}
	if o.Dispersion == 0 && model == "negative-binomial" {
		return targets.Loss{}, bad("dispersion",
			"%s negative-binomial needs %s r, public: a count with mean μ has variance μ + μ²/r", setting.Name("model"),
			setting.Name("dispersion"))
	}
	return o.loss()
}

// loss is what Loss and Beta describe.
func (o Options) loss() (targets.Loss, error) {
	beta, loss := setting.Name("beta"), setting.Name("loss")
	switch {
	case o.Loss == "log" && o.Beta != 0:
		return targets.Loss{}, bad("beta", "%s is %v but %s is log; add %s beta, or leave %s out", beta, o.Beta, loss, loss,
			beta)
	case o.Loss == "log":
		return targets.Loss{}, nil
	case o.Loss == "beta" && o.Beta == 0:
		return targets.Loss{}, bad("beta", "%s beta needs %s, a number above 1, such as %s 1.5", loss, beta, beta)
	case o.Loss == "beta" && !(o.Beta > 1):
		return targets.Loss{}, bad("beta", "%s is %v; it must be above 1, such as 1.5; %s log stands for 1", beta,
			o.Beta, loss)
	case o.Loss == "beta":
		return targets.Loss{Beta: o.Beta}, nil
	}
	return targets.Loss{}, bad("loss", "%s is %q; it must be log or beta", loss, o.Loss)
}
