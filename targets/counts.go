package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// countLaw is a distribution of a count given η.
type countLaw interface {
	// logMass returns the log probability of the count y.
	logMass(eta, y float64) float64
	// score returns its derivative with respect to η.
	score(eta, y float64) float64
	// massOver bounds logMass over an interval of η and the counts from y[0] to
	// y[1]; scoreOver gives the range of the score there.
	massOver(eta, y [2]float64) float64
	scoreOver(eta, y [2]float64) (low, high float64)
	// mode returns a count of greatest mass, information the variance of score.
	mode(eta float64) float64
	information(eta float64) float64
	// logPower returns log Σf^β over the counts, and its derivative.
	logPower(eta, beta float64) (value, slope float64)
}

// counts is the family of a count: any whole number of at least 0. Any other
// response makes the loss NaN.
type counts struct {
	loss  loss
	law   countLaw
	power *curve // log Σf^β against η, nil for the log loss
	lip   float64
}

// The sum Σf^β is tabulated for means from e^−37, below which a count other than
// 0 does not alter it, to e^30, above which it is a power of the mean to all
// digits.
const minLogMean, maxLogMean = -37, 30

func newCounts(name string, l loss, law countLaw) (*counts, error) {
	if err := l.checkTable(name + " regression"); err != nil {
		return nil, err
	}
	f := &counts{loss: l, law: law, lip: math.Inf(1)}
	if !l.isLog() {
		f.power = newCurve(minLogMean, maxLogMean, nodesPerUnit*max(1, l.beta()/5), func(eta float64) (value, slope float64) {
			return law.logPower(eta, l.beta())
		})
	}
	return f, nil
}

func (f *counts) lossRange() float64 { return f.loss.massRange() }

func (f *counts) lipschitz(float64) float64 { return f.lip }

func (f *counts) lossAt(dst, eta, y []float64) {
	for i, e := range eta {
		if !isCount(y[i]) {
			dst[i] = math.NaN()
			continue
		}
		dst[i] = f.loss.score(f.law.logMass(e, y[i]))
		if !f.loss.isLog() {
			power, _ := f.logPower(e)
			dst[i] += vec.Expm1(power) / f.loss.beta()
		}
	}
}

func (f *counts) slopeAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = f.slope(e, y[i])
	}
}

// slope is −f^b·score + (Σf^β)′/β.
func (f *counts) slope(eta, y float64) float64 {
	if !isCount(y) {
		return math.NaN()
	}
	score := f.law.score(eta, y)
	if f.loss.isLog() {
		return -score
	}
	power, slope := f.logPower(eta)
	own := math.Copysign(damp(math.Abs(score), f.loss.b*f.law.logMass(eta, y)), score)
	return vec.Exp(power)*slope/f.loss.beta() - own
}

// logPower returns log Σf^β and its derivative with respect to η.
func (f *counts) logPower(eta float64) (value, slope float64) {
	switch {
	case eta < minLogMean:
		return 0, 0
	case eta > maxLogMean:
		value, slope = f.power.at(maxLogMean)
		return value + slope*(eta-maxLogMean), slope
	}
	return f.power.at(eta)
}

func isCount(y float64) bool { return y >= 0 && y == math.Trunc(y) && !math.IsInf(y, 1) }

// stirlingError returns log Γ(x+1) − log(√(2πx)·(x/e)^x) for x ≥ 15 or so.
func stirlingError(x float64) float64 {
	w := 1 / (x * x)
	return (1.0/12 - w*(1.0/360-w*(1.0/1260-w*(1.0/1680)))) / x
}
