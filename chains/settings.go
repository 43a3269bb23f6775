package chains

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Settings describe chains. Zero stands for a setting that is not given, which
// Choose fills in, except that a Clip of 0 may remain: it stands for the model's
// certificate. All of them are public, and must be chosen without looking at the
// records. Describe says which a kernel knows beside Kernel, Iterations, Chains
// and Temperature, and how it chooses those that are not given.
type Settings struct {
	Kernel      string  // kernel: a name of Names; defaults to barker
	Iterations  int64   // iterations: steps of each chain
	Chains      int     // chains: how many, all of which spend budget; defaults to 1
	Temperature float64 // temperature: τ in (0, 1], multiplies the log-likelihood; defaults to 1

	// Start (start) is where the chains start: auto, optimum, gradient, prior-mean,
	// prior-draw, or values separated by commas. Empty leaves that to the caller, and
	// nothing is charged for it. See DescribeStarts.
	Start string
	// StartShare (start-share) is the part of ε that a charged start takes alone, at
	// the problem's δ; defaults to starts.DefaultShare.
	StartShare float64

	Step     float64 // step: standard deviation of a coordinate's move, or step of the dynamics
	Proposal string  // proposal: isotropic (default), one-component, truncated:K or guided; see ParseProposal
	// Clip (clip) bounds a record's part of the log-odds; for kernels with gradients
	// the norm of its gradient and its part of the log-odds of a move of length 1. Both
	// count after the temperature: a clip meant for the loss is to be multiplied by it.
	Clip       float64
	Test       string // test: logistic (default) or corrected:C; see ParseTest
	Accounting string // accounting: bit (default), published or tightened; see ParseAccounting

	Batch      int64   // batch: expected number of records in a step
	Rate       float64 // rate: probability that a record is in a step's batch, instead of Batch
	FixedBatch bool    // fixed-batch: exactly Batch records, drawn without replacement
	FullData   bool    // full: every record in every step

	Noise       float64 // noise: standard deviation of a released gradient's or ratio's noise over twice its clip
	Variance    float64 // variance: of the penalty test's noise in the log-odds, 0.25 to 9; defaults to 4
	Friction    float64 // friction: coupling of a thermostat to its heat bath, in units of 1/step
	Schedule    string  // schedule: constant (default) or polynomial[:POWER], how dpsgld's steps shrink
	AsPublished bool    // as-published: dpsgld's published update, which targets the SQUARE of the posterior

	Leapfrog   int     // leapfrog: steps of a trajectory
	MaxMove    float64 // max-move: the longest move that may be accepted
	Acceptance string  // acceptance: barker (default) or penalty, the test of a trajectory's end
	RatioNoise float64 // ratio-noise: that of the penalty test's ratios, over twice their clip
}

// numbers are the settings that must be positive, with their names.
func (s Settings) numbers() map[name]float64 {
	return map[name]float64{
		"iterations": float64(s.Iterations), "chains": float64(s.Chains), "temperature": s.Temperature,
		"step": s.Step, "clip": s.Clip, "batch": float64(s.Batch), "rate": s.Rate, "noise": s.Noise, "variance": s.Variance,
		"friction": s.Friction, "start-share": s.StartShare, "leapfrog": float64(s.Leapfrog), "max-move": s.MaxMove, "ratio-noise": s.RatioNoise,
	}
}

// given are the names of the settings that are not zero.
func (s Settings) given() map[name]bool {
	given := map[name]bool{
		"kernel": s.Kernel != "", "proposal": s.Proposal != "", "test": s.Test != "", "accounting": s.Accounting != "",
		"fixed-batch": s.FixedBatch, "full": s.FullData, "schedule": s.Schedule != "", "as-published": s.AsPublished,
		"acceptance": s.Acceptance != "", "start": s.Start != "",
	}
	for setting, v := range s.numbers() {
		given[setting] = v != 0
	}
	return given
}

// everyKernel are the settings that all kernels know.
var everyKernel = []string{"kernel", "iterations", "chains", "temperature", "start", "start-share"}

// check reports settings that make no sense, or none for the kernel.
func (s Settings) check() error {
	k, ok := families[s.Kernel]
	if !ok {
		return bad("kernel", "%s is %q; it must be one of %s", name("kernel"), s.Kernel, strings.Join(Names(), ", "))
	}
	given, values := s.given(), s.numbers()
	for _, setting := range slices.Sorted(keys(given)) {
		if v, number := values[setting]; number && !(v >= 0) || math.IsInf(v, 1) {
			return bad(setting, "%s is %v; it must be positive, or left out for the default", setting, v)
		}
		if given[setting] && !slices.Contains(everyKernel, string(setting)) && !slices.Contains(k.own, string(setting)) {
			return bad(setting, "%s has no meaning for %s %s; its own are %s", setting, name("kernel"), s.Kernel, names(k.own))
		}
	}
	switch {
	case s.Temperature > 1:
		return bad("temperature", "%s is %v; it must be in (0, 1]", name("temperature"), s.Temperature)
	case count(given["batch"], given["rate"], s.FullData) > 1:
		return bad("batch", "%s, %s and %s exclude one another; give one", name("batch"), name("rate"), name("full"))
	case s.FixedBatch && (given["rate"] || s.FullData):
		return bad("fixed-batch", "%s goes with %s", name("fixed-batch"), name("batch"))
	}
	return nil
}

func keys[V any](m map[name]V) func(yield func(name) bool) {
	return func(yield func(name) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func count(b ...bool) (n int) {
	for _, v := range b {
		if v {
			n++
		}
	}
	return n
}

// Scheme is how a step's records are chosen, on records with the given facts.
// Errors are of type *SettingError: a batch that is empty or larger than the data.
func (s Settings) Scheme(f curator.Facts) (curator.Batch, error) {
	switch {
	case s.FullData:
		return curator.FullData(), nil
	case s.Rate != 0:
		return curator.Poisson(s.Rate), nil
	case s.Batch < 1 || s.Batch > f.Records:
		return curator.Batch{}, bad("batch", "%s is %d; it must be between 1 and the %d records", name("batch"), s.Batch, f.Records)
	case s.FixedBatch:
		return curator.FixedSize(s.Batch), nil
	}
	return curator.Poisson(float64(s.Batch) / float64(f.Records)), nil
}

// ParseTest reads the setting test: logistic, or corrected:C with a Gaussian part
// of variance C.
func ParseTest(text string) (curator.Test, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "logistic" && !has:
		return curator.Logistic(), nil
	case kind == "corrected" && has:
		if c, err := strconv.ParseFloat(arg, 64); err == nil {
			return curator.Corrected(c), nil
		}
	}
	return curator.Test{}, bad("test", "%s is %q; it must be logistic or corrected:C, such as corrected:1", name("test"), text)
}

// ParseAccounting reads the setting accounting.
func ParseAccounting(text string) (curator.Accounting, error) {
	switch text {
	case "bit":
		return curator.ByBit, nil
	case "published":
		return curator.Published, nil
	case "tightened":
		return curator.PublishedTightened, nil
	}
	return 0, bad("accounting", "%s is %q; it must be bit, published or tightened", name("accounting"), text)
}

// guided is the proposal that only the penalty kernels know: one-component moves
// that keep a coordinate's direction while they are accepted.
const guided = "guided"

// ParseProposal reads the setting proposal, for moves whose coordinates have the
// standard deviation scale: isotropic; one-component; or truncated:K, isotropic
// moves of length at most K·scale. The penalty kernels' guided moves are
// one-component moves in a direction that the kernel chooses.
func ParseProposal(text string, scale float64) (kernels.Proposal, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "isotropic" && !has:
		return kernels.Isotropic(scale), nil
	case kind == "one-component" && !has:
		return kernels.OneComponent(scale), nil
	case kind == "truncated" && has:
		if k, err := strconv.ParseFloat(arg, 64); err == nil {
			return kernels.Truncated(scale, k*scale), nil
		}
	}
	return kernels.Proposal{}, bad("proposal",
		"%s is %q; it must be isotropic, one-component or truncated:K, such as truncated:5 (the penalty kernels also know guided)", name("proposal"), text)
}

// power reads the setting schedule: the power by which steps shrink, 0 for
// constant ones.
func (s Settings) power() (float64, error) {
	kind, arg, has := strings.Cut(cmp.Or(s.Schedule, "constant"), ":")
	switch {
	case kind == "constant" && !has:
		return 0, nil
	case kind == "polynomial" && !has:
		return defaultPower, nil
	case kind == "polynomial":
		if p, err := strconv.ParseFloat(arg, 64); err == nil && p > 0 && p <= 1 {
			return p, nil
		}
	}
	return 0, bad("schedule", "%s is %q; it must be constant, polynomial, or polynomial:P with a power in (0, 1], such as polynomial:0.6", name("schedule"), s.Schedule)
}

// defaultPower is just steep enough for weighted averages to converge (Teh et
// al. 2016).
const defaultPower = 0.51

// penaltyAccepts reads the setting acceptance.
func (s Settings) penaltyAccepts() (bool, error) {
	switch s.Acceptance {
	case "", "barker":
		return false, nil
	case "penalty":
		return true, nil
	}
	return false, bad("acceptance", "%s is %q; it must be barker or penalty", name("acceptance"), s.Acceptance)
}
