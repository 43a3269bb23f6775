package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/starts"
)

// bindStart declares the flags of a start.
func (s *planSettings) bindStart(f *pflag.FlagSet) {
	f.StringVar(&s.start, "start", "", "count a start that sample charges before the chains: optimum (logistic regression, with --radius) or gradient; needs --start-epsilon and --delta. By default starts are free")
	f.Float64Var(&s.startEpsilon, "start-epsilon", 0, fmt.Sprintf("ε that the start may take alone, at --delta; sample's default is %v of its --epsilon", starts.DefaultShare))
}

// checkStart reports flags of a start that do not fit together.
func (s *planSettings) checkStart(given func(flag string) bool) error {
	switch {
	case !given("start") && !given("start-epsilon"):
		return nil
	case s.start != "optimum" && s.start != "gradient":
		return fmt.Errorf("--start is %q; it must be optimum or gradient, or left out for a free start", s.start)
	case !(s.startEpsilon > 0) || math.IsInf(s.startEpsilon, 1):
		return fmt.Errorf("--start-epsilon is %v; with --start it must be positive and finite", s.startEpsilon)
	case !given("delta"):
		return errors.New("--start-epsilon is at --delta; give that too")
	case s.start == "optimum" && !(s.radius > 0):
		return errors.New("--start optimum needs --radius, the bound on the norm of a record's features")
	case s.start == "optimum" && s.solve == "temperature":
		return errors.New("--start optimum depends on --temperature; give that, and solve for something else")
	}
	return nil
}

// startCost is the price of the start, nothing if there is none.
func (s *planSettings) startCost() (accountant.Event, error) {
	target := anyLinear{dim: 1, slope: 1}
	facts, err := s.facts()
	if err != nil {
		return accountant.Event{}, err
	}
	facts.Features, facts.Response = target.Shape()
	c := starts.Config{Target: target, Temperature: s.temperature}
	switch s.start {
	case "optimum":
		facts.Features = max(1, s.dimension)
		c.Kind, c.Target = starts.Optimum, anyLinear{dim: facts.Features, slope: 1}
	case "gradient":
		c.Kind, c.Clip = starts.Gradient, 1 // the price does not depend on it
	}
	if c, err = starts.Afford(c, facts, s.startEpsilon, s.delta); err != nil {
		return accountant.Event{}, fmt.Errorf("--start %s at --start-epsilon %v: %w", s.start, s.startEpsilon, err)
	}
	return starts.Cost(c, facts)
}
