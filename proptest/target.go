package proptest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// TargetOptions says what a target's parameters and records look like. The zero
// value suits models of standardised features whose response is any number.
type TargetOptions struct {
	// State sets theta to a plausible parameter, where the loss of a plausible
	// record is finite. Defaults to standard normals within the prior's support.
	State func(rng *rand.Rand, theta []float64)
	// Record sets x to the features of a plausible record and returns its
	// response. Defaults to standard normals, passed through Response.
	Record func(rng *rand.Rand, x []float64) (y float64)
	// Response turns any number of a search into a response that the model can
	// be given, such as a label. Defaults to the number itself.
	Response func(u float64) float64
	// Radius is the norm bound at which certificates are tried. Defaults to 1.
	Radius float64
	// Tightness is the share of every finite certificate that some record must
	// attain. Defaults to 0: tightness is only reported.
	Tightness float64
	// Loose replaces Tightness for the certificates it names (see Certificate),
	// for bounds known not to be attained.
	Loose map[string]float64
	// Effort is Quick, Standard or Thorough. Defaults to Standard.
	Effort Effort
	// Seed starts the search for violations, which is otherwise deterministic.
	// Defaults to 1. Properties are drawn by rapid, under its own flags.
	Seed uint64
	// Limit is how long one call of the target may take. Defaults to a minute.
	Limit time.Duration

	watch    *watch
	standard bool // Record is the default
	normal   bool // State is the default
}

func (o TargetOptions) withDefaults() TargetOptions {
	if o.State == nil {
		o.State, o.normal = normals, true
	}
	if o.Response == nil {
		o.Response = func(u float64) float64 { return u }
	}
	if o.Record == nil {
		o.standard = true
		o.Record = func(rng *rand.Rand, x []float64) float64 {
			normals(rng, x)
			return o.Response(2 * rng.NormFloat64())
		}
	}
	if o.Radius == 0 {
		o.Radius = 1
	}
	o.Effort = orDefault(o.Effort, Standard)
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Limit = orDefault(o.Limit, time.Minute)
	return o
}

// CheckTarget tries to break what a target promises, in its interface and in
// its certificates, and returns how nearly each finite certificate was attained:
//
//   - dst[i] depends on record i and the parameters alone: a batch of any size (small ones, round ones, and
//     one record more or less) may be cut, permuted, repeated, evaluated again, by several goroutines at
//     once, with the same bits; nothing is kept from one call to the next;
//   - arguments, and memory behind them and dst, are not written to, and no record makes it panic: NaN, ±Inf, ±0,
//     subnormal numbers, 2⁵³ and beyond, in every column and next to ordinary ones;
//   - the loss and its gradient are finite at plausible parameters and records, with
//     features of 0 too where plausible ones are of either sign, and the loss is a
//     number wherever the prior has mass, and finite where its gradient is, all the
//     way from where it is; it ends nowhere because an exponential overflows; where it
//     is no number there is no ratio and no gradient, and where one of two is infinite
//     the ratio has its sign;
//   - LossRatio is the difference of losses; LossGrad and GradLogPrior agree with
//     differences, and with the complex step where ComplexTarget is offered; LossAt
//     and SlopeAt agree with Loss and LossGrad. All four at every size of every
//     coordinate in turn, at whole numbers and tenths, at numbers that are made of others, at
//     both labels, where one or two numbers are missing, on moves that are short, long, along one
//     coordinate or along the record, beside breakpoints that bisection finds; gradients add up
//     to what the loss and the prior change by; SumLossGrad is the sum of Loss and of LossGrad, of
//     records of each of these kinds too;
//   - LogPrior does not depend on data, is finite at plausible parameters, and ends nowhere that its
//     gradient has not led to; a PriorSampler draws from it independently, without atoms or
//     repeats, as far out as it goes, in one parameter and in all together, from its stream alone;
//   - RatioBound is the same both ways, and constants whenever they are asked;
//   - no record, response, θ or θ′ that SearchCertificates finds, or rapid draws,
//     exceeds a certificate. A violation is shrunk to a minimal pair of
//     neighbouring data sets.
//
// A failure prints a Go test that shows it. A target that keeps its promises
// never fails, but for the comparison of a PriorSampler with LogPrior, which is
// statistical: it fails with probability at most 1e-6.
func CheckTarget(t rapid.TB, target targets.Target, o TargetOptions) []Certificate {
	t.Helper()
	o = o.withDefaults()
	if t.Failed() {
		t.FailNow()
	}
	about, found := fmt.Sprintf("%T, Seed %d", target, o.Seed), []Certificate(nil)
	watched(t, o.Limit, about, func(t rapid.TB, w *watch) {
		t.Helper()
		w.begin() // there is always a call: parts of the check say that they go on
		o.watch = w
		found = checkTarget(t, target, o)
	})
	return found
}

func checkTarget(t rapid.TB, target targets.Target, o TargetOptions) []Certificate {
	t.Helper()
	if !checkShape(t, target) {
		return nil
	}
	constants(t, target, o)
	checkExtremes(t, target, o)
	checkReused(t, target, o)
	for _, holds := range []func(*rapid.T, targets.Target, TargetOptions){batchesConcatenate, nothingIsKept} {
		property(t, func(rt *rapid.T) {
			rt.Helper()
			holds(rt, target, o)
		})
	}
	if t.Failed() {
		t.FailNow()
	}
	var found []Certificate
	for _, effort := range o.Effort.passes() {
		pass := o
		pass.Effort = effort
		found = searchTarget(t, target, pass)
	}
	checkTightness(t, found, o)
	return found
}

// searchTarget is what grows with the effort.
func searchTarget(t rapid.TB, target targets.Target, o TargetOptions) []Certificate {
	t.Helper()
	again := checkSteady(t, target, o)
	checkBlocks(t, target, o)
	checkScenes(t, target, o)
	checkPredictors(t, target, o)
	checkBreakpoints(t, target, o)
	checkSums(t, target, o)
	checkPriorEnds(t, target, o)
	sumsAgree(t, target, o)
	checkConcurrent(t, target, o)
	found := checkCertificates(t, target, o)
	checkSampler(t, target, o)
	again()
	return found
}

// checkShape checks what needs no record.
func checkShape(t rapid.TB, target targets.Target) bool {
	t.Helper()
	features, response := target.Shape()
	switch {
	case target.Dim() < 1:
		failf(t, "Dim is %d; a target has at least 1 parameter", target.Dim())
	case features < 0 || features == 0 && !response:
		failf(t, "Shape is (%d, %v); a record has at least 1 feature or a response", features, response)
	default:
		if l, ok := target.(targets.LinearTarget); ok && l.Dim() != features {
			failf(t, "a LinearTarget has as many parameters as features, not %d and %d", l.Dim(), features)
			return false
		}
		return true
	}
	return false
}
