package sgnht

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Config describes a thermostat. Every field is public and must be chosen without
// looking at the records.
type Config struct {
	// Driven has the target, the steps and their noise. The unit of Step is that of θ.
	kernels.Driven
	// Friction A > 0 couples the chain to its heat bath, in units of 1/h. Required.
	Friction float64
	// ThermalMass is the inertia μ > 0 of the friction. Defaults to 1/Friction², which
	// makes it adapt on the friction's own time scale; the paper has 1.
	ThermalMass float64
}

// thermalMass is Config's, or its default.
func (c Config) thermalMass() float64 {
	if c.ThermalMass == 0 {
		return 1 / (c.Friction * c.Friction)
	}
	return c.ThermalMass
}

// check reports settings that make no sense whatever the records.
func (c Config) check() error {
	if err := c.Check("sgnht"); err != nil {
		return err
	}
	if !(c.Friction > 0) || math.IsInf(c.Friction, 0) {
		return fmt.Errorf("sgnht: Config.Friction is %v; it must be positive and finite", c.Friction)
	}
	if m := c.thermalMass(); !(m > 0) || math.IsInf(m, 0) {
		return fmt.Errorf("sgnht: Config.ThermalMass is %v; it must be positive and finite", m)
	}
	return nil
}

// Cost is the price of one step on records with the given public facts: that of one
// noisy gradient, or with Allocated batches of an epoch. It charges nothing. Errors: a
// setting that is missing or out of range, a target that does not fit, a bound that
// neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.check(); err != nil {
		return accountant.Event{}, err
	}
	return c.Mechanism().Event(f)
}
