package chains

import (
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
)

// Setting is one entry of the table of settings: all that flags, files, searches and
// certificates know of it. Adding a setting is adding a field to Settings and an entry
// to the table, and using it in its kernels.
type Setting struct {
	// Name is the setting's name: of the flag, of the key in files, in messages.
	Name string
	// Help says what it is, and Rule what stands for it where it is not given; empty
	// where Default does.
	Help, Rule string
	// Unit is its unit, empty for words and plain numbers.
	Unit string
	// Default is the fixed value that stands for it, nil where the kernel chooses one.
	Default any
	// Turned says whether a search on simulated data may turn it.
	Turned Turned

	every bool                // every kernel knows it
	at    func(*Settings) any // the field: a *float64, *int64, *bool or *string
	span  func(f curator.Facts, chains int64) (low, high float64)
	open  func(fixed Settings) bool
	turn  func(asked *Settings, now Settings, factor float64, records int64) bool
}

// Turned says how a search may turn a setting.
type Turned uint8

const (
	// NotTurned settings stay as they are.
	NotTurned Turned = iota
	// Probed settings are turned by every search.
	Probed
	// ProbedIfExact settings bias kernels without a test, which only whole chains show.
	ProbedIfExact
	// Whole settings do what only whole chains show, whatever the kernel.
	Whole
)

// Table is every setting, in the order in which a search turns them.
func Table() []Setting { return slices.Clone(table) }

// Lookup finds a setting by its name.
func Lookup(name string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// At is the setting's place in s: a *float64, *int64, *bool or *string.
func (v Setting) At(s *Settings) any { return v.at(s) }

// Value is the setting's value in s: a float64, int64, bool or string.
func (v Setting) Value(s Settings) any {
	switch p := v.at(&s).(type) {
	case *float64:
		return *p
	case *int64:
		return *p
	case *bool:
		return *p
	case *string:
		return *p
	}
	panic("chains: setting " + v.Name + " has a type that settings do not have")
}

// Given reports whether s has a value for the setting.
func (v Setting) Given(s Settings) bool { return v.Value(s) != v.Value(Settings{}) }

// number is the setting's value as a number, if it is one.
func (v Setting) number(s Settings) (float64, bool) {
	switch x := v.Value(s).(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	}
	return 0, false
}

// fill puts the default where nothing is given.
func (v Setting) fill(s *Settings) {
	if v.Default == nil || v.Given(*s) {
		return
	}
	v.Set(s, v.Default)
}

// Set puts a value of the setting's type into s, and panics for another type.
func (v Setting) Set(s *Settings, value any) {
	switch p := v.at(s).(type) {
	case *float64:
		*p = value.(float64)
	case *int64:
		*p = value.(int64)
	case *bool:
		*p = value.(bool)
	case *string:
		*p = value.(string)
	}
}

// Solvable reports whether a budget can be solved for the setting, and whether only
// for whole numbers.
func (v Setting) Solvable() (solvable, whole bool) {
	_, whole = v.at(new(Settings)).(*int64)
	return v.span != nil, whole
}

// Span is the range in which a solver looks for the setting of a kernel.
func (v Setting) Span(kernel string, f curator.Facts, chains int64) (low, high float64) {
	low, high = v.span(f, max(1, chains))
	if v.Name == "noise" && families[kernel].mechanism {
		high = 1e9 // no sampler has to draw it
	}
	return low, high
}

// Open reports whether the fixed settings leave this one to a search.
func (v Setting) Open(fixed Settings) bool {
	if v.open != nil {
		return v.open(fixed)
	}
	return !v.Given(fixed)
}

// Turn asks for a multiple of the setting's present value, and reports whether that is
// another one.
func (v Setting) Turn(asked *Settings, now Settings, factor float64, records int64) bool {
	if v.turn != nil {
		return v.turn(asked, now, factor, records)
	}
	switch p := v.at(asked).(type) {
	case *float64:
		x := v.Value(now).(float64)
		*p = x * factor
		return x != 0
	case *int64:
		x := v.Value(now).(int64)
		*p = max(1, int64(math.Round(float64(x)*factor)))
		return *p != x
	}
	return false
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

// kernelChooses is the rule of settings whose default differs from kernel to kernel.
const kernelChooses = "by default the kernel's choice"

var table = []Setting{
	{
		Name: "kernel", every: true, at: func(s *Settings) any { return &s.Kernel },
		Help: "the sampler", Rule: "by default anchored where it fits the model, at temperature 1, and knows the settings " +
			"given; else barker",
	},
	{
		Name: "iterations", every: true, Turned: Probed, at: func(s *Settings) any { return &s.Iterations },
		Help: "steps of each chain", Unit: "steps", Rule: "by default the kernel's number, split among the chains",
		span: func(_ curator.Facts, chains int64) (float64, float64) { return 1, float64(mostSteps / chains) },
	},
	{
		Name: "chains", every: true, Default: int64(1), Rule: "by default 1, and 4 for anchored",
		at:   func(s *Settings) any { return &s.Chains },
		Help: "number of chains, all of which spend budget",
	},
	{
		Name: "temperature", every: true, Default: 1.0, at: func(s *Settings) any { return &s.Temperature },
		Help: "τ in (0, 1], multiplies the log-likelihood; a lower one widens the posterior, " +
			"which a small budget can then explore",
		span: within(1e-9, 1),
	},
	{
		Name: "aim", Default: "auto", at: func(s *Settings) any { return &s.Aim },
		Help: "what anchored chains sample: score, the posterior given the release; remainder, the posterior with bits " +
			"that see the remainder; perturbed, that without the noise in its intervals; sums, of a linear regression; or auto",
	},
	{
		Name: "anchor-noise", at: func(s *Settings) any { return &s.AnchorNoise }, span: within(0.05, mostNoise),
		Help: "standard deviation of the noise of an anchor's gradient over its sensitivity, at most 512",
		Rule: "by default the least that the budget covers",
	},
	{
		Name: "moment-noise", at: func(s *Settings) any { return &s.MomentNoise }, span: within(0.05, mostNoise),
		Help: "standard deviation of the noise of an anchor's second moments over their sensitivity, at most 512",
		Rule: "by default a fifth of the budget's ρ",
	},
	{
		Name: "ridge", at: func(s *Settings) any { return &s.Ridge },
		Help: "ridge of an anchor's private optimum, which biases nothing",
		Rule: "by default where the price hardly notices it",
	},
	{
		Name: "leapfrog", Default: int64(5), Turned: Probed, at: func(s *Settings) any { return &s.Leapfrog },
		Help: "leapfrog steps of a trajectory", Unit: "steps", span: within(1, 1000),
	},
	{
		Name: "batch", Turned: ProbedIfExact, at: func(s *Settings) any { return &s.Batch },
		Help: "expected number of records in a step", Unit: "records", Rule: kernelChooses,
		span: func(f curator.Facts, _ int64) (float64, float64) { return 1, float64(f.Records) },
		open: func(f Settings) bool { return f.Batch == 0 && f.Rate == 0 && !f.FullData },
		turn: turnBatch,
	},
	{
		Name: "rate", Turned: ProbedIfExact, at: func(s *Settings) any { return &s.Rate },
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
		Name: "fixed-batch", at: func(s *Settings) any { return &s.FixedBatch },
		Help: "draw exactly batch records without replacement; dearer than the default, Poisson batches",
	},
	{
		Name: "full", at: func(s *Settings) any { return &s.FullData },
		Help: "use every record in every step",
	},
	{
		Name: "variance", Default: 4.0, Turned: Probed, at: func(s *Settings) any { return &s.Variance },
		Help: "variance of the penalty test's noise in the log-odds, 0.25 to 9", span: within(0.25, 9),
	},
	{
		Name: "max-move", Turned: Probed, at: func(s *Settings) any { return &s.MaxMove },
		Help: "longest move that dphmc may accept", Unit: "θ", span: within(minStep, maxStep),
		Rule: "by default the longest whose bits fit half of the budget",
	},
	{
		Name: "noise", Turned: Probed, at: func(s *Settings) any { return &s.Noise },
		Help: "standard deviation of a released gradient's or ratio's noise over twice its clip, at most 512",
		Rule: "by default the least that the budget covers", span: within(0.05, mostNoise),
	},
	{
		Name: "ratio-noise", Turned: Probed, at: func(s *Settings) any { return &s.RatioNoise },
		Help: "with acceptance penalty: standard deviation of a ratio's noise over twice its clip",
		Rule: "by default the least that half of the budget covers", span: within(0.05, mostNoise),
	},
	{
		Name: "step", Turned: Probed, at: func(s *Settings) any { return &s.Step },
		Help: "standard deviation of a coordinate's move, or step of the dynamics", Unit: "θ", Rule: kernelChooses,
		span: within(minStep, maxStep),
	},
	{
		Name: "friction", Turned: ProbedIfExact, at: func(s *Settings) any { return &s.Friction },
		Help: "coupling of a thermostat to its heat bath", Unit: "1/step", Rule: "by default 1/step",
	},
	{
		Name: "clip", Turned: Whole, at: func(s *Settings) any { return &s.Clip }, span: within(1e-12, 1e3),
		Help: "bound on one record's part of the log-odds; for kernels with gradients, on the norm of its gradient and its " +
			"part of the log-odds of a move of length 1",
		Rule: "by default the model's certificate; where it has none, walks take 2·τ·step·√(parameters), and kernels with " +
			"gradients require one",
	},
	{
		Name: "start", every: true, Default: "auto", at: func(s *Settings) any { return &s.Start },
		Help: "where the chains start: auto, optimum, gradient, prior-mean, prior-draw, or values separated by commas; " +
			aboutStarts,
	},
	{
		Name: "start-share", every: true, Turned: Whole, at: func(s *Settings) any { return &s.StartShare },
		Help: "part of ε that a charged start takes alone",
		Rule: "by default 0.25; costs add up in squares, so 0.97 of ε is left for the chains",
	},
	{
		Name: "start-epsilon", every: true, at: func(s *Settings) any { return &s.StartEpsilon },
		Help: "ε that a charged start takes alone, at the budget's δ, instead of start-share",
	},
	{
		Name: "proposal", Default: "isotropic", at: func(s *Settings) any { return &s.Proposal },
		Help: "isotropic, one-component, or truncated:K for moves of at most K·step; penalty kernels: also guided, " +
			"one-component moves that keep a direction while they are accepted",
	},
	{
		Name: "test", Default: "logistic", at: func(s *Settings) any { return &s.Test },
		Help: "acceptance test: logistic (exact), or corrected:C with a Gaussian part of variance C (0.5, 1, 1.5 or 2)",
	},
	{
		Name: "accounting", Default: "bit", at: func(s *Settings) any { return &s.Accounting },
		Help: "theorem that prices a step: bit, published or tightened",
	},
	{
		Name: "schedule", Default: "constant", at: func(s *Settings) any { return &s.Schedule },
		Help: "constant, or polynomial:P for steps that shrink to (1 + 10t/iterations)^−P of the first; polynomial alone " +
			"has P = 0.51. Summaries do not weight draws by their steps",
	},
	{
		Name: "as-published", at: func(s *Settings) any { return &s.AsPublished },
		Help: "dpsgld's published update, which samples from the SQUARE of the posterior, for comparison only",
	},
	{
		Name: "acceptance", Default: "barker", at: func(s *Settings) any { return &s.Acceptance },
		Help: "test of a trajectory's end: barker, one bit; or penalty, the published test, which releases a noisy " +
			"log-likelihood ratio",
	},
}
