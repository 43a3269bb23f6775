package main

import (
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// planKernel is something whose steps have a price. Adding one to planKernels is
// all that plan needs to know of it.
type planKernel struct {
	// about is its line in --help.
	about string
	// parameters are the flags that its price depends on; required those among
	// them that have to be given or solved for.
	parameters, required []string
	// mostNoise is the largest noise multiplier it takes.
	mostNoise float64
	// step is the price of one step. All settings but the solved one are as
	// given.
	step func(*planSettings) (accountant.Event, error)
	// start is the price of what a chain releases before its first step, nil for
	// nothing.
	start func(*planSettings) (accountant.Event, error)
}

// solves lists the parameters that can be solved for.
func (k planKernel) solves() []string {
	return slices.DeleteFunc(slices.Clone(k.parameters), func(name string) bool {
		_, real := realParameters[name]
		_, integer := integerParameters[name]
		return !real && !integer
	})
}

// Flags of several kernels.
var (
	batchFlags = []string{"batch", "rate"}
	modelFlags = []string{"radius", "lipschitz", "model", "loss", "beta", "min-scale", "degrees-of-freedom", "dispersion", "dimension"}
	otherFlags = []string{"leapfrog", "proposal", "test", "accounting"}
)

// planKernels are the kernels that plan knows. It is filled in init because
// prices look parameters up in it.
var planKernels map[string]planKernel

func init() {
	planKernels = map[string]planKernel{
		"barker": {
			about:      "acceptance bits of Barker's test (dpmcmc sample)",
			parameters: slices.Concat([]string{"iterations", "step", "clip", "temperature", "proposal", "test", "accounting"}, batchFlags, modelFlags),
			required:   []string{"iterations"},
			step:       barkerStep,
		},
		"barker-dynamics": {
			about:      "Barker proposal dynamics: the signs of the gradient along moves of --step",
			parameters: slices.Concat([]string{"iterations", "step", "clip", "temperature"}, modelFlags),
			required:   []string{"iterations", "step"},
			step:       func(s *planSettings) (accountant.Event, error) { return dynamicsStep(s, false) },
		},
		"barker-dynamics-adjusted": {
			about:      "the same, made exact by an acceptance bit",
			parameters: slices.Concat([]string{"iterations", "step", "clip", "temperature"}, modelFlags),
			required:   []string{"iterations", "step"},
			step:       func(s *planSettings) (accountant.Event, error) { return dynamicsStep(s, true) },
		},
		"tunamh": {
			about:      "acceptance bits of exact minibatches that read a --rate of the records",
			parameters: slices.Concat([]string{"iterations", "step", "clip", "temperature", "proposal", "rate"}, modelFlags),
			required:   []string{"iterations", "rate"},
			step:       thinnedStep,
		},
		"penalty": {
			about:      "acceptance bits of the penalty test, with noise of --variance in the log-odds",
			parameters: slices.Concat([]string{"iterations", "step", "clip", "temperature", "proposal", "variance"}, batchFlags, modelFlags),
			required:   []string{"iterations", "variance"},
			step:       penaltyStep,
		},
		"penalty-ratio": {
			about:      "the penalty algorithm as published, on all records: log-likelihood ratios with --noise over twice their clip",
			parameters: []string{"iterations", "noise"},
			required:   []string{"iterations", "noise"},
			mostNoise:  curatorNoise,
			step:       penaltyRatioStep,
		},
		"dpsgld": {
			about:      "Langevin steps: gradients with --noise over twice their clip",
			parameters: append([]string{"iterations", "noise"}, batchFlags...),
			required:   []string{"iterations", "noise"},
			mostNoise:  curatorNoise,
			step:       langevinStep,
		},
		"sgnht": {
			about:      "steps of the stochastic-gradient thermostat; priced like dpsgld",
			parameters: append([]string{"iterations", "noise"}, batchFlags...),
			required:   []string{"iterations", "noise"},
			mostNoise:  curatorNoise,
			step:       langevinStep,
		},
		"dphmc": {
			about:      "trajectories of --leapfrog gradients with --noise over twice their clip, accepted by Barker's test",
			parameters: slices.Concat([]string{"iterations", "noise", "leapfrog", "max-move", "clip", "temperature"}, batchFlags, modelFlags),
			required:   []string{"iterations", "noise", "leapfrog"},
			mostNoise:  curatorNoise,
			step:       hamiltonianStep,
			start:      langevinStep,
		},
		"gaussian": {
			about:      "sums over all records with Gaussian noise",
			parameters: []string{"iterations", "noise"},
			required:   []string{"iterations", "noise"},
			mostNoise:  1e9,
			step:       gaussianStep,
		},
		"poisson-gaussian": {
			about:      "sums over batches with Gaussian noise, as in private gradient descent",
			parameters: append([]string{"iterations", "noise"}, batchFlags...),
			required:   []string{"iterations", "noise"},
			mostNoise:  1e9,
			step:       gaussianStep,
		},
	}
}

// curatorNoise is the largest noise multiplier that the curator's exact sampler
// takes.
const curatorNoise = 512

// run is a function from a number of steps to all that the chains release. Its
// steps share their curve, which makes tables quick.
func (s *planSettings) run() (func(iterations int64) (accountant.Event, error), error) {
	k := planKernels[s.kernel]
	step, err := k.step(s)
	if err != nil {
		return nil, err
	}
	beginning, err := s.startCost()
	if err != nil {
		return nil, err
	}
	parts := []accountant.Event{step, beginning}
	if k.start != nil {
		start, err := k.start(s)
		if err != nil {
			return nil, err
		}
		if start, err = start.Times(int64(s.chains)); err != nil {
			return nil, err
		}
		parts = append(parts, start)
	}
	return func(iterations int64) (accountant.Event, error) {
		steps, err := step.Times(iterations * int64(s.chains))
		if err != nil {
			return accountant.Event{}, err
		}
		return accountant.Compose(append([]accountant.Event{steps}, parts[1:]...)...)
	}, nil
}

// total is all that the chains release.
func (s *planSettings) total() (accountant.Event, error) {
	run, err := s.run()
	if err != nil {
		return accountant.Event{}, err
	}
	return run(s.iterations)
}

// gaussianStep is the price of one noisy sum.
func gaussianStep(s *planSettings) (accountant.Event, error) {
	facts, err := s.facts()
	if err != nil {
		return accountant.Event{}, err
	}
	event, err := accountant.Gaussian(facts.Adjacency, s.noise)
	if err != nil {
		return accountant.Event{}, err
	}
	if sampling, sampled, err := s.sampling(); err != nil {
		return accountant.Event{}, err
	} else if sampled {
		if event, err = accountant.Sampled(sampling, event); err != nil {
			return accountant.Event{}, err
		}
	}
	return accountant.GroupPrivacy(event, s.rowsPerPerson)
}

// sampling is how the flags draw a batch, if they do.
func (s *planSettings) sampling() (how accountant.Sampling, sampled bool, err error) {
	switch {
	case s.fullData:
		return how, false, nil
	case s.rate != 0:
		how, err = accountant.Poisson(s.rate)
	case s.fixedBatch:
		how, err = accountant.WithoutReplacement(s.records, s.batch)
	default:
		how, err = accountant.Poisson(float64(s.batch) / float64(s.records))
	}
	return how, true, err
}
