package kernels

import (
	"fmt"
	"math"
)

// Schedule is the sequence of step sizes, fixed before the first step. The zero
// value is invalid.
type Schedule struct {
	first, offset, power float64
}

// Constant uses the step h > 0 throughout: the chain keeps exploring, with a
// bias of order h.
func Constant(h float64) Schedule { return Schedule{first: h} }

// Polynomial uses h·(1 + t/offset)^(−power) in step t = 0, 1, …, with offset > 0
// and power in (0, 1]. With power above ½ averages weighted by Info.StepSize
// converge to the posterior's (Teh, Thiéry, Vollmer 2016); unweighted draws
// lean on the early steps less than on the late, slow ones.
func Polynomial(h, offset, power float64) Schedule {
	return Schedule{first: h, offset: offset, power: power}
}

// At is the step size of step t ≥ 0.
func (s Schedule) At(t int64) float64 {
	if s.power == 0 {
		return s.first
	}
	return s.first * math.Pow(1+float64(t)/s.offset, -s.power)
}

// String describes the schedule.
func (s Schedule) String() string {
	if s.power == 0 && s.offset == 0 {
		return fmt.Sprintf("constant steps %v", s.first)
	}
	return fmt.Sprintf("steps %v·(1+t/%v)^-%v", s.first, s.offset, s.power)
}

// Check reports a schedule that was not set or makes no sense, as the Step of a
// sampler's Config.
func (s Schedule) Check() error {
	constant := s.power == 0 && s.offset == 0
	switch {
	case s == Schedule{}:
		return fmt.Errorf("Config.Step is not set; use Constant or Polynomial")
	case !(s.first > 0) || math.IsInf(s.first, 0):
		return fmt.Errorf("Config.Step starts at %v; it must be positive and finite", s.first)
	case !constant && !(s.power > 0 && s.power <= 1):
		return fmt.Errorf("Config.Step decays with power %v; it must be in (0, 1]", s.power)
	case !constant && (!(s.offset > 0) || math.IsInf(s.offset, 0)):
		return fmt.Errorf("Config.Step has an offset of %v; it must be positive and finite", s.offset)
	}
	return nil
}
