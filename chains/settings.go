package chains

import (
	"math"

	"github.com/dpmcmc/dpmcmc/curator"
)

// A setting is a field of Settings and an entry of the table, both in this file, and its
// use in a kernel. Flags, files, certificates, searches and solvers have it from here.

// Settings describe chains. Zero stands for a setting that is not given, which
// Choose fills in, except that a Clip of 0 may remain: it stands for the model's
// certificate. All of them are public, and must be chosen without looking at the
// records. The table says what each is (Table); Describe, which a kernel knows.
type Settings struct {
	Kernel      string  // kernel: a name of Names
	Iterations  int64   // iterations: steps of each chain
	Chains      int64   // chains: how many, all of which spend budget
	Temperature float64 // temperature: τ in (0, 1], multiplies the log-likelihood
	ESS         float64 // ess: effective sample size that is asked for

	Start        string  // start: auto, optimum, gradient, prior-mean, prior-draw, or one value a parameter
	StartShare   float64 // start-share: part of ε that a charged start takes alone
	StartEpsilon float64 // start-epsilon: or that ε itself
	StartReach   float64 // start-reach: length of a descent's first step in every coordinate

	Aim         string  // aim: what anchored chains sample: auto, score, remainder, perturbed or sums
	AnchorNoise float64 // anchor-noise: of an anchor's score, over its sensitivity
	AnchorLaw   string  // anchor-law: of the noise of an anchor's score: auto, normal or spherical
	AnchorFit   string  // anchor-fit: whether columns are fitted before the anchor: auto, yes or no
	MomentNoise float64 // moment-noise: of an anchor's second moments, over their sensitivity
	Ridge       float64 // ridge: of the private optimum that is an anchor

	Step     float64 // step: standard deviation of a coordinate's move, or step of the dynamics
	Proposal string  // proposal: isotropic, one-component, truncated:K, or guided for penalty kernels
	// Clip (clip) bounds a record's part of the log-odds; for kernels with gradients
	// the norm of its gradient and its part of the log-odds of a move of length 1. Both
	// bounds apply after the temperature: multiply a clip meant for the loss by it.
	Clip       float64
	Test       string // test: logistic, or corrected:C with a Gaussian part of variance C
	Accounting string // accounting: bit, published or tightened

	Batch      int64   // batch: expected number of records in a step
	Rate       float64 // rate: probability that a record is in a step's batch, instead of Batch
	FixedBatch bool    // fixed-batch: exactly Batch records, drawn without replacement
	Allocated  bool    // allocated: every record into one step of an epoch of Records/Batch steps
	FullData   bool    // full: every record in every step

	Noise       float64 // noise: of a released gradient or ratio, over twice its clip
	Variance    float64 // variance: of the penalty test's noise in the log-odds
	Friction    float64 // friction: coupling of a thermostat to its heat bath, in units of 1/step
	Schedule    string  // schedule: how dpsgld's steps shrink
	AsPublished bool    // as-published: dpsgld's published update, which targets the SQUARE of the posterior

	Leapfrog   int64   // leapfrog: steps of a trajectory
	MaxMove    float64 // max-move: the longest move that may be accepted
	Acceptance string  // acceptance: barker or penalty, the test of a trajectory's end
	RatioNoise float64 // ratio-noise: that of the penalty test's ratios, over twice their clip
}

// mostSteps keeps counts exact in JSON numbers.
const mostSteps = 1 << 53

func within(low, high float64) func(curator.Facts, int64) (float64, float64) {
	return func(curator.Facts, int64) (float64, float64) { return low, high }
}

// turnBatch also knows that a batch of all records is the full data.
func turnBatch(asked *Settings, now Settings, factor float64, records int64) bool {
	size := now.Batch
	switch {
	case now.FullData:
		size = records
	case size == 0:
		size = int64(now.Rate * float64(records))
	}
	next := int64(math.Round(float64(size) * factor))
	if next < 1 || next == size || now.FullData && factor > 1 {
		return false
	}
	asked.Batch, asked.Rate, asked.FullData = next, 0, false
	if next >= records {
		asked.Batch, asked.FullData = 0, true
	}
	return true
}

// Kernels that share settings. A setting that names none is known to every kernel.
const (
	everything = "all" // mechanisms too
	walks      = "barker penalty penalty-ratio tunamh "
	dynamics   = "barker-dynamics barker-dynamics-adjusted "
	followers  = "dpsgld sgnht dphmc " // of released gradients
	sums       = "gaussian poisson-gaussian "
	batched    = "barker penalty poisson-gaussian " + followers
)

// kernelChooses is the rule of settings whose default differs from kernel to kernel.
const kernelChooses = "by default the kernel's choice"

var table = []Setting{
	{
		Name: "kernel", of: everything, at: func(s *Settings) any { return &s.Kernel },
		Help: "the sampler", Rule: "by default anchored where it fits the model, at temperature 1, and knows the settings " +
			"given; else barker",
	},
	{
		Name: "iterations", of: everything, turned: probed, most: 1e12, // and with chains below 2⁶³
		at:   func(s *Settings) any { return &s.Iterations },
		Help: "steps of each chain", Unit: "steps", Rule: "by default the kernel's number, split among the chains",
		span: func(_ curator.Facts, chains int64) (float64, float64) { return 1, float64(mostSteps / chains) },
	},
	{
		Name: "chains", of: everything, Default: int64(1), Rule: "by default 1, and 4 for anchored", most: 1e6,
		at:   func(s *Settings) any { return &s.Chains },
		Help: "number of chains, all of which spend budget",
	},
	{
		Name: "temperature", Default: 1.0, most: 1, at: func(s *Settings) any { return &s.Temperature },
		Help: "τ in (0, 1], multiplies the log-likelihood; a lower one widens the posterior, " +
			"which a small budget can then explore; of commands also auto, the highest at which the budget buys the ess",
		span: within(1e-9, 1),
	},
	{
		Name: "ess", at: func(s *Settings) any { return &s.ESS },
		Help: "effective sample size that is asked for: anchored draws without bits go on until they have it, for at most " +
			"eight times the iterations, and temperature auto buys it",
		Rule: "by default 400",
	},
	{
		Name: "aim", of: "anchored ", Default: "auto", at: func(s *Settings) any { return &s.Aim },
		Help: "what anchored chains sample: score, the posterior given the release; remainder, the posterior with bits " +
			"that see the remainder; perturbed, that without the noise in its intervals; sums, of a linear regression; or auto",
	},
	{
		Name: "anchor-noise", of: "anchored ",
		at: func(s *Settings) any { return &s.AnchorNoise }, span: within(0.05, curator.MostNoise),
		Help: "standard deviation of the noise of an anchor's gradient over its sensitivity, at most 512",
		Rule: "by default the least that the budget covers",
	},
	{
		Name: "anchor-law", of: "anchored ", Default: "auto", at: func(s *Settings) any { return &s.AnchorLaw },
		Help: "law of the noise of an anchor's gradient: normal; spherical, of density falling with its length, which is " +
			"less in few dimensions and needs aim score; or auto",
	},
	{
		Name: "anchor-fit", of: "anchored ", Default: "auto", at: func(s *Settings) any { return &s.AnchorFit },
		Help: "whether second moments are released first, by which columns are centred and scaled: yes, no or auto; " +
			"noise falls where columns fill little of their bounds",
	},
	{
		Name: "moment-noise", of: "anchored ",
		at: func(s *Settings) any { return &s.MomentNoise }, span: within(0.05, curator.MostNoise),
		Help: "standard deviation of the noise of an anchor's second moments over their sensitivity, at most 512",
		Rule: "by default a fifth of the budget's ρ",
	},
	{
		Name: "ridge", of: "anchored ", at: func(s *Settings) any { return &s.Ridge },
		Help: "ridge of an anchor's private optimum, which biases nothing",
		Rule: "by default where the price hardly notices it",
	},
	{
		Name: "leapfrog", of: "dphmc ", Default: int64(5), turned: probed, most: 1e6,
		at:   func(s *Settings) any { return &s.Leapfrog },
		Help: "leapfrog steps of a trajectory", Unit: "steps", span: within(1, 1000),
	},
	{
		Name: "batch", of: batched, turned: probedIfExact, at: func(s *Settings) any { return &s.Batch },
		Help: "expected number of records in a step", Unit: "records", Rule: kernelChooses,
		span: func(f curator.Facts, _ int64) (float64, float64) { return 1, float64(f.Records) },
		open: func(f Settings) bool { return f.Batch == 0 && f.Rate == 0 && !f.FullData },
		turn: turnBatch,
	},
	{
		Name: "rate", most: 1, of: batched + "tunamh anchored ", turned: probedIfExact,
		at:   func(s *Settings) any { return &s.Rate },
		Help: "probability that a record is in a step's batch, instead of batch", Rule: kernelChooses,
		span: func(f curator.Facts, _ int64) (float64, float64) { return 0.5 / float64(f.Records), 1 },
		turn: func(asked *Settings, now Settings, factor float64, _ int64) bool {
			if now.Batch != 0 || now.FullData {
				return false // batch is turned
			}
			asked.Rate = now.Rate * factor
			return now.Rate != 0
		},
	},
	{
		Name: "fixed-batch", of: batched, at: func(s *Settings) any { return &s.FixedBatch },
		Help: "draw exactly batch records without replacement; dearer than the default, Poisson batches",
	},
	{
		Name: "allocated", of: "dpsgld sgnht ", at: func(s *Settings) any { return &s.Allocated },
		Help: "put every record into one step, drawn at random, of each epoch of records/batch steps, instead of Poisson " +
			"batches; a part of an epoch is paid for as a whole one",
	},
	{
		Name: "full", of: batched, at: func(s *Settings) any { return &s.FullData },
		Help: "use every record in every step",
	},
	{
		Name: "variance", of: "penalty anchored ", turned: probed,
		at:   func(s *Settings) any { return &s.Variance },
		Help: "variance of the penalty test's noise in the log-odds, 0.25 to 9; of anchored chains with acceptance penalty",
		Rule: "by default 4, and 0.25 for anchored", span: within(0.25, 9),
	},
	{
		Name: "max-move", of: "dphmc ", turned: probed, at: func(s *Settings) any { return &s.MaxMove },
		Help: "longest move that dphmc may accept", Unit: "θ", span: within(minStep, maxStep),
		Rule: "by default the longest whose bits fit half of the budget",
	},
	{
		Name: "noise", of: "penalty-ratio " + followers + sums, turned: probed,
		at:   func(s *Settings) any { return &s.Noise },
		Help: "standard deviation of a released gradient's or ratio's noise over twice its clip, at most 512",
		Rule: "by default the least that the budget covers", span: within(0.05, curator.MostNoise),
	},
	{
		Name: "ratio-noise", of: "dphmc ", turned: probed,
		at:   func(s *Settings) any { return &s.RatioNoise },
		Help: "with acceptance penalty: standard deviation of a ratio's noise over twice its clip",
		Rule: "by default the least that half of the budget covers", span: within(0.05, curator.MostNoise),
	},
	{
		Name: "step", of: walks + dynamics + followers, turned: probed,
		at:   func(s *Settings) any { return &s.Step },
		Help: "standard deviation of a coordinate's move, or step of the dynamics", Unit: "θ", Rule: kernelChooses,
		span: within(minStep, maxStep),
	},
	{
		Name: "friction", of: "sgnht ", turned: probedIfExact,
		at:   func(s *Settings) any { return &s.Friction },
		Help: "coupling of a thermostat to its heat bath", Unit: "1/step", Rule: "by default 1/step",
	},
	{
		Name: "clip", of: walks + dynamics + followers + "anchored ", turned: whole,
		at: func(s *Settings) any { return &s.Clip }, span: within(1e-12, 1e3),
		Help: "bound on one record's part of the log-odds; for kernels with gradients, on the norm of its gradient and its " +
			"part of the log-odds of a move of length 1",
		Rule: "by default the model's certificate; where it has none, walks take 2·τ·step·√(parameters), and kernels with " +
			"gradients require one",
	},
	{
		Name: "start", Default: "auto", at: func(s *Settings) any { return &s.Start },
		Help: "where the chains start: auto, optimum, gradient, prior-mean, prior-draw, or values separated by commas; " +
			aboutStarts,
	},
	{
		Name: "start-share", turned: whole, at: func(s *Settings) any { return &s.StartShare },
		Help: "part of ε that a charged start takes alone",
		Rule: "by default 0.25; costs add up in squares, so 0.97 of ε is left for the chains",
	},
	{
		Name: "start-epsilon", at: func(s *Settings) any { return &s.StartEpsilon },
		Help: "ε that a charged start takes alone, at the budget's δ, instead of start-share",
	},
	{
		Name: "start-reach", at: func(s *Settings) any { return &s.StartReach }, Unit: "θ",
		Help: "with start gradient: length of the descent's first step in every coordinate; it ends within " +
			"about 14 times that",
		Rule: "by default 1",
	},
	{
		Name: "proposal", of: walks, Default: "isotropic",
		at: func(s *Settings) any { return &s.Proposal },
		Help: "isotropic, one-component, or truncated:K for moves of at most K·step; penalty kernels: also guided, " +
			"one-component moves that keep a direction while they are accepted",
	},
	{
		Name: "test", of: "barker ", Default: "logistic", at: func(s *Settings) any { return &s.Test },
		Help: "acceptance test: logistic (exact), or corrected:C with a Gaussian part of variance C (0.5, 1, 1.5 or 2)",
	},
	{
		Name: "accounting", of: "barker ", Default: "bit",
		at:   func(s *Settings) any { return &s.Accounting },
		Help: "theorem that prices a step: bit, published or tightened",
	},
	{
		Name: "schedule", of: "dpsgld ", Default: "constant",
		at: func(s *Settings) any { return &s.Schedule },
		Help: "constant, or polynomial:P for steps that shrink to (1 + 10t/iterations)^−P of the first; polynomial alone " +
			"has P = 0.51. Summaries do not weight draws by their steps",
	},
	{
		Name: "as-published", of: "dpsgld ", at: func(s *Settings) any { return &s.AsPublished },
		Help: "dpsgld's published update, which samples from the SQUARE of the posterior, for comparison only",
	},
	{
		Name: "acceptance", of: "dphmc anchored ", Default: "barker",
		at: func(s *Settings) any { return &s.Acceptance },
		Help: "test of a move: barker, one bit; or penalty, of anchored chains one bit that accepts more often and costs " +
			"more, of dphmc the published test, which releases a noisy log-likelihood ratio",
	},
}
