package main

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

const maxWrittenDraws = 5_000 // of a chain, by default

// The range in which plan looks for step sizes, in units of the parameters.
const (
	minStep = 1.0 / (1 << 20)
	maxStep = 8
)

// notZero are the flags for which zero would stand for a default.
var notZero = []string{
	"chains", "iterations", "temperature", "step", "batch", "rate", "noise", "variance", "friction", "leapfrog", "max-move", "ratio-noise", "start-share",
}

// check reports flags that make no sense whatever the kernel.
func (s *sampleSettings) check(given func(flag string) bool, value func(flag string) string) error {
	if !(s.warmup >= 0 && s.warmup < 1) {
		return fmt.Errorf("--warmup is %v; it is the share of the chain to leave out, in [0, 1)", s.warmup)
	}
	for _, flag := range notZero {
		if given(flag) && value(flag) == "0" {
			return fmt.Errorf("--%s is 0; it must be positive, or left out for the default", flag)
		}
	}
	return nil
}

// setThinning fills in --thin for the iterations that were chosen.
func (s *sampleSettings) setThinning(given func(flag string) bool) error {
	if !given("thin") {
		s.thin = (s.iterations + maxWrittenDraws - 1) / maxWrittenDraws
	}
	if s.thin < 1 || s.thin > s.iterations {
		return fmt.Errorf("--thin is %d; it must be between 1 and the %d iterations", s.thin, s.iterations)
	}
	return nil
}

func countTrue(b ...bool) (n int) {
	for _, v := range b {
		if v {
			n++
		}
	}
	return n
}

// batchScheme is how a step's records are chosen.
func (s *sampleSettings) batchScheme(f curator.Facts) (curator.Batch, error) {
	b, err := s.recipe().Scheme(f)
	return b, flagged(err)
}

// buildTest reads --test.
func (s *sampleSettings) buildTest() (curator.Test, error) {
	t, err := chains.ParseTest(s.test)
	return t, flagged(err)
}

// buildAccounting reads --accounting.
func (s *sampleSettings) buildAccounting() (curator.Accounting, error) {
	a, err := chains.ParseAccounting(s.accounting)
	return a, flagged(err)
}

// buildProposal reads --proposal for moves of the given scale.
func (s *sampleSettings) buildProposal(scale float64) (kernels.Proposal, error) {
	p, err := chains.ParseProposal(s.proposal, scale)
	return p, flagged(err)
}
