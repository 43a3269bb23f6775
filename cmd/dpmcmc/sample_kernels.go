package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
)

// sampleKernelHelp lists the kernels for --help.
func sampleKernelHelp() string {
	var b strings.Builder
	b.WriteString("Kernels, and how each chooses what is not given, always from public facts:")
	for _, name := range chains.Names() {
		k, err := chains.Describe(name)
		if err != nil {
			panic("dpmcmc: a kernel that has a name has a description: " + err.Error())
		}
		fmt.Fprintf(&b, "\n  %s\n      %s.\n      Defaults: %s.\n      Flags of its own: --%s.", name, k.About, k.Defaults, strings.Join(k.Own, ", --"))
	}
	return b.String()
}

// recipe is what the flags say of the chains.
func (s *sampleSettings) recipe() chains.Settings {
	return chains.Settings{
		Kernel: s.kernel, Iterations: s.iterations, Chains: s.chains, Temperature: s.temperature,
		Start: s.start, StartShare: s.startShare,
		Step: s.step, Proposal: s.proposal, Clip: s.clip, Test: s.test, Accounting: s.accounting,
		Batch: s.batch, Rate: s.rate, FixedBatch: s.fixedBatch, FullData: s.fullData,
		Noise: s.noise, Variance: s.variance, Friction: s.friction, Schedule: s.schedule, AsPublished: s.asPublished,
		Leapfrog: s.leapfrog, MaxMove: s.maxMove, Acceptance: s.acceptance, RatioNoise: s.ratioNoise,
	}
}

// flagError is what is wrong with a setting, in terms of flags.
type flagError struct{ *chains.SettingError }

func (e flagError) Error() string {
	return e.Spell(func(setting string) string { return "--" + setting })
}

func (e flagError) Unwrap() error { return e.SettingError }

// flagged names settings as flags, where err is about one.
func flagged(err error) error {
	var about *chains.SettingError
	if errors.As(err, &about) {
		return flagError{about}
	}
	return err
}
