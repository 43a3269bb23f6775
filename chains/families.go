package chains

import (
	"maps"
	"slices"
)

// Names returns the kernels' names, sorted.
func Names() []string {
	return slices.DeleteFunc(Priced(), func(name string) bool { return families[name].mechanism })
}

// Priced returns the names of everything that has a price: the kernels, and mechanisms
// that cannot be sampled.
func Priced() []string { return slices.Sorted(maps.Keys(families)) }

// Description says what a kernel is, for people and searches.
type Description struct {
	// Name is the kernel's name, About what it is, and Defaults how it chooses
	// settings that are not given.
	Name, About, Defaults string
	// Own are the settings that it knows beside those of every kernel.
	Own []string
	// Iterations is the default number of steps, over all chains.
	Iterations int64
	// Biased says that it has no acceptance test, so that batches, frictions and long steps bias
	// it.
	Biased bool
	// ClipsGradients says that its clip bounds gradients, and not parts of the log-odds.
	ClipsGradients bool
	// Mechanism says that it has a price, and cannot be sampled.
	Mechanism bool
	// Anchored says that its chains can step only once their anchor has been released.
	Anchored bool
}

// Knows reports whether the kernel knows a setting.
func (d Description) Knows(v Setting) bool { return v.knownTo(d.Name) }

// Describe describes the kernel of the given name, or returns a *SettingError.
func Describe(kernel string) (Description, error) {
	k, ok := families[kernel]
	if !ok {
		return Description{}, Settings{Kernel: kernel}.check(Names())
	}
	return Description{Name: kernel, About: k.about, Defaults: k.defaults, Own: own(kernel),
		Iterations: k.iterations, Biased: k.biased, ClipsGradients: k.clipsGradients, Mechanism: k.mechanism,
		Anchored: k.anchored}, nil
}

// family is how chains of one kernel are chosen and built. An entry in families is all
// that there is to a kernel's name.
type family struct {
	about, defaults string
	iterations      int64
	clipsGradients  bool  // the clip bounds gradients
	biased          bool  // it has no test
	mechanism       bool  // it has a price, and cannot be sampled
	anchored        bool  // it finds its own start
	chains          int64 // by default, if not 1
	choose          func(*choice) error
	build           func(*choice) (*parts, error)
}

// families are the kernels by name. It is filled in init because prices look
// kernels up in it.
var families map[string]family

func init() {
	families = map[string]family{
		"anchored": {
			about: "gradient and curvature released once, at a private optimum; then draws that see no record, or bits " +
				"that see the remainder alone; intervals contain the noise",
			defaults: "4000 iterations; shares of ρ of 0.2 for second moments, 0.045 for bits and the rest for the optimum; " +
				"aim score, or remainder where 99% of the information is predicted to survive the noise; all records, or " +
				"beyond 1000 an exact minibatch of 8 or more on average",
			iterations: 4_000,
			anchored:   true,
			chains:     4,
			choose:     (*choice).chooseAnchored,
			build:      (*choice).anchoredChain,
		},
		"barker": {
			about: "Barker's test of random-walk moves; exact on the full data, up to clipping",
			defaults: "100000 iterations; the longest step that the budget covers; batches of 200, or as many as keep the " +
				"variance that they add to the log-odds below about a quarter, or all when that is over half",
			iterations: 100_000,
			choose:     (*choice).chooseBarker,
			build:      (*choice).barkerChain,
		},
		"penalty": {
			about:      "the penalty test, of which only the decision is released; exact on the full data, up to clipping",
			defaults:   "10000 iterations; all records; variance 4; the longest step that the budget covers",
			iterations: 10_000,
			choose:     (*choice).choosePenalty,
			build:      (*choice).penaltyChain,
		},
		"penalty-ratio": {
			about:      "the penalty test as published, which releases noisy log-likelihood ratios",
			defaults:   "10000 iterations, or as many as noise 512 affords; the least noise; the step for which it is about 2",
			iterations: 10_000,
			choose:     (*choice).choosePenaltyRatio,
			build:      (*choice).penaltyRatioChain,
		},
		"tunamh": {
			about: "exact minibatches; the chain keeps the posterior, up to clipping, although it reads a part of the records",
			defaults: "100000 iterations; the longest step that the budget covers; the least rate at which a record costs " +
				"little more than in Barker's test and the batch adds a variance below about 0.2 to the log-odds",
			iterations: 100_000,
			choose:     (*choice).chooseThinned,
			build:      (*choice).thinnedChain,
		},
		"barker-dynamics": {
			about: "moves whose signs follow the gradient; biased by the step",
			defaults: "10000 iterations; the longest step that the budget covers, at most √(τ/N) over the bound on " +
				"gradients",
			iterations:     10_000,
			clipsGradients: true,
			biased:         true,
			choose:         (*choice).chooseDynamics,
			build:          func(c *choice) (*parts, error) { return c.dynamicsChain(false) },
		},
		"barker-dynamics-adjusted": {
			about:          "the same, made exact by an acceptance bit",
			defaults:       "10000 iterations; the longest step that the budget covers",
			iterations:     10_000,
			clipsGradients: true,
			choose:         (*choice).chooseAdjusted,
			build:          func(c *choice) (*parts, error) { return c.dynamicsChain(true) },
		},
		"dpsgld": {
			about: "Langevin steps along released gradients; biased by the step and by batches",
			defaults: "10000 iterations, or as many as noise 512 affords; all records; the least noise; a step (of " +
				"units θ²) whose privacy noise is 0.9 of the Langevin noise, at most 2τ/N over the squared bound on gradients; a " +
				"constant schedule (polynomial:P shrinks step t to (1 + 10t/T)^−P of the first)",
			iterations:     10_000,
			clipsGradients: true,
			biased:         true,
			choose:         (*choice).chooseLangevin,
			build:          (*choice).langevinChain,
		},
		"sgnht": {
			about: "the stochastic-gradient thermostat along released gradients, which absorbs the noise of batches; " +
				"biased by the step",
			defaults:       "those of dpsgld, with the square root of half its step, and friction 1/step",
			iterations:     10_000,
			clipsGradients: true,
			biased:         true,
			choose:         (*choice).chooseThermostat,
			build:          (*choice).thermostatChain,
		},
		"dphmc": {
			about: "Hamiltonian trajectories along released gradients, accepted by Barker's test (acceptance barker) " +
				"or by the published penalty test (acceptance penalty); exact up to clipping",
			defaults: "2000 iterations, or as many as noise 512 affords; leapfrog 5; all records; half of the budget's " +
				"ρ for bits, which sets max-move, or for ratios, which sets ratio-noise; the least noise; a step that neither of " +
				"these, the noise nor the posterior's width make useless, shortened by up to 30% at random",
			iterations:     2_000,
			clipsGradients: true,
			choose:         (*choice).chooseHamiltonian,
			build:          (*choice).hamiltonianChain,
		},
		"gaussian":         gaussianSums("sums over all records with Gaussian noise"),
		"poisson-gaussian": gaussianSums("sums over batches with Gaussian noise, as in private gradient descent"),
	}
}
