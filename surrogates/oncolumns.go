package surrogates

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// onColumns is a normal prior of coefficients on columns of known means and spreads, of one linear
// predictor or of each of several: of slopes, and of what a predictor is at the means.
type onColumns struct {
	sds      []float64 // of slopes, and in the constant's place of the predictor at the means, over its level
	mean     []float64 // of numbers over the constant's level, 0 for other columns
	constant int       // its column, or −1
	log      float64   // of the density at 0, that of the prior itself where it is scaled
}

// onColumns is the prior of Statistics.Standardized on columns that have the law of an imputation. A
// number one standard deviation off its mean moves each predictor by N(0, effect²).
func (s Statistics) onColumns(law *normal, effect float64, model priors.Gaussian, dim int) *onColumns {
	p, n := len(law.mean), float64(s.Records)
	out := &onColumns{sds: make([]float64, dim), mean: make([]float64, p), constant: ConstantOf(s.Columns)}
	for i := range out.sds {
		j := i % p
		if out.sds[i] = model.SD; model.SDs != nil {
			out.sds[i] = model.SDs[i]
		}
		if s.Columns != nil && s.Columns[j].Kind != Number {
			continue
		}
		mean, variance := law.moments(j)
		out.sds[i] = effect / math.Sqrt(max(variance, s.Radius*s.Radius/(n*n)))
		if out.constant >= 0 {
			out.mean[j] = mean / s.Columns[out.constant].Upper
		}
	}
	return out.normalized()
}

func (o *onColumns) normalized() *onColumns {
	o.log = 0
	for _, sd := range o.sds {
		o.log -= math.Log(sd)
	}
	return o
}

// midway is a prior with the mean precisions and the mean means of several.
func midway(all []*onColumns) *onColumns {
	out := &onColumns{sds: make([]float64, len(all[0].sds)), mean: make([]float64, len(all[0].mean)),
		constant: all[0].constant}
	for _, o := range all {
		for i, sd := range o.sds {
			out.sds[i] += 1 / (sd * sd * float64(len(all)))
		}
		for j, mean := range o.mean {
			out.mean[j] += mean / float64(len(all))
		}
	}
	for i, precision := range out.sds {
		out.sds[i] = 1 / math.Sqrt(precision)
	}
	return out.normalized()
}

// Check refuses another number of coefficients.
func (o *onColumns) Check(dim int) error {
	if dim != len(o.sds) {
		return fmt.Errorf("surrogates: a prior of %d coefficients for %d", len(o.sds), dim)
	}
	return nil
}

// shift is what the means add to the constant's coefficient, of the predictor that begins at i.
func (o *onColumns) shift(theta []float64, i int) float64 {
	if o.constant < 0 {
		return 0
	}
	return dot(o.mean, theta[i:i+len(o.mean)])
}

// LogDensity is normalized, but for what all scales of it have in common.
func (o *onColumns) LogDensity(theta []float64) float64 {
	square, p := 0.0, len(o.mean)
	for i, t := range theta {
		if i%p == o.constant {
			t += o.shift(theta, i-i%p)
		}
		square += t / o.sds[i] * t / o.sds[i]
	}
	return o.log - square/2
}

// Grad is that of LogDensity.
func (o *onColumns) Grad(dst, theta []float64) {
	p := len(o.mean)
	for i := 0; i < len(theta); i += p {
		common := 0.0
		if o.constant >= 0 {
			sd := o.sds[i+o.constant]
			common = (theta[i+o.constant] + o.shift(theta, i)) / (sd * sd)
		}
		for j, mean := range o.mean {
			if dst[i+j] = -theta[i+j]/(o.sds[i+j]*o.sds[i+j]) - mean*common; j == o.constant {
				dst[i+j] = -common
			}
		}
	}
}

// Sample draws slopes, and then constants.
func (o *onColumns) Sample(theta []float64, rng *rand.Rand) {
	for i := range theta {
		theta[i] = o.sds[i] * rng.NormFloat64()
	}
	for i := 0; o.constant >= 0 && i < len(theta); i += len(o.mean) {
		theta[i+o.constant] -= o.shift(theta, i)
	}
}

func (o *onColumns) precision(m *mat.SymDense, share float64) {
	p, c := len(o.mean), o.constant
	for i := range o.sds {
		m.SetSym(i, i, m.At(i, i)+share/(o.sds[i]*o.sds[i]))
		if i%p != c {
			continue
		}
		for j, u := range o.mean {
			m.SetSym(i-c+j, i, m.At(i-c+j, i)+share*u/(o.sds[i]*o.sds[i]))
			for k, v := range o.mean[:j+1] {
				m.SetSym(i-c+k, i-c+j, m.At(i-c+k, i-c+j)+share*u*v/(o.sds[i]*o.sds[i]))
			}
		}
	}
}

func (o *onColumns) variance(i int) float64 {
	p, own := len(o.mean), o.sds[i]*o.sds[i]
	if i%p == o.constant {
		for j, mean := range o.mean {
			sd := o.sds[i-i%p+j]
			own += mean * mean * sd * sd
		}
	}
	return own
}

func (o *onColumns) scaled(by float64) smooth {
	out := *o
	out.sds = make([]float64, len(o.sds))
	for i, sd := range o.sds {
		out.sds[i] = by * sd
	}
	return &out
}

// eitherOf is a mixture of priors, as often of each.
type eitherOf struct {
	*onColumns
	all []*onColumns
}

// LogDensity is that of the mixture, but for what the priors have in common.
func (e eitherOf) LogDensity(theta []float64) float64 {
	logs := make([]float64, len(e.all))
	for k, o := range e.all {
		logs[k] = o.LogDensity(theta)
	}
	return floats.LogSumExp(logs)
}

// Sample draws from one of them.
func (e eitherOf) Sample(theta []float64, rng *rand.Rand) {
	e.all[rng.IntN(len(e.all))].Sample(theta, rng)
}
