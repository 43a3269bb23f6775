package kernels

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Frame is what the kernels of all samplers have in common: a target, and errors that
// begin with the sampler's name.
type Frame struct {
	sampler string
	target  targets.Target
	dim     int

	see      func(evidence []float64) // nil for nobody
	evidence []float64
}

// NewFrame returns the frame of a sampler's chains.
func NewFrame(sampler string, target targets.Target) Frame {
	return Frame{sampler: sampler, target: target, dim: target.Dim()}
}

// Dim is the number of parameters.
func (f Frame) Dim() int { return f.dim }

// Init starts a chain at theta.
func (f Frame) Init(theta []float64) (*State, error) {
	s, err := NewState(f.target, theta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.sampler, err)
	}
	return s, nil
}

// Inside reports whether theta is finite and inside the prior's support.
func (f Frame) Inside(theta []float64) bool {
	if slices.ContainsFunc(theta, func(t float64) bool { return math.IsNaN(t) || math.IsInf(t, 0) }) {
		return false
	}
	lp := f.target.LogPrior(theta)
	return !math.IsNaN(lp) && !math.IsInf(lp, -1)
}

// Granted makes a kernel with a sampler's Prepare and charges what the kernel asks for
// to the curator's budget. On an error nothing was charged or read.
func Granted[C, K any](prepare func(C, curator.Facts) (K, []curator.Request, error), c C,
	records *curator.Curator) (K, error) {
	k, requests, err := prepare(c, records.Facts())
	if err == nil {
		err = records.Grant(requests...)
	}
	if err != nil {
		var none K
		return none, err
	}
	return k, nil
}

// CheckTarget reports a sampler's Config without a target.
func CheckTarget(sampler string, target targets.Target) error {
	if target == nil {
		return fmt.Errorf("%s: Config.Target is not set", sampler)
	}
	return nil
}

// CheckWalk reports a sampler's Config without a target, or without a proposal for it.
func CheckWalk(sampler string, target targets.Target, proposal curator.Proposal) error {
	if err := CheckTarget(sampler, target); err != nil {
		return err
	}
	if err := proposal.Check(target.Dim()); err != nil {
		return fmt.Errorf("%s: Config.Proposal: %w", sampler, err)
	}
	return nil
}

// CheckIterations reports a sampler's Config without a step to make.
func CheckIterations(sampler string, n int64) error {
	if n < 1 {
		return fmt.Errorf("%s: Config.Iterations is %d; at least 1 is needed", sampler, n)
	}
	return nil
}

// CheckScales reports a field of a sampler's Config that is not a positive number for
// each of dim parameters. Nil stands for ones.
func CheckScales(sampler, field string, v []float64, dim int) error {
	if v != nil && len(v) != dim {
		return fmt.Errorf("%s: Config.%s has %d values for %d parameters", sampler, field, len(v), dim)
	}
	for j, x := range v {
		if !(x > 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: Config.%s[%d] is %v; it must be positive and finite", sampler, field, j, x)
		}
	}
	return nil
}

// Scales copies v; nil stands for dim ones.
func Scales(v []float64, dim int) []float64 {
	if v == nil {
		return slices.Repeat([]float64{1}, dim)
	}
	return slices.Clone(v)
}
