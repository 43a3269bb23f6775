// Package metrics measures what a method released: against the truth, against
// the non-private posterior, and on records that were held out.
//
// A [Metric] turns an [Input] into one number, NaN where it does not apply: a
// single estimate has no spread, a file no known truth. Metrics that do not read
// records (see [Metric.Reads]) are post-processing of a release; all others are
// for public or simulated data only, since their values are not private.
package metrics

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/diag"
)

// Input is what metrics look at. Parameters are those that results report.
type Input struct {
	// Chains holds what was released: chains × draws × parameters. Required, at
	// least one draw.
	Chains [][][]float64
	// Independent says that draws are independent.
	Independent bool
	// Truth holds the parameters that the data were simulated with; nil for files.
	Truth []float64
	// Reference holds draws from the non-private posterior; nil if there are none.
	Reference [][]float64
	// Test holds what was held out; nil if nothing was.
	Test *Test
	// Advantage is that of a membership-inference attack, NaN if none was made.
	Advantage float64
	// Random chooses draws where not all are used. Required.
	Random *rand.Rand

	draws [][]float64 // of all chains
}

// Test is a set of held-out records.
type Test struct {
	// Y holds the responses.
	Y []float64
	// Binary says that they are 0 or 1, and predictions probabilities of 1.
	Binary bool
	// Unit converts responses into the units of the file.
	Unit float64
	// Predict sets dst to the expected responses given parameters.
	Predict func(dst, theta []float64)
}

// The number of draws that the costlier metrics look at.
const (
	distanceDraws   = 500 // of each sample, for MMD and energy distances
	predictionDraws = 100
	intervalDraws   = 20 // the fewest that have an interval
)

// Level is the probability of the intervals.
const Level = 0.9

// all returns the draws of all chains.
func (in *Input) all() [][]float64 {
	if in.draws == nil {
		in.draws = slices.Concat(in.Chains...)
	}
	return in.draws
}

// aim is what estimates are compared with: the truth, or the non-private
// posterior mean; nil if neither is known.
func (in *Input) aim() []float64 {
	if in.Truth != nil {
		return in.Truth
	}
	if in.Reference == nil {
		return nil
	}
	return Mean(in.Reference)
}

// Mean returns the mean of draws, parameter by parameter.
func Mean(draws [][]float64) []float64 {
	mean := make([]float64, len(draws[0]))
	for _, d := range draws {
		floats.Add(mean, d)
	}
	floats.Scale(1/float64(len(draws)), mean)
	return mean
}

// SD returns the standard deviations of draws, NaN for a single one.
func SD(draws [][]float64) []float64 {
	sd := make([]float64, len(draws[0]))
	for j := range sd {
		sd[j] = stat.StdDev(column(draws, j), nil)
	}
	return sd
}

func column(draws [][]float64, j int) []float64 {
	out := make([]float64, len(draws))
	for i, d := range draws {
		out[i] = d[j]
	}
	return out
}

// RMSE returns the root-mean-square error of the estimate over the parameters.
func RMSE(in *Input) float64 {
	aim := in.aim()
	if aim == nil {
		return math.NaN()
	}
	return floats.Distance(Mean(in.all()), aim, 2) / math.Sqrt(float64(len(aim)))
}

// LogRMSE returns the natural logarithm of RMSE.
func LogRMSE(in *Input) float64 { return math.Log(RMSE(in)) }

// SignAccuracy returns the share of parameters whose estimate has the right sign.
func SignAccuracy(in *Input) float64 {
	aim := in.aim()
	if aim == nil {
		return math.NaN()
	}
	right := 0
	for j, m := range Mean(in.all()) {
		if m*aim[j] > 0 || m == aim[j] {
			right++
		}
	}
	return float64(right) / float64(len(aim))
}

// MeanError returns the mean distance of the estimate from the non-private
// posterior mean, in non-private posterior standard deviations.
func MeanError(in *Input) float64 {
	if in.Reference == nil {
		return math.NaN()
	}
	mean, sd, sum := Mean(in.Reference), SD(in.Reference), 0.0
	for j, m := range Mean(in.all()) {
		sum += math.Abs(m-mean[j]) / sd[j]
	}
	return sum / float64(len(mean))
}

// SDError returns the mean absolute log ratio of the standard deviations of the
// draws to those of the non-private posterior.
func SDError(in *Input) float64 {
	if in.Reference == nil || len(in.all()) < intervalDraws {
		return math.NaN()
	}
	want, sum := SD(in.Reference), 0.0
	for j, s := range SD(in.all()) {
		sum += math.Abs(math.Log(s / want[j]))
	}
	return sum / float64(len(want))
}

// interval returns the central interval of parameter j.
func (in *Input) interval(j int) (low, high float64) {
	x := column(in.all(), j)
	slices.Sort(x)
	return diag.Quantile(x, (1-Level)/2), diag.Quantile(x, (1+Level)/2)
}

// Coverage returns the share of parameters whose central interval contains the
// truth, or the non-private posterior mean where the truth is not known.
func Coverage(in *Input) float64 {
	aim := in.aim()
	if aim == nil || len(in.all()) < intervalDraws {
		return math.NaN()
	}
	inside := 0
	for j, a := range aim {
		if low, high := in.interval(j); low <= a && a <= high {
			inside++
		}
	}
	return float64(inside) / float64(len(aim))
}

// IntervalWidth returns the mean width of the central intervals.
func IntervalWidth(in *Input) float64 {
	if len(in.all()) < intervalDraws {
		return math.NaN()
	}
	dim, sum := len(in.all()[0]), 0.0
	for j := range dim {
		low, high := in.interval(j)
		sum += high - low
	}
	return sum / float64(dim)
}

// some returns at most n of the draws, evenly spaced.
func some(draws [][]float64, n int) [][]float64 {
	if len(draws) <= n {
		return draws
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = draws[i*len(draws)/n]
	}
	return out
}

// MMD returns the maximum mean discrepancy between the draws and the non-private
// posterior, as [diag.MMD] has it.
func MMD(in *Input) float64 {
	if in.Reference == nil || len(in.all()) < intervalDraws {
		return math.NaN()
	}
	return diag.MMD(some(in.all(), distanceDraws), some(in.Reference, distanceDraws), in.Random)
}

// Energy returns the energy distance between the draws and the non-private
// posterior, as [diag.Energy] has it.
func Energy(in *Input) float64 {
	if in.Reference == nil || len(in.all()) < intervalDraws {
		return math.NaN()
	}
	return diag.Energy(some(in.all(), distanceDraws), some(in.Reference, distanceDraws))
}

// ESS returns the least bulk effective sample size of any parameter.
func ESS(in *Input) float64 {
	if in.Independent {
		return float64(len(in.all()))
	}
	least := math.Inf(1)
	for j := range in.Chains[0][0] {
		chains := make([][]float64, len(in.Chains))
		for c, draws := range in.Chains {
			chains[c] = column(draws, j)
		}
		// NaN for a chain that never moved or is too short.
		least = math.Min(least, diag.ESSBulk(chains))
	}
	return least
}

// Membership returns the advantage of the membership-inference attack.
func Membership(in *Input) float64 { return in.Advantage }
