package tune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Objective is what makes settings better.
type Objective string

// The objectives.
const (
	// ESS is the harmonic mean over parameters of the predicted bulk ESS.
	ESS Objective = "ess"
	// Accuracy is minus the root mean square over parameters of the errors of the
	// mean, in posterior standard deviations, and of the logarithm of the standard
	// deviation. It needs whole chains, so the search is shorter for the same work.
	Accuracy Objective = "accuracy"
)

// Config says what to tune for. All of it is public.
type Config struct {
	// Models are what may be sampled: one model of package models for one shape, with
	// one loss or several, all of which are compared. Required.
	Models []*models.Model
	// Adjacency is the neighbouring relation of the budget. Required.
	Adjacency accountant.Adjacency
	// Temperatures are the τ in (0, 1] to compare. Defaults to 1 alone.
	Temperatures []float64
	// Kernels are those to compare, by the names of package chains. Defaults to all.
	Kernels []string
	// Fixed are settings not to tune. Kernel and Temperature must be left out.
	Fixed chains.Settings
	// Epsilon and Delta are the budget. Required.
	Epsilon, Delta float64
	// Objective defaults to ESS.
	Objective Objective
	// Warmup is the share of a chain that is left out, in [0, 1). Defaults to that of the
	// settings (chains.Settings.Warmup).
	Warmup float64
	// CoefficientSD is the standard deviation of simulated coefficients. Zero draws
	// them from the prior of the first model's target.
	CoefficientSD float64
	// ErrorSD is that of simulated errors, where the model has a scale of errors as a
	// parameter. Defaults to a tenth of the distance of the response's bounds, at most ½.
	ErrorSD float64
	// Factors are the multiples of a setting that are tried around its current value.
	// Default to ¼, ½, 2 and 4.
	Factors []float64
	// Repeats is the number of simulated tables that finalists run on. Defaults to 1.
	Repeats int
	// SearchOnly leaves the finals out: nothing but sample sizes from stationary starts
	// is predicted. The objective must be ESS.
	SearchOnly bool
	// Work bounds the looks at simulated records, one a record and step, of search
	// and finals together, as far as probes of 128 steps allow. Defaults to 2e9: a minute or so on a laptop.
	Work int64
	// Reference bounds the work of each non-private reference: gradients, times records, times
	// parameters. One that needs more ends in ErrReference. Defaults to no bound.
	Reference int64
	// Seed starts all simulation. The same seed gives the same result.
	Seed uint64
	// Workers is the number of chains simulated at once. Defaults to GOMAXPROCS. It
	// does not change the result.
	Workers int
	// Journal keeps what was measured. Defaults to none.
	Journal Journal

	foreseen bool // references of networks are approximations, and others are tried for longer
	through  bool // walks are foreseen by whole chains
}

const defaultWork = 2_000_000_000

// warmup is the share of chains with these settings that is left out.
func (c Config) warmup(s chains.Settings) float64 { return cmp.Or(c.Warmup, s.Warmup()) }

// filled is the config with its defaults, or what is wrong with it.
func (c Config) filled() (Config, error) {
	c.Temperatures = fill(c.Temperatures, 1)
	c.Kernels = fill(c.Kernels, chains.Names()...)
	c.Factors = fill(c.Factors, 0.25, 0.5, 2, 4)
	c.Objective = cmp.Or(c.Objective, ESS)
	c.Repeats = cmp.Or(c.Repeats, 1)
	c.Work = cmp.Or(c.Work, defaultWork)
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	return c, c.check()
}

func fill[T any](given []T, instead ...T) []T {
	if len(given) == 0 {
		return instead
	}
	return slices.Clone(given)
}

// check reports a config that makes no sense.
func (c Config) check() error {
	if err := c.checkModels(); err != nil {
		return err
	}
	switch {
	case c.Objective != ESS && c.Objective != Accuracy:
		return fmt.Errorf("tune: Objective is %q; it must be %s or %s", c.Objective, ESS, Accuracy)
	case c.SearchOnly && c.Objective != ESS:
		return fmt.Errorf("tune: SearchOnly measures nothing for the objective %s; leave one of them out", c.Objective)
	case c.Fixed.Kernel != "" || c.Fixed.Temperature != 0:
		return errors.New("tune: Fixed has a kernel or a temperature; give them as Kernels and Temperatures")
	case !(c.Warmup >= 0 && c.Warmup < 1):
		return fmt.Errorf("tune: Warmup is %v; it must be in [0, 1)", c.Warmup)
	case !(c.CoefficientSD >= 0) || !(c.ErrorSD >= 0) || math.IsInf(c.CoefficientSD+c.ErrorSD, 1):
		return fmt.Errorf("tune: CoefficientSD is %v and ErrorSD is %v; they must be positive and finite, or left out",
			c.CoefficientSD, c.ErrorSD)
	case c.Reference < 0:
		return fmt.Errorf("tune: Reference is %d; it must be positive, or left out for no bound", c.Reference)
	case c.Repeats < 1 || c.Work < 1 || c.Workers < 1:
		return fmt.Errorf("tune: Repeats is %d, Work %d and Workers %d; each must be at least 1, or left out", c.Repeats,
			c.Work, c.Workers)
	}
	for _, t := range c.Temperatures {
		if !(t > 0 && t <= 1) {
			return fmt.Errorf("tune: a temperature is %v; it must be in (0, 1]", t)
		}
	}
	for _, f := range c.Factors {
		if !(f > 0) || math.IsInf(f, 1) {
			return fmt.Errorf("tune: a factor is %v; it must be positive and finite", f)
		}
	}
	for _, k := range c.Kernels {
		if _, err := chains.Describe(k); err != nil {
			return err
		}
	}
	_, err := c.budget()
	return err
}

// checkModels reports models that cannot be simulated or compared.
func (c Config) checkModels() error {
	if len(c.Models) == 0 || c.Models[0] == nil {
		return errors.New("tune: Models is empty; give one of package models")
	}
	first, seen := c.Models[0], map[string]bool{}
	for _, m := range c.Models {
		if _, gradients := m.Target.(targets.GradTarget); !m.Simulates() || !gradients {
			return fmt.Errorf("tune: the model %s cannot be simulated, or has no gradients for the reference", m.Name)
		}
		if m.Name != first.Name || m.Shape != first.Shape || seen[m.Options.LossName()] {
			return fmt.Errorf("tune: Models are of different shapes or names, or have the loss %s twice; give one model with "+
				"different losses", m.Options.LossName())
		}
		seen[m.Options.LossName()] = true
	}
	n, p := first.Shape.Records, max(1, first.Shape.Features())
	switch {
	case n < 1 || first.Shape.Features() > 0 && !(first.Shape.Radius > 0):
		return fmt.Errorf("tune: the shape has %d records and radius %v; both must be stated", n, first.Shape.Radius)
	case n > 1<<28/p:
		return fmt.Errorf("tune: %d records of %d terms are too many to simulate; tune for fewer records at the same ε·√N", n,
			p)
	}
	return nil
}

// budget is a new budget of a simulated table.
func (c Config) budget() (*accountant.Budget, error) {
	return accountant.NewBudget(accountant.BudgetConfig{Epsilon: c.Epsilon, Delta: c.Delta, Adjacency: c.Adjacency})
}

// facts are those of a curator that holds a simulated table.
func (c Config) facts() curator.Facts { return chains.Facts(c.Models[0].Shape, c.Adjacency) }
