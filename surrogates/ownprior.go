package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// ownPrior is the prior of the coefficients given a law of the features.
type ownPrior struct {
	prior   priors.Prior
	chosen  float64  // log of how much likelier the law is chosen than drawn, less the mean
	broad   broad    // about that prior
	effects *effects // the prior, where it is of effects and laws have their own
}

// settle sets what is about effects where coefficients have such means and, unless nil, such a covariance.
func (o *ownPrior) settle(mean []float64, covariance *mat.SymDense) {
	if o.effects != nil {
		o.broad = o.effects.about(mean, covariance)
	}
}

// widened is a normal one of scale times the spread.
func (o ownPrior) widened(scale float64) ownPrior {
	o.broad = o.broad.widened(scale)
	o.prior = o.broad
	return o
}

// marginal is the log of the integral of the prior times exp(pull·θ − θᵀ·fisher·θ/2), up to a constant: of effects its
// variational bound, their scales independent of the rest.
func (o *ownPrior) marginal(fisher *mat.Dense, pull *mat.VecDense) float64 {
	d := pull.Len()
	b, log := o.broad, 0.0
	precision, covariance := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	var chol mat.Cholesky
	mean := mat.NewVecDense(d, nil)
	for range 6 { // of the scales of effects
		for j := range d {
			for k := range j + 1 {
				precision.SetSym(j, k, (fisher.At(j, k)+fisher.At(k, j))/2)
			}
		}
		b.precision(precision, 1)
		if !chol.Factorize(precision) || chol.SolveVecTo(mean, pull) != nil {
			return math.Inf(-1)
		}
		log = mat.Dot(mean, pull)/2 - chol.LogDet()/2
		if o.effects == nil {
			return log + b.log()
		}
		if chol.InverseTo(covariance) != nil {
			return math.Inf(-1)
		}
		log += o.effects.bound(mean.RawVector().Data, covariance)
		b = o.effects.about(mean.RawVector().Data, covariance)
	}
	return log
}

// ownPriors are those of several laws.
type ownPriors []*ownPrior

// precision adds theirs to a matrix, in the mean.
func (all ownPriors) precision(m *mat.SymDense) {
	for _, o := range all {
		o.broad.precision(m, 1/float64(len(all)))
	}
}

// sd is the standard deviation of a combination of coefficients, where it differs between laws one over the root of
// the mean precision: the least that it may be.
func (all ownPriors) sd(v []float64) float64 {
	precision := 0.0
	for _, o := range all {
		precision += 1 / o.broad.along(v)
	}
	return math.Sqrt(float64(len(all)) / precision)
}

// widest are those with the largest effects that they allow for.
func (all ownPriors) widest() (out ownPriors) {
	for _, o := range all {
		wide := *o
		if o.effects != nil {
			wide.broad = broad{o.effects.CentredGaussian}
		}
		out = append(out, &wide)
	}
	return out
}

// drawn is the prior of coefficients, whatever the law and the scale of effects. Where laws share the mean of the
// second moments, averaged, there is one of each.
func (all ownPriors) drawn(scale relative, averaged bool) drawn {
	if all[0].effects == nil || averaged {
		return all[0].prior
	}
	var either eitherOf
	for _, o := range all {
		for _, share := range effectShares {
			either = append(either, newEffects(o.effects.CentredGaussian, share, scale))
		}
	}
	return either
}
